"""Names of callers and callees in the texts of documents."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec.structs import replace

from codesum_pipeline.builds.checks.fault_finding import FAULT_TABLE, FaultFinder, Faults, rows_of_query
from codesum_pipeline.evidence.leaks import leaked_names
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, SUFFIX_PATTERN
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.neighbours import OWN_NAMES_READ, own_names_of

if TYPE_CHECKING:
    import duckdb

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


def _names_in_texts(connection: "duckdb.DuckDBPyConnection", words: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
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
