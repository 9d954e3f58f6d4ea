"""`codesum compact`: old rows become one text, as an attestation says."""

from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.compaction import all_compactions, attested_fields, compaction_as_json, compactor, source
from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.invocation import Invocation, invocation
from codesum_pipeline.cli.render import count, fields, note, show, table
from codesum_pipeline.cli.safe_text import escaped, safe_json
from codesum_pipeline.compaction.attestation import Attestation, read_signed
from codesum_pipeline.model.errors import ConfigurationError


def compact(
    ctx: typer.Context,
    attested: Annotated[
        Path | None,
        typer.Option(
            "--attest",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            show_default=False,
            help="Carry out this attestation, whose signature is FILE.sig.",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what was compacted, oldest first.")] = False,
    repo: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", autocompletion=complete_keys, show_default=False, help="With --list: only this one's."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per compaction, with text, rows and signature.")
    ] = False,
) -> None:
    """Compress old rows into one text, as an attestation says; list what was.

    Nothing is asked or changed where the signature, the signer, the rows, the model or the template is not what was
    attested. A job that is done is not done again.

    codesum compact --attest job.json
    """
    called = invocation(ctx)
    if (attested is None) == (not listed):
        raise ConfigurationError("say what to do: --attest FILE, or --list")
    if attested is None:
        _list(called, repo, as_json=as_json)
        return
    if repo is not None:
        raise ConfigurationError("--repo goes with --list: an attestation names its repository")
    signed = read_signed(attested)
    found = signed.attestation
    done = compactor(called).run(signed, source(called, found.kind, found.repository))
    if as_json:
        typer.echo(safe_json(compaction_as_json(done.record) | {"is_done_before": done.is_done_before}))
    else:
        show(fields({**attested_fields(found), "text": escaped(done.record.claim)}))
    if done.is_done_before:
        note(f"{found.job_id} was carried out at {done.record.compacted_at}: nothing was asked or changed")


def _list(called: Invocation, repo: str | None, *, as_json: bool) -> None:
    records = list(all_compactions(called, repo))
    if as_json:
        for record in records:
            typer.echo(safe_json(compaction_as_json(record)))
        return
    if not records:
        note("nothing was compacted")
        return
    rows = []
    for record in records:
        found = Attestation.of(record.attestation.encode())
        rows.append(
            (
                record.compacted_at[:10],
                found.repository or "all",
                count(len(found.sources), "row"),
                found.kind,
                found.policy.value,
                found.attested_by,
                record.job_id,
                escaped(record.claim),
            )
        )
    show(table(("on", "repository", "rows", "of", "policy", "attested by", "job", "text"), rows))
