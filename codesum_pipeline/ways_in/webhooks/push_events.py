"""A request of a code host: who sent it, if it is signed with a secret of ours, and which push it reports.

The sender is the host whose headers the request has:

| host | what says so |
|---|---|
| GitHub | `X-Hub-Signature-256`: `sha256=` and the HMAC-SHA256 of the body, in hexadecimal |
| Gitea, Forgejo | `X-Gitea-Signature`, `X-Forgejo-Signature`: the same without `sha256=` |
| GitLab | `webhook-signature`: `v1,` and the HMAC-SHA256 of id, time and body in base64 (Standard Webhooks), or |
| | `X-Gitlab-Token`: the secret itself |

The body is the one that was received, byte by byte. All secrets are compared, each in constant time: several are valid
at once, so that one can be replaced by another.

Of a push counts which repository and which ref it is about. Everything else in its payload is ignored.
"""

import binascii
import dataclasses
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from msgspec import Meta, Struct, ValidationError, field

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.notifications.delivery.webhook import SECRET_PREFIX, signature_of, signing_key_of
from codesum_pipeline.source.git.locations import address_of, host_id_of
from codesum_pipeline.source.git.remote import is_commit_id
from codesum_pipeline.source.repositories.organisations import HostKind
from codesum_pipeline.ways_in.http_serving.access_tokens import read_private_file

VARIABLE = "CODESUM_WEBHOOK_SECRET"
# Guessing a shorter one takes no more than patience.
_SHORTEST = 16
# More are a mistake, and each costs a computation for each request.
_MOST = 20
# What Standard Webhooks allows for clocks that differ and requests that wait.
CLOCK_TOLERANCE_S = 300
_UNIX_TIME = re.compile(r"[0-9]{1,12}")
# Hosts send two while a secret is replaced.
_MOST_SIGNATURES = 10
_PUSHES = {"push", "push hook", "tag push hook"}
# GitLab's administrators get all events by one name, and the payload says which.
_SYSTEM_HOOK = "system hook"
_SYSTEM_PUSHES = {"push", "tag_push"}
# How long a registry that was read is believed: reading 10,000 entries takes seconds, and pushes come in hundreds.
READ_AGAIN_S = 30.0


@dataclasses.dataclass(frozen=True, slots=True)
class Secret:
    """As a person typed it at the host. `signing_key` is that of Standard Webhooks, in which form GitLab makes some."""

    text: bytes = dataclasses.field(repr=False)
    signing_key: bytes | None = dataclasses.field(default=None, repr=False)


def read_secrets(file: Path | None, environ: Mapping[str, str]) -> list[Secret]:
    """The secrets of a file that nobody else may read, one a line, else of the environment, with spaces between.

    Raises `ConfigurationError` if there is none: what is not signed is never believed, not even on this machine,
    where a proxy passes on what others send.
    """
    if file is None:
        source, found = VARIABLE, environ.get(VARIABLE, "").split()
    else:
        source = f"--secret-file {file}"
        lines = map(str.strip, read_private_file(file, source).splitlines())
        found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise ConfigurationError(
            f"no webhook secret: give the host's with --secret-file or {VARIABLE}; "
            "`openssl rand -hex 32` makes one for both sides"
        )
    if len(found) > _MOST:
        raise ConfigurationError(
            f"{source}: {len(found)} secrets, and at most {_MOST} are valid at one time: remove some"
        )
    return [_secret(text, source, number) for number, text in enumerate(found, start=1)]


def _secret(text: str, source: str, number: int) -> Secret:
    """No message repeats a secret."""
    if len(text) < _SHORTEST:
        raise ConfigurationError(f"{source}: secret {number} is shorter than {_SHORTEST} characters: make another")
    try:
        return Secret(text.encode(), signing_key_of(text) if text.startswith(SECRET_PREFIX) else None)
    except binascii.Error:
        raise ConfigurationError(
            f"{source}: secret {number} begins with whsec_ but is not base64 after that: copy it again from the host"
        ) from None


class SignedEvent(Struct, frozen=True):
    """Whose request it is, and what it reports."""

    host: HostKind
    event: str


def sender_of(
    headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret], *, now_s: float
) -> SignedEvent | None:
    """The sender of a request with these headers (their names in small letters); None if nothing proves one.

    Gitea's come first, since it sends GitHub's headers as well.
    """
    for name in ("forgejo", "gitea"):
        if f"x-{name}-event" in headers:
            is_proven = _is_signed(headers.get(f"x-{name}-signature", ""), body, secrets)
            return SignedEvent(HostKind.GITEA, headers[f"x-{name}-event"]) if is_proven else None
    if "x-gitlab-event" in headers:
        is_proven = _is_gitlab(headers, body, secrets, now_s)
        return SignedEvent(HostKind.GITLAB, headers["x-gitlab-event"]) if is_proven else None
    prefix, _, signature = headers.get("x-hub-signature-256", "").partition("=")
    is_proven = prefix == "sha256" and _is_signed(signature, body, secrets)
    return SignedEvent(HostKind.GITHUB, headers.get("x-github-event", "")) if is_proven else None


def _is_signed(signature: str, body: bytes, secrets: Sequence[Secret]) -> bool:
    presented = signature.encode()
    return _any_equal(presented, [hmac.digest(each.text, body, hashlib.sha256).hex().encode() for each in secrets])


def _is_gitlab(headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret], now_s: float) -> bool:
    """A signature decides alone where there is a key for it: leaving it out does not make its sender's token count."""
    keys = [each.signing_key for each in secrets if each.signing_key is not None]
    if "webhook-signature" in headers and keys:
        return _is_standard(headers, body, keys, now_s)
    tokens = [each.text for each in secrets if each.signing_key is None]
    return _any_equal(headers.get("x-gitlab-token", "").encode(), tokens)


def _is_standard(headers: Mapping[str, str], body: bytes, keys: Sequence[bytes], now_s: float) -> bool:
    sent_at = headers.get("webhook-timestamp", "")
    if not _UNIX_TIME.fullmatch(sent_at) or abs(int(sent_at) - now_s) > CLOCK_TOLERANCE_S:
        return False
    wanted = [signature_of(body, key, id_=headers.get("webhook-id", ""), moment=sent_at).encode() for key in keys]
    return any(_any_equal(each.encode(), wanted) for each in headers["webhook-signature"].split()[:_MOST_SIGNATURES])


def _any_equal(presented: bytes, wanted: Sequence[bytes]) -> bool:
    """All are compared, so that the time reveals nothing."""
    equal = [hmac.compare_digest(presented, each) for each in wanted]
    return True in equal


class UnreadablePayload(Exception):
    """A signed request whose body is not what its host sends."""


class Push(Struct, frozen=True):
    """A ref of a repository is another one now. `addresses` are its, `host_ids` its ids as the registry has them."""

    addresses: frozenset[str]
    host_ids: frozenset[str]
    ref: str
    default_branch: str | None
    is_deletion: bool


_Text = Annotated[str, Meta(max_length=2_000)]


class _Repository(Struct):
    """As any of the hosts describes a repository; each has some of these fields."""

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


class _Payload(Struct):
    """GitHub and Gitea say `repository`, GitLab `project`."""

    ref: _Text
    after: _Text = ""
    deleted: bool = False
    repository: _Repository | None = None
    project: _Repository | None = None


def read_push(sender: SignedEvent, body: bytes, *, content_type: str) -> Push | None:
    """The push that a signed request reports, None if it reports anything else; raises `UnreadablePayload`."""
    event = sender.event.lower()
    if event not in (*_PUSHES, _SYSTEM_HOOK):
        return None
    content = _content(body, content_type)
    if event == _SYSTEM_HOOK and content.get("event_name") not in _SYSTEM_PUSHES:
        return None
    try:
        # Relays and templates of people's own send numbers and truth values as text.
        payload = convert(content, _Payload, strict=False)
    except ValidationError as error:
        raise UnreadablePayload(str(error)) from None
    repository = payload.project if sender.host is HostKind.GITLAB else payload.repository
    if repository is None or not repository.urls:
        raise UnreadablePayload("it names no repository")
    page = repository.html_url or repository.web_url or ""
    ids = {host_id_of(page, repository.id)} if page and repository.id is not None and address_of(page) else set()
    return Push(
        addresses=frozenset(address for url in repository.urls if (address := address_of(url))),
        host_ids=frozenset(ids),
        ref=payload.ref,
        default_branch=repository.default_branch,
        is_deletion=payload.deleted or (bool(payload.after) and not payload.after.strip("0")),
    )


def _content(body: bytes, content_type: str) -> dict[str, Any]:
    """The payload as its host may be set to send it: as JSON, or as a field of a form."""
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
    """The registry's entries by address, read again when they are old: by one thread, for which others wait."""

    read: Callable[[], Sequence[RepositoryEntry]]
    clock: Callable[[], float] = time.monotonic
    _by_name: dict[str, list[RepositoryEntry]] = field(default_factory=dict)
    _stale_at: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, push: Push) -> list[RepositoryEntry]:
        """The entries that are the repository of a push."""
        with self._lock:
            if self.clock() >= self._stale_at:
                self._read()
            by_name = self._by_name
        names = sorted(push.addresses | push.host_ids)
        found = {entry.key: entry for name in names for entry in by_name.get(name, [])}
        return [found[key] for key in sorted(found)]

    def _read(self) -> None:
        by_name: dict[str, list[RepositoryEntry]] = {}
        for entry in self.read():
            for name in {address_of(entry.location), entry.host_id}:
                if name:
                    by_name.setdefault(name, []).append(entry)
        self._by_name = by_name
        self._stale_at = self.clock() + READ_AGAIN_S
