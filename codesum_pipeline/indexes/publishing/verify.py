"""Whether a published index is what its manifest and the warehouse say.

The link is checked first, then the manifest, then the bytes of every file. What the files say about each other and
about the warehouse is compared only where their bytes are right; each of these checks yields (check, subject, detail).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_texts import content_of, lines_of, stamps_of
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index
from codesum_pipeline.indexes.file_formats.graph_files import (
    OF_USES,
    build_callers,
    build_constant_uses,
    build_uses,
    number_edges,
)
from codesum_pipeline.indexes.file_formats.index_files import Callers, ConstantUses, MappedArrays, ShownFields, Uses
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Vectors, map_matrix, map_npy, map_npz
from codesum_pipeline.indexes.file_formats.version_folder import (
    INDEX_SCHEMA_VERSION,
    Lane,
    Version,
    content_digest,
    read_version,
)
from codesum_pipeline.indexes.publishing.publish import link_target

Problem = tuple[str, str, str]

# A vector's length may differ from 1 by the rounding of float32.
_LENGTH_TOLERANCE = 1e-4


class Content(Struct, frozen=True):
    """The parsed files of one version. The rows of functions and classes come first, those of folders last."""

    version: Version
    documents: Sequence[Mapping[str, Any]]
    arrays: Mapping[str, Array]
    offsets: Array
    index_map: Sequence[str]
    vectors: Mapping[Lane, Vectors]
    ids: Sequence[str]
    symbols: int
    modules_start: int


def read_content(version: Version) -> Content:
    """Read a version whose files are known to be the ones of its manifest."""
    folder = version.folder
    lines = (folder / paths.DOCUMENTS).read_text(encoding="utf-8").split("\n")[:-1]
    documents = [json.loads(line) for line in lines]
    levels = Counter(document["type"] for document in documents)
    dimensions = version.manifest["embedder"]["dimensions"]
    return Content(
        version=version,
        documents=documents,
        arrays=map_npz(folder / paths.DOCUMENT_ARRAYS),
        offsets=map_npy(folder / paths.OFFSETS),
        index_map=json.loads((folder / paths.INDEX_MAP).read_text(encoding="utf-8")),
        vectors={lane: map_matrix(folder / name, dimensions) for lane, name in paths.VECTOR_FILES.items()},
        ids=[document["id"] for document in documents],
        symbols=levels[Level.FUNCTION] + levels[Level.CLASS],
        modules_start=len(documents) - levels[Level.MODULE],
    )


def check_documents(content: Content) -> Iterator[Problem]:
    """Counts, order, ids, orphans, and the digest without provenance."""
    manifest, documents, ids = content.version.manifest, content.documents, content.ids
    levels = Counter(document["type"] for document in documents)
    counted = {
        "documents": len(documents),
        "levels": {str(level): levels[level] for level in LEVELS},
        "placeholders": sum(document["is_placeholder"] for document in documents),
        "vectors": len(content.index_map),
    }
    if counted != manifest["counts"]:
        yield "counts", paths.DOCUMENTS, f"holds {counted}, the manifest says {manifest['counts']}"
    for id_, count in Counter(ids).items():
        if count > 1:
            yield "ids", id_, f"occurs {count} times"
    order = [(LEVELS.index(Level(document["type"])), document["id"].encode()) for document in documents]
    if order != sorted(order):
        yield "order", paths.DOCUMENTS, "is not sorted by level and id"
    yield from _check_orphans(documents, set(ids))
    starts = [0, *np.cumsum([len(line) for line in (content.version.folder / paths.DOCUMENTS).open("rb")]).tolist()]
    if content.offsets.tolist() != starts:
        yield "offsets", paths.OFFSETS, f"does not say where the lines of {paths.DOCUMENTS} start"
    digest = hashlib.sha256("".join(f"{content_of(document)}\n" for document in documents).encode()).hexdigest()
    if digest != manifest["files"][paths.DOCUMENTS].get("content_sha256"):
        yield "files", paths.DOCUMENTS, "differs from the manifest's content_sha256"


def check_shown(content: Content) -> Iterator[Problem]:
    """Whether a hit would show what the document says."""
    shown = ShownFields.map_file(content.version.folder / paths.SHOWN_FIELDS)
    if len(shown) != len(content.documents):
        yield "row map", paths.SHOWN_FIELDS, f"has {len(shown)} rows, {paths.DOCUMENTS} has {len(content.documents)}"
        return
    for row, document in enumerate(content.documents):
        for name, value in shown.of_row(row).items():
            if value != document[name]:
                detail = f"{paths.SHOWN_FIELDS} has {name} {value!r}, {paths.DOCUMENTS} {document[name]!r}"
                yield "documents", document["id"], detail


def check_lanes(content: Content) -> Iterator[Problem]:
    rows, ids = content.arrays["dense_rows"].tolist(), content.ids
    for lane, matrix in content.vectors.items():
        if len(matrix) != len(content.index_map):
            yield (
                "row map",
                paths.INDEX_MAP,
                f"has {len(content.index_map)} rows, lane {lane} has {len(matrix)} vectors",
            )
        lengths = np.linalg.norm(matrix, axis=1)
        bad = ~((np.abs(lengths - 1) < _LENGTH_TOLERANCE) | (lengths == 0))
        for row in np.flatnonzero(bad).tolist():
            subject = content.index_map[row] if row < len(content.index_map) else f"row {row}"
            yield "vectors", subject, f"lane {lane}: length {lengths[row]:.4f} is neither 1 nor 0"
    if [ids[row] for row in rows if row < len(ids)] != list(content.index_map):
        yield "row map", paths.DOCUMENT_ARRAYS, f"dense_rows and {paths.INDEX_MAP} name different documents"
    dense = set(content.index_map)
    for document in content.documents:
        if document["is_placeholder"] and document["id"] in dense:
            yield "placeholders", document["id"], "is a placeholder and has a vector"
        if not document["is_placeholder"] and document["id"] not in dense:
            yield "vectors", document["id"], "has no vector"
    for id_ in sorted(dense.difference(ids)):
        yield "row map", id_, "has a vector and no document"
    yield from _check_callers(content)
    yield from _check_constants(content)
    yield from _check_words(content)


def check_warehouse(content: Content, tables: TableStore, key: str) -> Iterator[Problem]:
    """Whether the documents are the warehouse's, where both are of the same commit."""
    snapshot = tables.read_or_empty("snapshot", key).to_pylist()
    if not snapshot or snapshot[0]["commit"] != content.version.manifest["commit"]:
        return
    documents = tables.read("documents", key)
    lines = lines_of(documents, stamps_of(documents.column("id"), tables.read("document_history", key)))
    contents = (f"{bytes(line).decode()}}}" for line in lines.contents())
    stored = dict(zip(documents.column("id").to_pylist(), contents, strict=True))
    published = {document["id"]: content_of(document) for document in content.documents}
    for id_ in sorted(stored.keys() | published.keys()):
        if id_ not in published:
            yield "warehouse", id_, "is in the warehouse and not published"
        elif id_ not in stored:
            yield "warehouse", id_, "is published and not in the warehouse"
        elif stored[id_] != published[id_]:
            yield "warehouse", id_, "differs from the warehouse"
    stored_edges = tables.read_or_empty("edges", key, columns=list(OF_USES))
    edges = number_edges([stored_edges], pa.array(content.ids[: content.modules_start], pa.string()))
    uses, folder = build_uses(edges), content.version.folder
    if not _are_equal(build_callers(uses, content.symbols), Callers.map_file(folder / paths.CALLERS)):
        yield "warehouse", paths.CALLERS, "names other callers than the warehouse's edges"
    if not _are_equal(uses, Uses.map_file(folder / paths.USES)):
        yield "warehouse", paths.USES, "names other users than the warehouse's edges"
    if not _are_equal(build_constant_uses(edges), ConstantUses.map_file(folder / paths.CONSTANTS)):
        yield "warehouse", paths.CONSTANTS, "names other users than the warehouse's edges"
    files = set(tables.read("file_facts", key, columns=["file_path"]).column("file_path").to_pylist())
    for document in content.documents:
        if document["type"] != Level.MODULE and document["file_path"] not in files:
            yield "orphans", document["id"], f"its file {document['file_path']} is gone"


def _check_orphans(documents: Sequence[Mapping[str, Any]], ids: set[str]) -> Iterator[Problem]:
    files = {document["id"] for document in documents if document["type"] == Level.FILE}
    for document in documents:
        parent = document["parent_id"]
        if parent is not None and parent not in ids:
            yield "orphans", document["id"], f"its parent {parent} has no document"
        if document["type"] in (Level.FUNCTION, Level.CLASS) and document["file_path"] not in files:
            yield "orphans", document["id"], f"its file {document['file_path']} has no document"


def _are_equal(one: MappedArrays, other: MappedArrays) -> bool:
    return all(map(np.array_equal, astuple(one), astuple(other)))


def _check_callers(content: Content) -> Iterator[Problem]:
    callers, uses = (
        Callers.map_file(content.version.folder / paths.CALLERS),
        Uses.map_file(content.version.folder / paths.USES),
    )
    symbols = "functions and classes"
    for file, rows, count, indptr, what, pointed_at in (
        (paths.CALLERS, callers.rows, content.symbols, callers.indptr, symbols, symbols),
        (paths.USES, uses.users, content.modules_start, uses.indptr, "that are no folders", "documents"),
    ):
        if len(indptr) - 1 != count:
            yield "row map", file, f"has {len(indptr) - 1} rows, {paths.DOCUMENTS} has {count} {what}"
        if rows.max(initial=-1) >= count or indptr[-1] != len(rows):
            yield "row map", file, f"points at {pointed_at} that are not there"


def _check_constants(content: Content) -> Iterator[Problem]:
    constants = ConstantUses.map_file(content.version.folder / paths.CONSTANTS)
    if constants.users.max(initial=-1) >= content.modules_start or constants.indptr[-1] != len(constants.users):
        yield "row map", paths.CONSTANTS, "points at documents that are not there"


def _check_words(content: Content) -> Iterator[Problem]:
    folder, count = content.version.folder, len(content.documents)
    passages = map_npy(folder / paths.PASSAGES)
    for row in np.unique(passages).tolist():
        if row >= count or content.documents[row]["type"] != Level.FILE:
            yield "row map", paths.PASSAGES, f"names document {row}, which is no file"
    for row in {int(function) for _, _, function in map_npy(folder / paths.PASSAGE_OWNERS)}:
        if row >= count or content.documents[row]["type"] != Level.FUNCTION:
            yield "row map", paths.PASSAGE_OWNERS, f"names document {row}, which is no function"
    for lane, name in paths.BM25_FILES.items():
        rows = count + len(passages) * (lane is Lane.CODE)
        index = Bm25Index.map_file(folder / name)
        if index.documents != rows:
            yield "row map", name, f"has {index.documents} documents, {paths.DOCUMENTS} and passages are {rows}"
        if index.indices.max(initial=-1) >= rows or len(index.indptr) != len(index.vocabulary) + 1:
            yield "row map", name, "points at documents or words that are not there"
    keywords = paths.BM25_FILES[Lane.KEYWORDS]
    vocabulary = json.loads((folder / paths.KEYWORDS_VOCABULARY).read_text(encoding="utf-8"))
    if list(vocabulary) != list(Bm25Index.map_file(folder / keywords).vocabulary):
        yield "row map", paths.KEYWORDS_VOCABULARY, f"differs from the words of {keywords}"
    lines = (folder / paths.KEYWORDS_METADATA).read_text(encoding="utf-8").split("\n")[:-1]
    if [json.loads(line)["id"] for line in lines] != content.ids:
        yield "row map", paths.KEYWORDS_METADATA, f"names other documents than {paths.DOCUMENTS}"


class IndexFault(Struct, frozen=True):
    """Something wrong: `check` is the rule, `subject` the file or document, `detail` what is and what should be."""

    check: str
    subject: str
    detail: str


def verify_index(layout: HomeLayout, key: str, *, tables: TableStore | None = None) -> list[IndexFault]:
    """Everything wrong with a repository's published index; an empty list means that it is sound. With `tables`, an
    index of the warehouse's commit is compared with the warehouse document by document."""
    name, versions = layout.published(key), layout.versions(key)
    problems = list(_check_link(name, versions))
    if not problems:
        try:
            version = read_version(versions / name.readlink().name)
        except BrokenIndex as error:
            return [IndexFault("manifest", paths.MANIFEST, str(error))]
        problems = [*_check_manifest(version, key), *_check_files(version)]
        if not problems:
            content = read_content(version)
            problems = [*check_documents(content), *check_shown(content), *check_lanes(content)]
            problems += check_warehouse(content, tables, key) if tables is not None else ()
    return [IndexFault(*problem) for problem in problems]


def _check_link(name: Path, versions: Path) -> Iterator[Problem]:
    if not name.is_symlink():
        detail = "is a folder or file, not a link" if name.exists() else "nothing is published"
        yield "link", str(name), detail
        return
    target = name.readlink()
    if target != link_target(name, versions, target.name):
        yield "link", str(name), f"points at {target}, which is no version of this repository"
    elif not (versions / target.name / paths.MANIFEST).is_file():
        yield "link", str(name), f"points at {target}, which is gone"


def _check_manifest(version: Version, key: str) -> Iterator[Problem]:
    manifest = version.manifest
    if manifest.get("schema_version") != INDEX_SCHEMA_VERSION:
        detail = f"schema version {manifest.get('schema_version')}, this package reads {INDEX_SCHEMA_VERSION}"
        yield "manifest", paths.MANIFEST, detail
    elif manifest["repo"] != key:
        yield "manifest", paths.MANIFEST, f"is of repository {manifest['repo']!r}"
    elif (computed := content_digest(manifest)) != manifest["content_digest"]:
        yield "manifest", paths.MANIFEST, f"content digest is {manifest['content_digest']}, should be {computed}"


def _check_files(version: Version) -> Iterator[Problem]:
    for name in version.damaged_files(read_content=True):
        state = "differs from the manifest" if (version.folder / name).is_file() else "is missing"
        yield "files", name, state
    listed = {*version.manifest["files"], paths.MANIFEST}
    for path in sorted(path for path in version.folder.rglob("*") if path.is_file()):
        name = path.relative_to(version.folder).as_posix()
        if name not in listed:
            yield "files", name, "is not in the manifest"
