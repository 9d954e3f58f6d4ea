"""A server on loopback that answers as the APIs of GitHub, GitLab and Gitea document it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "an-example-token"
# Each page's share, whatever a client asks for: then few repositories make several pages.
PAGE = 2


@dataclass(frozen=True)
class Repo:
    """A repository as the server has it."""

    number: int
    path: str
    archived: bool = False
    fork: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass
class CodeHost:
    """What the server has, what it refuses, and what it was asked."""

    repos: list[Repo] = field(default_factory=list)
    owner: str = "acme"
    is_user: bool = False
    # Answers that come first, in place of the real ones: a status, headers and a message each.
    refusals: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    body: bytes | None = None
    token: str | None = TOKEN
    requested: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    address: str = ""

    def answer(self, target: str, headers: Any) -> tuple[int, dict[str, str], Any]:
        self.requested.append(target)
        self.authorizations.append(headers.get("Authorization"))
        if self.refusals:
            status, extra, message = self.refusals.pop(0)
            return status, extra, {"message": message}
        if self.token and headers.get("Authorization") not in (f"Bearer {self.token}", f"token {self.token}"):
            return 401, {}, {"message": "Bad credentials"}
        parts = urlsplit(target)
        kind = self._kind(parts.path)
        if kind is None:
            return 404, {}, {"message": "Not Found"}
        page = int(parse_qs(parts.query).get("page", ["1"])[0])
        shown = self.repos[(page - 1) * PAGE : page * PAGE]
        more = page * PAGE < len(self.repos)
        following = f'<{self.address}{parts.path}?page={page + 1}>; rel="next"'
        return 200, {"Link": following} if more else {}, [getattr(self, kind)(each) for each in shown]

    def _kind(self, path: str) -> str | None:
        """Whose listing an address is, if it is one of the account's."""
        account = "users" if self.is_user else "orgs"
        group = "users" if self.is_user else "groups"
        return {
            f"/api/v3/{account}/{self.owner}/repos": "github",
            f"/api/v4/{group}/{self.owner}/projects": "gitlab",
            f"/api/v1/{account}/{self.owner}/repos": "gitea",
        }.get(unquote(path))

    @staticmethod
    def github(repo: Repo) -> dict[str, Any]:
        """https://docs.github.com/en/rest/repos/repos#list-organization-repositories"""
        return {
            "id": repo.number,
            "node_id": f"R_{repo.number}",
            "name": repo.name,
            "full_name": repo.path,
            "private": True,
            "html_url": f"https://git.example.org/{repo.path}",
            "url": f"https://git.example.org/api/v3/repos/{repo.path}",
            "fork": repo.fork,
            "archived": repo.archived,
            "disabled": False,
            "clone_url": f"https://git.example.org/{repo.path}.git",
            "ssh_url": f"git@git.example.org:{repo.path}.git",
            "default_branch": "main",
        }

    @staticmethod
    def gitlab(repo: Repo) -> dict[str, Any]:
        """https://docs.gitlab.com/api/groups/#list-projects"""
        return {
            "id": repo.number,
            "name": repo.name.title(),
            "path": repo.name,
            "path_with_namespace": repo.path,
            "archived": repo.archived,
            "http_url_to_repo": f"https://git.example.org/{repo.path}.git",
            "ssh_url_to_repo": f"git@git.example.org:{repo.path}.git",
            "default_branch": "main",
        } | ({"forked_from_project": {"id": 1}} if repo.fork else {})

    @staticmethod
    def gitea(repo: Repo) -> dict[str, Any]:
        """https://docs.gitea.com/api/next/#tag/organization/operation/orgListRepos"""
        return {
            "id": repo.number,
            "name": repo.name,
            "full_name": repo.path,
            "empty": False,
            "fork": repo.fork,
            "archived": repo.archived,
            "mirror": False,
            "clone_url": f"https://git.example.org/{repo.path}.git",
            "ssh_url": f"git@git.example.org:{repo.path}.git",
            "default_branch": "main",
        }


@contextmanager
def code_host(*repos: Repo, owner: str = "acme", is_user: bool = False) -> Iterator[CodeHost]:
    """Such a server while a block runs."""
    host = CodeHost(list(repos), owner, is_user)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, content = host.answer(self.path, self.headers)
            body = host.body if host.body is not None else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        host.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()
