"""The events of a turn, for whoever waits for its answer, and the lines that describe them."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.printable import count_noun, shorten_text
from codesum_pipeline.texts.llm.pins import parse_json_object


class TextAdded(Struct, frozen=True):
    """More text of the message that is being written."""

    text: str


class BlockWritten(Struct, frozen=True):
    """A whole paragraph, list or piece of code of that message, without citations that do not resolve."""

    text: str


class TextVoided(Struct, frozen=True):
    """The text of this message so far is void: it broke off, for this reason."""

    reason: str


class MessageEnded(Struct, frozen=True):
    """The message is complete; `is_answer` says that it is the last."""

    is_answer: bool


class ToolCalled(Struct, frozen=True):
    """The model calls a tool; `arguments` is its JSON."""

    name: str
    arguments: str


class ToolAnswered(Struct, frozen=True):
    """The tool answered with so many characters."""

    name: str
    characters: int
    is_error: bool


class SynthesisBegan(Struct, frozen=True):
    """The synthesis of a tool's overview began, with these sources and documents."""

    tool: str
    files: tuple[str, ...]


Event = TextAdded | BlockWritten | TextVoided | MessageEnded | ToolCalled | ToolAnswered | SynthesisBegan
OnEvent = Callable[[Event], None]


_LONGEST_ARGUMENT = 60


def call_line(name: str, arguments: str) -> str:
    """The line for a call: the tool and the values of its arguments, each shortened."""
    values = (value for value in (parse_json_object(arguments) or {}).values() if value not in ("", [], None))
    texts = (" ".join(map(str, value)) if isinstance(value, list) else str(value) for value in values)
    return f"{name} {', '.join(shorten_text(text, most=_LONGEST_ARGUMENT) for text in texts)}".rstrip()


def synthesis_line(tool: str, files: Sequence[str]) -> str:
    """The line for a synthesis with some files."""
    return f"writing up {tool} with {count_noun(len(files), 'file')}: {', '.join(files)}"
