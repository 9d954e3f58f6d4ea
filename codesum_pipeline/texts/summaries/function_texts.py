"""Which text every function needs, decided from a few columns of `symbols`.

Most functions keep their text, so only those whose source does not parse are read whole.
"""

from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.evidence.inputs import FunctionInput, Holder
from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.settings.stage_settings import FilterSettings
from codesum_pipeline.foundation.store.rows import column_names, from_table, rows_with, tuples_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.prompting import function_source
from codesum_pipeline.texts.summaries.decide import RequiredDocument, kind_of_writer
from codesum_pipeline.texts.summaries.holders import Holders
from codesum_pipeline.texts.summaries.placeholders import is_outward, is_short
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER, shown_source, want_function


def choose_writers(workspace: Workspace, files: Collection[str] | None = None) -> dict[str, str]:
    """The writer of each function and method, nested ones too; or of those in some files."""
    writers: dict[str, str] = {}
    names = ["id", "name", "line_count", "complexity", "facts", "is_unnamed", "is_test"]
    for table in _functions(workspace, names, files):
        trivial = trivial_functions(table, workspace.settings.filter)
        # The title of a test without a name is its text.
        is_titled = pc.and_(table.column("is_unnamed"), pc.fill_null(table.column("is_test"), False))
        trivial.update(table.column("id").filter(is_titled).to_pylist())
        found: list[str] = table.column("id").to_pylist()
        writers |= {id_: PLACEHOLDER if id_ in trivial else EXTRACTIVE for id_ in found}
    return writers


def want_functions(
    workspace: Workspace, writers: Mapping[str, str], files: Collection[str] | None = None
) -> list[RequiredDocument]:
    """Every function, or those in some files, with the writer that was chosen for it."""
    names = [
        "id", "qualified_name", "language", "canonical_source", "opening_comment", "parent_id", "file_path",
        "has_syntax_errors",
    ]  # fmt: skip
    wanted: dict[str, RequiredDocument] = {}
    broken: dict[str, Holder | None] = {}
    holders = Holders.of(workspace, files)
    for table in _functions(workspace, names, files):
        for id_, *shown, comment, parent_id, path, is_broken in tuples_of(table, names):
            writer = writers.get(id_, EXTRACTIVE)
            if kind_of_writer(writer) is WrittenBy.LLM:
                wanted[id_] = function_source(id_, *shown).wanted(writer)
                continue
            holder = holders.of_symbol(parent_id, path)
            wanted[id_] = want_function(id_, writer, shown[-1], comment=comment, holder=holder)
            if is_broken:
                broken[id_] = holder
    # The step that writes the text meets the same error and counts it.
    guard = FailureGuard()
    for function in from_table(_some_functions(workspace, broken, column_names(FunctionInput)), FunctionInput):
        with guard.item(function.id):
            wanted[function.id] = want_function(
                function.id,
                writers.get(function.id, EXTRACTIVE),
                shown_source(function),
                comment=function.opening_comment,
                holder=broken[function.id],
            )
    return list(wanted.values())


def shown_functions(workspace: Workspace, ids: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """What a model is shown of some functions besides their context: qualified name, language, canonical source."""
    rows = _some_functions(workspace, ids, ["id", "qualified_name", "language", "canonical_source"])
    return {id_: (name, language, source) for id_, name, language, source in tuples_of(rows)}


def docstrings_of(workspace: Workspace, ids: Collection[str]) -> Iterator[tuple[str, str, str, str | None]]:
    """Id, language, name and docstring of some functions."""
    names = ["id", "language", "name", "docstring"]
    return tuples_of(_some_functions(workspace, ids, names))


def parts_of_functions(workspace: Workspace, ids: Collection[str], columns: list[str]) -> Iterator[pa.Table]:
    """Columns of these functions in `symbols`, in parts; of other files little is read."""
    paths = {*paths_of(pa.array([*ids], pa.string())).to_pylist()}
    for rows in _functions_in(workspace, [*dict.fromkeys(["id", *columns])], paths):
        yield rows_with(rows, ids).select(columns)


def _some_functions(workspace: Workspace, ids: Collection[str], columns: list[str]) -> pa.Table:
    empty = TABLES["symbols"].schema.empty_table().select(columns)
    return pa.concat_tables([empty, *parts_of_functions(workspace, ids, columns)])


def _functions(workspace: Workspace, columns: list[str], files: Collection[str] | None) -> Iterator[pa.Table]:
    """All functions, some at a time, for a repository's sources together are large; or those in some files. A step
    depends on all: which of them it looks at follows from what they were before."""
    workspace.tables.hash_read("symbols", workspace.key, columns=columns)
    return _functions_in(workspace, columns, files)


def _functions_in(workspace: Workspace, columns: list[str], files: Collection[str] | None) -> Iterator[pa.Table]:
    names = [*dict.fromkeys(["type", *columns])]
    for part in workspace.tables.read_parts("symbols", workspace.key, columns=names, paths=files):
        yield part.filter(pc.equal(part.column("type"), SymbolType.FUNCTION.value))


def trivial_functions(table: pa.Table, settings: FilterSettings) -> set[str]:
    """The ids of short functions that neither raise nor write nor call outward.

    The columns are those of `choose_writers`.
    """
    may_be = pc.or_(
        pc.less(table.column("line_count"), settings.min_lines),
        pc.less(table.column("complexity"), settings.min_complexity),
    )
    table = table.filter(may_be)
    sizes = tuples_of(table, ("name", "line_count", "complexity"))
    table = table.filter(
        pa.array([is_short(name, lines, complexity, settings) for name, lines, complexity in sizes], pa.bool_())
    )
    facts = table.column("facts")
    raises, writes, calls = (pc.struct_field(facts, name).combine_chunks() for name in ("raises", "writes", "calls"))
    is_working = pc.greater(pc.add(pc.list_value_length(raises), pc.list_value_length(writes)), 0).to_pylist()
    callees = pc.struct_field(pc.list_flatten(calls), "text").to_pylist()
    for row, callee in zip(pc.list_parent_indices(calls).to_pylist(), callees, strict=True):
        is_working[row] = is_working[row] or is_outward(callee)
    return {id_ for id_, works in zip(table.column("id").to_pylist(), is_working, strict=True) if not works}
