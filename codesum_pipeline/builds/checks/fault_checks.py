"""Faults in documents and vectors, as SQL over the tables: each stops the run that wrote them.

What was looked at in the last build without a fault, and is the same, is passed over (`looked_at.py`).
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from codesum_pipeline.builds.checks.fault_finding import FaultFinder, FaultQuery, Faults, PartsOf
from codesum_pipeline.builds.checks.name_leaks import LEAK_FAULT, find_leaks
from codesum_pipeline.builds.reports.build_values import (
    CheckFinding,
    Numbers,
)
from codesum_pipeline.builds.reports.report_values import rows_of
from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.file import FileStatus
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import DENSE_LANES
from codesum_pipeline.indexes.lanes.dense import vector_length

# Examples shown of each kind of fault.
EXAMPLES = 5
# The rounding error of a sum of float32 squares.
NORM_TOLERANCE = 1e-3

LOOKED_AT = ("documents", "symbols", "vectors")


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
               LEFT JOIN (SELECT symbols.id, list_min(line_map) AS first, list_max(line_map) AS last
                          FROM symbols) s USING (id)
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


def find_document_faults(ws: Workspace) -> list[CheckFinding]:
    """The documents of a repository against its symbols and files."""
    queries = {fault: query for each in DOCUMENT_FAULTS.values() for fault, query in each.items()}
    finder = FaultFinder(ws, "documents_are_whole", DOCUMENT_PARTS, queries)
    counts, found = _count_documents(ws), finder.find()
    leaks = find_leaks(ws, finder)
    finder.keep()
    by_model = _written_by_model(ws) if leaks else set()
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
        lanes=[str(lane) for lane in DENSE_LANES],
        model=embedder.model_id,
        dimensions=vector_length(ws, embedder),
        tolerance=NORM_TOLERANCE,
    )
    faults = finder.find()
    finder.keep()
    documents = _count_documents(ws)
    counts = {
        "vectors": len(ws.tables.read_or_empty("vectors", ws.key, columns=["lane"])),
        "documents": documents["documents"] - documents["placeholders"],
        "vectors_of_zeros": sum(map(len, finder.notes.values())),
    }
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


def _count_documents(ws: Workspace) -> Numbers:
    """How many items are checked, to compare with the number of faults; the UI plots both over time."""
    columns = {"documents": "is_placeholder", "symbols": "type", "files": "status"}
    read = {table: ws.tables.read_or_empty(table, ws.key, columns=[name])[name] for table, name in columns.items()}
    documents, placeholders = len(read["documents"]), pc.sum(read["documents"], min_count=0).as_py()
    return {
        "documents": documents,
        "symbols": len(read["symbols"]),
        "indexed_files": pc.sum(pc.equal(read["files"], str(FileStatus.INDEXED)), min_count=0).as_py(),
        "placeholders": placeholders,
        "placeholder_share": placeholders / documents if documents else 0.0,
    }


def _written_by_model(ws: Workspace) -> set[str]:
    rows = ws.tables.read_or_empty("documents", ws.key, columns=["id", "written_by"])
    return {*rows["id"].filter(pc.equal(rows["written_by"], str(WrittenBy.LLM))).to_pylist()}


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
