"""What somebody who waits for an answer hears meanwhile, in the order in which it happens."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextCame:
    """More of the message that is being written."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockWritten:
    """A paragraph, list or piece of code of that message, whole, without citations that do not resolve."""

    text: str


@dataclass(frozen=True, slots=True)
class TextVoid:
    """What came of this message so far is no part of an answer: it broke off, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The message is whole; `is_answer`: nothing follows it."""

    is_answer: bool


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model calls a tool; `arguments` is its JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """The tool gave so much."""

    name: str
    characters: int
    is_error: bool


@dataclass(frozen=True, slots=True)
class SynthesisBegan:
    """A tool's overview is written up, with these sources and documents."""

    tool: str
    files: tuple[str, ...]


Event = TextCame | BlockWritten | TextVoid | MessageEnded | ToolCalled | ToolAnswered | SynthesisBegan
OnEvent = Callable[[Event], None]
