"""An organisation, group or user of a code host, whose repositories are registered as they come and go."""

from enum import StrEnum

from msgspec import Struct


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
