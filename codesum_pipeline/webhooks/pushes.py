"""What a host tells of a push, which repository and which ref, and the registered repositories that it is about.

Everything else in its payload is left alone.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import address_of, host_id_of
from codesum_pipeline.source.organisations import HostKind
from codesum_pipeline.source.remote import is_commit_id
from codesum_pipeline.webhooks.signatures import SignedEvent

_Text = Annotated[str, Field(max_length=2_000)]
_PUSHES = {"push", "push hook", "tag push hook"}
# GitLab's administrators get all events by one name, and the payload says which.
_SYSTEM_HOOK = "system hook"
_SYSTEM_PUSHES = {"push", "tag_push"}


class UnreadablePayload(Exception):
    """A signed request whose body is not what its host sends."""


class Push(Struct, frozen=True):
    """A ref of a repository is another one now. `addresses` are its, `host_ids` its ids as the registry has them."""

    addresses: frozenset[str]
    host_ids: frozenset[str]
    ref: str
    default_branch: str | None
    is_deletion: bool


class _Repository(BaseModel):
    """As any of the hosts describes a repository; each has some of these fields."""

    model_config = ConfigDict(extra="ignore")

    id: int | None = None
    default_branch: _Text | None = None
    clone_url: _Text | None = None
    ssh_url: _Text | None = None
    html_url: _Text | None = None
    git_http_url: _Text | None = None
    git_ssh_url: _Text | None = None
    web_url: _Text | None = None

    @property
    def urls(self) -> list[str]:
        ours = (self.clone_url, self.ssh_url, self.html_url, self.git_http_url, self.git_ssh_url, self.web_url)
        return [url for url in ours if url]


class _Payload(BaseModel):
    """GitHub and Gitea say `repository`, GitLab `project`."""

    model_config = ConfigDict(extra="ignore")

    ref: _Text
    after: _Text = ""
    deleted: bool = False
    repository: _Repository | None = None
    project: _Repository | None = None


def read_push(sender: SignedEvent, body: bytes, *, content_type: str) -> Push | None:
    """The push that a signed request tells of, None where it tells of anything else; raises `UnreadablePayload`."""
    event = sender.event.lower()
    if event not in (*_PUSHES, _SYSTEM_HOOK):
        return None
    content = _content(body, content_type)
    if event == _SYSTEM_HOOK and content.get("event_name") not in _SYSTEM_PUSHES:
        return None
    try:
        payload = _Payload.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnreadablePayload(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    repository = payload.project if sender.host is HostKind.GITLAB else payload.repository
    if repository is None or not repository.urls:
        raise UnreadablePayload("it names no repository")
    return _push(payload, repository)


def _push(payload: _Payload, repository: _Repository) -> Push:
    addresses = {address for url in repository.urls if (address := address_of(url))}
    page = repository.html_url or repository.web_url or ""
    ids = {host_id_of(page, repository.id)} if page and repository.id is not None and address_of(page) else set()
    return Push(
        addresses=frozenset(addresses),
        host_ids=frozenset(ids),
        ref=payload.ref,
        default_branch=repository.default_branch,
        is_deletion=payload.deleted or (bool(payload.after) and not payload.after.strip("0")),
    )


def _content(body: bytes, content_type: str) -> dict[str, Any]:
    """The payload as its host may be told to send it: as JSON, or as a field of a form."""
    try:
        if content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
            fields = parse_qs(body.decode(), max_num_fields=10)
            body = fields.get("payload", [""])[0].encode()
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadablePayload("it is no JSON") from error
    if not isinstance(content, dict):
        raise UnreadablePayload("it is no JSON object")
    return content


# How long a registry that was read is believed: reading 10,000 entries takes seconds, and pushes come in hundreds.
READ_AGAIN_S = 10.0
# And no more than this share of the time is spent on reading it.
_READING_SHARE = 0.2


def matching_keys(push: Push, entries: Sequence[RepositoryEntry]) -> list[str]:
    """The keys of the entries whose index a push changes; several for a monorepo, none for a deleted branch."""
    if push.is_deletion:
        return []
    return sorted(entry.key for entry in entries if entry.enabled and _follows(entry, push))


def is_about(entry: RepositoryEntry, push: Push) -> bool:
    """Whether an entry is the repository of a push, by any of its addresses or by the host's id of it."""
    return address_of(entry.location) in push.addresses or entry.host_id in push.host_ids


def _follows(entry: RepositoryEntry, push: Push) -> bool:
    if not is_about(entry, push):
        return False
    if entry.ref in (None, "HEAD"):
        return push.default_branch is None or push.ref in (push.default_branch, f"refs/heads/{push.default_branch}")
    ref = entry.ref or ""
    if is_commit_id(ref, full=True):
        return False
    return push.ref in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}")


class RecentEntries(Struct):
    """The registry's entries by address, read again when they are old."""

    read: Callable[[], Sequence[RepositoryEntry]]
    clock: Callable[[], float] = time.monotonic
    _by_name: dict[str, list[RepositoryEntry]] = field(default_factory=dict)
    _stale_at: float = float("-inf")

    def of(self, push: Push) -> list[RepositoryEntry]:
        """The entries that are the repository of a push."""
        if self.clock() >= self._stale_at:
            self._read()
        names = sorted(push.addresses | push.host_ids)
        found = {entry.key: entry for name in names for entry in self._by_name.get(name, [])}
        return [found[key] for key in sorted(found)]

    def _read(self) -> None:
        began = self.clock()
        by_name: dict[str, list[RepositoryEntry]] = {}
        for entry in self.read():
            for name in {address_of(entry.location), entry.host_id}:
                if name:
                    by_name.setdefault(name, []).append(entry)
        self._by_name = by_name
        took = self.clock() - began
        self._stale_at = self.clock() + max(READ_AGAIN_S, took / _READING_SHARE)
