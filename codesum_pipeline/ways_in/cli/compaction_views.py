"""Attestations and compactions as several commands show them, and the compactor and rows of a call."""

from typing import Any

from msgspec import to_builtins

from codesum_pipeline.builds.compaction.attestation import Attestation
from codesum_pipeline.builds.compaction.compactable_rows import CompactionSource, HistoryRows, source_of
from codesum_pipeline.builds.compaction.compacting import Compactor
from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.ways_in.cli.invocation import Invocation


def compactor_of(invocation: Invocation) -> Compactor:
    """The compactor of a call's home."""
    return Compactor(invocation.settings, invocation.layout.home, utc_now)


def compaction_source_of(invocation: Invocation, kind: str, repo: str | None) -> CompactionSource:
    """The rows of a kind; a repository must be registered. Raises `ConfigurationError`."""
    key = invocation.registry.get(repo).key if repo is not None else None
    return source_of(kind, key, layout=invocation.layout, settings=invocation.settings, now=utc_now)


def compactions_of_document(invocation: Invocation, repo: str, doc_id: str) -> list[dict[str, Any]]:
    """The compactions that replaced rows of a document's history, oldest first."""
    history = HistoryRows(tables_of(invocation.layout), invocation.layout, repo)
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
        "rows": f"{count_noun(len(attestation.sources), 'row')} of {attestation.kind}",
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
    values: dict[str, object] = to_builtins(record)
    values |= {"text": values.pop("claim"), "model": values.pop("model_name_echoed")}
    found = to_builtins(Attestation.of_record(record))
    names = ("kind", "repository", "policy", "sources", "attested_by", "attested_at")
    return values | {name: found[name] for name in names}
