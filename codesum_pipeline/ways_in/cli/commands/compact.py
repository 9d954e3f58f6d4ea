"""`codesum attest` and `compact`: an operator signs that old rows may become one text, and a job carries it out."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType

from codesum_pipeline.changes.compaction.attestation import (
    NAMESPACE,
    Attestation,
    Policy,
    Selection,
    read_attestation,
    read_signed,
    signature_path,
)
from codesum_pipeline.changes.compaction.compactable_rows import (
    KINDS,
    TABLE,
    CompactionSource,
    HistoryRows,
    all_sources,
    source_of,
)
from codesum_pipeline.changes.compaction.compacting import Compactor
from codesum_pipeline.changes.compaction.signatures import fingerprint_of, load_key
from codesum_pipeline.changes.compaction.signatures import sign_message as sign_bytes
from codesum_pipeline.ground.model.document import CompactionRecord
from codesum_pipeline.ground.model.errors import ConfigurationError
from codesum_pipeline.ground.model.moments import iso_moment, utc_now
from codesum_pipeline.ground.model.printable import counted
from codesum_pipeline.ground.store.atomic import write_bytes_atomically
from codesum_pipeline.ground.store.tables import tables_of
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import Invocation, invocation, with_modes_of_the_caller
from codesum_pipeline.ways_in.cli.options import argument, key_option, option, switch
from codesum_pipeline.ways_in.cli.render import escaped, fields, note, present, print_json, show, table

File = Annotated[Path, argument("FILE", "The attestation.", exists=True, dir_okay=False)]

attest = CommandGroup("attest")


@attest.command()
def new(
    ctx: typer.Context,
    policy: Annotated[
        Policy, typer.Option(help="What becomes of the rows: they stay, or only their ids and hashes do.")
    ],
    by: Annotated[str, typer.Option(metavar="PRINCIPAL", help="Who attests, as in the allowed-signers file.")],
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"The rows: {' or '.join(KINDS)}.")] = TABLE,
    repo: Annotated[str | None, key_option("Whose history.")] = None,
    before: Annotated[datetime | None, option("DATE", "Rows older than this day, UTC.", formats=["%Y-%m-%d"])] = None,
    ids: Annotated[
        str | None, option("PATTERN", "Only documents whose ids match; of digests, intents whose names do.")
    ] = None,
    prompt_version: Annotated[str | None, option("DIGEST", "The old prompt version of the texts.")] = None,
    limit: Annotated[int | None, option("N", "At most so many rows, oldest first.", min=1)] = None,
    max_bytes: Annotated[int, typer.Option(metavar="N", min=1, max=65536, help="Bytes of the text at most.")] = 4096,
    model: Annotated[str | None, option("MODEL", "The model. Default: llm.model.")] = None,
    output: Annotated[Path | None, option("FILE", "Default: JOB.json here.", "--output", "-o")] = None,
) -> None:
    """Write an attestation of the old rows as they are now, to be looked at and signed.

    codesum attest new --repo shop --before 2026-01-01 --policy tombstoned --by ops@example.org
    """
    called = invocation(ctx)
    selection = Selection(
        before=iso_moment(before.replace(tzinfo=UTC)) if before else None,
        ids=ids,
        prompt_version=prompt_version,
        limit=limit,
    )
    attestation = compactor(called).attest(
        source(called, kind, repo), selection, policy=policy, attested_by=by, max_output_bytes=max_bytes, model=model
    )
    path = output or Path(f"{attestation.job_id}.json")
    if path.exists():
        raise ConfigurationError(f"--output {path}: there is such a file: name another one")
    with with_modes_of_the_caller():
        write_bytes_atomically(path, attestation.to_bytes())
    show(fields(attested_fields(attestation)))
    note(f"written to {path}: read it, then `codesum attest sign {path} --key KEY`")


@attest.command()
def sign(
    file: File,
    key: Annotated[
        Path,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Your OpenSSH private key, of type Ed25519."),
    ],
) -> None:
    """Sign an attestation: FILE.sig is written beside it.

    It is the signature that `ssh-keygen -Y sign -n codesum-attestation -f KEY FILE` makes.
    """
    _, data = read_attestation(file)
    private = load_key(key, lambda: str(typer.prompt(f"Passphrase of {key}", hide_input=True, err=True)))
    path = signature_path(file)
    with with_modes_of_the_caller():
        write_bytes_atomically(path, sign_bytes(data, private, namespace=NAMESPACE).encode())
    note(f"written to {path}: `codesum attest verify {file}` checks it")


@attest.command()
def verify(ctx: typer.Context, file: File) -> None:
    """Check all that [bold]codesum compact[/] checks before it asks a model: it costs nothing.

    The signature and who signed, the rows, the model, the template.
    """
    called = invocation(ctx)
    signed = read_signed(file)
    found = signed.attestation
    done = compactor(called).check(signed, source(called, found.kind, found.repository))
    show(fields({**attested_fields(found), "signed with": fingerprint_of(signed.parsed_signature.public_key)}))
    note(
        f"carried out at {done.compacted_at}" if done else f"it holds: `codesum compact --attest {file}` carries it out"
    )


def compact(
    ctx: typer.Context,
    attested: Annotated[
        Path | None,
        option(
            "FILE", "Carry out this attestation, whose signature is FILE.sig.", "--attest", exists=True, dir_okay=False
        ),
    ] = None,
    listed: Annotated[bool, switch("--list", "List what was compacted, oldest first.")] = False,
    repo: Annotated[str | None, key_option("With --list: only this one's.")] = None,
    as_json: Annotated[
        bool, switch("--json", "Print one JSON object per compaction, with text, rows and signature.")
    ] = False,
) -> None:
    """Replace old rows by one text, as a signed attestation says; list earlier ones.

    No model is asked and nothing is changed if the signature, the signer, the rows, the model or the template differs
    from the attestation. A finished job is not repeated.

    codesum compact --attest job.json
    """
    called = invocation(ctx)
    if (attested is None) == (not listed):
        raise ConfigurationError("say what to do: --attest FILE, or --list")
    if attested is None:
        records = list(_compactions(called, repo))
        values = [compaction_as_json(record) for record in records]
        present(values, lambda: _listed(records), as_json=as_json, otherwise="nothing was compacted")
        return
    if repo is not None:
        raise ConfigurationError("--repo goes with --list: an attestation names its repository")
    signed = read_signed(attested)
    found = signed.attestation
    done = compactor(called).run(signed, source(called, found.kind, found.repository))
    if as_json:
        print_json(compaction_as_json(done.record) | {"is_done_before": done.is_done_before})
    else:
        show(fields({**attested_fields(found), "text": escaped(done.record.claim)}))
    if done.is_done_before:
        note(f"{found.job_id} was carried out at {done.record.compacted_at}: nothing was asked or changed")


def _listed(records: Sequence[CompactionRecord]) -> RenderableType:
    rows = []
    for record in records:
        found = Attestation.of_record(record)
        what = (counted(len(found.sources), "row"), found.kind, found.policy.value)
        by, text = found.attested_by, escaped(record.claim)
        rows.append((record.compacted_at[:10], found.repository or "all", *what, by, record.job_id, text))
    return table(("on", "repository", "rows", "of", "policy", "attested by", "job", "text"), rows)


def _compactions(called: Invocation, repo: str | None) -> Iterator[CompactionRecord]:
    """The compactions that replaced rows: of one repository, or of all and of the cache."""
    if repo is not None:
        called.registry.get(repo)
    keys = [repo] if repo is not None else tables_of(called.layout).repositories("document_history")
    for each in all_sources(sorted(keys), layout=called.layout, settings=called.settings, now=utc_now):
        if repo is None or each.repository == repo:
            yield from each.compactions()


def compactor(called: Invocation) -> Compactor:
    """The compactor of a call's home."""
    return Compactor(called.settings, called.layout.home, utc_now)


def source(called: Invocation, kind: str, repo: str | None) -> CompactionSource:
    """The rows of a kind; a repository must be registered. Raises `ConfigurationError`."""
    key = called.registry.get(repo).key if repo is not None else None
    return source_of(kind, key, layout=called.layout, settings=called.settings, now=utc_now)


def compactions_of_document(called: Invocation, repo: str, doc_id: str) -> list[dict[str, Any]]:
    """The compactions that replaced rows of a document's history, oldest first."""
    history = HistoryRows(tables_of(called.layout), called.layout, repo)
    return [
        {
            "job_id": record.job_id,
            "rows": rows,
            "policy": Attestation.of_record(record).policy.value,
            "compacted_at": record.compacted_at,
        }
        for record, rows in history.of_document(doc_id)
    ]


def attested_fields(attestation: Attestation) -> dict[str, Any]:
    """An attestation for a person to read."""
    selection = attestation.selection
    return {
        "job": attestation.job_id,
        "rows": f"{counted(len(attestation.sources), 'row')} of {attestation.kind}",
        "repository": attestation.repository,
        "before": selection.before,
        "ids": selection.ids,
        "prompt version": selection.prompt_version,
        "at most": selection.limit,
        "become": f"one text of at most {attestation.max_output_bytes:,} bytes; the rows are {attestation.policy}",
        "model": attestation.model,
        "template": attestation.prompt_template_blake3,
        "attested by": f"{attestation.attested_by} at {attestation.attested_at}",
    }


def compaction_as_json(record: CompactionRecord) -> dict[str, object]:
    """All of a compaction, for a program."""
    told: dict[str, object] = to_builtins(record)
    told |= {"text": told.pop("claim"), "model": told.pop("model_name_echoed")}
    found = to_builtins(Attestation.of_record(record))
    names = ("kind", "repository", "policy", "sources", "attested_by", "attested_at")
    return told | {name: found[name] for name in names}
