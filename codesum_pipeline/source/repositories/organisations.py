"""Organisations, groups or users of code hosts, whose repositories are registered as they come and go; in `repos.yaml`:

```yaml
organisations:
  github:acme:                       # HOST:OWNER; the host is github, gitlab or gitea
    url: https://github.acme.com     # default: the public server, of which gitea has none
    include: ["svc-*"]               # names of repositories; default: all
    exclude: ["*-archive"]
    archived: true                   # default: false
    forks: true                      # default: false
    ssh: true                        # fetch by ssh; default: by https
    token_env: ACME_TOKEN            # where the API's token is; of the public servers GITHUB_TOKEN and GITLAB_TOKEN
  backend:                           # any name, with both said
    host: gitlab
    owner: acme/backend
```
"""

import re
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins
from pydantic import BaseModel, ConfigDict, ValidationError

from codesum_pipeline.foundation.data_model.client_addresses import is_loopback
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import plain_reason
from codesum_pipeline.source.git.git_addresses import take_apart


class HostKind(StrEnum):
    """Whose API a server answers by. Forgejo answers by Gitea's."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class Organisation(Struct, frozen=True):
    """One account of a host. `include` and `exclude` are globs for names of repositories: `svc-*`, `team/svc-*`.

    `url` is the server's address, `token_env` the environment variable that its token is read from: of the public
    servers both go without saying. Repositories are fetched by ssh or https.
    """

    name: str
    host: HostKind
    owner: str
    url: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    archived: bool = False
    forks: bool = False
    ssh: bool = False
    token_env: str | None = None


class ListedRepository(Struct, frozen=True):
    """A repository as its host lists it. `path` is `owner/name`, with all groups between where the host has them."""

    host_id: str
    path: str
    https_url: str
    ssh_url: str
    is_archived: bool = False
    is_fork: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


PUBLIC_SERVERS = {HostKind.GITHUB: "https://github.com", HostKind.GITLAB: "https://gitlab.com"}
PUBLIC_TOKENS = {HostKind.GITHUB: "GITHUB_TOKEN", HostKind.GITLAB: "GITLAB_TOKEN"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,20}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class _OrganisationData(BaseModel):
    """An organisation as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    host: str | None = None
    owner: str | None = None
    url: str | None = None
    include: list[str] = []
    exclude: list[str] = []
    archived: bool = False
    forks: bool = False
    ssh: bool = False
    token_env: str | None = None


def organisation_of(name: Any, fields: Any) -> Organisation:
    """One entry of the file; raises `ConfigurationError` if it cannot be."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError("an organisation's name is HOST:OWNER, or letters, digits and ._:/-")
    try:
        data = _OrganisationData.model_validate({} if fields is None else fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{where or 'the entry'}: {plain_reason(first['msg'])}") from None
    before, _, after = name.partition(":")
    try:
        host = HostKind(data.host or before)
    except ValueError as error:
        kinds = ", ".join(HostKind)
        raise ConfigurationError(f"host {data.host or before!r}: it is one of {kinds}, as in github:acme") from error
    owner = data.owner or after
    if not _OWNER.fullmatch(owner):
        raise ConfigurationError(f"owner {owner!r} cannot be the name of an organisation, group or user")
    if data.token_env is not None and not _VARIABLE.fullmatch(data.token_env):
        raise ConfigurationError("token_env is the name of an environment variable, not the token itself")
    url = _server(data.url or PUBLIC_SERVERS.get(host, ""))
    return convert(data.model_dump() | {"name": name, "host": host, "owner": owner, "url": url}, Organisation)


def organisation_fields(organisation: Organisation) -> dict[str, Any]:
    """An organisation's fields as they are written: those that do not go without saying."""
    fields = to_builtins(organisation)
    fields |= {"include": [*organisation.include], "exclude": [*organisation.exclude]}
    if fields.pop("name") == f"{organisation.host}:{organisation.owner}":
        del fields["host"], fields["owner"]
    if organisation.url == PUBLIC_SERVERS.get(organisation.host):
        del fields["url"]
    return {name: value for name, value in fields.items() if value}


def token_variable(organisation: Organisation) -> str | None:
    """The environment variable that the token is read from.

    Those of the public servers are sent to no other server.
    """
    if organisation.token_env:
        return organisation.token_env
    is_public = organisation.url == PUBLIC_SERVERS.get(organisation.host)
    return PUBLIC_TOKENS[organisation.host] if is_public else None


def _server(url: str) -> str:
    """An address that a token may be sent to."""
    if not url:
        raise ConfigurationError("gitea has no public server: give its url, as https://gitea.example.org")
    address = take_apart(url)
    if address is None:
        raise ConfigurationError("url: it is no address of a server: give https://SERVER")
    is_safe = address.scheme == "https" or (address.scheme == "http" and is_loopback(address.host.strip("[]")))
    if not is_safe or address.user is not None or address.more:
        raise ConfigurationError(
            f"url {str(address)!r}: give https://SERVER, without user and password or anything else"
        )
    return url.rstrip("/")
