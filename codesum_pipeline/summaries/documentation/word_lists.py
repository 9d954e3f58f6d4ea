"""Lists of words and tables of names are data: they lie in `word_lists.toml`, each with what it is for."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def word_set(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_lists()[name].split())


def word_table(name: str) -> dict[str, str]:
    """What the names of a table stand for."""
    return dict(_lists()[name])


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "word_lists.toml").read_text("utf-8"))
