"""`codesum attest`: an operator signs that old rows may become one text."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.builds.compaction.attestation import (
    Policy,
    Selection,
    read_attestation,
    read_signed,
    sign_attestation,
    signature_path,
)
from codesum_pipeline.builds.compaction.compactable_rows import KINDS, TABLE
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.compaction_views import attested_fields, compaction_source_of, compactor_of
from codesum_pipeline.ways_in.cli.invocation import invocation_of
from codesum_pipeline.ways_in.cli.options import argument, key_option, option
from codesum_pipeline.ways_in.cli.render import make_fields, show_parts, write_note

File = Annotated[Path, argument("FILE", "The attestation.", exists=True, dir_okay=False)]
attest = CommandGroup("attest")


@attest.command()
def new(
    ctx: typer.Context,
    policy: Annotated[
        Policy, typer.Option(help="What is kept of the rows: the whole rows, or only their ids and hashes.")
    ],
    by: Annotated[str, typer.Option(metavar="PRINCIPAL", help="Who attests, as in the allowed-signers file.")],
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"The rows: {' or '.join(KINDS)}.")] = TABLE,
    repo: Annotated[str | None, key_option("The repository whose history is compacted.")] = None,
    before: Annotated[datetime | None, option("DATE", "Rows older than this day, UTC.", formats=["%Y-%m-%d"])] = None,
    ids: Annotated[
        str | None, option("PATTERN", "Only documents whose ids match; for digests, only intents whose names match.")
    ] = None,
    prompt_version: Annotated[str | None, option("DIGEST", "The old prompt version of the texts.")] = None,
    limit: Annotated[int | None, option("N", "Take at most N rows, oldest first.", min=1)] = None,
    max_bytes: Annotated[int, typer.Option(metavar="N", min=1, max=65536, help="The text has at most N bytes.")] = 4096,
    model: Annotated[str | None, option("MODEL", "The model. Default: llm.model.")] = None,
    output: Annotated[
        Path | None, option("FILE", "The file to write. Default: JOB.json in the current folder.", "--output", "-o")
    ] = None,
) -> None:
    """Write an attestation of the old rows as they are now; you review and sign it.

    codesum attest new --repo shop --before 2026-01-01 --policy tombstoned --by ops@example.org
    """
    invocation = invocation_of(ctx)
    selection = Selection(
        before=iso_moment(before.replace(tzinfo=UTC)) if before else None,
        ids=ids,
        prompt_version=prompt_version,
        limit=limit,
    )
    attestation = compactor_of(invocation).attest(
        compaction_source_of(invocation, kind, repo),
        selection,
        policy=policy,
        attested_by=by,
        max_output_bytes=max_bytes,
        model=model,
    )
    path = output or Path(f"{attestation.job_id}.json")
    if path.exists():
        raise ConfigurationError(f"--output {path}: this file exists already: name another one")
    with invocation.with_modes_of_the_caller():
        write_bytes_atomically(path, attestation.to_bytes())
    show_parts(make_fields(attested_fields(attestation)))
    write_note(f"written to {path}: read it, then `codesum attest sign {path} --key KEY`")


@attest.command()
def sign(
    ctx: typer.Context,
    file: File,
    key: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Your OpenSSH key, of type Ed25519: a private key, or the public key of one that ssh-agent holds.",
        ),
    ],
) -> None:
    """Sign an attestation: FILE.sig is written beside it.

    `ssh-keygen -Y sign -n codesum-attestation -f KEY FILE` does the same.
    """
    signed = sign_attestation(*read_attestation(file), key)
    path = signature_path(file)
    with invocation_of(ctx).with_modes_of_the_caller():
        write_bytes_atomically(path, signed.signature.encode())
    write_note(f"written to {path}: `codesum attest verify {file}` checks it")


@attest.command()
def verify(ctx: typer.Context, file: File) -> None:
    """Check all that [bold]codesum compact[/] checks before it asks a model: it costs nothing.

    The signature and who signed, the rows, the model, the template.
    """
    invocation = invocation_of(ctx)
    signed = read_signed(file)
    found = signed.attestation
    done = compactor_of(invocation).check(signed, compaction_source_of(invocation, found.kind, found.repository))
    show_parts(make_fields({**attested_fields(found), "signed with": signed.check_signature()}))
    write_note(
        f"carried out at {done.compacted_at}" if done else f"it holds: `codesum compact --attest {file}` carries it out"
    )
