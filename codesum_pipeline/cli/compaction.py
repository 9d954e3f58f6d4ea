"""What `codesum attest` and `codesum compact` have in common."""

from collections.abc import Iterator
from typing import Any

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import count
from codesum_pipeline.compaction.attestation import Attestation
from codesum_pipeline.compaction.compacting import Compactor
from codesum_pipeline.compaction.history_rows import HistoryRows
from codesum_pipeline.compaction.kinds import all_sources, source_of
from codesum_pipeline.compaction.sources import CompactionSource
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.store.tables import TableStore


def compactor(called: Invocation) -> Compactor:
    """Of the home of a call."""
    return Compactor(called.settings, called.layout.home, utc_now)


def source(called: Invocation, kind: str, repo: str | None) -> CompactionSource:
    """The rows of a kind; a repository must be registered. Raises `ConfigurationError`."""
    key = called.registry.get(repo).key if repo is not None else None
    return source_of(kind, key, layout=called.layout, settings=called.settings, now=utc_now)


def all_compactions(called: Invocation, repo: str | None) -> Iterator[CompactionRecord]:
    """What stands in place of rows: of one repository, or of all and of the cache."""
    if repo is not None:
        called.registry.get(repo)
    keys = [repo] if repo is not None else TableStore(called.layout.warehouse).repositories("document_history")
    for each in all_sources(sorted(keys), layout=called.layout, settings=called.settings, now=utc_now):
        if repo is None or each.repository == repo:
            yield from each.compactions()


def compactions_of_document(called: Invocation, repo: str, doc_id: str) -> list[dict[str, Any]]:
    """The compactions that stand in place of rows of a document's history, oldest first."""
    history = HistoryRows(TableStore(called.layout.warehouse), called.layout, repo)
    return [
        {
            "job_id": record.job_id,
            "rows": rows,
            "policy": Attestation.of(record.attestation.encode()).policy.value,
            "compacted_at": record.compacted_at,
        }
        for record, rows in history.of_document(doc_id)
    ]


def attested_fields(attestation: Attestation) -> dict[str, Any]:
    """An attestation for a person to read."""
    selection = attestation.selection
    return {
        "job": attestation.job_id,
        "rows": f"{count(len(attestation.sources), 'row')} of {attestation.kind}",
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
    found = Attestation.of(record.attestation.encode())
    return {
        "job_id": record.job_id,
        "kind": found.kind,
        "repository": found.repository,
        "policy": found.policy.value,
        "sources": [{"id": source.id, "blake3": source.blake3} for source in found.sources],
        "text": record.claim,
        "model": record.model_name_echoed,
        "request_hash": record.request_hash,
        "cost_usd": record.cost_usd,
        "compacted_at": record.compacted_at,
        "attested_by": found.attested_by,
        "attested_at": found.attested_at,
        "attestation": record.attestation,
        "signature": record.signature,
    }
