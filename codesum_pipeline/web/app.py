"""The application: which address gives which page, and how errors look."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codesum_pipeline.model.errors import (
    BeingIndexed,
    CodesumError,
    ConfigurationError,
    MissingTable,
    UnknownRepository,
)
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.serving.audit import FAILED, REFUSED, Auditor
from codesum_pipeline.serving.gate import behind_tokens
from codesum_pipeline.serving.listening import Address, allowed_hosts, allowed_origins
from codesum_pipeline.serving.token_source import TokenSource
from codesum_pipeline.serving.tokens import AccessToken, check_reachable
from codesum_pipeline.tools.catalogue import IndexCatalogue
from codesum_pipeline.web.ask_pages import ASK, AskPages
from codesum_pipeline.web.guard import RequestGuard
from codesum_pipeline.web.pages import HITS, REFRESH, Pages
from codesum_pipeline.web.rendering import render
from codesum_pipeline.web.turns import Turns

TOKEN_VARIABLE = "CODESUM_WEB_TOKEN"
_STATIC = Path(__file__).parent / "static"
_STATIC_PATH = "/static"
_OURS = "codesum met an error of its own: the terminal that it runs in has it."


def make_app(
    catalogue: IndexCatalogue,
    address: Address,
    *,
    tokens: TokenSource,
    audit: Auditor,
    folder: Path,
    host_names: Sequence[str] = (),
) -> ASGIApp:
    """The pages behind their checks; raises `ConfigurationError` where others could ask without a token.

    Of the checkout that `folder` is in they show the work tree.
    """
    check_reachable(address, tokens.tokens, variable=TOKEN_VARIABLE)

    def app_of(token: AccessToken | None) -> Starlette:
        if token is None:
            return pages_of(catalogue, folder)
        return pages_of(catalogue.held_by(token.name, token.scope), folder, audit.of(token.name))

    app = behind_tokens(tokens, app_of, audit, is_for_browsers=True)
    others = [name.lower() for name in host_names]
    hosts = {host.lower() for host in allowed_hosts(address, others)}
    return RequestGuard(app, hosts, {origin.lower() for origin in allowed_origins(address, others)})


def pages_of(catalogue: IndexCatalogue, folder: Path, audit: Auditor | None = None) -> Starlette:
    pages, turns = Pages(catalogue, folder), Turns()
    ask = AskPages(catalogue, folder, turns)
    routes: list[Route | Mount] = [
        Route("/", pages.start),
        Route(HITS, pages.hits),
        Route("/document", pages.document),
        Route("/related", pages.related),
        Route("/repository", pages.repository),
        Route(ASK, ask.form, methods=["GET"]),
        Route(ASK, ask.ask, methods=["POST"]),
        Route("/earlier", ask.earlier),
        Mount(_STATIC_PATH, StaticFiles(directory=_STATIC)),
    ]
    paths = {route.path for route in routes}
    return Starlette(
        lifespan=lambda _: turns.open(),
        routes=routes,
        exception_handlers={CodesumError: _refused, HTTPException: _no_such_page, 500: _failed},
        middleware=[Middleware(_AuditMiddleware, audit=audit, paths=paths)] if audit else [],
    )


@dataclass(frozen=True, slots=True)
class _AuditMiddleware:
    """Each page that somebody asks for is a line of the audit log; what all pages have in common is none."""

    app: ASGIApp
    audit: Auditor
    paths: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(f"{_STATIC_PATH}/"):
            await self.app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self.paths else "no page"
        with self.audit.auditing(f"{scope['method']} {path}") as request:
            if self.audit.has_questions:
                request.question = scope["query_string"].decode("ascii", "replace")

            async def heard(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] >= 400:
                    request.outcome = REFUSED if message["status"] < 500 else FAILED
                await send(message)

            await self.app(scope, receive, heard)


def _refused(request: Request, error: Exception) -> Response:
    headers = REFRESH if isinstance(error, BeingIndexed) else None
    return _error(request, one_line(str(error)), _status_of(request, error), headers)


def _no_such_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    told = {404: "There is no such page.", 405: "This page is not asked in this way."}.get(status, "")
    if isinstance(error, HTTPException) and error.detail != HTTPStatus(status).phrase:
        told = error.detail
    return _error(request, told, status)


def _failed(request: Request, _: Exception) -> Response:
    return _error(request, _OURS, 500)


def _error(request: Request, told: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    page = "message.html" if request.url.path == HITS else "error.html"
    return HTMLResponse(render(page, told=told), status, headers=headers)


def _status_of(request: Request, error: Exception) -> int:
    """What is asked for and not there is another thing than a wrong question."""
    if isinstance(error, MissingTable | UnknownRepository):
        return 404
    if isinstance(error, ConfigurationError):
        return 400 if request.url.path in ("/", HITS, ASK) else 404
    return 503
