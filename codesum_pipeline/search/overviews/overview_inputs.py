"""The inputs of an overview: documents and their uses; for frameworks and entry points paths, texts, imports, mains.

They come from a workspace's tables, and from its mirror at the commit of the tables. Copies of others' code are left
out; tests and examples are marked, since their needs are not the project's.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import FileStatus, SkipReason
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.language_facts.file_languages import FileRole, is_program, role_of
from codesum_pipeline.foundation.store.rows import column_names
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.found_in_parts import (
    MAIN_GUARD,
    ImportedModule,
    MainFunction,
    count_links,
    find_guarded,
    find_imports,
    find_mains,
)
from codesum_pipeline.search.overviews.package_manifests.manifest import Manifest
from codesum_pipeline.search.overviews.package_manifests.manifest_readers import manifest_paths, read_manifest
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument, RankedDocuments
from codesum_pipeline.source.files.content import read_files
from codesum_pipeline.source.masking.secrets import mask_secrets


class RepositoryView(Struct, dict=True, eq=False):
    """A repository below `root`. The `sources` of its documents are the files of its own programs, `links` count the
    uses between these."""

    name: str
    root: str
    documents: RankedDocuments
    languages: Mapping[str, int]
    links: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def sources(self) -> Sequence[str]:
        return self.documents.sources

    @classmethod
    def of(cls, ws: Workspace, tests: Collection[str], namespaces: Collection[str]) -> Self:
        """`tests` are the files that test others, `namespaces` classes that are no documents of their own."""
        rows = ws.tables.read("files", ws.key, columns=["path", "language", "status", "is_vendored"])
        is_own = pc.and_(pc.equal(rows["status"], str(FileStatus.INDEXED)), pc.invert(rows["is_vendored"]))
        own = rows.filter(is_own)
        programs = {
            path: language
            for path, language in zip(own["path"].to_pylist(), own["language"].to_pylist(), strict=True)
            if path not in tests and is_program(language) and _is_source(path)
        }
        sources = sorted(programs)
        return cls(
            name=ws.slug.rpartition("/")[2] if ws.slug else ws.key,
            root=ws.entry.subdir or ROOT_MODULE,
            documents=RankedDocuments(_ranked(ws, namespaces), sources),
            languages=Counter(programs.values()),
            links=count_links(ws, sources),
        )


_COLUMNS = {
    "id": "id",
    "level": "type",
    "line": "start_line",
    "text": "summary",
    "purpose_source": "purpose_source",
    "is_placeholder": "is_placeholder",
}
_LEFT_OUT = ("is_vendored", "is_test")


def _ranked(ws: Workspace, namespaces: Collection[str]) -> pa.Table:
    """The documents without those of tests and of others' code, and without namespaces."""
    documents = ws.tables.read_or_empty("documents", ws.key, columns=[*_COLUMNS.values(), *_LEFT_OUT])
    stats = ws.tables.read("graph_stats", ws.key, columns=["id", "pagerank", "community"])
    symbols = ws.tables.read("symbols", ws.key, columns=["id", "is_public"])
    # A folder is not left out, whatever is in it.
    is_test = pc.and_(documents["is_test"], pc.not_equal(documents["type"], str(Level.MODULE)))
    is_left_out = pc.or_(
        pc.or_(documents["is_vendored"], is_test),
        pc.is_in(documents["id"], value_set=pa.array([*namespaces], pa.string())),
    )
    shown = documents.filter(pc.invert(is_left_out))
    in_graph, in_symbols = (
        pc.index_in(shown["id"], value_set=table["id"].combine_chunks()) for table in (stats, symbols)
    )
    found = {name: shown[column] for name, column in _COLUMNS.items()} | {
        "path": paths_of(shown["id"]),
        "line": pc.fill_null(shown["start_line"], 1),
        "rank": pc.fill_null(stats["pagerank"].take(in_graph), 0.0),
        "community": stats["community"].take(in_graph),
        "is_public": pc.fill_null(symbols["is_public"].take(in_symbols), True),
    }
    return pa.table({name: found[name] for name in column_names(RankedDocument)}).combine_chunks()


def _is_source(path: str) -> bool:
    """Whether a file is neither an example nor in a hidden folder, where tools are set up."""
    return role_of(path) is FileRole.SOURCE and "/." not in f"/{path.rpartition('/')[0]}"


class OverviewSources(Struct, dict=True, eq=False):
    """`beside` are tests and examples, `executable` the files with that mode, `names` the repository's own names.
    Manifests are read once and remembered; `guard` collects those that failed."""

    paths: Sequence[str]
    texts: Mapping[str, str]
    imports: Sequence[ImportedModule] = ()
    mains: Sequence[MainFunction] = ()
    beside: frozenset[str] = frozenset()
    executable: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    guard: FailureGuard = field(default_factory=FailureGuard)

    @cached_property
    def all_manifests(self) -> list[Manifest]:
        """All manifests, those nearest the root first."""
        found: list[Manifest] = []
        for path in manifest_paths([path for path in self.paths if path in self.texts]):
            with self.guard.item(path):
                if manifest := read_manifest(path, self.texts[path]):
                    found.append(manifest)
        return found

    @cached_property
    def manifests(self) -> list[Manifest]:
        """The manifests of the project itself; where there are none, those of tests and examples."""
        return [each for each in self.all_manifests if each.path not in self.beside] or self.all_manifests

    @cached_property
    def malformed(self) -> dict[str, str]:
        _ = self.all_manifests
        return {failure.item: failure.reason for failure in self.guard.failures}


# The first manifests describe a repository of thousands of packages as well.
MOST_MANIFESTS = 500
MOST_SCRIPTS = 200
_EXECUTABLE_MODE = "100755"
# Files that were skipped for such reasons may still be manifests or signs of a tool.
_STILL_TELLING = frozenset({SkipReason.SKIP_PATTERN, SkipReason.LANGUAGE, SkipReason.GENERATED})
_READ_AS_TEXT = frozenset({SkipReason.LANGUAGE})
_MAIN_GUARD = re.compile(r"^if\s+__name__\s*==\s*['\"]__main__['\"]", re.MULTILINE)


def read_sources(ws: Workspace, commit: str, tests: Collection[str]) -> OverviewSources:
    """The inputs of a workspace, without copies of others' code and files that its entry excludes; `tests` are the
    files that test others."""
    names = ["path", "mode", "status", "reason", "is_vendored"]
    rows = ws.tables.read("files", ws.key, columns=names)
    is_telling = pc.is_in(rows["reason"], value_set=pa.array(sorted(_STILL_TELLING), pa.string()))
    is_there = pc.or_(pc.equal(rows["status"], str(FileStatus.INDEXED)), is_telling)
    own = rows.filter(pc.and_(pc.invert(rows["is_vendored"]), is_there)).to_pylist()
    paths = [row["path"] for row in own]
    # Where code in a folder is an example, data there is, too.
    folders = {path: path.rpartition("/")[0] for path in paths}
    examples = {folder for folder in {*folders.values()} if role_of(f"{folder}/x.py") is FileRole.EXAMPLE}
    beside = frozenset(
        path
        for path, folder in folders.items()
        if path in tests or role_of(path) is FileRole.EXAMPLE or folder in examples
    )
    readable = [row["path"] for row in own if row["status"] == FileStatus.INDEXED or row["reason"] in _READ_AS_TEXT]
    manifests = manifest_paths(readable)[:MOST_MANIFESTS]
    executable = frozenset(row["path"] for row in own if row["mode"] == _EXECUTABLE_MODE)
    return OverviewSources(
        paths=paths,
        texts=_texts(ws, manifests, commit),
        imports=find_imports(ws, set(paths)),
        mains=[*find_mains(ws, set(paths) - beside), *_main_guards(ws, set(paths) - beside, commit)],
        beside=beside,
        executable=executable,
        names=frozenset({ws.key, *([ws.slug.rpartition("/")[2]] if ws.slug else [])}),
    )


def _texts(ws: Workspace, paths: Sequence[str], commit: str) -> dict[str, str]:
    """The texts of files in the mirror, without secrets; tables have programs in canonical form, on other lines."""
    files = ws.tables.read("files", ws.key, columns=["path", "encoding"])
    wanted = files.filter(pc.is_in(files["path"], pa.array(paths, pa.string()))).to_pylist()
    encodings = {row["path"]: row["encoding"] for row in wanted if row["encoding"]}
    try:
        timeout_s = ws.settings.git_timeout_s
        texts = read_files(ws.layout.mirror(ws.key), paths, commit=commit, timeout_s=timeout_s, encodings=encodings)
    except RepositoryUnavailable:
        return {}
    return {path: mask_secrets(text).text for path, text in texts.items()}


def _main_guards(ws: Workspace, paths: Collection[str], commit: str) -> Iterator[MainFunction]:
    """Python's `if __name__ == "__main__":`, and modules `__main__`."""
    found = find_guarded(ws, paths)
    for path, text in _texts(ws, found[:MOST_SCRIPTS], commit).items():
        if match := _MAIN_GUARD.search(text):
            yield MainFunction(path, text.count("\n", 0, match.start()) + 1, MAIN_GUARD)
    for path in sorted(paths):
        if path.rpartition("/")[2] == "__main__.py" and path not in found:
            yield MainFunction(path, 1, MAIN_GUARD)


def read_text(ws: Workspace, path: str, commit: str) -> str | None:
    """One file as it is in the mirror; None if it has none."""
    return _texts(ws, [path], commit).get(path)
