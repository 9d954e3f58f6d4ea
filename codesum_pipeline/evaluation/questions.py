"""Ground truth: questions with the places that answer them, one JSON object a line.

    {"id", "query", "relevant": [{"file_path", "start_line"?, "end_line"?, "symbol"?, "kind"?, "secondary"?}],
     "cited_symbols"?: [as relevant], "category"?, "language"?, "level"?, "source"?, "repo"?, "commit"?, "scope"?}

Paths are relative to the git root. `relevant` are the files that answer; the
functions and classes that do are `cited_symbols`, or where there are none,
what is relevant and has lines or a symbol. Other fields are passed over: such
files come from many hands.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.atomic import write_text_atomically


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """A place that answers a question: a file, or lines of it; `symbol` is a qualified name."""

    file_path: str
    start_line: int | None = None
    end_line: int | None = None
    symbol: str | None = None
    kind: str | None = None
    is_secondary: bool = False

    @property
    def is_within_a_file(self) -> bool:
        """Whether it is a function or class rather than a whole file."""
        return self.start_line is not None or self.symbol is not None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked and what answers it; `level` is the level at which the answer is looked for, None: any.

    `repo` is a key or owner/name; without one, all repositories are asked.
    """

    id: str
    query: str
    relevant: tuple[AnswerPlace, ...]
    cited_symbols: tuple[AnswerPlace, ...] = ()
    category: str = ""
    language: str = ""
    level: Level | None = None
    source: str = ""
    repo: str | None = None
    commit: str | None = None
    scope: str = ""

    @property
    def symbols(self) -> tuple[AnswerPlace, ...]:
        """The functions and classes that answer."""
        return tuple(target for target in self.cited_symbols or self.relevant if target.is_within_a_file)


class _TargetRow(BaseModel):
    model_config = ConfigDict(strict=True)

    file_path: str = Field(min_length=1)
    start_line: int | None = Field(None, ge=1)
    end_line: int | None = Field(None, ge=1)
    symbol: str | None = None
    kind: str | None = None
    secondary: bool = False

    @model_validator(mode="after")
    def _lines_are_a_span(self) -> "_TargetRow":
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("start_line and end_line are given together or not at all")
        if self.start_line is not None and self.end_line is not None and self.end_line < self.start_line:
            raise ValueError(f"end_line {self.end_line} lies before start_line {self.start_line}")
        return self

    def target(self) -> AnswerPlace:
        return AnswerPlace(self.file_path, self.start_line, self.end_line, self.symbol, self.kind, self.secondary)


class _QuestionRow(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str | int
    query: str = Field(min_length=1)
    relevant: list[_TargetRow] = Field(min_length=1)
    cited_symbols: list[_TargetRow] = Field(default_factory=list)
    category: str = ""
    language: str = ""
    level: Level | None = Field(None, strict=False)
    source: str = ""
    repo: str | None = None
    commit: str | None = None
    scope: str = ""

    def question(self) -> Question:
        return Question(
            id=str(self.id),
            query=self.query,
            relevant=tuple(row.target() for row in self.relevant),
            cited_symbols=tuple(row.target() for row in self.cited_symbols),
            category=self.category,
            language=self.language,
            level=self.level,
            source=self.source,
            repo=self.repo or None,
            commit=self.commit or None,
            scope=self.scope,
        )


def read_questions(path: Path) -> list[Question]:
    """All questions of a file, in its order; empty lines are passed over.

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
    """What `read_questions` reads back as it was."""
    write_text_atomically(
        path, "".join(f"{json.dumps(_row(question), ensure_ascii=False)}\n" for question in questions)
    )


def _parse(line: str, *, where: str) -> Question:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{where}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ConfigurationError(f"{where}: not an object but {type(row).__name__}")
    try:
        return _QuestionRow.model_validate(row).question()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{where}: field {field!r}: {first['msg']}") from error


def _row(question: Question) -> dict[str, Any]:
    """The row of a question, without what it does not say."""
    row = {
        "id": question.id,
        "query": question.query,
        "relevant": [_target_row(target) for target in question.relevant],
        "cited_symbols": [_target_row(target) for target in question.cited_symbols],
        "category": question.category,
        "language": question.language,
        "level": question.level,
        "source": question.source,
        "repo": question.repo,
        "commit": question.commit,
        "scope": question.scope,
    }
    return {name: value for name, value in row.items() if value}


def _target_row(target: AnswerPlace) -> dict[str, Any]:
    row = {
        "file_path": target.file_path,
        "start_line": target.start_line,
        "end_line": target.end_line,
        "symbol": target.symbol,
        "kind": target.kind,
        "secondary": target.is_secondary,
    }
    return {name: value for name, value in row.items() if value}
