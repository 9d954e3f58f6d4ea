"""Which repositories somebody may read, as patterns of their keys.

What is closed is closed in any letters and wherever it stands in the list; what is open is open as it is written.
"""

import re
from fnmatch import fnmatchcase

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError

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


def read_scope(patterns: list[str]) -> RepositoryScope:
    """Raises `ConfigurationError` for what is no pattern, and where all of them close."""
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            raise ConfigurationError(f"{pattern[:100]!r} is no pattern of repositories' keys")
    if all(pattern.startswith(_CLOSES) for pattern in patterns):
        raise ConfigurationError('every pattern closes: name what is open, too, "*" for all')
    return RepositoryScope(tuple(patterns))


def _fits(pattern: str, key: str, slug: str | None) -> bool:
    return fnmatchcase(slug or "", pattern) if "/" in pattern else fnmatchcase(key, pattern)
