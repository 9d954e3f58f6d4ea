"""What an overview needs of large tables: uses between files, imports, and where programs start.

It is a small part of what the tables say, and follows from each part of them alone: what is found in a part is kept,
so that after an edit the parts that changed are read.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, languages_with
from codesum_pipeline.foundation.store.kept_rows import part_by_part, rows_of_parts
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.framework_catalogue import read_catalogue
from codesum_pipeline.symbols.parsing.expressions import MAX_LITERALS

# Raised with anything that changes what a page says of the same repository.
OVERVIEW_VERSION = "overview/6"
# The name of a Python module that is run.
MAIN_GUARD = "__main__"
_PROGRAM_NAMES = ("main", "Main")


class ImportedModule(Struct, frozen=True):
    """One import of an external module, as a file writes it."""

    path: str
    line: int
    language: str
    module: str


class MainFunction(Struct, frozen=True):
    """A definition or a line at which a program starts."""

    path: str
    line: int
    name: str


def _found(
    ws: Workspace, table: str, columns: Sequence[str], name: str, find: Callable[[pa.Table], pa.Table]
) -> pa.Table:
    by_parts = ws.tables.by_parts(table, ws.key, columns=columns)
    found = rows_of_parts(ws, by_parts, f"{table}.{name}", part_by_part(find), state=OVERVIEW_VERSION.encode())
    return found.drop_columns("part")


def _within(found: pa.Table, paths: Collection[str], *ends: str) -> pa.Table:
    """The rows whose ends are among some files."""
    value_set = pa.array(sorted(paths), pa.string())
    for end in ends:
        found = found.filter(pc.is_in(found[end], value_set=value_set))
    return found


def count_links(ws: Workspace, programs: Collection[str]) -> Counter[tuple[str, str]]:
    """How often one of some files uses another, by their paths."""
    columns = ("src_id", "dst", "is_external", "kind")
    within = _within(_found(ws, "edges", columns, "links", _count_links), programs, "source", "target")
    found: Counter[tuple[str, str]] = Counter()
    # Two parts may have uses of one file.
    for source, target, uses in zip(*(column.to_pylist() for column in within.columns), strict=True):
        found[source, target] += uses
    return found


def _count_links(rows: pa.Table) -> pa.Table:
    is_reference = pc.equal(rows["kind"], str(EdgeKind.REFERENCE))
    uses = rows.filter(pc.invert(pc.or_(rows["is_external"], is_reference)))
    ends = pa.table({"source": paths_of(uses["src_id"]), "target": paths_of(uses["dst"])})
    between = ends.filter(pc.not_equal(ends["source"], ends["target"]))
    counted = between.group_by(["source", "target"], use_threads=False).aggregate([([], "count_all")])
    return counted.rename_columns(["source", "target", "uses"])


def find_imports(ws: Workspace, paths: Collection[str]) -> list[ImportedModule]:
    """The imports of modules that the catalogue knows, in some files."""
    find = partial(_find_imports, {})
    found = _found(ws, "file_facts", ("file_path", "language", "imports"), "imports", find)
    return [*map(ImportedModule, *(column.to_pylist() for column in _within(found, paths, "path").columns))]


def _find_imports(known: dict[str, bool], rows: pa.Table) -> pa.Table:
    """`known` says of each name that was looked up whether the catalogue has it."""
    flat = rows["imports"].combine_chunks()
    owners, values = pc.list_parent_indices(flat), pc.list_flatten(flat)
    path, language = (rows[name].take(owners) for name in ("file_path", "language"))
    module, level, line = map(values.field, ("module", "level", "line"))
    is_relative = pc.or_(pc.not_equal(level, 0), pc.starts_with(module, "."))
    names = pc.binary_join_element_wise(language, module, "\0").combine_chunks()
    catalogue = read_catalogue()
    for name in set(pc.unique(names).to_pylist()).difference(known):
        known[name] = catalogue.of_import(*name.split("\0", 1)) is not None
    is_known = pc.is_in(names, value_set=pa.array([name for name, is_one in known.items() if is_one], pa.string()))
    is_wanted = pc.and_(is_known, pc.invert(is_relative))
    return pa.table({"path": path, "line": line, "language": language, "module": module}).filter(is_wanted)


def find_mains(ws: Workspace, paths: Collection[str]) -> Iterator[MainFunction]:
    """The definitions in some files at which programs start."""
    columns = ("name", "file_path", "start_line", "language", "parent_id", "modifiers", "bases")
    found = _found(ws, "symbols", columns, "mains", _find_mains)
    return map(MainFunction, *(column.to_pylist() for column in _within(found, paths, "path").columns))


def _find_mains(rows: pa.Table) -> pa.Table:
    is_named = pc.is_in(rows["name"], value_set=pa.array(_PROGRAM_NAMES))
    is_object = pc.is_in(rows["language"], value_set=_with(Trait.OBJECT_MAIN))
    is_swift = pc.is_in(rows["language"], value_set=_with(Trait.MARKED_MAIN))
    candidates = rows.filter(pc.or_(is_named, pc.or_(is_object, is_swift)))
    is_one = pa.array(map(_starts_program, candidates.to_pylist()), pa.bool_())
    return (
        candidates.filter(is_one).select(["file_path", "start_line", "name"]).rename_columns(["path", "line", "name"])
    )


def _starts_program(row: dict[str, object]) -> bool:
    """Whether a program of its language starts at a definition."""
    language, is_free = str(row["language"]), row["parent_id"] is None
    path = str(row["file_path"])
    if has_trait(language, Trait.MARKED_MAIN):
        return "main" in _words(row["modifiers"])
    if row["name"] not in _PROGRAM_NAMES:
        return (
            has_trait(language, Trait.OBJECT_MAIN)
            and is_free
            and bool({"App", "IOApp", "ZIOAppDefault"} & set(_words(row["bases"])))
        )
    if has_trait(language, Trait.FREE_MAIN):
        return is_free and not path.startswith("build/") and not path.endswith("build.rs") and row["name"] == "main"
    return has_trait(language, Trait.METHOD_MAIN) and (not is_free or has_trait(language, Trait.OBJECT_MAIN))


def _with(trait: Trait) -> pa.Array:
    return pa.array(languages_with(trait), pa.string())


def _words(texts: object) -> list[str]:
    return [str(text).lstrip("@").rpartition(".")[2] for text in texts] if isinstance(texts, list | tuple) else []


def find_guarded(ws: Workspace, paths: Collection[str]) -> list[str]:
    """Those of some files whose code outside of definitions says `__main__`."""
    # A source follows from the file's bytes, and how they are read.
    columns = ("file_path", "language", "literals", "syntax_errors", "failure", "blob", "parser", "encoding")
    found = _found(ws, "file_facts", columns, "guards", partial(_find_guarded, ws))
    paths_found: list[str] = _within(found, paths, "path")["path"].to_pylist()
    return paths_found


def _find_guarded(ws: Workspace, rows: pa.Table) -> pa.Table:
    """Sources are read only where it is not known which texts are there."""
    rows = rows.filter(pc.is_in(rows["language"], value_set=_with(Trait.MAIN_GUARD)))
    literals = rows["literals"].combine_chunks()
    owners = pc.list_parent_indices(literals).filter(pc.equal(pc.list_flatten(literals), MAIN_GUARD))
    says = rows["file_path"].take(owners)
    is_cut = pc.greater_equal(pc.list_value_length(rows["literals"]), MAX_LITERALS)
    is_unsure = pc.or_(is_cut, pc.or_(pc.greater(rows["syntax_errors"], 0), rows["failure"].is_valid()))
    unsure = rows["file_path"].filter(is_unsure).to_pylist()
    sources = ws.tables.read_files("file_facts", ws.key, unsure, columns=["file_path", "source"])
    seen = sources["file_path"].filter(pc.match_substring(sources["source"], MAIN_GUARD))
    is_one = pc.is_in(rows["file_path"], value_set=pa.array({*says.to_pylist(), *seen.to_pylist()}, pa.string()))
    return pa.table({"path": rows["file_path"].filter(is_one)})
