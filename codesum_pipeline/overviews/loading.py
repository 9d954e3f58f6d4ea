"""The inputs from which frameworks and entry points are found: paths, texts of some files, imports, main functions.

They come from a workspace's tables, and from its mirror at the commit of the tables. Copies of others' code are left
out; tests and examples are marked, since their needs are not the project's.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.languages.profiles import Trait, has, languages_with
from codesum_pipeline.model.errors import RepositoryUnavailable
from codesum_pipeline.model.files import FileStatus, SkipReason
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.overviews.catalogue import read_catalogue
from codesum_pipeline.overviews.manifests.manifest import Manifest
from codesum_pipeline.overviews.manifests.reading import LARGEST_CHARS, manifest_paths, reader_of
from codesum_pipeline.parsing.testing import read_tests
from codesum_pipeline.source.file_text import read_files
from codesum_pipeline.source.roles import FileRole, role_of
from codesum_pipeline.store.workspace import Workspace

# The name of a Python module that is run.
MAIN_GUARD = "__main__"


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


class OverviewSources(Struct, frozen=True, dict=True):
    """`beside` are tests and examples, `executable` the files with that mode, `names` the repository's own names.

    `guard` collects the manifests that failed.
    """

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
        return list(self._read(manifest_paths(self.paths)))

    @cached_property
    def manifests(self) -> list[Manifest]:
        """The manifests of the project itself; where there are none, those of tests and examples."""
        return [each for each in self.all_manifests if each.path not in self.beside] or self.all_manifests

    @cached_property
    def malformed(self) -> dict[str, str]:
        """Manifests that could not be read, and why."""
        _ = self.all_manifests
        return {failure.item: failure.reason for failure in self.guard.failures}

    def _read(self, paths: Iterable[str]) -> Iterable[Manifest]:
        for path in paths:
            text, reader = self.texts.get(path), reader_of(path)
            if text is None or reader is None or len(text) > LARGEST_CHARS:
                continue
            with self.guard.item(path):
                yield reader(path, text)


# The first manifests describe a repository of thousands of packages as well.
MOST_MANIFESTS = 500
MOST_SCRIPTS = 200
_EXECUTABLE_MODE = "100755"
# Files that were skipped for such reasons may still be manifests or signs of a tool.
_STILL_TELLING = frozenset({SkipReason.SKIP_PATTERN, SkipReason.LANGUAGE, SkipReason.GENERATED})
_READ_AS_TEXT = frozenset({SkipReason.LANGUAGE})
_MAIN_GUARD = re.compile(r"^if\s+__name__\s*==\s*['\"]__main__['\"]", re.MULTILINE)


def read_sources(ws: Workspace, commit: str) -> OverviewSources:
    """The inputs of a workspace, without copies of others' code and files that its entry excludes."""
    names = ["path", "mode", "status", "reason", "is_vendored"]
    rows = ws.tables.read("files", ws.key, columns=names).to_pylist()
    own = [
        row
        for row in rows
        if not row["is_vendored"] and (row["status"] == FileStatus.INDEXED or row["reason"] in _STILL_TELLING)
    ]
    paths = [row["path"] for row in own]
    tests = read_tests(ws.tables, ws.key)
    beside = frozenset(
        path
        for path in paths
        if path in tests or role_of(path) is FileRole.EXAMPLE or _holds_examples(path.rpartition("/")[0])
    )
    readable = [row["path"] for row in own if row["status"] == FileStatus.INDEXED or row["reason"] in _READ_AS_TEXT]
    manifests = manifest_paths(readable)[:MOST_MANIFESTS]
    executable = frozenset(row["path"] for row in own if row["mode"] == _EXECUTABLE_MODE)
    return OverviewSources(
        paths=paths,
        texts=_texts(ws, manifests, commit),
        imports=list(_imports(ws, set(paths))),
        mains=[*_mains(ws, set(paths) - beside), *_main_guards(ws, set(paths) - beside, commit)],
        beside=beside,
        executable=executable,
        names=frozenset({ws.key, *([ws.slug.rpartition("/")[2]] if ws.slug else [])}),
    )


@lru_cache(maxsize=4096)
def _holds_examples(folder: str) -> bool:
    """Whether code in a folder is an example; then data there is, too."""
    return role_of(f"{folder}/x.py") is FileRole.EXAMPLE


def _texts(ws: Workspace, paths: Sequence[str], commit: str) -> dict[str, str]:
    """The texts of files in the mirror; tables have programs in canonical form, on other lines."""
    try:
        timeout_s = ws.settings.git_timeout_s
        return read_files(ws.layout.mirror(ws.key), paths, commit=commit, timeout_s=timeout_s)
    except RepositoryUnavailable:
        return {}


def _imports(ws: Workspace, paths: Collection[str]) -> Iterator[ImportedModule]:
    """The imports of modules that the catalogue knows."""
    catalogue = read_catalogue()
    known: dict[tuple[str, str], bool] = {}
    for part in ws.tables.read_parts("file_facts", ws.key, columns=["file_path", "language", "imports"]):
        flat = part.column("imports").combine_chunks()
        owners = pc.list_parent_indices(flat)
        values = pc.list_flatten(flat)
        columns = (
            part.column("file_path").take(owners), part.column("language").take(owners),
            values.field("module"), values.field("level"), values.field("line"),
        )  # fmt: skip
        for path, language, module, level, line in zip(*(column.to_pylist() for column in columns), strict=True):
            if level or module.startswith(".") or path not in paths:
                continue
            if (language, module) not in known:
                known[language, module] = catalogue.of_import(language, module) is not None
            if known[language, module]:
                yield ImportedModule(path, line, language, module)


def _mains(ws: Workspace, paths: Collection[str]) -> Iterator[MainFunction]:
    names = ["name", "file_path", "start_line", "language", "parent_id", "modifiers", "bases"]
    for part in ws.tables.read_parts("symbols", ws.key, columns=names):
        is_named = pc.is_in(part.column("name"), value_set=pa.array(["main", "Main"]))
        is_object = pc.is_in(part.column("language"), value_set=_with(Trait.OBJECT_MAIN))
        is_swift = pc.is_in(part.column("language"), value_set=_with(Trait.MARKED_MAIN))
        for row in part.filter(pc.or_(is_named, pc.or_(is_object, is_swift))).to_pylist():
            if row["file_path"] in paths and _starts_program(row):
                yield MainFunction(row["file_path"], row["start_line"], row["name"])


def _starts_program(row: dict[str, object]) -> bool:
    """Whether a program of its language starts at a definition."""
    language, is_free = str(row["language"]), row["parent_id"] is None
    path = str(row["file_path"])
    if has(language, Trait.MARKED_MAIN):
        return "main" in _words(row["modifiers"])
    if row["name"] not in ("main", "Main"):
        return (
            has(language, Trait.OBJECT_MAIN)
            and is_free
            and bool({"App", "IOApp", "ZIOAppDefault"} & set(_words(row["bases"])))
        )
    if has(language, Trait.FREE_MAIN):
        return is_free and not path.startswith("build/") and not path.endswith("build.rs") and row["name"] == "main"
    return has(language, Trait.METHOD_MAIN) and (not is_free or has(language, Trait.OBJECT_MAIN))


def _with(trait: Trait) -> pa.Array:
    return pa.array(languages_with(trait), pa.string())


def _words(texts: object) -> list[str]:
    return [str(text).lstrip("@").rpartition(".")[2] for text in texts] if isinstance(texts, list | tuple) else []


def _main_guards(ws: Workspace, paths: Collection[str], commit: str) -> Iterator[MainFunction]:
    """Python's `if __name__ == "__main__":`, and modules `__main__`."""
    found: list[str] = []
    for part in ws.tables.read_parts("file_facts", ws.key, columns=["file_path", "language", "source"]):
        guarding = part.filter(pc.is_in(part.column("language"), value_set=_with(Trait.MAIN_GUARD)))
        guarded = guarding.filter(pc.match_substring(guarding.column("source"), MAIN_GUARD))
        found += [path for path in guarded.column("file_path").to_pylist() if path in paths]
    for path, text in _texts(ws, found[:MOST_SCRIPTS], commit).items():
        if match := _MAIN_GUARD.search(text):
            yield MainFunction(path, text.count("\n", 0, match.start()) + 1, MAIN_GUARD)
    for path in sorted(paths):
        if path.rpartition("/")[2] == "__main__.py" and path not in found:
            yield MainFunction(path, 1, MAIN_GUARD)


def read_text(ws: Workspace, path: str, commit: str) -> str | None:
    """One file as it is in the mirror; None where it has none."""
    return _texts(ws, [path], commit).get(path)
