"""What tools are asked with, and what all their answers have in common."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.as_of import AsOf

# A pointer: whoever wants more asks for the document.
_LONGEST_SUMMARY = 120
_LONGEST_NAME = 2000


def _listed(value: Any) -> Any:
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
Names = Annotated[list[Name], BeforeValidator(_listed), Field(max_length=50)]


class Arguments(BaseModel):
    """What a tool is called with; a name that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


class BoundedArguments(Arguments):
    """Of an answer that may be long: how many rows, and how many tokens, at most."""

    limit: int = Field(10, ge=1, le=100)
    tokens: int = Field(2000, ge=100, le=50_000)


class PagedArguments(BoundedArguments):
    """Of an answer that comes in parts."""

    cursor: Annotated[str, Field(description="`next` of the last answer")] = ""

    def question(self) -> dict[str, Any]:
        """What another part of the answer is asked with, too."""
        return self.model_dump(exclude={"limit", "tokens", "cursor"})


class DocumentRow(BaseModel):
    """A document, where it stands, and what it is for in a line. Where its file `changed_since` the commit that the
    answer is of, its lines may be others."""

    repo: str
    id: str
    kind: str
    path: str
    start_line: int | None = None
    end_line: int | None = None
    text: str = ""
    changed_since: bool = False

    @property
    def place(self) -> str:
        first = 1 if self.kind == Level.FILE else None
        return place_of(self.path, self.start_line or first, self.end_line)


class AnswerPage(BaseModel):
    """`shown` of `total`; where there is more, `next` is the cursor of the rest. `notes` say what was left out."""

    as_of: list[AsOf] = []
    notes: list[str] = []
    shown: int = 0
    total: int | None = None
    next: str | None = None


def place_of(path: str, start_line: int | None = None, end_line: int | None = None) -> str:
    """`path:line` or `path:first-last`, on one line."""
    lines = (
        ""
        if start_line is None
        else f":{start_line}"
        if end_line in (None, start_line)
        else f":{start_line}-{end_line}"
    )
    return f"{one_line(path)}{lines}"


def row_of(index: PublishedIndex, row: int, *, note: str = "") -> DocumentRow:
    """A document of an index; `note` comes before what it says."""
    checkpoint()
    id_, shown, level = index.ids[row], index.shown.of_row(row), index.level_of(row)
    path = id_.partition(SEPARATOR)[0]
    name = one_line(shown["qualified_name"] or "")
    said = one_line(shown["summary"])
    text = ": ".join(part for part in (name, said) if part)
    return DocumentRow(
        repo=index.repo,
        id=id_,
        kind=level.value,
        path=f"{path}/" if level is Level.MODULE else path,
        start_line=shown["start_line"],
        end_line=shown["end_line"],
        text=shortened(f"{note}{text}"),
    )


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def shortened(text: str, *, most: int = _LONGEST_SUMMARY) -> str:
    """A line that ends with … where it is too long."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
