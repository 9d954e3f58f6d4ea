"""As much as there is room for, and where to go on.

A cursor is opaque: it holds where the next part begins, which question it
belongs to, and which versions of the indexes answered.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json, sha256_hex

# English and code have about four characters a token, whichever model counts.
CHARACTERS_PER_TOKEN = 4
_CHECK_CHARACTERS = 8
_LONGEST_CURSOR = 4096
_VERSION_CHARACTERS = 12

T = TypeVar("T")


def tokens_of(text: str) -> int:
    """An estimate, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def fitting(items: Iterable[tuple[T, str]], *, limit: int, tokens: int) -> list[T]:
    """The first items whose texts, a line feed each, have room; at least one, or nobody would get on."""
    kept: list[T] = []
    for item, text in islice(items, limit):
        tokens -= tokens_of(f"{text}\n")
        if tokens < 0 and kept:
            break
        kept.append(item)
    return kept


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the next part of the answer to one question begins: `at` means what the tool says it means."""

    tool: str
    question: str
    at: tuple[int, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def after(cls, tool: str, question: Mapping[str, Any], at: Sequence[int], versions: Mapping[str, str]) -> "Cursor":
        short = {repo: digest[:_VERSION_CHARACTERS] for repo, digest in versions.items()}
        return cls(tool, _fingerprint(question), tuple(at), short)

    @classmethod
    def read(cls, text: str, tool: str, question: Mapping[str, Any]) -> "Cursor":
        """Raises `ConfigurationError` for what no answer of this tool to this question gave."""
        cursor = cls.decoded(text, tool)
        if cursor.question != _fingerprint(question):
            raise ConfigurationError(
                f"cursor {_short(text)!r} belongs to another question: repeat the call that gave it, with the cursor"
            )
        return cursor

    @classmethod
    def decoded(cls, text: str, tool: str) -> "Cursor":
        """Whichever question it belongs to."""
        damaged = ConfigurationError(
            f"cursor {_short(text)!r} is damaged: give `next` of an answer as it stands, or none to begin anew"
        )
        if len(text) > _LONGEST_CURSOR:
            raise damaged
        try:
            content = base64.urlsafe_b64decode(text.encode("ascii")).decode()
            check, body = content[:_CHECK_CHARACTERS], content[_CHECK_CHARACTERS:]
            if check != _check(body):
                raise damaged
            of_tool, question, at, versions = json.loads(body)
        except (ValueError, UnicodeError, binascii.Error, RecursionError) as error:
            raise damaged from error
        if of_tool != tool:
            raise ConfigurationError(f"cursor {_short(text)!r} is of the tool {of_tool!r}: give it to that one")
        return cls(of_tool, question, tuple(at), versions)

    def __str__(self) -> str:
        body = json.dumps([self.tool, self.question, self.at, self.versions], separators=(",", ":"))
        return base64.urlsafe_b64encode(f"{_check(body)}{body}".encode()).decode()

    def changed(self, versions: Mapping[str, str]) -> list[str]:
        """The repositories of which another version is published now than when the cursor was given."""
        return [
            repo
            for repo, digest in sorted(self.versions.items())
            if repo in versions and versions[repo][:_VERSION_CHARACTERS] != digest
        ]


def _fingerprint(question: Mapping[str, Any]) -> str:
    return sha256_hex(canonical_json(dict(question)).encode())[:_CHECK_CHARACTERS]


def _check(body: str) -> str:
    return sha256_hex(body.encode())[:_CHECK_CHARACTERS]


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
