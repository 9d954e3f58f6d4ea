"""The inputs of an overview: documents and their uses; for frameworks and entry points paths, texts, imports, mains.

They come from a workspace's tables, and from its mirror at the commit of the tables. Copies of others' code are left
out; tests and examples are marked, since their needs are not the project's.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import PurposeSource
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import FileStatus, SkipReason
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR, own_name
from codesum_pipeline.foundation.language_facts.file_languages import FileRole, is_program, role_of
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, languages_with
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.search.overviews.framework_catalogue import read_catalogue
from codesum_pipeline.search.overviews.package_manifests.manifest import Manifest
from codesum_pipeline.search.overviews.package_manifests.manifest_readers import manifest_paths, read_manifest
from codesum_pipeline.source.files.content import read_files
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.symbols.parsing.expressions import MAX_LITERALS
from codesum_pipeline.symbols.parsing.testing import read_tests
from codesum_pipeline.texts.summaries.purposes import Purpose, purpose_of


class RankedDocument(Struct, frozen=True, gc=False):
    """One document: its place, its text, its share of the graph's PageRank, and where its text's purpose is from."""

    id: str
    level: str
    path: str
    line: int
    text: str
    rank: float
    community: int | None
    is_public: bool
    purpose_source: str | None = None
    is_placeholder: bool = False

    @property
    def name(self) -> str:
        """Its own name, without the folder or the definition around it."""
        return own_name(self.id) if SEPARATOR in self.id else self.id.rpartition("/")[2]

    @property
    def summary(self) -> str:
        """Its text, unless that is a template."""
        return "" if self.is_placeholder else self.text

    @property
    def purpose(self) -> Purpose | None:
        """What its text opens with; to find where a sentence ends takes longer than all else that is asked of one."""
        document = {"type": self.level, "summary": self.text, "is_placeholder": self.is_placeholder}
        return purpose_of(document | {"purpose_source": self.purpose_source})

    @property
    def is_by_name(self) -> bool:
        """Whether its purpose, if it has one, is its name in other words."""
        return self.purpose_source == PurposeSource.NAME and not self.is_placeholder


class RepositoryView(Struct, dict=True, eq=False):
    """A repository below `root`. `sources` are the files of its own programs, `links` count the uses between files.
    It remembers the definitions of each file."""

    name: str
    root: str
    places: Mapping[str, RankedDocument]
    sources: Sequence[str]
    languages: Mapping[str, int]
    links: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, ws: Workspace) -> Self:
        tests = read_tests(ws.tables, ws.key)
        rows = ws.tables.read("files", ws.key, columns=["path", "language", "status", "is_vendored"]).to_pylist()
        own = {
            row["path"]: row["language"]
            for row in rows
            if row["status"] == FileStatus.INDEXED and not row["is_vendored"] and row["path"] not in tests
        }
        programs = {path: each for path, each in own.items() if is_program(each) and _is_source(path)}
        links = _links(ws, pa.array(sorted(programs), pa.string()))
        return cls(
            name=ws.slug.rpartition("/")[2] if ws.slug else ws.key,
            root=ws.entry.subdir or ROOT_MODULE,
            places=_places(ws, tests),
            sources=sorted(programs),
            languages=Counter(programs.values()),
            links=links,
        )

    @cached_property
    def definitions(self) -> Mapping[str, Sequence[RankedDocument]]:
        """The functions and classes of each file of `sources`."""
        found: dict[str, list[RankedDocument]] = defaultdict(list)
        for place in self.places.values():
            if SEPARATOR in place.id:
                found[place.path].append(place)
        return {path: found.get(path, []) for path in self.sources}

    def rank(self, path: str) -> float:
        """The PageRank of a file and of all definitions in it together."""
        own = self.places.get(path)
        return (own.rank if own else 0.0) + sum(place.rank for place in self.definitions.get(path, ()))


def _links(ws: Workspace, programs: pa.StringArray) -> Counter[tuple[str, str]]:
    """How often one of some files uses another, by their paths."""
    found: Counter[tuple[str, str]] = Counter()
    for part in ws.tables.read_parts("edges", ws.key, columns=["src_id", "dst", "is_external", "kind"]):
        is_reference = pc.equal(part.column("kind"), str(EdgeKind.REFERENCE))
        uses = part.filter(pc.invert(pc.or_(part.column("is_external"), is_reference)))
        ends = [_numbers_of_files(uses.column(end), programs) for end in ("src_id", "dst")]
        is_one = (ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1])
        # A pair as one number: numbers are sorted much faster.
        pairs, counts = np.unique((ends[0] * len(programs) + ends[1])[is_one], return_counts=True)
        names = (programs.take(pa.array(each)).to_pylist() for each in np.divmod(pairs, max(len(programs), 1)))
        for source, target, count in zip(*names, counts.tolist(), strict=True):
            found[source, target] += count
    return found


def _numbers_of_files(ids: pa.ChunkedArray, programs: pa.StringArray) -> npt.NDArray[np.int64]:
    """The places of the files of ids among some files, -1 for others."""
    encoded = ids.combine_chunks().dictionary_encode()
    places = pc.fill_null(pc.index_in(paths_of(encoded.dictionary), value_set=programs), -1)
    found: npt.NDArray[np.int64] = places.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
    return found


_SHOWN = ("id", "type", "file_path", "start_line", "summary", "purpose_source", "is_placeholder")


def _places(ws: Workspace, tests: frozenset[str]) -> dict[str, RankedDocument]:
    """The documents without those of tests and of others' code, and without namespaces."""
    documents = ws.tables.read_or_empty("documents", ws.key, columns=[*_SHOWN, "is_vendored"])
    stats = ws.tables.read("graph_stats", ws.key, columns=["id", "pagerank", "community"])
    symbols = ws.tables.read("symbols", ws.key, columns=["id", "is_public"])
    left_out = pa.array(sorted(tests | find_namespaces(ws.tables, ws.key)), pa.string())
    is_of_them, is_below = (pc.is_in(documents.column(name), value_set=left_out) for name in ("id", "file_path"))
    shown = documents.filter(pc.invert(pc.or_(documents.column("is_vendored"), pc.or_(is_of_them, is_below))))
    in_graph, in_symbols = (
        pc.index_in(shown.column("id"), value_set=table.column("id").combine_chunks()) for table in (stats, symbols)
    )
    ids, levels, paths, lines, texts, sources, are_placeholders = (shown.column(name).to_pylist() for name in _SHOWN)
    rows = zip(
        ids, levels, paths, [line or 1 for line in lines], texts,
        pc.fill_null(stats.column("pagerank").take(in_graph), 0.0).to_pylist(),
        stats.column("community").take(in_graph).to_pylist(),
        pc.fill_null(symbols.column("is_public").take(in_symbols), True).to_pylist(),
        sources, are_placeholders, strict=True,
    )  # fmt: skip
    return {row[0]: RankedDocument(*row) for row in rows}


def _is_source(path: str) -> bool:
    """Whether a file is neither an example nor in a hidden folder, where tools are set up."""
    return role_of(path) is FileRole.SOURCE and not any(part.startswith(".") for part in path.split("/")[:-1])


_OF_LITERALS = ("literals", "syntax_errors", "failure")
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
        for path in manifest_paths(self.paths):
            with self.guard.item(path):
                if path in self.texts and (manifest := read_manifest(path, self.texts[path])):
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
        imports=list(_imports(ws, set(paths))),
        mains=[*_mains(ws, set(paths) - beside), *_main_guards(ws, set(paths) - beside, commit)],
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


def _imports(ws: Workspace, paths: Collection[str]) -> Iterator[ImportedModule]:
    """The imports of modules that the catalogue knows."""
    catalogue, own = read_catalogue(), pa.array(sorted(paths), pa.string())
    known: dict[str, bool] = {}
    for part in ws.tables.read_parts("file_facts", ws.key, columns=["file_path", "language", "imports"]):
        flat = part.column("imports").combine_chunks()
        owners, values = pc.list_parent_indices(flat), pc.list_flatten(flat)
        path, language = (part.column(name).take(owners) for name in ("file_path", "language"))
        module, level, line = map(values.field, ("module", "level", "line"))
        is_relative = pc.or_(pc.not_equal(level, 0), pc.starts_with(module, "."))
        names = pc.binary_join_element_wise(language, module, "\0").combine_chunks()
        for name in set(pc.unique(names).to_pylist()).difference(known):
            known[name] = catalogue.of_import(*name.split("\0", 1)) is not None
        is_known = pc.is_in(names, value_set=pa.array([name for name, is_one in known.items() if is_one], pa.string()))
        is_wanted = pc.and_(pc.and_(is_known, pc.invert(is_relative)), pc.is_in(path, value_set=own))
        columns = (column.filter(is_wanted).to_pylist() for column in (path, line, language, module))
        yield from map(ImportedModule, *columns)


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
    if has_trait(language, Trait.MARKED_MAIN):
        return "main" in _words(row["modifiers"])
    if row["name"] not in ("main", "Main"):
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


def _main_guards(ws: Workspace, paths: Collection[str], commit: str) -> Iterator[MainFunction]:
    """Python's `if __name__ == "__main__":`, and modules `__main__`."""
    found = _guarded(ws, paths)
    for path, text in _texts(ws, found[:MOST_SCRIPTS], commit).items():
        if match := _MAIN_GUARD.search(text):
            yield MainFunction(path, text.count("\n", 0, match.start()) + 1, MAIN_GUARD)
    for path in sorted(paths):
        if path.rpartition("/")[2] == "__main__.py" and path not in found:
            yield MainFunction(path, 1, MAIN_GUARD)


def _guarded(ws: Workspace, paths: Collection[str]) -> list[str]:
    """The files whose code outside of definitions says `__main__`. Sources are read only where it is not known which
    texts are there."""
    facts = ws.tables.read("file_facts", ws.key, columns=["file_path", "language", *_OF_LITERALS])
    is_one = pc.and_(
        pc.is_in(facts.column("language"), value_set=_with(Trait.MAIN_GUARD)),
        pc.is_in(facts.column("file_path"), value_set=pa.array(sorted(paths), pa.string())),
    )
    literals = facts.column("literals").combine_chunks()
    says = np.zeros(len(facts), dtype=np.bool_)
    says[pc.list_parent_indices(literals).filter(pc.equal(pc.list_flatten(literals), MAIN_GUARD)).to_numpy()] = True
    is_cut = pc.greater_equal(pc.list_value_length(literals), MAX_LITERALS)
    is_unsure = pc.or_(is_cut, pc.or_(pc.greater(facts.column("syntax_errors"), 0), facts.column("failure").is_valid()))
    unsure = np.flatnonzero(pc.and_(is_one, is_unsure).to_numpy() & ~says)
    sources = ws.tables.read_at("file_facts", ws.key, unsure, columns=["source"]).column("source")
    says[unsure] = pc.match_substring(sources, MAIN_GUARD).to_numpy()
    found: list[str] = facts.column("file_path").filter(pc.and_(is_one, pa.array(says))).to_pylist()
    return found


def read_text(ws: Workspace, path: str, commit: str) -> str | None:
    """One file as it is in the mirror; None if it has none."""
    return _texts(ws, [path], commit).get(path)
