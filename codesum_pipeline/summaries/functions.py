"""What is wanted of every function, from the few columns that decide it.

Most functions keep their text, so none becomes a writer's input here but those
whose source does not parse.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import WrittenBy
from codesum_pipeline.model.options import FilterOptions
from codesum_pipeline.model.symbols import Fact, Symbol, SymbolFacts, SymbolType
from codesum_pipeline.store.rows import column_names, from_table
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.wanting import function_source
from codesum_pipeline.summaries.decide import Wanted
from codesum_pipeline.summaries.inputs import FunctionInput
from codesum_pipeline.summaries.placeholder import does_real_work, is_short
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER, shown_source, want_function, written_by


@dataclass(frozen=True, slots=True)
class _Size:
    id: str
    name: str
    line_count: int
    complexity: int


@dataclass(frozen=True, slots=True)
class _Work:
    id: str
    raises: tuple[Fact, ...]
    writes: tuple[Fact, ...]
    calls: tuple[Fact, ...]


def choose_writers(workspace: Workspace) -> dict[str, str]:
    """The writer of each function and method, nested ones too."""
    writers: dict[str, str] = {}
    for table in _every_function(workspace, [*column_names(_Size), "facts"]):
        trivial = _trivial(table, workspace.options.filter)
        ids: list[str] = table.column("id").to_pylist()
        writers |= {id_: PLACEHOLDER if id_ in trivial else EXTRACTIVE for id_ in ids}
    return writers


def want_functions(workspace: Workspace, writers: Mapping[str, str]) -> list[Wanted]:
    """Every function with the writer that was chosen for it."""
    names = ["id", "qualified_name", "language", "canonical_source", "has_syntax_errors"]
    wanted: dict[str, Wanted] = {}
    broken: list[str] = []
    for table in _every_function(workspace, names):
        for id_, *shown, is_broken in zip(*(table.column(name).to_pylist() for name in names), strict=True):
            writer = writers.get(id_, EXTRACTIVE)
            if written_by(writer) is WrittenBy.LLM:
                wanted[id_] = function_source(id_, *shown).wanted(writer)
                continue
            wanted[id_] = want_function(id_, writer, shown[-1])
            if is_broken:
                broken.append(id_)
    for symbol in from_table(function_rows(workspace, broken), Symbol) if broken else ():
        source = shown_source(FunctionInput.of(symbol))
        wanted[symbol.id] = want_function(symbol.id, writers.get(symbol.id, EXTRACTIVE), source)
    return list(wanted.values())


def shown_functions(workspace: Workspace, ids: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """What a model is shown of some functions besides their context: qualified name, language, canonical source."""
    names = ["id", "qualified_name", "language", "canonical_source"]
    rows = _some_functions(workspace, ids, names)
    columns = (rows.column(name).to_pylist() for name in names)
    return {id_: (name, language, source) for id_, name, language, source in zip(*columns, strict=True)}


def function_rows(workspace: Workspace, ids: Collection[str]) -> pa.Table:
    """The rows of these functions in `symbols`."""
    return _some_functions(workspace, ids, column_names(Symbol))


def parts_of_functions(workspace: Workspace, ids: Collection[str], columns: list[str]) -> Iterator[pa.Table]:
    """Columns of these functions in `symbols`, some functions at a time."""
    wanted = pa.array(sorted(ids), pa.string())
    for part in _every_function(workspace, columns):
        yield part.filter(pc.is_in(part.column("id"), value_set=wanted)).select(columns)


def _some_functions(workspace: Workspace, ids: Collection[str], columns: list[str]) -> pa.Table:
    parts = list(parts_of_functions(workspace, ids, columns))
    return pa.concat_tables(parts) if parts else TABLES["symbols"].schema.empty_table().select(columns)


def _every_function(workspace: Workspace, columns: list[str]) -> Iterator[pa.Table]:
    """All functions, some at a time, for a repository's sources together are large."""
    names = list(dict.fromkeys(["type", *columns]))
    for part in workspace.tables.read_parts("symbols", workspace.key, columns=names):
        yield part.filter(pc.equal(part.column("type"), SymbolType.FUNCTION.value))


def _trivial(table: pa.Table, options: FilterOptions) -> set[str]:
    # The others are as long and as complex as it takes.
    may_be = pc.or_(
        pc.less(table.column("line_count"), options.min_lines),
        pc.less(table.column("complexity"), options.min_complexity),
    )
    table = table.filter(may_be)
    sizes = from_table(table, _Size)
    short = table.filter(pa.array([is_short(s.name, s.line_count, s.complexity, options) for s in sizes], pa.bool_()))
    columns = {name: pc.struct_field(short.column("facts"), name) for name in ("raises", "writes", "calls")}
    works = from_table(pa.table({"id": short.column("id"), **columns}), _Work)
    return {
        work.id
        for work in works
        if not does_real_work(SymbolFacts(raises=work.raises, writes=work.writes, calls=work.calls))
    }
