"""What a person is told of a turn's way to its answer, in a line."""

import json
from collections.abc import Sequence

_LONGEST_ARGUMENT = 60


def called(name: str, arguments: str) -> str:
    """A tool with the values of its arguments, each as far as a line has room."""
    return f"{name} {_values(arguments)}".rstrip()


def wrote_up(tool: str, files: Sequence[str]) -> str:
    """An overview that is written up with some files."""
    counted = "1 file" if len(files) == 1 else f"{len(files):,} files"
    return f"writing up {tool} with {counted}: {', '.join(files)}"


def _values(arguments: str) -> str:
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(values, dict):
        return ""
    return ", ".join(_shortened(_said(value)) for value in values.values() if value not in ("", [], None))


def _said(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ARGUMENT else f"{text[: _LONGEST_ARGUMENT - 1]}…"
