"""What may be wrong with a repository's documents and vectors, as SQL over its tables."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from codesum_pipeline.defs.building.report_values import rows_of
from codesum_pipeline.defs.building.values import CheckFinding
from codesum_pipeline.indexes.dense import vector_length
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.indexes.version_folder import dense_lanes
from codesum_pipeline.model.ids import SUFFIX_PATTERN
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.neighbours import names_of

if TYPE_CHECKING:
    import duckdb

# The checks, each of which may have several findings.
DOCUMENTS_ARE_WHOLE = "documents_are_whole"
VECTORS_ARE_WHOLE = "vectors_are_whole"
# Examples shown of each kind of fault.
EXAMPLES = 5
# What squares of float32 lose when they are added up.
NORM_TOLERANCE = 1e-3

Faults = Mapping[str, list[str]]
Numbers = Mapping[str, int | float]

# What was looked at, so that a fault's number can be set against it, and the UI plots both over time.
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
    "vectors_of_zeros": "SELECT count(*) FROM vectors WHERE list_dot_product(vector, vector) = 0",
}
LOOKED_AT = ("documents", "symbols", "vectors")

# Each names a fault and selects the ids that have it.
ID_FAULTS = {
    "an id stands twice": "SELECT id FROM documents GROUP BY id HAVING count(*) > 1",
    "a symbol's id stands twice": "SELECT id FROM symbols GROUP BY id HAVING count(*) > 1",
    "an id or a file path is empty": "SELECT file_path FROM documents WHERE id = '' OR file_path = ''",
}

ORPHAN_FAULTS = {
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
}

ROW_FAULTS = {
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
}

# The fields of a document that are filled and have to be cited.
FILLED = """[name FOR name IN ['summary', CASE WHEN len(inputs) > 0 THEN 'inputs' END,
    CASE WHEN returns IS NOT NULL THEN 'returns' END, CASE WHEN len(side_effects) > 0 THEN 'side_effects' END,
    CASE WHEN len(invariants) > 0 THEN 'invariants' END] IF name IS NOT NULL]"""

# Citations are those of functions; what a class, file or folder does names its parts.
CITATION_FAULTS = {
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
}

# Documents of which a text has, in what may be a name of code, the last word of the name of a neighbour of something
# that lies in them: only these are looked at one by one.
LEAK_SUSPECTS = r"""
    WITH called AS (SELECT src_id, dst, is_external FROM edges WHERE kind = 'call'),
    neighbours AS (
        SELECT src_id AS inside, dst AS name FROM called
        UNION ALL SELECT dst, src_id FROM called WHERE NOT is_external),
    ends AS (
        SELECT DISTINCT inside, CASE WHEN contains(name, '/') AND NOT contains(name, '::')
            THEN regexp_extract(name, '([^/.]*)[^/]*$', 1)
            ELSE regexp_extract(regexp_replace(name, $suffix, '\1'), '([\pL\pN_]+)[^\pL\pN_]*$', 1) END AS word
        FROM neighbours),
    texts AS (SELECT id, concat_ws(chr(10), summary, business_intent) AS said FROM documents WHERE NOT is_placeholder),
    tokens AS (
        SELECT id, said, unnest(regexp_extract_all(
            said, '[\pL_][\pL\pN_]*(?:(?:\.|::)[\pL_][\pL\pN_]*)*(?:\(\))?')) AS token FROM texts),
    names AS (
        SELECT DISTINCT id, said, unnest(string_split_regex(token, '\.|::|\(\)')) AS word FROM tokens
        WHERE regexp_matches(token, '[._(]|::|[\p{Ll}\pN]\p{Lu}|\p{Lu}{2}\p{Ll}|\pN'))
    SELECT DISTINCT n.id, n.said FROM names n JOIN ends e ON n.word = e.word AND (
        n.id = '.' OR e.inside = n.id OR starts_with(e.inside, n.id || '::') OR starts_with(e.inside, n.id || '/'))"""
NO_NAMES_LEAK = "no_names_leak"
LEAK_FAULT = "a text names a caller or callee"

VECTOR_FAULTS = {
    "a document lacks the vector of a lane": """
        SELECT d.id FROM documents d CROSS JOIN (SELECT unnest($lanes) AS lane) l WHERE NOT d.is_placeholder
        AND NOT EXISTS (FROM vectors v WHERE v.id = d.id AND v.lane = l.lane)""",
    "a vector stands twice": "SELECT id FROM vectors GROUP BY id, lane HAVING count(*) > 1",
    "a vector belongs to no document": "SELECT id FROM vectors WHERE id NOT IN (SELECT id FROM documents)",
    "a placeholder has a vector": "SELECT v.id FROM vectors v JOIN documents d USING (id) WHERE d.is_placeholder",
    "a vector of another model": "SELECT id FROM vectors WHERE model <> $model",
    "a vector of another length": "SELECT id FROM vectors WHERE len(vector) <> $dimensions",
    "a number that is not finite": "SELECT id FROM vectors WHERE NOT isfinite(list_sum(vector))",
    "a vector that is not of length one, nor of zeros": """
        SELECT id FROM (SELECT id, list_dot_product(vector, vector) AS square FROM vectors)
        WHERE isfinite(square) AND square <> 0 AND abs(square - 1) > $tolerance""",
}


DOCUMENT_FAULTS = {
    "ids_are_unique": ID_FAULTS,
    "no_orphans": ORPHAN_FAULTS,
    "every_source_has_its_document": ROW_FAULTS,
    "citations_hold": CITATION_FAULTS,
}


def find_document_faults(ws: Workspace) -> list[CheckFinding]:
    """The documents of a repository against its symbols and files."""
    with ws.connect("documents", "symbols", "files", "edges") as connection:
        counts = _numbers(connection, DOCUMENT_COUNTS)
        found = {name: find_faults(connection, queries) for name, queries in DOCUMENT_FAULTS.items()}
        leaks = find_leaks(ws, connection)
        by_model = {
            row[0] for row in connection.execute("SELECT id FROM documents WHERE written_by = 'llm'").fetchall()
        }
    # The extractive writer sees no neighbour: what it names stands in the code it describes, and harms no index.
    is_warning = not by_model & {leak.rpartition(" (")[0] for leak in leaks.get(LEAK_FAULT, ())}
    findings = [
        _finding(name, faults, looked_for=DOCUMENT_FAULTS[name], counts=counts) for name, faults in found.items()
    ]
    leak = _finding(NO_NAMES_LEAK, leaks, looked_for=(LEAK_FAULT,), counts=counts)
    return [*findings, replace(leak, is_warning=is_warning)]


def find_vector_faults(ws: Workspace) -> list[CheckFinding]:
    """One vector of the model's length per lane and document that is no placeholder, finite and normalised."""
    embedder = embedder_of(ws.settings)
    with ws.connect("vectors", "documents") as connection:
        counts = _numbers(connection, VECTOR_COUNTS)
        faults = find_faults(
            connection,
            VECTOR_FAULTS,
            lanes=[str(lane) for lane in dense_lanes(ws.settings.extra_lanes)],
            model=embedder.model_id,
            dimensions=vector_length(ws, embedder),
            tolerance=NORM_TOLERANCE,
        )
    return [_finding(VECTORS_ARE_WHOLE, faults, looked_for=VECTOR_FAULTS, counts=counts)]


CHECKS: Mapping[str, Callable[[Workspace], list[CheckFinding]]] = {
    DOCUMENTS_ARE_WHOLE: find_document_faults,
    VECTORS_ARE_WHOLE: find_vector_faults,
}


def find_faults(connection: "duckdb.DuckDBPyConnection", queries: Mapping[str, str], **values: object) -> Faults:
    """The ids that each query selects, by the fault it looks for; faults that nothing has are left out."""
    found = {}
    for fault, query in queries.items():
        wanted = {name: value for name, value in values.items() if f"${name}" in query}
        ids = [str(row[0]) for row in connection.execute(query, wanted).fetchall()]
        if ids:
            found[fault] = sorted(ids)
    return found


def find_leaks(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Faults:
    """The documents whose text has a neighbour's name, each with the names."""
    said = dict(connection.execute(LEAK_SUSPECTS, {"suffix": SUFFIX_PATTERN}).fetchall())
    leaks = {id_: names.leaks(said[id_]) for id_, names in names_of(ws, said).items()}
    found = [f"{id_} ({', '.join(names)})" for id_, names in sorted(leaks.items()) if names]
    return {LEAK_FAULT: found} if found else {}


def _numbers(connection: "duckdb.DuckDBPyConnection", queries: Mapping[str, str]) -> Numbers:
    return {name: connection.execute(query).fetchall()[0][0] for name, query in queries.items()}


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
