"""Each request needs a token or a person who signed in, and is answered by the server of its holder.

For the holder, repositories outside the scope do not exist: every token of the file and every person has a server of
their own with the repositories of their scope, so that no answer, name or error of another scope can reach them. The
server begins with the first request. When the token expires, or is removed from or changed in its file, or nothing
that a person came with is valid any more, the server ends with its open requests.

Addresses that try wrong tokens have to wait.
"""

import base64
import binascii
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import anyio
from anyio.abc import TaskGroup, TaskStatus
from msgspec import Struct, field
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.foundation.data_model.client_addresses import customer_of
from codesum_pipeline.foundation.data_model.errors import CodesumError, NotAdmitted, ProviderUnusable
from codesum_pipeline.ways_in.http_serving.access_tokens import AccessToken, TokenSource, digest_of, find_token
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.http_serving.people import People, Person

_AT_ONCE = 10
_FORGOTTEN_AFTER_S = 6.0
# Bounds on the memory for addresses.
_MOST_ADDRESSES = 10_000
_MOST_RIGHT = 100
# So many people's servers run, of half a megabyte each; beyond, those end whose person asked least recently.
_MOST_PEOPLE = 300


class _Record(Struct):
    """The number of `wrong` tokens at the moment `at`, in seconds, and the digests of `right` ones."""

    wrong: float = 0.0
    at: float = 0.0
    right: OrderedDict[bytes, None] = field(default_factory=OrderedDict)


class Attempts(Struct):
    """The wrong and right tokens of addresses; `now` is a monotonic clock in seconds."""

    now: Callable[[], float]
    _records: OrderedDict[str, _Record] = field(default_factory=OrderedDict)

    def wait_s(self, address: str, digest: bytes) -> float:
        """How long tokens of this address are refused without comparing them; 0 if they are compared."""
        record = self._records.get(customer_of(address))
        if record is None or digest in record.right:
            return 0.0
        return max(0.0, (self._wrong(record) - _AT_ONCE + 1) * _FORGOTTEN_AFTER_S)

    def was_wrong(self, address: str) -> None:
        record = self._record(address)
        record.wrong, record.at = self._wrong(record) + 1, self.now()

    def was_right(self, address: str, digest: bytes) -> None:
        right = self._record(address).right
        right[digest] = None
        right.move_to_end(digest)
        while len(right) > _MOST_RIGHT:
            right.popitem(last=False)

    def _wrong(self, record: _Record) -> float:
        return max(0.0, record.wrong - (self.now() - record.at) / _FORGOTTEN_AFTER_S)

    def _record(self, address: str) -> _Record:
        group = customer_of(address)
        record = self._records.setdefault(group, _Record(at=self.now()))
        self._records.move_to_end(group)
        while len(self._records) > _MOST_ADDRESSES:
            self._records.popitem(last=False)
        return record


Holder = AccessToken | Person
# Makes the server for a holder, or for everybody.
AppOf = Callable[[Holder | None], Starlette]


def behind_tokens(
    source: TokenSource, app_of: AppOf, audit: Auditor, *, people: People | None = None, is_for_browsers: bool = False
) -> ASGIApp:
    """The servers that `app_of` makes for each holder, behind a check of who asks; without tokens and people, the one
    for None."""
    is_guarded = source.requires_token or people is not None
    return TokenGate(source, app_of, audit, people, is_for_browsers) if is_guarded else app_of(None)


class _HolderServer(Struct, eq=False):
    """The server of one holder, while it runs; that of a person until the last moment that they were admitted for."""

    app: Starlette
    until: datetime | None
    ended: anyio.Event = field(default_factory=anyio.Event)
    requests: set[anyio.CancelScope] = field(default_factory=set)

    async def answer(self, scope: Scope, receive: Receive, send: Send, *, within_s: float) -> None:
        with anyio.move_on_after(within_s) as request:
            self.requests.add(request)
            try:
                await self.app(scope, receive, send)
            finally:
                self.requests.discard(request)

    def end(self) -> None:
        for request in self.requests:
            request.cancel()
        self.ended.set()


class TokenGate(Struct, eq=False):
    """The check of who asks. Where nobody signs in, browsers ask a person for the token, as the password of any user.

    Each request is checked at once; open streams of an expired or removed token end within `looked_after_s`.
    """

    source: TokenSource
    app_of: AppOf
    audit: Auditor
    people: People | None = None
    is_for_browsers: bool = False
    looked_after_s: float = 2.0
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    attempts: Attempts = field(default_factory=lambda: Attempts(time.monotonic))
    # How many refusals of an address are written down.
    _refusals: Attempts = field(default_factory=lambda: Attempts(time.monotonic))
    _served: dict[Holder, _HolderServer] = field(default_factory=dict)
    _starting: anyio.Lock = field(default_factory=anyio.Lock)
    _tasks: TaskGroup | None = None
    # What everybody may ask for; all else goes to the check.
    _router: Router | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Starlette(lifespan=self._live)(scope, receive, send)
            return
        if self._router is None:
            routes = self.people.routes if self.people else ()
            self._router = Router(routes, redirect_slashes=False, default=self._answer)
        await self._router(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self._judge(scope)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        holder, until = found
        served = await self._server_of(holder, until)
        within_s = (until - self.now()).total_seconds() if until and isinstance(holder, Person) else float("inf")
        await served.answer(scope, receive, send, within_s=within_s)

    async def _judge(self, scope: Scope) -> tuple[Holder, datetime | None] | Response:
        """Who asks, until when; or the answer to somebody who may not."""
        headers, address = Headers(scope=scope), (scope.get("client") or ("",))[0]
        secret = self._secret_in(headers)
        digest = digest_of(secret)
        wait_s = self.attempts.wait_s(address, digest) if secret else 0.0
        valid = self._valid()
        # Nobody guesses a signature, so whoever has one waits for no guesser of the same address.
        if wait_s and not (self.people and secret.count(".") == 2):
            return self._refusal(wait_s)
        token = find_token(digest, valid) if secret and not wait_s else None
        if token:
            self.attempts.was_right(address, digest)
            return token, token.expires
        error: CodesumError | None = None
        if self.people:
            try:
                admitted = await self.people.admitted(headers, secret)
                if admitted:
                    return admitted.person, admitted.until
            except (NotAdmitted, ProviderUnusable) as problem:
                error = problem
        if secret:
            self._was_refused(address, error)
        return self.people.refusal(scope, error) if self.people else self._refusal()

    def _was_refused(self, address: str, error: CodesumError | None) -> None:
        """Count what was a guess, and write down who was refused."""
        person = error.person if isinstance(error, NotAdmitted) else None
        if not isinstance(error, ProviderUnusable) and person is None:
            self.attempts.was_wrong(address)
        if not self._refusals.wait_s(address, b""):
            self._refusals.was_wrong(address)
            known: Mapping[str, str] = {"subject": person} if person else {}
            self.audit.was_refused(address, {**known, "why": str(error)} if error else known)

    def _valid(self) -> list[AccessToken]:
        """The tokens that are valid now; the servers of others, and of people who are not admitted now, are ended."""
        now = self.now()
        valid = [token for token in self.source.now() if token.is_valid(now)]
        for holder, served in [*self._served.items()]:
            is_person = isinstance(holder, Person)
            if not (served.until and now < served.until if is_person else holder in valid):
                self._served.pop(holder).end()
        return valid

    async def _server_of(self, holder: Holder, until: datetime | None) -> _HolderServer:
        async with self._starting:
            served = self._served.pop(holder, None)
            if served is None:
                if self._tasks is None:
                    raise RuntimeError("a server answers only while it lives")
                self._make_room()
                served = await self._tasks.start(self._run, holder)
            if until and (served.until is None or served.until < until):
                served.until = until
            self._served[holder] = served
            return served

    def _make_room(self) -> None:
        """End the servers of people who asked least recently, and of whom no request is open."""
        people = [holder for holder in self._served if isinstance(holder, Person)]
        idle = [person for person in people if not self._served[person].requests]
        for person in idle[: max(0, len(people) - _MOST_PEOPLE + 1)]:
            self._served.pop(person).end()

    async def _run(self, holder: Holder, *, task_status: TaskStatus[_HolderServer]) -> None:
        """Run the server of a holder: it has to begin and end in the same task."""
        served = _HolderServer(self.app_of(holder), None)
        async with served.app.router.lifespan_context(served.app):
            task_status.started(served)
            await served.ended.wait()

    @asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        async def look_after() -> None:
            while not self._is_over.is_set():
                with anyio.move_on_after(self.looked_after_s):
                    await self._is_over.wait()
                self._valid()

        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(look_after)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + self.looked_after_s
            for served in self._served.values():
                served.end()
            self._is_over.set()
        await anyio.to_thread.run_sync(self.audit.close)

    _is_over: anyio.Event = field(default_factory=anyio.Event)

    def _secret_in(self, headers: Headers) -> str:
        """The token of a request; none if there are two, since a proxy might have checked the other one."""
        every = headers.getlist("authorization")
        if len(every) != 1:
            return ""
        scheme, _, secret = every[0].partition(" ")
        secret = secret.strip()
        if self.is_for_browsers and scheme.lower() == "basic":
            with suppress(binascii.Error, ValueError):
                return base64.b64decode(secret, validate=True).decode("utf-8").partition(":")[2]
            return ""
        return secret if scheme.lower() == "bearer" else ""

    def _refusal(self, wait_s: float = 0.0) -> Response:
        if wait_s:
            message = "too many wrong tokens came from this address: wait\n"
            return PlainTextResponse(message, status_code=429, headers={"Retry-After": str(int(wait_s) + 1)})
        way = 'Basic realm="codesum: the token is the password"' if self.is_for_browsers else "Bearer"
        message = "give the server's token: Authorization: Bearer TOKEN\n"
        return PlainTextResponse(message, status_code=401, headers={"WWW-Authenticate": way})
