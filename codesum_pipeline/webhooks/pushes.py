"""What a host tells of a push: which repository, which ref. Everything else in its payload is left alone."""

import json
from typing import Annotated, Any
from urllib.parse import parse_qs

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codesum_pipeline.source.locations import address_of, host_id_of
from codesum_pipeline.source.organisations import HostKind
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
