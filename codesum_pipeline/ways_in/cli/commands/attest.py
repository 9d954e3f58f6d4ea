"""`codesum attest`: an operator signs that old rows may become one text."""

from datetime import UTC, datetime
from pathlib import Path

from codesum_pipeline.builds.compaction.attestation import (
    Policy,
    Selection,
    read_attestation,
    read_signed,
    sign_attestation,
    signature_path,
)
from codesum_pipeline.builds.compaction.compactable_rows import TABLE
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.compaction_views import attested_fields, compaction_source_of, compactor_of
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import make_fields, show_parts, write_note

attest = CommandGroup("attest")


@attest.command()
def new(
    invocation: Invocation,
    policy: Policy,
    by: str,
    kind: str = TABLE,
    repo: str | None = None,
    before: datetime | None = None,
    ids: str | None = None,
    prompt_version: str | None = None,
    limit: int | None = None,
    max_bytes: int = 4096,
    model: str | None = None,
    output: Path | None = None,
) -> None:
    """Write an attestation of the old rows as they are now; you review and sign it.

    codesum attest new --repo shop --before 2026-01-01 --policy tombstoned --by ops@example.org
    """
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
def sign(invocation: Invocation, file: Path, key: Path) -> None:
    """Sign an attestation: FILE.sig is written beside it.

    `ssh-keygen -Y sign -n codesum-attestation -f KEY FILE` does the same.
    """
    signed = sign_attestation(*read_attestation(file), key)
    path = signature_path(file)
    with invocation.with_modes_of_the_caller():
        write_bytes_atomically(path, signed.signature.encode())
    write_note(f"written to {path}: `codesum attest verify {file}` checks it")


@attest.command()
def verify(invocation: Invocation, file: Path) -> None:
    """Check all that [bold]codesum compact[/] checks before it asks a model: it costs nothing.

    The signature and who signed, the rows, the model, the template.
    """
    signed = read_signed(file)
    found = signed.attestation
    done = compactor_of(invocation).check(signed, compaction_source_of(invocation, found.kind, found.repository))
    show_parts(make_fields({**attested_fields(found), "signed with": signed.check_signature()}))
    write_note(
        f"carried out at {done.compacted_at}" if done else f"it holds: `codesum compact --attest {file}` carries it out"
    )
