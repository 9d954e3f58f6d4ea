"""`codesum compact`: old rows become one text, as a signed attestation says."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType

from codesum_pipeline.builds.compaction.attestation import Attestation, read_signed
from codesum_pipeline.builds.compaction.compactable_rows import all_sources
from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.ways_in.cli.compaction_views import (
    attested_fields,
    compaction_as_json,
    compaction_source_of,
    compactor_of,
)
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    escape_text,
    make_fields,
    make_table,
    present_rows,
    print_json,
    show_parts,
    write_note,
)


def compact(
    invocation: Invocation,
    attested: Path | None = None,
    listed: bool = False,
    repo: str | None = None,
    as_json: bool = False,
) -> None:
    """Replace old rows by one text, as a signed attestation says; list earlier ones.

    If the signature, the signer, the rows, the model or the template differs from the attestation, no model is asked
    and nothing is changed. A finished job is not repeated.

    codesum compact --attest job.json
    """
    if (attested is None) == (not listed):
        raise ConfigurationError("say what to do: --attest FILE, or --list")
    if attested is None:
        records = list(_compactions(invocation, repo))
        values = [compaction_as_json(record) for record in records]
        present_rows(values, lambda: _listed(records), as_json=as_json, otherwise="nothing was compacted")
        return
    if repo is not None:
        raise ConfigurationError("--repo goes with --list: an attestation names its repository")
    signed = read_signed(attested)
    found = signed.attestation
    done = compactor_of(invocation).run(signed, compaction_source_of(invocation, found.kind, found.repository))
    if as_json:
        print_json(compaction_as_json(done.record) | {"is_done_before": done.is_done_before})
    else:
        show_parts(make_fields({**attested_fields(found), "text": escape_text(done.record.claim)}))
    if done.is_done_before:
        write_note(f"{found.job_id} was carried out at {done.record.compacted_at}: nothing was asked or changed")


def _listed(records: Sequence[CompactionRecord]) -> RenderableType:
    rows = []
    for record in records:
        found = Attestation.of_record(record)
        what = (count_noun(len(found.sources), "row"), found.kind, found.policy.value)
        by, text = found.attested_by, escape_text(record.claim)
        rows.append((record.compacted_at[:10], found.repository or "all", *what, by, record.job_id, text))
    return make_table(("on", "repository", "rows", "of", "policy", "attested by", "job", "text"), rows)


def _compactions(invocation: Invocation, repo: str | None) -> Iterator[CompactionRecord]:
    """The compactions that replaced rows: of one repository, or of all and of the cache."""
    if repo is not None:
        invocation.registry.get(repo)
    keys = [repo] if repo is not None else tables_of(invocation.layout).repositories("document_history")
    for each in all_sources(sorted(keys), layout=invocation.layout, settings=invocation.settings, now=utc_now):
        if repo is None or each.repository == repo:
            yield from each.compactions()
