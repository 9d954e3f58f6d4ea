"""Ground truth: questions with the places that answer them, one JSON object a line.

    {"id", "query", "relevant": [{"file_path", "start_line"?, "end_line"?, "symbol"?, "kind"?, "secondary"?}],
     "cited_symbols"?: [as relevant], "category"?, "language"?, "level"?, "source"?, "repo"?, "commit"?, "scope"?}

Paths are relative to the git root. `relevant` are the files that answer; the functions and classes that answer are
`cited_symbols`, or where there are none, the `relevant` places with lines or a symbol. Other fields are ignored: such
files come from many hands.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import plain_reason
from codesum_pipeline.foundation.store.atomic import write_text_atomically

_STRICT = ConfigDict(strict=True)
_Line = Annotated[int | None, Field(ge=1)]
_Text = Annotated[str, Field(min_length=1)]
_Absent = Annotated[str | None, BeforeValidator(lambda value: value or None)]


def _identifier(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


@dataclass(frozen=True, slots=True, config=_STRICT)
class AnswerPlace:
    """A place that answers a question: a file, or lines of it; `symbol` is a qualified name."""

    file_path: _Text
    start_line: _Line = None
    end_line: _Line = None
    symbol: str | None = None
    kind: str | None = None
    secondary: bool = False

    @model_validator(mode="after")
    def _check_lines(self) -> "AnswerPlace":
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("start_line and end_line are given together or not at all")
        if self.start_line is not None and self.end_line is not None and self.end_line < self.start_line:
            raise ValueError(f"end_line {self.end_line} lies before start_line {self.start_line}")
        return self


@dataclass(frozen=True, slots=True, config=_STRICT)
class Question:
    """A query and the places that answer it; `level` is the level at which the answer is looked for, None: any.

    `repo` is a key or owner/name; a question without one is about all repositories.
    """

    id: Annotated[str, BeforeValidator(_identifier)]
    query: _Text
    relevant: Annotated[tuple[AnswerPlace, ...], Field(min_length=1)]
    cited_symbols: tuple[AnswerPlace, ...] = ()
    category: str = ""
    language: str = ""
    level: Level | None = None
    source: str = ""
    repo: _Absent = None
    commit: _Absent = None
    scope: str = ""

    @property
    def symbols(self) -> tuple[AnswerPlace, ...]:
        """The functions and classes that answer."""
        places = self.cited_symbols or self.relevant
        return tuple(place for place in places if place.start_line is not None or place.symbol is not None)


_QUESTION = TypeAdapter(Question)


def read_questions(path: Path) -> list[Question]:
    """All questions of a file, in its order; empty lines are ignored.

    Raises `ConfigurationError` that names the line and the field.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from error
    questions: dict[str, Question] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question = _parse(line, where=f"{path}:{number}")
        if question.id in questions:
            raise ConfigurationError(f"{path}:{number}: field 'id': {question.id!r} was given to an earlier question")
        questions[question.id] = question
    if not questions:
        raise ConfigurationError(f"{path}: holds no question: one JSON object with id, query and relevant a line")
    return list(questions.values())


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write a file that `read_questions` reads back to equal questions."""
    rows = (_QUESTION.dump_python(question, mode="json", exclude_defaults=True) for question in questions)
    write_text_atomically(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def _parse(line: str, *, where: str) -> Question:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{where}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ConfigurationError(f"{where}: not an object but {type(row).__name__}")
    try:
        return _QUESTION.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{where}: field {field!r}: {plain_reason(first['msg'])}") from error
