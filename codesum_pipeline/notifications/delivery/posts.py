"""Posts (digests, and notices to the operator), and what a channel promises that sends them.

A post is kept as JSON from when it was decided to send it.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, to_builtins

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, PostId, SummaryResult
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text

_ID_DOMAIN = "codesum.notice/1"
_ID_CHARS = 32
_SUBJECT_CHARS = 150
_SURROGATES = re.compile("[\ud800-\udfff]")


class PostKind(StrEnum):
    """The kinds of posts."""

    DIGEST = "digest"
    NOTICE = "notice"


class Post(Struct, frozen=True):
    """One digest or notice. `text` is Markdown of a digest, plain text of a notice.

    `links` has an address of the web for each citation, or None if its host has no pages that are known.
    """

    id: PostId
    kind: PostKind
    subject: str
    text: str
    created_at: str
    citations: tuple[DigestCitation, ...] = ()
    links: tuple[str | None, ...] = ()
    intent_name: str | None = None

    def content(self) -> str:
        """All of it as JSON."""
        # A lone surrogate of a model or a repository is no UTF-8.
        return _SURROGATES.sub("\ufffd", json.dumps(to_builtins(self), ensure_ascii=False))


def digest_post(id_: PostId, result: SummaryResult, *, links: Sequence[str | None], created_at: str) -> Post:
    """The post of a digest; `id_` is the digest's, the same whenever the same digest is made again."""
    if len(links) != len(result.citations):
        raise ValueError(f"{len(links)} links for {len(result.citations)} citations: give one or None for each")
    return Post(
        id=id_,
        kind=PostKind.DIGEST,
        subject=shorten_text(one_line(result.intent_name), _SUBJECT_CHARS),
        text=result.summary,
        created_at=created_at,
        citations=result.citations,
        links=tuple(links),
        intent_name=result.intent_name,
    )


def notice_post(subject: str, text: str, *, created_at: str) -> Post:
    """The post of a notice. The same words on one day (UTC) are one notice: what fails each minute is said once."""
    identity = "\0".join((_ID_DOMAIN, subject, text, created_at[:10]))
    id_ = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_CHARS]
    return Post(
        PostId(f"notice-{id_}"), PostKind.NOTICE, shorten_text(one_line(subject), _SUBJECT_CHARS), text, created_at
    )


class OutgoingMessage(Struct, frozen=True):
    """A post on its way to one channel.

    `key` is the same whenever this post is sent there. `is_repeat`: an earlier try may have arrived.
    """

    post: Post
    key: str
    attempt: int
    is_repeat: bool


class Channel(Protocol):
    """Sends one message. It is slow, and the outcome is not always known."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must be in no log, message or table."""
        ...

    def send(self, message: OutgoingMessage) -> str:
        """Send the message; returns the channel's answer. Raises `DeliveryFailed` or `DeliveryRefused`."""
        ...
