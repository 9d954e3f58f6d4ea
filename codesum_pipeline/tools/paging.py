"""The part of an answer that fits its bounds, and the cursor of the next part.

A cursor is opaque: it has the position of the next part, its question, and the versions of the indexes that answered.
Agents pay for it in each answer that goes on, and again when they give it back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json, sha256_hex
from codesum_pipeline.tools.answers import shortened

# English and code have about four characters a token, whichever model counts.
CHARACTERS_PER_TOKEN = 4
_LONGEST_CURSOR = 4096
_DIGITS = 6

T = TypeVar("T")


def tokens_of(text: str) -> int:
    """An estimate of the tokens of a text, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def fitting(items: Iterable[T], text: Callable[[T], str], *, limit: int, tokens: int) -> list[T]:
    """The first items whose texts, each with a line feed, fit the bounds; at least one, so that paging never stops."""
    kept: list[T] = []
    for item in islice(items, limit):
        tokens -= tokens_of(f"{text(item)}\n")
        if tokens < 0 and kept:
            break
        kept.append(item)
    return kept


class Cursor(Struct, frozen=True):
    """Where the next part of the answer to one question begins; each tool gives `at` its own meaning.

    `versions` are numbers of the indexes that answered, one of each.
    """

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
        said = shortened(text, most=40)
        body, _, check = text[:_LONGEST_CURSOR].rpartition(".")
        parts = body.split(".")
        if len(text) > _LONGEST_CURSOR or len(parts) < 3 or check != _number(body):
            raise ConfigurationError(
                f"cursor {said!r} is damaged: give `next` of an answer as it stands, or none to begin anew"
            )
        of_tool, at, of_question, *versions = parts
        if of_tool != tool:
            raise ConfigurationError(f"cursor {said!r} is of the tool {of_tool!r}: give it to that one")
        if question is not None and of_question != _number(question):
            raise ConfigurationError(
                f"cursor {said!r} belongs to another question: repeat the call that gave it, with the cursor"
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
