"""What is wanted of every function, from the few columns that decide it.

Most functions keep their text, so none becomes a writer's input here but those
whose source does not parse.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import WrittenBy
from codesum_pipeline.model.options import FilterOptions
from codesum_pipeline.model.symbols import Fact, Symbol, SymbolFacts, SymbolType
from codesum_pipeline.store.rows import column_names, from_table
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
    table = _functions(workspace, [*column_names(_Size), "facts"])
    trivial = _trivial(table, workspace.options.filter)
    ids: list[str] = table.column("id").to_pylist()
    return {id_: PLACEHOLDER if id_ in trivial else EXTRACTIVE for id_ in ids}


def want_functions(workspace: Workspace, writers: Mapping[str, str]) -> list[Wanted]:
    """Every function with the writer that was chosen for it."""
    table = _functions(workspace, ["id", "canonical_source", "has_syntax_errors"])
    ids = table.column("id").to_pylist()
    by_model = [id_ for id_ in ids if written_by(writers.get(id_, EXTRACTIVE)) is WrittenBy.LLM]
    wanted = {
        id_: function_source(id_, *shown).wanted(writers[id_])
        for id_, shown in (shown_functions(workspace, by_model) if by_model else {}).items()
    }
    sources = dict(zip(ids, table.column("canonical_source").to_pylist(), strict=True))
    broken = [
        id_ for id_ in table.filter(table.column("has_syntax_errors")).column("id").to_pylist() if id_ not in wanted
    ]
    if broken:
        symbols = from_table(function_rows(workspace, broken), Symbol)
        sources |= {symbol.id: shown_source(FunctionInput.of(symbol)) for symbol in symbols}
    return [wanted.get(id_) or want_function(id_, writers.get(id_, EXTRACTIVE), sources[id_]) for id_ in ids]


def shown_functions(workspace: Workspace, ids: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """What a model is shown of some functions besides their context: qualified name, language, canonical source."""
    names = ["id", "qualified_name", "language", "canonical_source"]
    table = _functions(workspace, names)
    rows = table.filter(pc.is_in(table.column("id"), value_set=pa.array(sorted(ids), pa.string())))
    columns = (rows.column(name).to_pylist() for name in names)
    return {id_: (name, language, source) for id_, name, language, source in zip(*columns, strict=True)}


def function_rows(workspace: Workspace, ids: Collection[str]) -> pa.Table:
    """The rows of these functions in `symbols`."""
    table = _functions(workspace, column_names(Symbol))
    return table.filter(pc.is_in(table.column("id"), value_set=pa.array(sorted(ids), pa.string())))


def _functions(workspace: Workspace, columns: list[str]) -> pa.Table:
    table = workspace.tables.read("symbols", workspace.key, columns=list(dict.fromkeys(["type", *columns])))
    return table.filter(pc.equal(table.column("type"), SymbolType.FUNCTION.value))


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
