"""Faults in documents and vectors, as SQL over the tables: each stops the run that wrote them.

What was looked at in the last build without a fault, and is the same, is passed over (`looked_at.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.checks.looked_at import LookedAt
from codesum_pipeline.builds.reports.build_values import (
    CheckFinding,
    Numbers,
)
from codesum_pipeline.builds.reports.report_values import rows_of
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SUFFIX_PATTERN
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import dense_lanes
from codesum_pipeline.indexes.lanes.dense import vector_length
from codesum_pipeline.texts.llm.leaks import leaked_names
from codesum_pipeline.texts.summaries.neighbours import own_names_of

if TYPE_CHECKING:
    import duckdb

# Examples shown of each kind of fault.
EXAMPLES = 5
# The rounding error of a sum of float32 squares.
NORM_TOLERANCE = 1e-3
Faults = Mapping[str, list[str]]

# The number of checked items, to compare with the number of faults; the UI plots both over time.
DOCUMENT_COUNTS = {
    "documents": "SELECT count(*) FROM documents",
    "symbols": "SELECT count(*) FROM symbols",
    "indexed_files": "SELECT count(*) FROM files WHERE status = 'indexed'",
    "placeholders": "SELECT count(*) FROM documents WHERE is_placeholder",
    "placeholder_share": "SELECT coalesce(avg(is_placeholder::INTEGER), 0.0) FROM documents",
}
VECTOR_COUNTS = {
    "vectors": "SELECT count(*) FROM vectors",
    "documents": "SELECT count(*) FROM documents WHERE NOT is_placeholder",
}
LOOKED_AT = ("documents", "symbols", "vectors")


class FaultQuery(Struct, frozen=True):
    """Selects the ids that have a fault, from whole tables of which it `reads` these columns, or else from `rows`,
    which are of some parts of one table."""

    sql: str
    reads: Mapping[str, str] = {}


# The fields of a document that are filled and have to be cited.
FILLED = """[name FOR name IN ['summary', CASE WHEN len(inputs) > 0 THEN 'inputs' END,
    CASE WHEN returns IS NOT NULL THEN 'returns' END, CASE WHEN len(side_effects) > 0 THEN 'side_effects' END,
    CASE WHEN len(invariants) > 0 THEN 'invariants' END] IF name IS NOT NULL]"""

# By check: each names a fault.
DOCUMENT_FAULTS = {
    "ids_are_unique": {
        "an id occurs twice": FaultQuery(
            "SELECT id FROM documents GROUP BY id HAVING count(*) > 1", {"documents": "id"}
        ),
        "a symbol's id occurs twice": FaultQuery(
            "SELECT id FROM symbols GROUP BY id HAVING count(*) > 1", {"symbols": "id"}
        ),
        "an id or a file path is empty": FaultQuery("SELECT file_path FROM rows WHERE id = '' OR file_path = ''"),
    },
    "no_orphans": {
        "its parent is no document": FaultQuery(
            """SELECT id FROM documents d WHERE parent_id IS NOT NULL
               AND NOT EXISTS (FROM documents p WHERE p.id = d.parent_id)""",
            {"documents": "id parent_id"},
        ),
        "its file is not indexed": FaultQuery(
            """SELECT id FROM documents d WHERE type <> 'module'
               AND NOT EXISTS (FROM files f WHERE f.path = d.file_path AND f.status = 'indexed')""",
            {"documents": "id type file_path", "files": "path status"},
        ),
        "its symbol is gone": FaultQuery(
            """SELECT id FROM documents d WHERE type IN ('function', 'class')
               AND NOT EXISTS (FROM symbols s WHERE s.id = d.id AND s.type = d.type)""",
            {"documents": "id type", "symbols": "id type"},
        ),
        "a neighbour in its context is no document": FaultQuery(
            """SELECT id FROM (SELECT id, unnest(list_concat(called_by, calls)) AS neighbour FROM documents)
               WHERE neighbour NOT IN (SELECT id FROM documents)""",
            {"documents": "id called_by calls"},
        ),
    },
    "every_source_has_its_document": {
        "a symbol has no document": FaultQuery(
            """SELECT id FROM symbols s
               WHERE NOT EXISTS (FROM documents d WHERE d.id = s.id AND d.type = s.type)""",
            {"documents": "id type", "symbols": "id type"},
        ),
        "an indexed file has no document": FaultQuery(
            """SELECT path FROM files f WHERE status = 'indexed'
               AND NOT EXISTS (FROM documents d WHERE d.id = f.path AND d.type = 'file')""",
            {"documents": "id type", "files": "path status"},
        ),
        "a folder has no document": FaultQuery(
            """SELECT DISTINCT module_path FROM documents d
               WHERE NOT EXISTS (FROM documents m WHERE m.id = d.module_path AND m.type = 'module')""",
            {"documents": "id type module_path"},
        ),
        "a required field is empty": FaultQuery(
            "SELECT id FROM rows WHERE summary = '' OR content_hash = '' OR summary_hash = '' OR text_hash = ''"
        ),
    },
    # Citations are those of functions; what a class, file or folder does names its parts.
    "citations_hold": {
        "a citation leads out of its document": FaultQuery(
            """SELECT d.id FROM (SELECT id, unnest(citations) AS cited FROM documents) d
               LEFT JOIN (SELECT id, list_min(line_map) AS first, list_max(line_map) AS last FROM symbols) s USING (id)
               WHERE NOT coalesce(first <= cited.start_line AND cited.start_line <= cited.end_line
               AND cited.end_line <= last, false)""",
            {"documents": "id citations", "symbols": "id line_map"},
        ),
        "a citation of an empty or unknown field": FaultQuery(
            f"""SELECT id FROM (SELECT id, {FILLED} AS filled, unnest(citations) AS cited FROM rows)
                WHERE NOT list_contains(filled, cited.field)"""
        ),
        "a filled field is not cited": FaultQuery(
            f"""SELECT id FROM rows WHERE type = 'function' AND NOT is_placeholder
                AND NOT list_has_all([cited.field FOR cited IN citations], {FILLED})"""
        ),
    },
}
LEAK_FAULT = "a text names a caller or callee"

VECTOR_FAULTS = {
    "a document lacks the vector of a lane": FaultQuery(
        """SELECT d.id FROM documents d CROSS JOIN (SELECT unnest($lanes) AS lane) l WHERE NOT d.is_placeholder
           AND NOT EXISTS (FROM vectors v WHERE v.id = d.id AND v.lane = l.lane)""",
        {"documents": "id is_placeholder", "vectors": "id lane"},
    ),
    "a vector occurs twice": FaultQuery(
        "SELECT id FROM vectors GROUP BY id, lane HAVING count(*) > 1", {"vectors": "id lane"}
    ),
    "a vector belongs to no document": FaultQuery(
        "SELECT id FROM vectors WHERE id NOT IN (SELECT id FROM documents)", {"documents": "id", "vectors": "id"}
    ),
    "a placeholder has a vector": FaultQuery(
        "SELECT v.id FROM vectors v JOIN documents d USING (id) WHERE d.is_placeholder",
        {"documents": "id is_placeholder", "vectors": "id"},
    ),
    "a vector of another model": FaultQuery("SELECT id FROM rows WHERE model <> $model"),
    "a vector of another length": FaultQuery("SELECT id FROM rows WHERE length <> $dimensions"),
    "a number that is not finite": FaultQuery("SELECT id FROM rows WHERE NOT isfinite(square)"),
    "a vector that is not of length one, nor of zeros": FaultQuery(
        "SELECT id FROM rows WHERE isfinite(square) AND square <> 0 AND abs(square - 1) > $tolerance"
    ),
}


class PartsOf(Struct, frozen=True):
    """How the parts of a table are looked at one by one: the columns of `rows`, which are `prepared`, and a query for
    the hash of a part, an id and a word for all that is remembered of them."""

    table: str
    columns: list[str]
    notes: str
    prepared: Callable[[pa.Table], pa.Table] = lambda rows: rows


# The words of a text that belong to what may be a name of code.
DOCUMENT_PARTS = PartsOf(
    "documents",
    ["id", "type", "file_path", "is_placeholder", "summary", "business_intent", "inputs", "returns", "side_effects",
     "invariants", "citations", "content_hash", "summary_hash", "text_hash"],
    r"""
    WITH texts AS (
        SELECT part, id, concat_ws(chr(10), summary, business_intent) AS text FROM rows WHERE NOT is_placeholder
        AND regexp_matches(text, '[_\pN]|\pL(?:\.|::)[\pL_]|\pL\(\)|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}')),
    tokens AS (
        SELECT part, id, unnest(regexp_extract_all(
            text, '[\pL_][\pL\pN_]*(?:(?:\.|::)[\pL_][\pL\pN_]*)*(?:\(\))?')) AS token FROM texts)
    SELECT DISTINCT part, id, unnest(string_split_regex(token, '\.|::|\(\)')) AS word FROM tokens
    WHERE regexp_matches(token, '[._(]|::|[\p{Ll}\pN]\p{Lu}|\p{Lu}{2}\p{Ll}|\pN')""",
)  # fmt: skip

# A document, and the name of a neighbour of something that lies in it, of which the last word is one of the `words` of
# its text. Names are many edges', so that words are read off each once.
NAMES_IN_TEXTS = r"""
    WITH called AS MATERIALIZED (SELECT src_id, dst, is_external FROM edges WHERE kind = 'call'),
    neighbours AS (
        SELECT src_id AS inside, dst AS name, is_external FROM called
        UNION ALL SELECT dst, src_id, false FROM called WHERE NOT is_external),
    ends AS (
        SELECT name, split_part(split_part(name, '::', -1), '.', -1) AS last
        FROM (SELECT DISTINCT name FROM neighbours)),
    last_words AS (
        SELECT name, CASE WHEN contains(name, '/') AND NOT contains(name, '::')
            THEN regexp_extract(name, '([^/.]*)[^/]*$', 1)
            WHEN regexp_full_match(last, '[\pL\pN_]+') THEN last
            ELSE regexp_extract(regexp_replace(name, $suffix, '\1'), '([\pL\pN_]+)[^\pL\pN_]*$', 1) END AS word
        FROM ends),
    beside AS (
        SELECT DISTINCT inside, name, is_external, word FROM neighbours JOIN last_words USING (name)
        WHERE word IN (SELECT word FROM words))
    SELECT DISTINCT w.id, b.name FROM words w JOIN beside b ON w.word = b.word AND lies_in(b.inside, w.id)
    WHERE b.is_external OR NOT lies_in(b.name, w.id)"""
_WORDS = pa.schema([("id", pa.string()), ("word", pa.string())])
LIES_IN = """CREATE OR REPLACE TEMPORARY MACRO lies_in(one, id) AS
    id = '.' OR one = id OR starts_with(one, id || '::') OR starts_with(one, id || '/')"""
TEXTS = """SELECT id, concat_ws(chr(10), summary, business_intent) FROM documents
    WHERE NOT is_placeholder AND id IN (SELECT unnest($ids))"""


class FaultFinder:
    """Finds the faults of one check, and passes over what was looked at in the last build without one."""

    def __init__(
        self, ws: Workspace, check: str, parts: PartsOf, queries: Mapping[str, FaultQuery], **values: object
    ) -> None:
        self._ws, self._check, self._parts, self._queries, self._values = ws, check, parts, queries, values
        rules = [parts.notes, *parts.columns, *(query.sql for query in queries.values()), values]
        self._last = LookedAt.of_last_build(ws, check, rules)
        # By part: an id and a word for each thing that is remembered of its rows.
        self.notes: dict[str, list[tuple[str, str]]] = {}

    def find(self, connection: "duckdb.DuckDBPyConnection") -> Faults:
        """The ids that each query selects, by the fault it looks for; faults that nothing has are left out."""
        found, queries = dict[str, list[str]](), dict[str, str]()
        for fault, query in self._queries.items():
            if query.reads:
                read = {
                    table: self._ws.tables.content_hash(table, self._ws.key, columns=columns.split())
                    for table, columns in query.reads.items()
                }
                queries[fault] = hash_of(read) if all(read.values()) else ""
                if not queries[fault] or self._last.queries.get(fault) != queries[fault]:
                    found[fault] = self._select(connection, query)
        in_parts, parts = self._look_at_parts()
        found |= in_parts
        found = {fault: sorted(found[fault]) for fault in self._queries if found.get(fault)}
        clean = {fault: read for fault, read in queries.items() if read and fault not in found}
        if (now := replace(self._last, queries=clean, parts=parts)) != self._last:
            now.keep(self._ws, self._check)
        return found

    def _look_at_parts(self) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, str]]]]:
        """The ids with a fault among the rows of parts that were not looked at before, and the parts without any."""
        tables, table, key = self._ws.tables, self._parts.table, self._ws.key
        queries = {fault: query for fault, query in self._queries.items() if not query.reads}
        hashes = {*tables.part_hashes(table, key, columns=self._parts.columns)}
        known = {part: notes for part, notes in self._last.parts.items() if part in hashes}
        self.notes = known | {part or "": [] for part in hashes if part not in known}
        found: dict[str, list[str]] = {fault: [] for fault in queries}
        for rows in tables.read_other_parts(table, key, known, columns=self._parts.columns):
            with self._ws.new_connection() as connection:
                connection.register("rows", self._parts.prepared(rows))
                for fault, query in queries.items():
                    found[fault] += self._select(connection, query)
                for part, id_, word in _rows(connection, self._parts.notes):
                    self.notes[part or ""].append((id_, word))
        is_clean = not any(found.values()) and "" not in self.notes
        return found, self.notes if is_clean else known

    def _select(self, connection: "duckdb.DuckDBPyConnection", query: FaultQuery) -> list[str]:
        values = {name: value for name, value in self._values.items() if f"${name}" in query.sql}
        return [str(id_) for (id_,) in _rows(connection, query.sql, values)]


def find_document_faults(ws: Workspace) -> list[CheckFinding]:
    """The documents of a repository against its symbols and files."""
    queries = {fault: query for each in DOCUMENT_FAULTS.values() for fault, query in each.items()}
    finder = FaultFinder(ws, "documents_are_whole", DOCUMENT_PARTS, queries)
    with ws.connect("documents", "symbols", "files", "edges") as connection:
        counts = _numbers(connection, DOCUMENT_COUNTS)
        found = finder.find(connection)
        leaks = find_leaks(ws, connection, finder.notes.values())
        by_model = {id_ for (id_,) in _rows(connection, "SELECT id FROM documents WHERE written_by = 'llm'")}
    findings = [
        _finding(name, {fault: found[fault] for fault in each if fault in found}, looked_for=each, counts=counts)
        for name, each in DOCUMENT_FAULTS.items()
    ]
    # The extractive writer sees no neighbour: its names are from the code it describes, and harm no index.
    is_warning = not by_model & {leak.rpartition(" (")[0] for leak in leaks.get(LEAK_FAULT, ())}
    leak = _finding("no_names_leak", leaks, looked_for=(LEAK_FAULT,), counts=counts)
    return [*findings, replace(leak, is_warning=is_warning)]


def find_vector_faults(ws: Workspace) -> list[CheckFinding]:
    """One vector of the model's length per lane and document that is no placeholder, finite and normalised."""
    embedder = embedder_of(ws.settings)
    finder = FaultFinder(
        ws,
        "vectors_are_whole",
        VECTOR_PARTS,
        VECTOR_FAULTS,
        lanes=[str(lane) for lane in dense_lanes(ws.settings.extra_lanes)],
        model=embedder.model_id,
        dimensions=vector_length(ws, embedder),
        tolerance=NORM_TOLERANCE,
    )
    with ws.connect("vectors", "documents") as connection:
        counts = _numbers(connection, VECTOR_COUNTS)
        faults = finder.find(connection)
    counts = {**counts, "vectors_of_zeros": sum(map(len, finder.notes.values()))}
    return [_finding("vectors_are_whole", faults, looked_for=VECTOR_FAULTS, counts=counts)]


def measure_vectors(rows: pa.Table) -> pa.Table:
    """The rows with how many numbers each vector has, and the sum of their squares, in place of it."""
    lists = rows["vector"].combine_chunks()
    lengths = pc.list_value_length(lists).to_numpy()
    numbers = lists.flatten().to_numpy()
    squares = np.zeros(len(lengths))
    is_filled = lengths > 0
    if is_filled.any():
        starts = (np.cumsum(lengths) - lengths)[is_filled]
        squares[is_filled] = np.add.reduceat(np.square(numbers), starts, dtype=np.float64)
    return rows.drop_columns(["vector"]).append_column("length", [lengths]).append_column("square", [squares])


# Vectors of zeros, which are counted.
VECTOR_PARTS = PartsOf(
    "vectors", ["id", "lane", "model", "vector"], "SELECT part, id, lane FROM rows WHERE square = 0", measure_vectors
)

# Each may have several findings.
CHECK_FUNCTIONS: Mapping[str, Callable[[Workspace], list[CheckFinding]]] = {
    "documents_are_whole": find_document_faults,
    "vectors_are_whole": find_vector_faults,
}


def find_leaks(
    ws: Workspace, connection: "duckdb.DuckDBPyConnection", words: Iterable[Iterable[tuple[str, str]]]
) -> Faults:
    """The documents whose text has a neighbour's name, each with the names; `words` are an id and a word of its text
    that may belong to a name."""
    pairs = [{"id": id_, "word": word} for some in words for id_, word in some]
    connection.register("words", pa.Table.from_pylist(pairs, _WORDS))
    connection.execute(LIES_IN)
    names: dict[str, list[str]] = {}
    for id_, name in _rows(connection, NAMES_IN_TEXTS, {"suffix": SUFFIX_PATTERN}):
        names.setdefault(id_, []).append(name)
    texts = dict(_rows(connection, TEXTS, {"ids": [*names]}))
    repeated = {id_: some for id_, some in names.items() if leaked_names([texts[id_]], some)}
    own = own_names_of(ws, repeated)
    leaks = {id_: leaked_names([texts[id_]], some, own[id_].own) for id_, some in repeated.items()}
    found = [f"{id_} ({', '.join(some)})" for id_, some in sorted(leaks.items()) if some]
    return {LEAK_FAULT: found} if found else {}


def _numbers(connection: "duckdb.DuckDBPyConnection", queries: Mapping[str, str]) -> Numbers:
    return {name: _rows(connection, query)[0][0] for name, query in queries.items()}


def _rows(connection: "duckdb.DuckDBPyConnection", query: str, values: object = None) -> list[Any]:
    return connection.execute(query, values).fetchall()


def _finding(name: str, faults: Faults, *, looked_for: Iterable[str], counts: Numbers) -> CheckFinding:
    """Every fault that was looked for has its number, 0 too: a plot needs them."""
    numbers = {fault: len(faults.get(fault, ())) for fault in looked_for}
    wrong = len({id_ for ids in faults.values() for id_ in ids})
    examples = [
        {"fault": fault, "for example": ", ".join([*dict.fromkeys(ids)][:EXAMPLES])} for fault, ids in faults.items()
    ]
    found = "; ".join(f"{fault}: {number:,}" for fault, number in numbers.items() if number) or "no fault"
    looked_at = ", ".join(f"{number:,} {name}" for name, number in counts.items() if name in LOOKED_AT)
    return CheckFinding(
        name,
        passed=not faults,
        description=f"{found} (of {looked_at})",
        values={**counts, "wrong": wrong, **numbers, **({"examples": rows_of(examples)} if examples else {})},
    )
