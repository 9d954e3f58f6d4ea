"""What frameworks and entry points are found in: paths, texts of some files, imports, and what starts programs.

A workspace gives them, or a test. Copies of others' code are left out by whoever gives them; tests and examples are
named, since what these need or start is not what the project does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.overviews.manifests.manifest import Manifest
from codesum_pipeline.overviews.manifests.reading import LARGEST_CHARS, manifest_paths, reader_of

# What Python's modules are called where they are run.
MAIN_GUARD = "__main__"


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """One import of a module from outside of the repository, as a file writes it."""

    path: str
    line: int
    language: str
    module: str


@dataclass(frozen=True, slots=True)
class MainFunction:
    """A definition that a language starts programs with, or a line that does."""

    path: str
    line: int
    name: str


@dataclass(frozen=True)
class OverviewSources:
    """`beside` are tests and examples, `executable` files that may be run, `names` what the repository is called.

    `guard` keeps the manifests that failed.
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
        """Those nearest the root first."""
        return list(self._read(manifest_paths(self.paths)))

    @cached_property
    def manifests(self) -> list[Manifest]:
        """Those of the project itself; where there are none, those of tests and examples."""
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
