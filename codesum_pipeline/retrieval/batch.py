"""Many questions in one process: each line of JSON gives a question, or the reason why it is none."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.query import check_says_something
from codesum_pipeline.retrieval.reader import PublishedIndex

_FIELDS = ("id", "query", "repo", "level")


class BatchQuestion(Struct, frozen=True):
    """One row of a batch. Without `repo` it asks the repositories of the call, without `level` all levels."""

    id: str | int
    query: str
    repo: str | None
    level: Level | None


class BadRow(Struct, frozen=True):
    """A malformed line: its number, from 1, and the reason, which names the field."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class RoutedQuestion(Struct, frozen=True):
    """A question, and the indexes that it asks."""

    question: BatchQuestion
    indexes: Sequence[PublishedIndex]


def read_batch(
    lines: Iterable[str], indexes: Sequence[PublishedIndex], nameable: Sequence[PublishedIndex]
) -> Iterator[RoutedQuestion | BadRow]:
    """Read each line in order; a bad one gives a `BadRow`, an empty one nothing.

    A question asks `indexes`, or the one of `nameable` that it names.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = parse_question(line)
            yield RoutedQuestion(question, _indexes_named(nameable, question.repo) if question.repo else indexes)
        except ConfigurationError as error:
            yield BadRow(number, str(error))


def parse_question(line: str) -> BatchQuestion:
    """Read one row; raises `ConfigurationError` that names the field."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ConfigurationError(f"not an object but {type(row).__name__}: expected {', '.join(_FIELDS)}")
    level = _text(row, "level", required=False)
    if level is not None and level not in LEVELS:
        raise ConfigurationError(f"field 'level': {level!r} is none of {', '.join(LEVELS)}")
    query = _text(row, "query") or ""
    try:
        check_says_something(query)
    except ConfigurationError as error:
        raise ConfigurationError(f"field 'query': {error}") from error
    return BatchQuestion(
        id=_identifier(row),
        query=query,
        repo=_text(row, "repo", required=False),
        level=Level(level) if level else None,
    )


def _identifier(row: Mapping[str, Any]) -> str | int:
    """The id of a question, which its answer repeats: a text or a whole number."""
    value = row.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return _text(row, "id") or ""


def _text(row: Mapping[str, Any], field: str, *, required: bool = True) -> str | None:
    value = row.get(field)
    if value in (None, "") and not required:
        return None
    if not isinstance(value, str) or not value.strip():
        found = "is missing" if field not in row else f"{value!r} is no text"
        raise ConfigurationError(f"field {field!r}: {found}")
    return value


def _indexes_named(indexes: Sequence[PublishedIndex], name: str) -> list[PublishedIndex]:
    """The index with this key, else those of this owner/name (a monorepo may have several)."""
    found = [index for index in indexes if index.repo == name] or [index for index in indexes if index.slug == name]
    if not found:
        known = ", ".join(sorted({index.repo for index in indexes})) or "none"
        raise ConfigurationError(f"field 'repo': {name!r} is not indexed; indexed are: {known}")
    return found
