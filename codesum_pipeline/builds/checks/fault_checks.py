"""Faults in documents and vectors, as SQL over the tables: each stops the run that wrote them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from codesum_pipeline.builds.reports.build_values import (
    CheckFinding,
    Numbers,
)
from codesum_pipeline.builds.reports.report_values import rows_of
from codesum_pipeline.foundation.data_model.ids import SUFFIX_PATTERN
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import dense_lanes
from codesum_pipeline.indexes.lanes.dense import vector_length
from codesum_pipeline.texts.summaries.neighbours import neighbour_names_of

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
    "vectors_of_zeros": "SELECT count(*) FROM measures WHERE square = 0",
}
_MEASURES = pa.schema([("id", pa.string()), ("length", pa.int32()), ("square", pa.float64())])
LOOKED_AT = ("documents", "symbols", "vectors")

# The fields of a document that are filled and have to be cited.
FILLED = """[name FOR name IN ['summary', CASE WHEN len(inputs) > 0 THEN 'inputs' END,
    CASE WHEN returns IS NOT NULL THEN 'returns' END, CASE WHEN len(side_effects) > 0 THEN 'side_effects' END,
    CASE WHEN len(invariants) > 0 THEN 'invariants' END] IF name IS NOT NULL]"""

# By check: each names a fault and selects the ids that have it.
DOCUMENT_FAULTS = {
    "ids_are_unique": {
        "an id occurs twice": "SELECT id FROM documents GROUP BY id HAVING count(*) > 1",
        "a symbol's id occurs twice": "SELECT id FROM symbols GROUP BY id HAVING count(*) > 1",
        "an id or a file path is empty": "SELECT file_path FROM documents WHERE id = '' OR file_path = ''",
    },
    "no_orphans": {
        "its parent is no document": """
            SELECT id FROM documents d WHERE parent_id IS NOT NULL
            AND NOT EXISTS (FROM documents p WHERE p.id = d.parent_id)""",
        "its file is not indexed": """
            SELECT id FROM documents d WHERE type <> 'module'
            AND NOT EXISTS (FROM files f WHERE f.path = d.file_path AND f.status = 'indexed')""",
        "its symbol is gone": """
            SELECT id FROM documents d WHERE type IN ('function', 'class')
            AND NOT EXISTS (FROM symbols s WHERE s.id = d.id AND s.type = d.type)""",
        "a neighbour in its context is no document": """
            SELECT id FROM (SELECT id, unnest(list_concat(called_by, calls)) AS neighbour FROM documents)
            WHERE neighbour NOT IN (SELECT id FROM documents)""",
    },
    "every_source_has_its_document": {
        "a symbol has no document": """
            SELECT id FROM symbols s WHERE NOT EXISTS (FROM documents d WHERE d.id = s.id AND d.type = s.type)""",
        "an indexed file has no document": """
            SELECT path FROM files f WHERE status = 'indexed'
            AND NOT EXISTS (FROM documents d WHERE d.id = f.path AND d.type = 'file')""",
        "a folder has no document": """
            SELECT DISTINCT module_path FROM documents d
            WHERE NOT EXISTS (FROM documents m WHERE m.id = d.module_path AND m.type = 'module')""",
        "a required field is empty": """
            SELECT id FROM documents WHERE summary = '' OR content_hash = '' OR summary_hash = '' OR text_hash = ''""",
    },
    # Citations are those of functions; what a class, file or folder does names its parts.
    "citations_hold": {
        "a citation leads out of its document": """
            SELECT d.id FROM (SELECT id, unnest(citations) AS cited FROM documents) d
            LEFT JOIN (SELECT id, list_min(line_map) AS first, list_max(line_map) AS last FROM symbols) s USING (id)
            WHERE NOT coalesce(first <= cited.start_line AND cited.start_line <= cited.end_line
            AND cited.end_line <= last, false)""",
        "a citation of an empty or unknown field": f"""
            SELECT id FROM (SELECT id, {FILLED} AS filled, unnest(citations) AS cited FROM documents)
            WHERE NOT list_contains(filled, cited.field)""",
        "a filled field is not cited": f"""
            SELECT id FROM documents WHERE type = 'function' AND NOT is_placeholder
            AND NOT list_has_all([cited.field FOR cited IN citations], {FILLED})""",
    },
}

# Documents of which a text has, in what may be a name of code, the last word of the name of a neighbour of something
# that lies in them: only these are looked at one by one. Names are many edges', so that words are read off each once.
LEAK_SUSPECTS = r"""
    WITH texts AS (
        SELECT id, concat_ws(chr(10), summary, business_intent) AS text FROM documents WHERE NOT is_placeholder),
    tokens AS (
        SELECT id, text, unnest(regexp_extract_all(
            text, '[\pL_][\pL\pN_]*(?:(?:\.|::)[\pL_][\pL\pN_]*)*(?:\(\))?')) AS token FROM texts),
    names AS (
        SELECT DISTINCT id, text, unnest(string_split_regex(token, '\.|::|\(\)')) AS word FROM tokens
        WHERE regexp_matches(token, '[._(]|::|[\p{Ll}\pN]\p{Lu}|\p{Lu}{2}\p{Ll}|\pN')),
    called AS (SELECT src_id, dst, is_external FROM edges WHERE kind = 'call'),
    neighbours AS (
        SELECT src_id AS inside, dst AS name FROM called
        UNION ALL SELECT dst, src_id FROM called WHERE NOT is_external),
    words AS (
        SELECT name, CASE WHEN contains(name, '/') AND NOT contains(name, '::')
            THEN regexp_extract(name, '([^/.]*)[^/]*$', 1)
            ELSE regexp_extract(regexp_replace(name, $suffix, '\1'), '([\pL\pN_]+)[^\pL\pN_]*$', 1) END AS word
        FROM (SELECT DISTINCT name FROM neighbours)),
    ends AS (
        SELECT DISTINCT inside, word FROM neighbours JOIN words USING (name) WHERE word IN (SELECT word FROM names))
    SELECT DISTINCT n.id, n.text FROM names n JOIN ends e ON n.word = e.word AND (
        n.id = '.' OR e.inside = n.id OR starts_with(e.inside, n.id || '::') OR starts_with(e.inside, n.id || '/'))"""
LEAK_FAULT = "a text names a caller or callee"

VECTOR_FAULTS = {
    "a document lacks the vector of a lane": """
        SELECT d.id FROM documents d CROSS JOIN (SELECT unnest($lanes) AS lane) l WHERE NOT d.is_placeholder
        AND NOT EXISTS (FROM vectors v WHERE v.id = d.id AND v.lane = l.lane)""",
    "a vector occurs twice": "SELECT id FROM vectors GROUP BY id, lane HAVING count(*) > 1",
    "a vector belongs to no document": "SELECT id FROM vectors WHERE id NOT IN (SELECT id FROM documents)",
    "a placeholder has a vector": "SELECT v.id FROM vectors v JOIN documents d USING (id) WHERE d.is_placeholder",
    "a vector of another model": "SELECT id FROM vectors WHERE model <> $model",
    "a vector of another length": "SELECT id FROM measures WHERE length <> $dimensions",
    "a number that is not finite": "SELECT id FROM measures WHERE NOT isfinite(square)",
    "a vector that is not of length one, nor of zeros": """
        SELECT id FROM measures WHERE isfinite(square) AND square <> 0 AND abs(square - 1) > $tolerance""",
}


def find_document_faults(ws: Workspace) -> list[CheckFinding]:
    """The documents of a repository against its symbols and files."""
    with ws.connect("documents", "symbols", "files", "edges") as connection:
        counts = _numbers(connection, DOCUMENT_COUNTS)
        findings = [
            _finding(name, find_faults(connection, queries), looked_for=queries, counts=counts)
            for name, queries in DOCUMENT_FAULTS.items()
        ]
        leaks = find_leaks(ws, connection)
        by_model = {id_ for (id_,) in _rows(connection, "SELECT id FROM documents WHERE written_by = 'llm'")}
    # The extractive writer sees no neighbour: its names are from the code it describes, and harm no index.
    is_warning = not by_model & {leak.rpartition(" (")[0] for leak in leaks.get(LEAK_FAULT, ())}
    leak = _finding("no_names_leak", leaks, looked_for=(LEAK_FAULT,), counts=counts)
    return [*findings, replace(leak, is_warning=is_warning)]


def find_vector_faults(ws: Workspace) -> list[CheckFinding]:
    """One vector of the model's length per lane and document that is no placeholder, finite and normalised."""
    embedder = embedder_of(ws.settings)
    with ws.connect("vectors", "documents") as connection:
        connection.register("measures", measure_vectors(ws))
        counts = _numbers(connection, VECTOR_COUNTS)
        faults = find_faults(
            connection,
            VECTOR_FAULTS,
            lanes=[str(lane) for lane in dense_lanes(ws.settings.extra_lanes)],
            model=embedder.model_id,
            dimensions=vector_length(ws, embedder),
            tolerance=NORM_TOLERANCE,
        )
    return [_finding("vectors_are_whole", faults, looked_for=VECTOR_FAULTS, counts=counts)]


def measure_vectors(ws: Workspace) -> pa.Table:
    """The id of each vector, how many numbers it has, and the sum of their squares."""
    parts = [_MEASURES.empty_table()]
    for part in ws.tables.read_parts("vectors", ws.key, columns=["id", "vector"]):
        lists = part["vector"].combine_chunks()
        lengths = pc.list_value_length(lists).to_numpy()
        numbers = lists.flatten().to_numpy()
        squares = np.zeros(len(lengths))
        is_filled = lengths > 0
        if is_filled.any():
            starts = (np.cumsum(lengths) - lengths)[is_filled]
            squares[is_filled] = np.add.reduceat(np.square(numbers), starts, dtype=np.float64)
        parts.append(pa.table({"id": part["id"], "length": lengths, "square": squares}))
    return pa.concat_tables(parts)


# Each may have several findings.
CHECK_FUNCTIONS: Mapping[str, Callable[[Workspace], list[CheckFinding]]] = {
    "documents_are_whole": find_document_faults,
    "vectors_are_whole": find_vector_faults,
}


def find_faults(connection: "duckdb.DuckDBPyConnection", queries: Mapping[str, str], **values: object) -> Faults:
    """The ids that each query selects, by the fault it looks for; faults that nothing has are left out."""
    found = {}
    for fault, query in queries.items():
        wanted = {name: value for name, value in values.items() if f"${name}" in query}
        found[fault] = sorted(str(id_) for (id_,) in _rows(connection, query, wanted))
    return {fault: ids for fault, ids in found.items() if ids}


def find_leaks(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Faults:
    """The documents whose text has a neighbour's name, each with the names."""
    texts = dict(_rows(connection, LEAK_SUSPECTS, {"suffix": SUFFIX_PATTERN}))
    leaks = {id_: names.leaks(texts[id_]) for id_, names in neighbour_names_of(ws, texts).items()}
    found = [f"{id_} ({', '.join(names)})" for id_, names in sorted(leaks.items()) if names]
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
