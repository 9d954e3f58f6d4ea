"""People at the page: they sign in at the provider, by a code with PKCE, and get a cookie of a short session.

While a person is at the provider, the browser keeps a random state; nonce and verifier follow from it by a key of this
process, so nothing is kept here of a sign-in that has begun. Sessions are in memory, by the hash of what the cookie
holds: signing out ends one at once, a restart ends all, and most people are then signed in again without being asked.
"""

import base64
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote, urlencode

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from msgspec import Struct, field
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from codesum_pipeline.foundation.data_model.errors import (
    CodesumError,
    NotAdmitted,
    OpensNothing,
    ProviderUnusable,
)
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.ways_in.http_serving.access_tokens import digest_of
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.http_serving.gate import Attempts
from codesum_pipeline.ways_in.http_serving.identity_provider import IdentityProvider, ProviderState
from codesum_pipeline.ways_in.http_serving.people import AdmittedPerson, Person, person_of
from codesum_pipeline.ways_in.web.rendering import link_to, respond_with

SIGN_IN, SIGNED_IN, SIGN_OUT = "/sign-in", "/signed-in", "/sign-out"
# Beyond, the oldest sessions end.
_MOST_SESSIONS = 10_000
# So long may somebody be at the provider.
_AWAY_S = 600
# A cookie has at most 4,096 bytes.
_LONGEST_TARGET = 2_000
_LONGEST_REASON = 300


class BrowserPeople(Struct):
    """Those with a session of this page. `open_routes` are what a page needs before somebody has signed in."""

    provider: IdentityProvider
    web_url: str
    secret: str
    audit: Auditor
    open_routes: Sequence[BaseRoute] = ()
    attempts: Attempts = field(default_factory=lambda: Attempts(time.monotonic))
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _sessions: OrderedDict[bytes, AdmittedPerson] = field(default_factory=OrderedDict)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(SIGN_IN, self.sign_in),
            Route(SIGNED_IN, self.signed_in),
            Route(SIGN_OUT, self.sign_out, methods=["POST"]),
            *self.open_routes,
        ]

    @property
    def settings(self) -> IdentitySettings:
        return self.provider.settings

    async def admitted(self, headers: Headers, secret: str) -> AdmittedPerson | None:
        """Who has the session of the cookie; a request with a token is that of its holder, and of nobody else."""
        found = None if secret else self._sessions.get(self._session_of(headers))
        return found if found and self.provider.now() < found.until else None

    def refusal(self, scope: Scope, error: CodesumError | None) -> Response:
        headers = Headers(scope=scope)
        is_page = headers.get("sec-fetch-dest", "document") == "document" and "text/html" in headers.get("accept", "")
        if "authorization" in headers or not is_page:
            message = (
                "sign in again: load the page anew; a program gives the server's token: Authorization: Bearer TOKEN"
            )
            return PlainTextResponse(f"{message}\n", 401, headers={"WWW-Authenticate": "Bearer"})
        if scope["method"] not in ("GET", "HEAD"):
            return self._page("Your session has ended: sign in, and do it again.", 401, scope["path"])
        query = scope["query_string"].decode("ascii", "replace")
        return RedirectResponse(link_to(SIGN_IN, to=f"{scope['path']}?{query}" if query else scope["path"]), 303)

    async def sign_in(self, request: Request) -> Response:
        """Send the browser to the provider."""
        target = _own_target(request.query_params.get("to", "/"))
        state = secrets.token_urlsafe(32)
        try:
            endpoint = (await self.provider.state()).address("authorization_endpoint")
        except ProviderUnusable as error:
            return self._page(str(error), 503, target)
        async with self._client() as client:
            url, _ = client.create_authorization_url(
                endpoint, state=state, nonce=self._derived(b"nonce", state), code_verifier=self._verifier(state)
            )
        answer = RedirectResponse(url, 303)
        self._set_cookie(answer, "sign-in", f"{state}|{quote(target, safe='')}", _AWAY_S)
        return answer

    async def signed_in(self, request: Request) -> Response:
        """The browser comes back from the provider with a code, or with an error."""
        address = request.client.host if request.client else ""
        if wait_s := self.attempts.wait_s(address, b""):
            return self._page(f"Too many sign-ins from this address failed: wait {wait_s:.0f} s.", 429)
        kept, _, target = request.cookies.get(self._cookie("sign-in"), "").partition("|")
        target = _own_target(unquote(target))
        try:
            person = await self._person(request.query_params, kept)
        except (NotAdmitted, ProviderUnusable) as error:
            return self._refused(error, address, target)
        with self.audit.of(person.audited).auditing("sign in"):
            self._sessions.pop(self._session_of(request.headers), None)
            answer = RedirectResponse(target, 303)
            self._begin_session(person, answer)
        answer.delete_cookie(self._cookie("sign-in"), **self._marks)
        return answer

    async def sign_out(self, request: Request) -> Response:
        """End the session; the provider may still know the browser."""
        ended = self._sessions.pop(self._session_of(request.headers), None)
        with self.audit.of(ended.person.audited if ended else {"token": ""}).auditing("sign out"):
            try:
                state = await self.provider.state()
                endpoint = state.address("end_session_endpoint") if "end_session_endpoint" in state.metadata else ""
            except ProviderUnusable:
                endpoint = ""
        query = urlencode({"client_id": self._client_id})
        issuer = self.provider.issuer
        answer = respond_with("signed_out.html", issuer=issuer, elsewhere=f"{endpoint}?{query}" if endpoint else "")
        answer.delete_cookie(self._cookie("session"), **self._marks)
        return answer

    async def _person(self, query: QueryParams, kept: str) -> Person:
        """Who has signed in; raises `NotAdmitted` and `ProviderUnusable`."""
        if not kept or not hmac.compare_digest(kept.encode(), query.get("state", "").encode()):
            raise NotAdmitted(
                "This sign-in was not begun in this browser, or more than ten minutes ago: sign in again."
            )
        if query.get("iss", self.provider.issuer) != self.provider.issuer:
            raise NotAdmitted(f"The answer is from another provider than {self.provider.issuer}: sign in again.")
        if "error" in query:
            said = ": ".join(filter(None, (query["error"], query.get("error_description", ""))))
            raise NotAdmitted(f"{self.provider.issuer} did not sign you in: {_shown(said)}")
        token = await self._exchange(query.get("code", ""), kept, await self.provider.state())
        nonce = self._derived(b"nonce", kept)
        return person_of(await self.provider.claims(token, self._client_id, nonce=nonce), self.settings)

    async def _exchange(self, code: str, kept: str, state: ProviderState) -> str:
        """The ID token for a code; raises `NotAdmitted` and `ProviderUnusable`."""
        endpoint, issuer = state.address("token_endpoint"), self.provider.issuer
        ways = state.metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        by_header = "client_secret_basic" if "client_secret_basic" in ways else "client_secret_post"
        try:
            async with self._client(token_endpoint_auth_method=by_header if self.secret else "none") as client:
                found = await client.fetch_token(endpoint, code=code, code_verifier=self._verifier(kept))
        except AuthlibBaseError as error:
            raise NotAdmitted(f"{issuer} did not sign you in: {_shown(str(error))}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, TypeError, AttributeError) as error:
            reason = _shown(str(error)) or type(error).__name__
            raise ProviderUnusable(f"The OpenID provider {issuer} cannot be used: {reason}") from None
        token = found.get("id_token")
        if not isinstance(token, str):
            raise ProviderUnusable(f"The OpenID provider {issuer} gave no ID token: is identity.scopes right?")
        return token

    def _client(self, **more: Any) -> AsyncOAuth2Client:
        return self.provider.client(
            AsyncOAuth2Client,
            client_id=self._client_id,
            client_secret=self.secret or None,
            scope=" ".join(self.settings.scopes),
            redirect_uri=f"{self.web_url}{SIGNED_IN}",
            code_challenge_method="S256",
            **more,
        )

    def _begin_session(self, person: Person, answer: Response) -> None:
        session, length_s = secrets.token_urlsafe(32), self.settings.session_minutes * 60
        until = self.provider.now() + timedelta(seconds=length_s)
        self._sessions[digest_of(session)] = AdmittedPerson(person, until)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        self._set_cookie(answer, "session", session, int(length_s))

    def _refused(self, error: CodesumError, address: str, target: str) -> Response:
        if isinstance(error, ProviderUnusable):
            return self._page(str(error), 503, target)
        self.attempts.was_wrong(address)
        person = error.person if isinstance(error, NotAdmitted) else None
        known = {"subject": person} if person else {}
        self.audit.was_refused(address, {**known, "why": str(error)}, asked="a sign-in")
        return self._page(str(error), 403 if isinstance(error, OpensNothing) else 401, target)

    def _page(self, message: str, status: int, target: str = "/") -> Response:
        again = link_to(SIGN_IN, to=target)
        return respond_with("sign_in.html", code=status, message=one_line(message), again=again)

    @property
    def _client_id(self) -> str:
        return self.settings.client_id or ""

    @property
    def _marks(self) -> dict[str, Any]:
        """What all cookies have. Without TLS, which only loopback may be, a browser would keep no secure ones."""
        return {"path": "/", "secure": self.web_url.startswith("https:"), "httponly": True, "samesite": "lax"}

    def _cookie(self, name: str) -> str:
        """The name of a cookie; with this prefix, no other server of the domain can set it."""
        return f"{'__Host-' if self._marks['secure'] else ''}codesum-{name}"

    def _set_cookie(self, answer: Response, name: str, value: str, seconds: int) -> None:
        answer.set_cookie(self._cookie(name), value, max_age=seconds, **self._marks)

    def _session_of(self, headers: Headers) -> bytes:
        return digest_of(cookie_parser(headers.get("cookie", "")).get(self._cookie("session"), ""))

    def _derived(self, purpose: bytes, state: str) -> str:
        digest = hmac.digest(self._key, purpose + state.encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def _verifier(self, state: str) -> str:
        return self._derived(b"verifier", state)


def _own_target(path: str) -> str:
    """The address on this server to go on at; the first page where it is none, or could lead elsewhere."""
    is_own = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_own and len(quote(path, safe="")) <= _LONGEST_TARGET and not path.startswith("/sign") else "/"


def _shown(text: str) -> str:
    return shorten_text(one_line(text), _LONGEST_REASON)
