"""The closed lists of words that the texts of classes are made from."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "class_words.toml").read_text("utf-8"))


def class_words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_lists()[name].split())


def class_table(name: str) -> dict[str, str]:
    """The pairs of a table."""
    return dict(_lists()[name])
