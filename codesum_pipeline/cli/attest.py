"""`codesum attest`: the file with which an operator answers for a compaction."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.commands import PlainCommand, PlainGroup
from codesum_pipeline.cli.compaction import attested_fields, compactor, source
from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.invocation import invocation, with_modes_of_the_caller
from codesum_pipeline.cli.render import fields, note, show
from codesum_pipeline.compaction.attestation import (
    NAMESPACE,
    Policy,
    Selection,
    read_attestation,
    read_signed,
    signature_path,
)
from codesum_pipeline.compaction.history_rows import TABLE
from codesum_pipeline.compaction.kinds import KINDS
from codesum_pipeline.compaction.ssh_signatures import fingerprint, load_key
from codesum_pipeline.compaction.ssh_signatures import sign as sign_bytes
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.atomic import write_bytes_atomically

File = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="The attestation.")]

attest = typer.Typer(
    cls=PlainGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Attest which old rows are to be compressed into one: make, sign, verify the file.",
)


@attest.command(cls=PlainCommand)
def new(
    ctx: typer.Context,
    policy: Annotated[
        Policy, typer.Option(help="What becomes of the rows: they stay, or only their ids and hashes do.")
    ],
    by: Annotated[str, typer.Option(metavar="PRINCIPAL", help="Who attests, as in the allowed-signers file.")],
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"The rows: {' or '.join(KINDS)}.")] = TABLE,
    repo: Annotated[
        str | None,
        typer.Option(metavar="KEY", autocompletion=complete_keys, show_default=False, help="Whose history."),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", formats=["%Y-%m-%d"], show_default=False, help="Rows older than this day, UTC."),
    ] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            show_default=False,
            help="Only documents whose ids match; of digests, intents whose names do.",
        ),
    ] = None,
    prompt_version: Annotated[
        str | None, typer.Option(metavar="DIGEST", show_default=False, help="The old prompt version of the texts.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default=False, help="At most so many rows, oldest first.")
    ] = None,
    max_bytes: Annotated[int, typer.Option(metavar="N", min=1, max=65536, help="Bytes of the text at most.")] = 4096,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", show_default=False, help="The model. Default: llm.model.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Default: JOB.json here.")
    ] = None,
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


@attest.command(cls=PlainCommand)
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


@attest.command(cls=PlainCommand)
def verify(ctx: typer.Context, file: File) -> None:
    """Check all that [bold]codesum compact[/] checks before it asks a model: it costs nothing.

    The signature and who signed, the rows, the model, the template.
    """
    called = invocation(ctx)
    signed = read_signed(file)
    found = signed.attestation
    done = compactor(called).check(signed, source(called, found.kind, found.repository))
    show(fields({**attested_fields(found), "signed with": fingerprint(signed.parsed_signature.public_key)}))
    note(
        f"carried out at {done.compacted_at}" if done else f"it holds: `codesum compact --attest {file}` carries it out"
    )
