"""Faults in documents and vectors, as SQL over the tables (`fault_checks.toml`): each stops the run that wrote them.

What was looked at in the last build without a fault, and is the same, is passed over (`fault_finding.py`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from codesum_pipeline.builds.checks.fault_finding import (
    FAULT_TABLE,
    FaultFinder,
    FaultQuery,
    Faults,
    PartsOf,
    rows_of_query,
)
from codesum_pipeline.builds.reports.build_values import CheckFinding, Numbers
from codesum_pipeline.builds.reports.report_values import rows_of
from codesum_pipeline.evidence.leaks import leaked_names
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.document import Level, WrittenBy
from codesum_pipeline.foundation.data_model.file import FileStatus
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, SUFFIX_PATTERN
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import DENSE_LANES
from codesum_pipeline.indexes.lanes.dense import vector_length
from codesum_pipeline.texts.summaries.neighbours import OWN_NAMES_READ, own_names_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Examples shown of each kind of fault.
EXAMPLES = 5
# The rounding error of a sum of float32 squares.
NORM_TOLERANCE = 1e-3

LOOKED_AT = ("documents", "symbols", "vectors")


def _queries(found: Mapping[str, Any]) -> dict[str, FaultQuery]:
    filled = FAULT_TABLE["filled"]
    queries = {fault: convert(each, FaultQuery) for fault, each in found.items()}
    return {fault: replace(each, sql=each.sql.replace("FILLED", filled)) for fault, each in queries.items()}


# By check: each names a fault.
DOCUMENT_FAULTS = {check: _queries(found) for check, found in FAULT_TABLE["documents"].items()}
VECTOR_FAULTS = _queries(FAULT_TABLE["vectors"])
DOCUMENT_PARTS = PartsOf("documents", **FAULT_TABLE["document_parts"])


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


LEAK_FAULT = "a text names a caller or callee"
NAMES_IN_TEXTS, LIES_IN, TEXTS = (FAULT_TABLE["leaks"][name] for name in ("names_in_texts", "lies_in", "texts"))
_WORDS = pa.schema([("id", pa.string()), ("word", pa.string())])


def find_leaks(ws: Workspace, finder: FaultFinder) -> Faults:
    """The documents whose text has a neighbour's name, each with the names. The notes of `finder` are the words of each
    text that may belong to a name."""
    words = sorted(pair for notes in finder.notes.values() for pair in notes)
    edges = ws.tables.content_hash("edges", ws.key, columns=["src_id", "dst", "is_external", "kind"])
    made_from = hash_of([edges, NAMES_IN_TEXTS, LIES_IN, SUFFIX_PATTERN, words]) if edges else ""
    last_made_from, names = finder.last.names
    with ws.connect("documents", "edges") as connection:
        if not made_from or made_from != last_made_from:
            names = _names_in_texts(connection, words)
        texts = {id_: (type_, text) for id_, type_, text in rows_of_query(connection, TEXTS, {"ids": [*names]})}
    repeating = {id_: type_ for id_, (type_, text) in texts.items() if leaked_names([text], names[id_])}
    own = _own_names(ws, repeating, finder.last.own)
    finder.now = replace(finder.now, own=own, names=(made_from, names))
    leaks = {id_: leaked_names([texts[id_][1]], names[id_], {*own[id_][1]}) for id_ in repeating}
    found = [f"{id_} ({', '.join(some)})" for id_, some in sorted(leaks.items()) if some]
    return {LEAK_FAULT: found} if found else {}


def _names_in_texts(connection: "DuckDBPyConnection", words: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """By document, the names of its neighbours that may stand in its text; `words` are an id and a word of its text."""
    rows = [{"id": id_, "word": word} for id_, word in words]
    connection.register("words", pa.Table.from_pylist(rows, _WORDS))
    connection.execute(LIES_IN)
    names: dict[str, list[str]] = {}
    for id_, name in sorted(rows_of_query(connection, NAMES_IN_TEXTS, {"suffix": SUFFIX_PATTERN})):
        names.setdefault(id_, []).append(name)
    return names


def _own_names(
    ws: Workspace, types: Mapping[str, str], last: Mapping[str, tuple[str, list[str]]]
) -> dict[str, tuple[str, list[str]]]:
    """The own names of documents, given with their types, each with the hash of what they were made from: the parts of
    tables that have the rows of their files, or all of a table for a folder."""
    tables = [ws.tables.by_parts(table, ws.key, columns=[*columns]) for table, columns in OWN_NAMES_READ.items()]
    paths = {id_: id_.partition(SEPARATOR)[0] for id_ in types}
    around = [table.hashes_around({*paths.values()}) for table in tables]
    whole = [table.content_hash for table in tables]
    made_from = {
        id_: hash_of(whole if types[id_] == Level.MODULE else [hashes[path] for hashes in around])
        for id_, path in paths.items()
        if all(whole)
    }
    known = {id_: last[id_] for id_, hash_ in made_from.items() if id_ in last and last[id_][0] == hash_}
    others = own_names_of(ws, types.keys() - known.keys())
    return known | {id_: (made_from.get(id_, ""), sorted(names.own)) for id_, names in others.items()}
