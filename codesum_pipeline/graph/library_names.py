"""Names that languages bring along: see `library_names.toml`."""

import tomllib
from functools import cache
from importlib import resources


@cache
def library_names(language: str, kind: str) -> frozenset[str]:
    """The `builtins`, `modules` or `methods` of a language or a family of languages; none where no list is kept."""
    return frozenset(_tables().get(language, {}).get(kind, "").split())


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads((resources.files(__package__) / "library_names.toml").read_text("utf-8"))
