"""The common parts of all tools' arguments and answers, and of the text for agents.

Text has a header once, then rows `path:line  kind  one line`. Nothing of a repository can pass for a line of ours: a
row is one line, without control characters.

A cursor is opaque: it has the position of the next part, its question, and the versions of the indexes that answered.
Agents pay for it in each answer that goes on, and again when they give it back.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from reprlib import Repr
from typing import Annotated, Any, Generic, Self, TypeVar

from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from codesum_pipeline.answers.agent_tools.catalogue import AsOf
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha256_hex
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.notebook_cells import told_cell
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line, plain_reason, shorten_text
from codesum_pipeline.foundation.language_facts.writing_systems import letters_worth
from codesum_pipeline.search.retrieval.published_index import IndexedDocument

_LONGEST_NAME = 2000
# A row is a pointer: whoever wants more reads the document.
_LONGEST_ROW = 120
# What is nested as deep as a parser allows has no other text.
_SHOWN = Repr()
_SHOWN.maxstring = _SHOWN.maxother = 2 * _LONGEST_ROW


def parse_names(value: Any) -> Any:
    """Agents write a list as JSON in a text, or one name alone."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return [value] if value else []


Name = Annotated[str, Field(max_length=_LONGEST_NAME)]
Names = Annotated[list[Name], BeforeValidator(parse_names), Field(max_length=50)]


class Arguments(BaseModel):
    """The arguments of a tool; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid")


def explain_invalid(error: ValidationError, arguments: type[BaseModel]) -> str:
    """Each wrong argument with its value and the reason; long values are cut."""
    problems = []
    for each in error.errors(include_url=False):
        name = ".".join(map(str, each["loc"])) or "the arguments"
        if each["type"] == "extra_forbidden":
            problems.append(
                f"unknown argument {shorten_text(name)!r}; arguments are: {', '.join(arguments.model_fields)}"
            )
        elif each["type"] == "missing":
            problems.append(f"{name} is missing")
        elif each["type"] == "string_too_long":
            shown = shorten_text(each["input"], most=60)
            problems.append(f"{name} has {len(each['input']):,} characters: {each['msg']}; it begins with {shown!r}")
        else:
            reason = plain_reason(each["msg"])
            problems.append(f"{name} = {shorten_text(_SHOWN.repr(each['input']))}: {reason}")
    return "; ".join(problems)


class BoundedArguments(Arguments):
    """The bounds of a long answer: at most this many rows and tokens."""

    limit: int = Field(10, ge=1, le=100)
    tokens: int = Field(2000, ge=100, le=50_000)


class PagedArguments(BoundedArguments):
    """An answer that comes in parts."""

    cursor: Annotated[str, Field(description="`next` of the last answer")] = ""

    def question(self) -> dict[str, Any]:
        """The arguments that all parts of one answer share."""
        return self.model_dump(exclude={"limit", "tokens", "cursor"})


class DocumentRow(BaseModel):
    """A document, where it stands, and what it is for in a line. Where its file `changed_since` the commit that the
    answer is of, its lines may be others. In a notebook, its first line is line `cell_line` of `cell`."""

    repo: str
    id: str
    kind: str
    path: str
    start_line: int | None = None
    end_line: int | None = None
    text: str = ""
    changed_since: bool = False
    cell: int | None = None
    cell_line: int | None = None

    @classmethod
    def of(cls, found: IndexedDocument, **more: Any) -> Self:
        """The row of a document; `more` are fields of a kind of row."""
        stop_if_cancelled()
        return cls.showing(found.repo, found.id, found.level.value, found.shown(), **more)

    @classmethod
    def showing(
        cls, repo: str, id_: str, level: str, shown: Mapping[str, Any], *, longest: int = _LONGEST_ROW, **more: Any
    ) -> Self:
        """The row of a document from the fields that hits show, with a text of at most `longest` characters."""
        path = id_.partition(SEPARATOR)[0]
        parts = one_line(shown["qualified_name"] or ""), one_line(shown["summary"])
        return cls(
            repo=repo,
            id=id_,
            kind=level,
            path=f"{path}/" if level == Level.MODULE else path,
            start_line=shown["start_line"],
            end_line=shown["end_line"],
            cell=shown["cell"],
            cell_line=shown["cell_line"],
            text=shorten_text(": ".join(filter(None, parts)), most=longest),
            **more,
        )

    @property
    def place(self) -> str:
        place = place_of(self.path, self.start_line or (1 if self.kind == Level.FILE else None), self.end_line)
        return f"{place} ({told_cell(self.cell, self.cell_line)})" if self.cell else place

    def line(self, *, with_repo: bool = False) -> str:
        repo = f"{self.repo}  " if with_repo else ""
        changed = "  (changed since)" if self.changed_since else ""
        return f"{repo}{self.place}  {self.kind}  {self.text}".rstrip() + changed


class AnswerPage(BaseModel):
    """`shown` of `total`; where there is more, `next` is the cursor of the rest. `notes` say what was left out."""

    as_of: list[AsOf] = []
    notes: list[str] = []
    shown: int = 0
    total: int | None = None
    next: str | None = None

    def text(self) -> str:
        """The answer as text for agents."""
        raise NotImplementedError

    def framed(self, lines: Iterable[str], *, what: str) -> str:
        """The lines as text, between the commits and notes above, and the counts and cursor below."""
        head = [f"as of: {'; '.join(map(str, self.as_of))}"] if self.as_of else []
        head += (f"note: {clean_text(note).replace(chr(10), ' ')}" for note in self.notes)
        foot = []
        if self.next is not None or self.total not in (None, self.shown):
            of = "" if self.total is None else f" of {self.total:,}"
            foot = [f"shown {self.shown:,}{of} {what}{f'; more with cursor={self.next}' if self.next else ''}"]
        return "\n".join([*head, *lines, *foot])


def place_of(path: str, start_line: int | None = None, end_line: int | None = None) -> str:
    """`path:line` or `path:first-last`, on one line."""
    first = "" if start_line is None else f":{start_line}"
    last = "" if start_line is None or end_line in (None, start_line) else f"-{end_line}"
    return f"{one_line(path)}{first}{last}"


def end_of_name(name: str) -> str:
    """The last two parts of a qualified name, which `read` and `graph` understand: `Class.method`."""
    return ".".join(name.split(".")[-2:])


def has_several_repositories(rows: Iterable[DocumentRow]) -> bool:
    return len({row.repo for row in rows}) > 1


def number_lines(lines: Sequence[str], first: int, *, every: int = 1) -> Iterator[str]:
    """Lines of a source behind a tab, each on one line; before the tab the first has its number, and of the others
    those that `every` divides."""
    for number, line in enumerate(lines, start=first):
        shown = "" if number % every and number != first else number
        yield f"{shown}\t{clean_text(line).replace(chr(10), ' ')}".rstrip()


def indent_lines(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def make_section(heading: str, lines: Iterable[str]) -> list[str]:
    """The lines indented below a heading; nothing without lines."""
    below = list(indent_lines(lines))
    return [heading, *below] if below else []


# English and code have about four characters a token, whichever model counts; a Chinese sign is most of one.
CHARACTERS_PER_TOKEN = 4
_LONGEST_CURSOR = 4096
_DIGITS = 6

T = TypeVar("T")


def tokens_of(text: str) -> int:
    """An estimate of the tokens of a text, rounded up."""
    return -(-letters_worth(text) // CHARACTERS_PER_TOKEN)


def take_fitting(items: Iterable[T], text: Callable[[T], str], *, limit: int, tokens: int) -> list[T]:
    """The first items whose texts, each with a line feed, fit the bounds; at least one, so that paging never stops."""
    kept: list[T] = []
    for item in islice(items, limit):
        tokens -= tokens_of(f"{text(item)}\n")
        if tokens < 0 and kept:
            break
        kept.append(item)
    return kept


class ItemSlice(Struct, Generic[T], frozen=True):
    """Some of `total` items, and the cursor of those behind them."""

    items: list[T]
    total: int
    next: str | None

    @property
    def frame(self) -> dict[str, Any]:
        return {"shown": len(self.items), "total": self.total, "next": self.next}


class Cursor(Struct, frozen=True):
    """Where the next part of the answer to one question begins; each tool gives `at` its own meaning. `versions` are
    numbers of the indexes that answered, one of each."""

    tool: str
    question: str
    at: tuple[int, ...]
    versions: frozenset[str] = frozenset()

    @classmethod
    def after(cls, tool: str, question: Mapping[str, Any], at: Sequence[int], versions: Mapping[str, str]) -> "Cursor":
        return cls(tool, _number(question), tuple(at), frozenset(map(_number, versions.items())))

    @classmethod
    def read(cls, text: str, tool: str, question: Mapping[str, Any] | None = None) -> "Cursor":
        """Raises `ConfigurationError` for a text that is no cursor of this tool, or of another question."""
        quoted = shorten_text(text, most=40)
        body, _, check = text[:_LONGEST_CURSOR].rpartition(".")
        parts = body.split(".")
        if len(text) > _LONGEST_CURSOR or len(parts) < 3 or check != _number(body):
            raise ConfigurationError(
                f"cursor {quoted!r} is damaged: give `next` of an answer unchanged, or none to begin anew"
            )
        of_tool, at, of_question, *versions = parts
        if of_tool != tool:
            raise ConfigurationError(f"cursor {quoted!r} is of the tool {of_tool!r}: give it to that one")
        if question is not None and of_question != _number(question):
            raise ConfigurationError(
                f"cursor {quoted!r} belongs to another question: repeat the call that gave it, with the cursor"
            )
        return cls(of_tool, of_question, tuple(int(each) for each in at.split("-") if each), frozenset(versions))

    def __str__(self) -> str:
        body = ".".join([self.tool, "-".join(map(str, self.at)), self.question, *sorted(self.versions)])
        return f"{body}.{_number(body)}"

    def changed(self, versions: Mapping[str, str]) -> list[str]:
        """The repositories whose published version is not the cursor's."""
        return [repo for repo, digest in sorted(versions.items()) if _number((repo, digest)) not in self.versions]


def _number(value: Any) -> str:
    """A hash of a value in digits: three digits are one token, but only one or two random letters are."""
    whole = int(sha256_hex(canonical_json(value).encode()), 16)
    return f"{whole % 10**_DIGITS:0{_DIGITS}}"
