"""The levels put together: one document per function, class, file and module.

Only written fields come from the texts; ids, lines, signatures, context and
hashes come from the present snapshot, so a moved or reformatted function
never keeps a stale line. The documents are put together column by column,
without a Python object for each row; those of files and folders of which all that
they are made from is the same as in the last build stay.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Level, SummaryDocument, WrittenBy
from codesum_pipeline.foundation.data_model.edge import Context
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import graph_hash, module_content_hash
from codesum_pipeline.foundation.data_model.ids import module_path_of
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.made_from import MadeFrom, changed_paths
from codesum_pipeline.foundation.store.rows import column_names, schema_of, to_table
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.origins import is_own
from codesum_pipeline.symbols.parsing.symbols_step import read_origins
from codesum_pipeline.texts.summaries.outline import DocumentTree, module_layers, read_outline
from codesum_pipeline.texts.summaries.text_changes import hash_contexts, hash_texts, is_in_files
from codesum_pipeline.texts.summaries.text_history import append_history

# Rises when a column of `documents` that comes from no text is filled in another way.
DOCUMENTS_VERSION = "3"

Integers = npt.NDArray[np.integer[Any]]

_OF_TEXTS = [
    "id", "level", "summary_hash", "text", "text_hash", "written_by", "model", "prompt_version", "gate",
    "purpose_source",
]  # fmt: skip
_OF_SYMBOLS = [
    "id", "file_path", "qualified_name", "content_hash", "language", "start_line", "end_line", "signature", "parent_id",
    "line_map", "is_test",
]  # fmt: skip
_STRING = pa.string()
_OF_CONTAINERS = pa.schema(
    [
        *((name, _STRING) for name in ("id", "file_path", "module_path", "content_hash", "language")),
        *((name, pa.bool_()) for name in ("is_test", "is_vendored")),
        ("parent_id", _STRING),
    ]
)

# What differs between two places of the same path.
_OF_EACH = ("content_hash", "language", "is_test", "is_vendored")


class DocumentsReport(Struct, frozen=True):
    """What the index holds now, and how many texts changed since the last build."""

    rows: int
    by_level: Mapping[Level, int]
    by_writer: Mapping[WrittenBy, int]
    texts_changed: int
    texts_removed: int
    table_hash: str


def assemble_documents(workspace: Workspace, *, progress: Progress = no_progress) -> DocumentsReport:
    """Write the `documents` table and append what changed to `document_history`."""
    outline = read_outline(workspace, ())
    containers = _container_places(workspace, outline)
    now = cache(partial(_origins, workspace, containers))
    paths = changed_paths(workspace, "documents", now)
    documents = _documents(workspace, outline, containers, paths)
    written = workspace.tables.replace_files("documents", workspace.key, documents, paths)
    progress("assembling documents", written.rows, written.rows)
    texts_changed, texts_removed = append_history(workspace, paths)
    if not workspace.tables.is_scratch:
        now().keep(workspace, "documents")
    counted = workspace.tables.read("documents", workspace.key, columns=["type", "written_by"])
    counts = (pc.value_counts(column).to_pylist() for column in counted.columns)
    levels, writers = ({count["values"]: count["counts"] for count in each} for each in counts)
    return DocumentsReport(
        rows=written.rows,
        by_level={level: levels.get(level, 0) for level in Level},
        by_writer={WrittenBy(name): count for name, count in sorted(writers.items())},
        texts_changed=texts_changed,
        texts_removed=texts_removed,
        table_hash=written.table_hash,
    )


def _origins(workspace: Workspace, containers: pa.Table) -> MadeFrom:
    """What the documents of each file, and of each folder, are made from."""
    paths = containers["id"]
    # What else is said of a place follows from its path.
    of_places = (pc.fill_null(containers[name].cast(pa.string()), "") for name in _OF_EACH)
    of_texts = hash_texts(workspace, LEVELS, paths)
    return MadeFrom.of_hashes(
        paths, read_origins(workspace).at(paths), *of_places, *of_texts, hash_contexts(workspace, paths)
    )


def _documents(workspace: Workspace, outline: DocumentTree, containers: pa.Table, paths: set[str] | None) -> pa.Table:
    """The columns of the documents of these files and folders, or of every one, in id order."""
    tables, key = workspace.tables, workspace.key
    tables.hash_read("symbols", key, columns=_OF_SYMBOLS)
    # The paths of folders are between those of files.
    of_files = None if paths is None else paths.difference(outline.modules)
    symbols = tables.read_files("symbols", key, of_files, columns=_OF_SYMBOLS)
    places = _places(symbols, containers)
    order = pc.sort_indices(places.column("id"))
    order = order.filter(is_in_files(places.column("id").take(order), paths)) if paths is not None else order
    places = places.take(order).combine_chunks()
    texts = _texts(workspace, places.column("id"), paths)
    contexts = _contexts(workspace, places.column("id"), paths)
    text = texts.column("text")
    is_placeholder = pc.equal(texts.column("written_by"), WrittenBy.PLACEHOLDER.value)
    columns = {
        **{name: places.column(name) for name in places.column_names},
        **{name: texts.column(name) for name in texts.column_names if name not in ("id", "level", "text")},
        **{name: contexts.column(name) for name in contexts.column_names if name != "id"},
        **{field.name: pc.struct_field(text, field.name) for field in text.type},
        "type": texts.column("level"),
        "is_placeholder": is_placeholder,
        "citations": _real_lines(pc.struct_field(text, "citations"), symbols.column("line_map"), order.to_numpy()),
        "signature_summary": _signature_summaries(places.column("signature"), pc.struct_field(text, "returns")),
    }
    return pa.table([columns[name] for name in column_names(SummaryDocument)], schema=schema_of(SummaryDocument))


def _places(symbols: pa.Table, containers: pa.Table) -> pa.Table:
    """What each document takes from the tables of symbols and files; symbols first, in the order of their table. What
    is of a file is of its symbols, too."""
    files = containers.take(pc.index_in(symbols.column("file_path"), containers.column("id")))
    of_symbols = {name: symbols.column(name) for name in symbols.column_names if name != "line_map"}
    of_symbols |= {
        "is_test": pc.or_(files.column("is_test"), pc.fill_null(symbols.column("is_test"), False)),
        "is_vendored": files.column("is_vendored"),
        "module_path": files.column("module_path"),
        "parent_id": pc.coalesce(symbols.column("parent_id"), symbols.column("file_path")),
    }
    return pa.concat_tables([pa.table(of_symbols), containers], promote_options="default")


def _with_flags_of_code(files: pa.Table, facts: pa.Table, *, names: Sequence[str]) -> pa.Table:
    """The flags of files: code too can say that it is a test, or a copy of another project than those of `names`."""
    origins = pc.unique(facts.column("origin").drop_null()).to_pylist()
    foreign = pa.array([origin for origin in origins if not is_own(origin, names)], pa.string())
    flagged = {
        "is_test": pc.fill_null(facts.column("is_test"), False),
        "is_vendored": pc.is_in(facts.column("origin"), value_set=foreign),
    }
    for name, is_flagged in flagged.items():
        paths = facts.filter(is_flagged).column("file_path").combine_chunks()
        flags = pc.or_(files.column(name), pc.is_in(files.column("path"), value_set=paths))
        files = files.set_column(files.column_names.index(name), name, flags)
    return files


def _container_places(workspace: Workspace, outline: DocumentTree) -> pa.Table:
    """The places of files, then of modules, deepest first: a module is what the files and modules in it are."""
    tables, key, entry = workspace.tables, workspace.key, workspace.entry
    files = tables.read("files", key, columns=["path", "is_test", "is_vendored"])
    facts = tables.read("file_facts", key, columns=["file_path", "content_hash", "language", "is_test", "origin"])
    files = _with_flags_of_code(files, facts, names=[entry.key, entry.location.rstrip("/").rpartition("/")[2]])
    wanted = pa.array(outline.files, pa.string())
    found = facts.take(pc.index_in(wanted, facts.column("file_path")))
    flags = files.take(pc.index_in(wanted, files.column("path")))
    of_files = [*(found.column(name) for name in ("content_hash", "language")), *flags.columns[1:]]
    known = dict(zip(outline.files, zip(*(column.to_pylist() for column in of_files), strict=True), strict=True))
    for path in (path for layer in module_layers(outline) for path in layer):
        children = {child.name: known[child.id] for child in outline.children[path]}
        hashes = {name: content_hash for name, (content_hash, *_) in children.items()}
        _, languages, are_tests, are_vendored = zip(*children.values(), strict=True)
        known[path] = module_content_hash(hashes), _main_language(languages), all(are_tests), all(are_vendored)
    paths = [*known]
    folders = [path if outline.levels[path] is Level.MODULE else module_path_of(path) for path in paths]
    columns = {name: [place[at] for place in known.values()] for at, name in enumerate(_OF_EACH)}
    columns["parent_id"] = [outline.parents[path] for path in paths]
    return pa.table({"id": paths, "file_path": paths, "module_path": folders, **columns}, schema=_OF_CONTAINERS)


def _texts(workspace: Workspace, ids: pa.ChunkedArray, paths: Collection[str] | None) -> pa.Table:
    """The text of each document, of some files and folders or of all; raises `BrokenStore` if one has none."""
    tables = [
        workspace.tables.read_files(texts_table(level), workspace.key, paths, columns=_OF_TEXTS) for level in Level
    ]
    texts = pa.concat_tables(tables)
    rows = pc.index_in(ids, texts.column("id"))
    if rows.null_count:
        missing = ids.filter(pc.is_null(rows))[0].as_py()
        raise BrokenStore(
            f"repository {workspace.key!r}: {missing!r} has no text: run the steps from summary_plan on again"
        )
    return texts.take(rows).combine_chunks()


def _contexts(workspace: Workspace, ids: pa.ChunkedArray, paths: Collection[str] | None) -> pa.Table:
    """The context of each document, an empty one where the graph has none."""
    found = workspace.tables.read_files("contexts", workspace.key, paths, columns=column_names(Context))
    empty = to_table([Context("", (), (), graph_hash((), ()), ())], Context)
    rows = pc.fill_null(pc.index_in(ids, found.column("id")), found.num_rows)
    return pa.concat_tables([found, empty]).take(rows)


def _signature_summaries(signatures: pa.ChunkedArray, returns: pa.ChunkedArray) -> pa.Array:
    """The signature, and what comes back where the text says so and the signature does not; None without one."""
    returned = pc.struct_field(returns, "type_summary").to_pylist()
    pairs = zip(signatures.to_pylist(), returned, strict=True)
    return pa.array(
        [f"{one}: {two}" if one and two and not _shows(one, two) else one for one, two in pairs], pa.string()
    )


def _shows(signature: str, returned: str) -> bool:
    """Whether a signature has the type that is said to come back: `returns str` of `def name() -> str`."""
    kind = returned.removeprefix("returns ").removeprefix("yields ").partition(", as ")[0]
    return kind != returned and kind in signature


def _real_lines(citations: pa.ChunkedArray, line_maps: pa.ChunkedArray, places: Integers) -> pa.ListArray:
    """Citations with real lines: symbols cite canonical ones. `places` has for each document the number of its line
    map; documents that are no symbols have higher numbers than the last map's."""
    lists, maps = citations.combine_chunks(), line_maps.combine_chunks()
    cited = pc.list_flatten(lists)
    rows = places[pc.list_parent_indices(lists).to_numpy()].astype(np.int64)
    is_symbol = rows < len(maps)
    starts = _offsets(maps)
    lines = pc.list_flatten(maps).to_numpy()
    columns = [pc.struct_field(cited, "field")]
    for name in ("start_line", "end_line"):
        numbers = pc.struct_field(cited, name).to_numpy().copy()
        numbers[is_symbol] = lines[starts[rows[is_symbol]] + numbers[is_symbol] - 1]
        columns.append(pa.array(numbers))
    values = pa.StructArray.from_arrays(columns, fields=list(lists.type.value_type))
    return pa.ListArray.from_arrays(pa.array(_offsets(lists), pa.int32()), values, type=lists.type)


def _offsets(lists: pa.ListArray) -> Integers:
    """Where each list's items begin among all items, and where the last ends."""
    lengths = pc.list_value_length(lists).to_numpy()
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _main_language(languages: Iterable[str]) -> str:
    """The language of most children; of those, the first by name."""
    counts = Counter(languages)
    return min(counts, key=lambda language: (-counts[language], language))
