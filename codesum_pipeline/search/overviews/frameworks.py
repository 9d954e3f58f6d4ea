"""The frameworks of a repository, from its manifests, imports and files; and its entry points.

A manifest says most: it names a version. An import shows that a framework is used, a file that a tool is set up. A
package that the repository publishes itself is none of its frameworks. Entry points are where execution, or the use of
a library, begins: commands, main functions, scripts, containers.
"""

from collections import defaultdict
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from pathlib import PurePosixPath

from msgspec import Struct

from codesum_pipeline.search.overviews.found_in_parts import MAIN_GUARD
from codesum_pipeline.search.overviews.framework_catalogue import (
    FrameworkCatalogue,
    KnownFramework,
    package_name,
    read_catalogue,
)
from codesum_pipeline.search.overviews.overview_inputs import OverviewSources
from codesum_pipeline.search.overviews.package_manifests.manifest import DependencyScope, EntryKind, EntryPoint

_EVIDENCE_KEPT = 3
# Kinds for which tests and examples are evidence, too.
_OF_TESTS = frozenset({"test runner"})


class KnownBy(IntEnum):
    """Kinds of evidence, the strongest first."""

    MANIFEST = 0
    IMPORT = 1
    FILE = 2


class FrameworkEvidence(Struct, frozen=True):
    """A line that shows the use of a framework; `said` is the package, module or file there."""

    known_by: KnownBy
    path: str
    line: int
    name: str
    constraint: str | None = None
    scope: DependencyScope = DependencyScope.RUN

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Framework(Struct, frozen=True):
    """A framework: its best evidence, the number of all `places` of evidence, and how many files import it."""

    name: str
    kind: str
    evidence: tuple[FrameworkEvidence, ...]
    places: int
    importing_files: int

    @property
    def constraint(self) -> str | None:
        """The versions that a manifest allows."""
        return next((each.constraint for each in self.evidence if each.constraint), None)

    @property
    def is_for_development(self) -> bool:
        """Whether manifests declare it only for development or the build, and no file of the product imports it."""
        declared = [each.scope for each in self.evidence if each.known_by is KnownBy.MANIFEST]
        return bool(declared) and DependencyScope.RUN not in declared and not self.importing_files


_Sign = tuple[KnownFramework, FrameworkEvidence]


def find_frameworks(sources: OverviewSources) -> list[Framework]:
    """The recognised frameworks: by kind in the catalogue's order, then by importing files, then by name."""
    catalogue = read_catalogue()
    found: dict[KnownFramework, list[FrameworkEvidence]] = defaultdict(list)
    for look in (_declared, _imported, _set_up):
        for known, evidence in look(sources, catalogue):
            found[known].append(evidence)
    frameworks = [_framework(known, evidence) for known, evidence in found.items() if _is_enough(evidence, sources)]
    kinds = {kind: place for place, kind in enumerate(catalogue.kinds)}
    return sorted(frameworks, key=lambda each: (kinds[each.kind], -each.importing_files, each.name))


def _is_enough(evidence: list[FrameworkEvidence], sources: OverviewSources) -> bool:
    """Whether evidence suffices: a single import in a test or an example may be text to be parsed, not code."""
    return len(evidence) > 1 or evidence[0].known_by is not KnownBy.IMPORT or evidence[0].path not in sources.beside


def _framework(known: KnownFramework, evidence: list[FrameworkEvidence]) -> Framework:
    order = sorted(evidence, key=lambda each: (each.known_by,
                                               each.scope is not DependencyScope.RUN, each.path.count("/"),
                                               each.path, each.line))  # fmt: skip
    # One piece of each kind comes before a second of any kind.
    first = {each.known_by: each for each in reversed(order)}
    kept = sorted(first.values(), key=lambda each: each.known_by)
    kept += [each for each in order if each not in kept]
    importing = {each.path for each in evidence if each.known_by is KnownBy.IMPORT}
    return Framework(known.name, known.kind, tuple(kept[:_EVIDENCE_KEPT]), len(evidence), len(importing))


def _declared(sources: OverviewSources, catalogue: FrameworkCatalogue) -> Iterator[_Sign]:
    own = _own_names(sources)
    projects = {manifest.path for manifest in sources.manifests}
    for manifest in sources.all_manifests:
        for wanted in manifest.dependencies:
            known = catalogue.of_package(wanted.ecosystem, wanted.name)
            if known is None or not own.isdisjoint(map(_plain, (wanted.name, known.name))):
                continue
            if manifest.path in projects or known.kind in _OF_TESTS:
                place, scope = (manifest.path, wanted.line), wanted.scope
                yield known, FrameworkEvidence(KnownBy.MANIFEST, *place, wanted.name, wanted.constraint, scope)


def _imported(sources: OverviewSources, catalogue: FrameworkCatalogue) -> Iterator[_Sign]:
    own = _own_names(sources)
    # A repository does not use the framework that it publishes.
    published = {
        known
        for manifest in sources.manifests
        for each in {found.ecosystem for found in manifest.dependencies}
        for name in manifest.names
        if (known := catalogue.of_package(each, name))
    }

    @cache
    def used(language: str, module: str) -> KnownFramework | None:
        known = catalogue.of_import(language, module)
        is_own = known is None or known in published or not own.isdisjoint(map(_plain, (known.name, module)))
        return None if is_own else known

    for each in sources.imports:
        known = used(each.language, each.module)
        if known and (each.path not in sources.beside or known.kind in _OF_TESTS):
            yield known, FrameworkEvidence(KnownBy.IMPORT, each.path, each.line, each.module)


def _set_up(sources: OverviewSources, catalogue: FrameworkCatalogue) -> Iterator[_Sign]:
    for path in sources.paths:
        for known in catalogue.of_file(path):
            if path not in sources.beside or known.kind in _OF_TESTS:
                yield known, FrameworkEvidence(KnownBy.FILE, path, 1, path.rpartition("/")[2])


def _own_names(sources: OverviewSources) -> frozenset[str]:
    return frozenset(map(_plain, [*sources.names, *(name for each in sources.manifests for name in each.names)]))


def _plain(name: str) -> str:
    return package_name("pypi", name)


# Files at which programs start by convention, without a manifest.
_CONVENTIONS = {
    "src/lib.rs": EntryKind.LIBRARY,
    "src/root.zig": EntryKind.LIBRARY,
    "public/index.php": EntryKind.APPLICATION,
    "config.ru": EntryKind.APPLICATION,
    "manage.py": EntryKind.COMMAND,
    "artisan": EntryKind.COMMAND,
}
_SCRIPT_FOLDERS = frozenset({"bin", "exe", "script", "scripts", "sbin", "libexec", "tools"})


def find_entry_points(sources: OverviewSources) -> list[EntryPoint]:
    """All entry points, commands first; each place once, by its most specific kind."""
    found = [entry for manifest in sources.manifests for entry in manifest.entry_points]
    found += [*_mains(sources), *_conventional(sources), *_scripts(sources)]
    by_place: dict[tuple[str, int], EntryPoint] = {}
    started = {entry.path for entry in found if entry.kind is EntryKind.MAIN or entry.line > 1}
    for entry in found:
        # An executable file whose start is known by line is listed by that line alone.
        if entry.kind is not EntryKind.SCRIPT or entry.line > 1 or entry.path not in started:
            by_place.setdefault((entry.path, entry.line), entry)
    kinds = list(EntryKind)
    order = sorted(by_place.values(), key=lambda entry: (entry.path.count("/"), entry.path, entry.line))
    return sorted(order, key=lambda entry: kinds.index(entry.kind))


def _mains(sources: OverviewSources) -> Iterator[EntryPoint]:
    """The main functions, named by their folder or file."""
    for main in sources.mains:
        if main.path in sources.beside:
            continue
        path = PurePosixPath(main.path)
        is_named_by_folder = path.stem in ("main", "__main__", "Main", "Program", "mod", "index")
        folder = path.parent.name if path.parent.name not in ("src", "") else ""
        name = folder if is_named_by_folder and folder else path.name
        kind = EntryKind.SCRIPT if main.name == MAIN_GUARD else EntryKind.MAIN
        yield EntryPoint(name, kind, main.path, main.line)


def _conventional(sources: OverviewSources) -> Iterator[EntryPoint]:
    names = {ending.rpartition("/")[2] for ending in _CONVENTIONS}
    for path in sources.paths:
        if path.rpartition("/")[2] not in names or path in sources.beside:
            continue
        for ending, kind in _CONVENTIONS.items():
            if path == ending or path.endswith(f"/{ending}"):
                name = path.removesuffix(ending).rstrip("/").rpartition("/")[2] or ending
                yield EntryPoint(name, kind, path, 1)


def _scripts(sources: OverviewSources) -> Iterator[EntryPoint]:
    """Executable files in the root or in a folder for them."""
    for path in filter(sources.executable.__contains__, sources.paths):
        folder, _, name = path.rpartition("/")
        is_place = not name.startswith(".") and (not folder or folder.rpartition("/")[2] in _SCRIPT_FOLDERS)
        if path not in sources.beside and is_place:
            yield EntryPoint(name, EntryKind.SCRIPT, path, 1)
