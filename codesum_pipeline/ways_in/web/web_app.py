"""The application: the pages by address, the pages of errors, and the checks before all of them.

A page of another server in the same browser, under its own name or one that leads to this machine, gets nothing; links
to our pages work. A browser loads, runs and frames nothing but what this server gives.
"""

from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.foundation.data_model.errors import (
    BeingIndexed,
    CodesumError,
    ConfigurationError,
    MissingTable,
    UnknownRepository,
)
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.ways_in.http_serving.access_tokens import (
    Address,
    TokenSource,
    allowed_hosts,
    allowed_origins,
    check_reachable,
)
from codesum_pipeline.ways_in.http_serving.audit_log import FAILED, REFUSED, Auditor
from codesum_pipeline.ways_in.http_serving.gate import Holder, behind_tokens
from codesum_pipeline.ways_in.http_serving.people import Person
from codesum_pipeline.ways_in.metrics.server_metrics import PATH as METRICS
from codesum_pipeline.ways_in.metrics.server_metrics import MetricsPage, ServerMetrics
from codesum_pipeline.ways_in.web.ask_pages import ASK, AskPages, Turns
from codesum_pipeline.ways_in.web.fleet_page import FLEET, FleetPage
from codesum_pipeline.ways_in.web.pages import HITS, REFRESH, Pages
from codesum_pipeline.ways_in.web.rendering import SIGNED_IN_AS, respond_with

if TYPE_CHECKING:
    from codesum_pipeline.ways_in.web.sign_in import BrowserPeople

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Without a policy, browsers would send our own form without an origin.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The next request may be answered from another version of the index.
    "Cache-Control": "no-store",
}
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"})
_OWN_PAGES = ("", "none", "same-origin")


class RequestGuard(Struct, frozen=True):
    """Passes on requests of this server's own pages, of people, and of programs that are no browsers."""

    app: ASGIApp
    hosts: Collection[str]
    origins: Collection[str]
    # Of whoever gives a token: a monitor reaches each container by an address of its own.
    under_any_name: Collection[str] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts, origin = headers.getlist("host"), headers.get("origin")
        is_named = scope["path"] in self.under_any_name or (len(hosts) == 1 and hosts[0].lower() in self.hosts)
        if not is_named:
            named = one_line(", ".join(hosts))
            return PlainTextResponse(
                f"This is not the host {named!r}: start `codesum web --host-name NAME` for another name.\n", 421
            )
        if origin is not None and origin.lower() not in self.origins:
            return PlainTextResponse(f"A page of {one_line(origin)!r} may not ask here.\n", 403)
        is_link = scope["method"] in ("GET", "HEAD") and (
            (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        )
        if headers.get("sec-fetch-site", "") not in _OWN_PAGES and not is_link:
            return PlainTextResponse("A page of another server may link here, and nothing else.\n", 403)
        return None


TOKEN_VARIABLE = "CODESUM_WEB_TOKEN"
_STATIC = Path(__file__).parent / "static"
_STATIC_PATH = "/static"


def make_app(
    catalogue: IndexCatalogue,
    address: Address,
    *,
    tokens: TokenSource,
    audit: Auditor,
    folder: Path,
    people: "BrowserPeople | None" = None,
    host_names: Sequence[str] = (),
    metrics: ServerMetrics | None = None,
) -> ASGIApp:
    """The pages behind their checks; raises `ConfigurationError` if others could read them without a token, or without
    having signed in. Pages about the checkout around `folder` show its work tree."""
    check_reachable(address, tokens.tokens, variable=TOKEN_VARIABLE, has_people=people is not None)

    def app_of(holder: Holder | None) -> Starlette:
        if holder is None:
            return pages_of(catalogue, folder, audit.of_nobody, metrics=metrics)
        name = holder.shown if isinstance(holder, Person) else ""
        held = catalogue.held_by(holder.holder, holder.scope)
        return pages_of(held, folder, audit.of(holder.audited), name, metrics=metrics)

    app = behind_tokens(tokens, app_of, audit, people=people, is_for_browsers=True)
    others, public_url = [name.lower() for name in host_names], people.web_url if people else None
    hosts = {host.lower() for host in allowed_hosts(address, others, public_url)}
    origins = {origin.lower() for origin in allowed_origins(address, others, public_url)}
    is_guarded = tokens.requires_token or people is not None
    return RequestGuard(app, hosts, origins, under_any_name={METRICS} if is_guarded else ())


def people_of(settings: IdentitySettings, secret: str, audit: Auditor, *, has_tokens: bool) -> "BrowserPeople | None":
    """Those who sign in at the provider of the settings; None without one. Raises `ConfigurationError` if it is not
    said where browsers come back to, unless tokens of the server guard the page anyway."""
    if settings.has_web:
        # A fifth of a second, which pages without people do not wait for.
        from codesum_pipeline.ways_in.http_serving.identity_provider import IdentityProvider
        from codesum_pipeline.ways_in.web.sign_in import BrowserPeople

        assert settings.web_url
        return BrowserPeople(IdentityProvider(settings), settings.web_url, secret, audit, [static_files()])
    if settings.issuer and not has_tokens:
        raise ConfigurationError(
            "identity.issuer is set, but not the address at which browsers reach the page: set identity.web_url "
            "and identity.client_id, or give --token-file"
        )
    return None


def static_files() -> Mount:
    return Mount(_STATIC_PATH, StaticFiles(directory=_STATIC))


def pages_of(
    catalogue: IndexCatalogue,
    folder: Path,
    audit: Auditor,
    person: str = "",
    *,
    metrics: ServerMetrics | None = None,
) -> Starlette:
    """The pages of a catalogue, which show the name of the person who has signed in."""
    pages, turns = Pages(catalogue, folder), Turns()
    ask = AskPages(catalogue, folder, turns)
    routes: list[Route | Mount] = [
        Route("/", pages.start),
        Route(HITS, pages.hits),
        Route("/document", pages.document),
        Route("/related", pages.related),
        Route("/repository", pages.repository),
        Route(FLEET, FleetPage(catalogue).show),
        Route(ASK, ask.form, methods=["GET"]),
        Route(ASK, ask.ask, methods=["POST"]),
        Route("/earlier", ask.earlier),
        static_files(),
    ]
    if metrics and metrics.registry:
        routes.append(Route(METRICS, MetricsPage(metrics, catalogue).show))
    paths = {route.path for route in routes}
    return Starlette(
        lifespan=lambda _: turns.open(),
        routes=routes,
        exception_handlers={CodesumError: _refused, HTTPException: _no_such_page, 500: _failed},
        middleware=[Middleware(_RequestMiddleware, audit=audit, paths=paths, person=person)],
    )


class _RequestMiddleware(Struct, frozen=True):
    """Writes a line of the audit log for each requested page, but not for static files; pages show the `person` who
    has signed in."""

    app: ASGIApp
    audit: Auditor
    paths: Collection[str]
    person: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        SIGNED_IN_AS.set(self.person)
        if scope["type"] != "http" or scope["path"].startswith(f"{_STATIC_PATH}/"):
            await self.app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self.paths else "no page"
        # Both are of closed sets: what is counted by them stays bounded.
        method = scope["method"] if scope["method"] in _METHODS else "another method"
        with self.audit.auditing(f"{method} {path}") as request:
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
    assert isinstance(error, HTTPException)
    message = {404: "There is no such page.", 405: "This page is not asked in this way."}.get(error.status_code, "")
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    return _error(request, message if is_plain else error.detail, error.status_code)


def _failed(request: Request, _: Exception) -> Response:
    return _error(request, "codesum met an error of its own: the terminal that it runs in has it.", 500)


def _error(request: Request, message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    page = "message.html" if request.url.path == HITS else "error.html"
    return respond_with(page, code=status, headers=headers, message=message)


def _status_of(request: Request, error: Exception) -> int:
    """The status of an error: something missing is another error than a malformed question."""
    if isinstance(error, MissingTable | UnknownRepository):
        return 404
    if isinstance(error, ConfigurationError):
        return 400 if request.url.path in ("/", HITS, ASK, FLEET) else 404
    return 503
