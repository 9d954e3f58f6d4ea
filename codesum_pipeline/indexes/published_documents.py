"""Summary documents as lines of JSON: the index's doc store.

A line is the document and, at its end, its provenance. What counts as the
document's content is the line without the provenance.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.version_folder import PROVENANCE_FIELDS
from codesum_pipeline.model.documents import LEVELS, HistoryEvent

# In the order of a line. `context` and `hash` are made of other columns.
_FIRST = ("id", "type", "file_path", "module_path", "qualified_name", "summary", "business_intent", "keywords",
          "dependencies")  # fmt: skip
_HASHES = ("content_hash", "graph_hash", "summary_hash")
_LAST = (
    "text_hash", "language", "is_placeholder", "start_line", "end_line", "signature", "signature_summary", "returns",
    "inputs", "side_effects", "invariants", "responsibilities", "citations", "written_by", "model", "prompt_version",
    "gate", "parent_id", "is_test", "is_vendored",
)  # fmt: skip
_COLUMNS = (*_FIRST, "called_by", "calls", *_HASHES, *_LAST)
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_UNKNOWN_PROVENANCE = _ENCODE(dict.fromkeys(PROVENANCE_FIELDS))


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """One document: its JSON without provenance, and the JSON object of its provenance."""

    id: str
    content: str
    provenance: str

    @property
    def line(self) -> str:
        """What stands in `summary.jsonl`, with the line end."""
        return f"{self.content[:-1]},{self.provenance[1:]}\n"


def in_index_order(documents: pa.Table) -> pa.Table:
    """Sorted by level, then by id: one level's documents are one range of rows."""
    level = pc.index_in(documents.column("type"), value_set=pa.array([str(level) for level in LEVELS]))
    return documents.append_column("level", level).sort_by([("level", "ascending"), ("id", "ascending")])


def document_lines(documents: pa.Table, history: pa.Table) -> Iterator[DocumentLine]:
    """One line per document, in the order of the table."""
    provenance = _provenance(history)
    columns = [documents.column(name).to_pylist() for name in _COLUMNS]
    for values in zip(*columns, strict=True):
        row = dict(zip(_COLUMNS, values, strict=True))
        id_ = row["id"]
        yield DocumentLine(id_, _ENCODE(_published(row)), provenance.get(id_, _UNKNOWN_PROVENANCE))


def content_of(line: Mapping[str, Any]) -> str:
    """The JSON without provenance of a parsed line."""
    return _ENCODE({name: value for name, value in line.items() if name not in PROVENANCE_FIELDS})


def _published(row: dict[str, Any]) -> dict[str, Any]:
    fields = {name: row[name] for name in _FIRST}
    fields["context"] = {"called_by": row["called_by"], "calls": row["calls"]}
    fields.update((name, row[name]) for name in _HASHES)
    fields["hash"] = row["summary_hash"]
    fields.update((name, row[name]) for name in _LAST)
    return fields


def _provenance(history: pa.Table) -> dict[str, str]:
    """The provenance of each document's present text, as JSON by id."""
    written = history.filter(pc.equal(history.column("event"), str(HistoryEvent.WRITTEN)))
    names = ("id", "written_at", "cause", "cause_ids", "commit", "run_id")
    latest = {row[0]: row[1:] for row in zip(*(written.column(name).to_pylist() for name in names), strict=True)}
    return {id_: _ENCODE(dict(zip(PROVENANCE_FIELDS, values, strict=True))) for id_, values in latest.items()}
