"""The tables of the warehouse: their columns and the key they are sorted by.

A table holds one repository's rows. When or in which run something was written is kept out of every
table but `texts_*`, `document_history`, `evaluations`, `ledger` and `avoided`, so that equal content gives equal files.
"""

import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import HistoryRow, Level, PlanRow, SummaryDocument, TextRow
from codesum_pipeline.foundation.data_model.edge import (
    Alias,
    CallRow,
    CompilerFile,
    Context,
    Edge,
    GraphStats,
    IndexFile,
)
from codesum_pipeline.foundation.data_model.file import Snapshot, SourceFile, Submodule
from codesum_pipeline.foundation.data_model.model_call import AvoidedRow, LedgerRow
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.store.rows import schema_of

# Raised when a column changes its name, type or meaning; older warehouses are then refused. A new column that may be
# null is read as null from files that lack it.
SCHEMA_VERSION = 3


class TableSpec(Struct, frozen=True):
    """One table: a row's columns, and the columns that order and identify it.

    The rows of a large table are cut into parts by the paths in the column `cut_by`, which is the first of these or the
    second; of numbers, some that follow each other count as a path. Of a table that is `in_lanes` the rows with one
    value of the first are parts of their own, however few they are. Of one that `is_long` a row is large, and often
    only a few are read; of one that `has_sources` a row has all of a file. Of one that `is_salvaged` each row says what
    it was made from, or none can be made again: where the file is damaged, the rows that can be read are kept.
    """

    name: str
    schema: pa.Schema
    sort_by: tuple[str, ...]
    cut_by: str = ""
    in_lanes: bool = False
    is_long: bool = False
    has_sources: bool = False
    is_salvaged: bool = False


def _columns(*, optional: tuple[str, ...] = (), **types: pa.DataType) -> pa.Schema:
    """Columns by their names; those of `optional` may be null."""
    return pa.schema([pa.field(name, type_, nullable=name in optional) for name, type_ in types.items()])


_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()
VECTORS = _columns(id=_TEXT, lane=_TEXT, text_hash=_TEXT, model=_TEXT, vector=pa.list_(pa.float32()))
# `tokens` are joined by single spaces: a token never holds one.
TERMS = _columns(id=_TEXT, lane=_TEXT, text_hash=_TEXT, tokens=_TEXT)
CANDIDATE = _columns(digest=_TEXT, content_digest=_TEXT, commit=_TEXT, fingerprint=_TEXT)
# The overview of the published version for newcomers: a page of Markdown, and the same facts as JSON.
OVERVIEWS = _columns(commit=_TEXT, content_digest=_TEXT, page=_TEXT, facts=_TEXT)
# One measure of one evaluation; `asked` is a hash of what was asked and how, `questions` how many had the measure.
EVALUATIONS = _columns(
    sequence=_WHOLE, run_id=_TEXT, evaluated_at=_TEXT, commit=_TEXT, content_digest=_TEXT, asked=_TEXT, setup=_TEXT,
    category=_TEXT, metric=_TEXT, questions=_WHOLE, mean=_REAL, low=_REAL, high=_REAL,
)  # fmt: skip
# The lift ledger of each evaluation, line by line: `gain` is over the line before, null for the first of a level.
EVALUATION_LIFT = _columns(
    sequence=_WHOLE, line=_WHOLE, level=_TEXT, questions=_WHOLE, texts=_TEXT, score=_REAL, score_low=_REAL,
    score_high=_REAL, gain=_REAL, gain_low=_REAL, gain_high=_REAL, cost_usd=_REAL,
    optional=("gain", "gain_low", "gain_high"),
)  # fmt: skip
# How each question was answered by the last evaluated index and by the published one, all lanes together; `top` are
# the documents that came first.
EVALUATION_ANSWERS = _columns(
    content_digest=_TEXT, question=_TEXT, category=_TEXT, query=_TEXT, asked=_TEXT, files=pa.list_(_TEXT), score=_REAL,
    top=pa.list_(_TEXT),
)  # fmt: skip


# What was paid, and what for: no build can make it anew.
BOOKS = ("ledger", "avoided")


def texts_table(level: Level) -> str:
    """The table of the texts of one level."""
    return f"texts_{level}"


TABLES: dict[str, TableSpec] = {
    spec.name: spec
    for spec in (
        TableSpec("snapshot", schema_of(Snapshot), ("repo",)),
        TableSpec("files", schema_of(SourceFile), ("path",)),
        TableSpec("submodules", schema_of(Submodule), ("path",)),
        TableSpec(
            "symbols",
            schema_of(Symbol),
            ("file_path", "start_line", "end_line", "id"),
            cut_by="file_path",
            is_long=True,
        ),
        TableSpec("file_facts", schema_of(FileFacts), ("file_path",), cut_by="file_path", has_sources=True),
        TableSpec("scip_indexes", schema_of(IndexFile), ("position",)),
        TableSpec("compiler_files", schema_of(CompilerFile), ("file_path",), cut_by="file_path", is_long=True),
        TableSpec("call_sites", schema_of(CallRow), ("file_path", "number"), cut_by="file_path"),
        TableSpec("syntax_edges", schema_of(Edge), ("src_id", "kind", "dst", "is_external", "reason"), cut_by="src_id"),
        TableSpec("edges", schema_of(Edge), ("src_id", "kind", "dst", "is_external", "reason"), cut_by="src_id"),
        TableSpec("aliases", schema_of(Alias), ("file_path", "name", "kind", "target"), cut_by="file_path"),
        TableSpec("graph_stats", schema_of(GraphStats), ("id",)),
        TableSpec("contexts", schema_of(Context), ("id",), cut_by="id"),
        TableSpec("plan", schema_of(PlanRow), ("level", "id")),
        *(TableSpec(texts_table(level), schema_of(TextRow), ("id",), cut_by="id", is_long=True) for level in Level),
        TableSpec("documents", schema_of(SummaryDocument), ("id",), cut_by="id"),
        TableSpec("document_history", schema_of(HistoryRow), ("sequence",), cut_by="sequence", is_salvaged=True),
        TableSpec("vectors", VECTORS, ("lane", "id"), cut_by="id", in_lanes=True, is_salvaged=True),
        TableSpec("terms", TERMS, ("lane", "id"), cut_by="id", in_lanes=True),
        TableSpec("candidate", CANDIDATE, ("digest",)),
        TableSpec("overviews", OVERVIEWS, ("content_digest",)),
        TableSpec("evaluations", EVALUATIONS, ("sequence", "setup", "category", "metric"), is_salvaged=True),
        TableSpec("evaluation_lift", EVALUATION_LIFT, ("sequence", "line"), is_salvaged=True),
        TableSpec("evaluation_answers", EVALUATION_ANSWERS, ("content_digest", "question")),
        TableSpec("ledger", schema_of(LedgerRow), ("sequence", "run_id")),
        TableSpec("avoided", schema_of(AvoidedRow), ("noted_at", "run_id", "level", "cause")),
    )
}
