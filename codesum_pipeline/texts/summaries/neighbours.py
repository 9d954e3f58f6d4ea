"""Which names a document's text must not have: those of all callers and callees that the graph knows.

Those of a class, a file or a folder are the callers and callees of all that it
holds, as far as they are outside of it.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.evidence.extractive.composing import RECEIVERS, file_names, function_names
from codesum_pipeline.evidence.leaks import code_names, is_foreign_name, leaked_names, names_in
from codesum_pipeline.foundation.data_model.document import WrittenText
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.foundation.store.rows import lists_of_field, tuples_of
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace

# By table, the columns that own names are made from.
OWN_NAMES_READ = {
    "symbols": ("id", "type", "qualified_name", "language", "signature", "bases", "facts"),
    "file_facts": ("file_path", "imports", "globals", "exports", "reexports"),
}
_OWN_FACTS = ("parameters", "fields", "attributes")


class NeighbourNames(Struct):
    """The neighbours of one document, by id or dotted name, and its own names in lower case.

    For a function, `head` are the names in its head (None where parameters have no names), and `receivers` those that
    no caller passes.
    """

    neighbours: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    head: frozenset[str] | None = None
    receivers: tuple[str, ...] = ()

    def leaks(self, *texts: str) -> list[str]:
        """The neighbours' names that the texts repeat."""
        return leaked_names(texts, self.neighbours, self.own)

    def leaking(self, *texts: str) -> tuple[str, ...]:
        """The ids of the neighbours whose names the texts repeat, sorted."""
        return tuple(sorted(one for one in self.neighbours if leaked_names(texts, [one], self.own)))


def prose_of(text: WrittenText) -> str:
    """The fields of a text that must not name a neighbour."""
    return f"{text.summary}\n{text.business_intent}"


def name_of_document(id_: str) -> str:
    """How a document is called: a symbol's qualified name, a file's or folder's own."""
    path, *below = without_suffix(id_).split(SEPARATOR)
    return ".".join(below) if below else path.rpartition("/")[2]


def names_of_suspects(workspace: Workspace, texts: Collection[tuple[str, str]]) -> Mapping[str, NeighbourNames]:
    """The names of those documents whose text, given with the id, has what may be a neighbour's name."""
    suspects = {id_ for id_, text in texts if any(is_foreign_name(match[0], ()) for match in code_names(text))}
    return neighbour_names_of(workspace, suspects)


def neighbour_names_of(workspace: Workspace, ids: Collection[str]) -> Mapping[str, NeighbourNames]:
    """The own names and the neighbours of some documents, from the present graph."""
    names_by_id = own_names_of(workspace, ids)
    if names_by_id:
        _add_neighbours(workspace, names_by_id)
    return names_by_id


def own_names_of(workspace: Workspace, ids: Collection[str]) -> Mapping[str, NeighbourNames]:
    """The own names of some documents alone, without neighbours."""
    names_by_id = {id_: NeighbourNames() for id_ in ids}
    if names_by_id:
        _add_parts(workspace, names_by_id)
        _add_symbols(workspace, names_by_id)
        _add_files(workspace, names_by_id)
    return names_by_id


def _held_by(ids: Collection[str], id_: str) -> frozenset[str]:
    """Which of some documents a symbol, a file or a folder lies in, itself included; its id shows all of them."""
    path, *below = id_.split(SEPARATOR)
    inner = (SEPARATOR.join((path, *below[:count])) for count in range(1, len(below) + 1))
    return frozenset(one for one in (*inner, *_path_and_folders(path)) if one in ids)


def _path_and_folders(path: str) -> Iterator[str]:
    yield path
    yield ROOT_MODULE
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _add_neighbours(workspace: Workspace, names_by_id: Mapping[str, NeighbourNames]) -> None:
    edges = workspace.tables.read("edges", workspace.key, columns=["src_id", "dst", "is_external", "kind"])
    calls = edges.filter(pc.equal(edges.column("kind"), EdgeKind.CALL.value))
    holders_of = cache(partial(_held_by, names_by_id))
    # Most edges end in none of the documents.
    ends = {id_ for name in ("src_id", "dst") for id_ in pc.unique(calls.column(name)).to_pylist() if holders_of(id_)}
    inside = pa.array(ends, pa.string())
    some = calls.filter(pc.or_(*(pc.is_in(calls.column(name), value_set=inside) for name in ("src_id", "dst"))))
    for src, dst, is_external in tuples_of(some, ("src_id", "dst", "is_external")):
        around_src, around_dst = holders_of(src), frozenset() if is_external else holders_of(dst)
        for id_ in around_src - around_dst:
            names_by_id[id_].neighbours.add(dst)
        for id_ in around_dst - around_src:
            names_by_id[id_].neighbours.add(src)


def _add_parts(workspace: Workspace, names_by_id: Mapping[str, NeighbourNames]) -> None:
    """Add to each document its own name, and the names of all that it holds."""
    symbols = workspace.tables.read("symbols", workspace.key, columns=["id"]).column("id")
    files = workspace.tables.read("file_facts", workspace.key, columns=["file_path"]).column("file_path")
    around, paths = paths_of(symbols), {id_.partition(SEPARATOR)[0] for id_ in names_by_id}
    wanted = [path for path in pc.unique(around).to_pylist() if path in paths or _held_by(names_by_id, path)]
    inner = symbols.filter(pc.is_in(around, value_set=pa.array(wanted, pa.string())))
    for id_ in (*inner.to_pylist(), *files.to_pylist()):
        if inside := _held_by(names_by_id, id_):
            own_names = names_in(id_)
            for holder in inside:
                names_by_id[holder].own |= own_names if SEPARATOR not in holder else names_in(id_[len(holder) :])
    for id_, names in names_by_id.items():
        path, *below = id_.split(SEPARATOR)
        names.own |= names_in(*below) if below else names_in(path, workspace.key)


def _add_symbols(workspace: Workspace, names_by_id: Mapping[str, NeighbourNames]) -> None:
    *names, _ = read = [*OWN_NAMES_READ["symbols"]]
    ids = workspace.tables.read("symbols", workspace.key, columns=["id"]).column("id")
    rows = pc.indices_nonzero(pc.is_in(ids, value_set=pa.array(list(names_by_id), pa.string()))).to_numpy()
    if not len(rows):
        return
    table = workspace.tables.read_at("symbols", workspace.key, rows, columns=read, fields={"facts": _OWN_FACTS})
    facts = table.column("facts")
    lists = (
        lists_of_field(pc.struct_field(facts, "parameters"), "name"),
        lists_of_field(pc.struct_field(facts, "parameters"), "kind"),
        lists_of_field(pc.struct_field(facts, "fields"), "text"),
        pc.struct_field(facts, "attributes"),
    )
    columns = [table.column(name).to_pylist() for name in names] + [one.to_pylist() for one in lists]
    for id_, type_, qualified, language, signature, bases, parameters, kinds, fields, attributes in zip(
        *columns, strict=True
    ):
        if type_ == SymbolType.CLASS.value:
            names_by_id[id_].own |= names_in(qualified, signature, *bases, *fields)
        else:
            kinds_by_name = list(zip(parameters, kinds, strict=True))
            names_by_id[id_].own |= function_names(
                qualified_name=qualified, signature=signature, parameters=parameters, attributes=attributes
            )
            names_by_id[id_].head = (
                None if has_trait(language, Trait.UNNAMED_PARAMETERS) else names_in(signature, *parameters)
            )
            names_by_id[id_].receivers = tuple(
                name
                for name in (*RECEIVERS, *parameters)
                if (name, "receiver") in kinds_by_name or name not in parameters
            )


def _add_files(workspace: Workspace, names_by_id: Mapping[str, NeighbourNames]) -> None:
    columns = [*OWN_NAMES_READ["file_facts"]]
    wanted = workspace.tables.read_files("file_facts", workspace.key, names_by_id.keys(), columns=columns)
    for path, imports, constants, exports, reexports in tuples_of(wanted, columns):
        handed_on = [one["name"] for one in reexports or ()]
        dotted = ["." * one["level"] + ".".join(filter(None, (one["module"], one["name"]))) for one in imports]
        names_by_id[path].own |= file_names(path, dotted, constants, (*(exports or ()), *handed_on))
