"""What a manifest declares: the project's own names, what it depends on, and what it can be started by."""

from dataclasses import dataclass
from enum import StrEnum


class DependencyScope(StrEnum):
    """What a dependency is needed for."""

    RUN = "run"
    DEV = "dev"
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency as a manifest declares it; `ecosystem` names the registry that its name belongs to."""

    ecosystem: str
    name: str
    constraint: str | None
    path: str
    line: int
    scope: DependencyScope = DependencyScope.RUN


class EntryKind(StrEnum):
    """How something is started."""

    COMMAND = "command"
    MAIN = "main function"
    SCRIPT = "script"
    LIBRARY = "library entry"
    APPLICATION = "application"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where execution, or the use of a library, begins; `target` is what it leads to, where that is told."""

    name: str
    kind: EntryKind
    path: str
    line: int
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest; `names` are what it calls the project itself."""

    path: str
    names: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()


class MalformedManifest(Exception):
    """A manifest that its format's parser refuses."""
