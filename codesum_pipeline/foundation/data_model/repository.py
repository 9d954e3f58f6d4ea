"""One entry of the registry: where a repository is and which part of it is indexed; and who may read which entries,
given as patterns of their keys.

A pattern that excludes applies in any position and regardless of case; one that includes applies as it is written.
"""

import re
from fnmatch import fnmatchcase

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError


class Retirement(Struct, frozen=True):
    """When and why an organisation's repository was taken out of what is indexed; what was built of it is kept."""

    at: str
    why: str


class RepositoryEntry(Struct, frozen=True):
    """One repository, or one `subdir` of a monorepo.

    `location` is an absolute path or a git URL; `ref` a branch, tag or commit (None: the remote's HEAD). With
    `worktree`, files are read from the folder as they are, committed or not; a plain folder without git always is. With
    `submodules`, these are indexed, too, each at its pinned commit.
    `include` and `exclude` are gitignore-style patterns relative to the git root; `encodings` say `PATTERN = ENCODING`.
    One that came with an organisation names it, and has the host's own id of the repository, `SERVER/ID`, which
    outlives a new name. `retired` goes with it alone. `scip` are the places of compilers' indexes
    (`source/git/locations.py`), `scip_command` the line that makes one.
    """

    key: str
    location: str
    ref: str | None = None
    subdir: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    worktree: bool = False
    submodules: bool = False
    enabled: bool = True
    organisation: str | None = None
    host_id: str | None = None
    retired: Retirement | None = None
    scip: tuple[str, ...] = ()
    scip_command: str = ""
    encodings: tuple[str, ...] = ()

    @property
    def root_module(self) -> str:
        """The folder that the index covers; `.` for the whole repository."""
        return self.subdir or "."


EVERYTHING = "*"
_CLOSES = "!"
# Those of keys and of owner/name, and those of globs.
_PATTERN = re.compile(r"!?[A-Za-z0-9._*?\[\]/-]{1,300}")


class RepositoryScope(Struct, frozen=True):
    """Globs of keys, or of owner/name where they have a slash; `!` in front closes what another one opens."""

    patterns: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        return self.patterns == (EVERYTHING,)

    @property
    def plain_names(self) -> list[str]:
        """The patterns that open what they name, letter for letter."""
        return [each for each in self.patterns if not re.search(r"[!*?\[]", each)]

    def opens(self, key: str, slug: str | None = None) -> bool:
        """Whether a repository may be read; `slug` is the owner/name of one with a URL."""
        closing = [each[1:].lower() for each in self.patterns if each.startswith(_CLOSES)]
        opening = [each for each in self.patterns if not each.startswith(_CLOSES)]
        is_closed = any(_fits(pattern, key.lower(), slug and slug.lower()) for pattern in closing)
        return not is_closed and any(_fits(pattern, key, slug) for pattern in opening)


class JointScope(Struct, frozen=True):
    """What any of several scopes opens: `!` in one of them closes nothing that another one opens."""

    scopes: tuple[RepositoryScope, ...]

    @property
    def is_everything(self) -> bool:
        return any(scope.is_everything for scope in self.scopes)

    def opens(self, key: str, slug: str | None = None) -> bool:
        return any(scope.opens(key, slug) for scope in self.scopes)


ReadableScope = RepositoryScope | JointScope


def read_scope(patterns: list[str]) -> RepositoryScope:
    """Raises `ConfigurationError` for what is no pattern, and where all of them close."""
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            raise ConfigurationError(f"{pattern[:100]!r} is no pattern of repositories' keys")
    if all(pattern.startswith(_CLOSES) for pattern in patterns):
        raise ConfigurationError('every pattern excludes: name what is included, too, "*" for all')
    return RepositoryScope(tuple(patterns))


def _fits(pattern: str, key: str, slug: str | None) -> bool:
    return fnmatchcase(slug or "", pattern) if "/" in pattern else fnmatchcase(key, pattern)
