"""Posts (digests, and notices to the operator), with links to pages of git hosts, and what a channel for them promises.

A post is kept as JSON from when it was decided to send it.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct, to_builtins

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace, DigestCitation, PostId, SummaryResult
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.source.git.locations import host_of, is_url, slug_of

_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
}
# The path of a file at a commit, the first line, and the last one behind it.
_PAGES = {
    "github": ("blob", "L{}", "-L{}"),
    "gitlab": ("-/blob", "L{}", "-{}"),
    "gitea": ("src/commit", "L{}", "-L{}"),
    "bitbucket": ("src", "lines-{}", ":{}"),
}


def web_url(location: str, place: str, *, own_hosts: Mapping[str, str] | None = None) -> str | None:
    """The address of `path#L@commit` of a repository, by where it is cloned from; None if its host is not known.

    `own_hosts` says what runs on others. No user or password of the location is in it.
    """
    found, slug = CitedPlace.parse(place), slug_of(location)
    host = host_of(location) if is_url(location) else ""
    kind = {**_HOSTS, **(own_hosts or {})}.get(host)
    if found is None or slug is None or kind is None:
        return None
    path, first, last = _PAGES[kind]
    page = f"https://{host}/{quote(slug)}/{path}/{found.commit}/{quote(found.path, errors='surrogateescape')}"
    if found.first_line:
        page += f"#{first.format(found.first_line)}"
        page += last.format(found.last_line) if found.last_line not in (None, found.first_line) else ""
    return page


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
