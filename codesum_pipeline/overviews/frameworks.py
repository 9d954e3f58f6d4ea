"""The frameworks of a repository: by what its manifests declare, what its files import, and which files there are.

A manifest says most: it names a version. An import shows that a framework is used,
a file that a tool is set up. What a repository publishes itself is none of its frameworks.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from codesum_pipeline.overviews.catalogue import FrameworkCatalogue, KnownFramework, package_name, read_catalogue
from codesum_pipeline.overviews.manifests.manifest import DependencyScope
from codesum_pipeline.overviews.sources import OverviewSources

_EVIDENCE_KEPT = 3
# Kinds of which tests and examples tell as well as the project's own code.
_OF_TESTS = frozenset({"test runner"})


class KnownBy(IntEnum):
    """What tells of a framework, the most telling first."""

    MANIFEST = 0
    IMPORT = 1
    FILE = 2


@dataclass(frozen=True, slots=True)
class FrameworkEvidence:
    """A line that tells of a framework; `said` is the package, module or file that does."""

    known_by: KnownBy
    path: str
    line: int
    said: str
    constraint: str | None = None
    scope: DependencyScope = DependencyScope.RUN

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework of the repository: the best lines that tell of it, how many do, and how many files import it."""

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
        """Whether manifests ask for it to develop or build alone, and nothing that is shipped imports it."""
        declared = [each.scope for each in self.evidence if each.known_by is KnownBy.MANIFEST]
        return bool(declared) and DependencyScope.RUN not in declared and not self.importing_files


def find_frameworks(sources: OverviewSources) -> list[Framework]:
    """All that are recognised: by kind in the catalogue's order, then those used most, then by name."""
    catalogue = read_catalogue()
    found: dict[KnownFramework, list[FrameworkEvidence]] = defaultdict(list)
    for known, evidence in (
        *_declared(sources, catalogue),
        *_imported(sources, catalogue),
        *_set_up(sources, catalogue),
    ):
        found[known].append(evidence)
    frameworks = [_framework(known, told) for known, told in found.items() if _is_enough(told, sources)]
    kinds = {kind: place for place, kind in enumerate(catalogue.kinds)}
    return sorted(frameworks, key=lambda each: (kinds[each.kind], -each.importing_files, each.name))


def _is_enough(evidence: list[FrameworkEvidence], sources: OverviewSources) -> bool:
    """One import in a test or an example may be there to be read, not to be run."""
    return len(evidence) > 1 or evidence[0].known_by is not KnownBy.IMPORT or evidence[0].path not in sources.beside


def _framework(known: KnownFramework, evidence: list[FrameworkEvidence]) -> Framework:
    order = sorted(evidence, key=lambda each: (each.known_by,
                                               each.scope is not DependencyScope.RUN, each.path.count("/"),
                                               each.path, each.line))  # fmt: skip
    # One of each way of knowing it, before a second of any.
    first = {each.known_by: each for each in reversed(order)}
    kept = sorted(first.values(), key=lambda each: each.known_by)
    kept += [each for each in order if each not in kept]
    importing = {each.path for each in evidence if each.known_by is KnownBy.IMPORT}
    return Framework(known.name, known.kind, tuple(kept[:_EVIDENCE_KEPT]), len(evidence), len(importing))


def _declared(
    sources: OverviewSources, catalogue: FrameworkCatalogue
) -> Iterator[tuple[KnownFramework, FrameworkEvidence]]:
    own = _own_names(sources)
    projects = {manifest.path for manifest in sources.manifests}
    for manifest in sources.all_manifests:
        for wanted in manifest.dependencies:
            known = catalogue.of_package(wanted.ecosystem, wanted.name)
            if known is None or _is_own(own, wanted.name) or _is_own(own, known.name):
                continue
            if manifest.path in projects or known.kind in _OF_TESTS:
                yield (
                    known,
                    FrameworkEvidence(
                        KnownBy.MANIFEST, wanted.path, wanted.line, wanted.name, wanted.constraint, wanted.scope
                    ),
                )


def _imported(
    sources: OverviewSources, catalogue: FrameworkCatalogue
) -> Iterator[tuple[KnownFramework, FrameworkEvidence]]:
    own = _own_names(sources)
    # What a repository is known by itself, it does not use.
    published = {
        known
        for manifest in sources.manifests
        for each in {found.ecosystem for found in manifest.dependencies}
        for name in manifest.names
        if (known := catalogue.of_package(each, name))
    }
    for each in sources.imports:
        known = catalogue.of_import(each.language, each.module)
        if known is None or known in published or _is_own(own, known.name) or _is_own(own, each.module):
            continue
        if each.path not in sources.beside or known.kind in _OF_TESTS:
            yield known, FrameworkEvidence(KnownBy.IMPORT, each.path, each.line, each.module)


def _set_up(
    sources: OverviewSources, catalogue: FrameworkCatalogue
) -> Iterator[tuple[KnownFramework, FrameworkEvidence]]:
    for path in sources.paths:
        for known in catalogue.of_file(path):
            if path not in sources.beside or known.kind in _OF_TESTS:
                yield known, FrameworkEvidence(KnownBy.FILE, path, 1, path.rpartition("/")[2])


def _own_names(sources: OverviewSources) -> frozenset[str]:
    names = {*sources.names, *(name for manifest in sources.manifests for name in manifest.names)}
    return frozenset(package_name("pypi", name) for name in names)


def _is_own(own: frozenset[str], name: str) -> bool:
    return package_name("pypi", name) in own
