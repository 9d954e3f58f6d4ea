"""Who may ask for pages, and what a browser may do with them.

A page of somebody else in the same browser, under its own name or one that leads to this machine, gets nothing;
links to our pages work. Nothing but what this server gives is loaded, run or framed.
"""

from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codesum_pipeline.model.printable import one_line

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Without one, browsers would say of our own form that it comes from nowhere.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The next request may be answered from another version of the index.
    "Cache-Control": "no-store",
}
_OWN_PAGES = ("", "none", "same-origin")


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """Passes on what is asked of this server by its own pages, a person, or a program on its own."""

    app: ASGIApp
    hosts: Collection[str]
    origins: Collection[str]

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
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            asked = one_line(", ".join(hosts))
            return PlainTextResponse(
                f"This is not the host {asked!r}: start `codesum web --host-name NAME` for another name.\n", 421
            )
        if origin is not None and origin.lower() not in self.origins:
            return PlainTextResponse(f"A page of {one_line(origin)!r} may not ask here.\n", 403)
        is_link = scope["method"] in ("GET", "HEAD") and (
            (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        )
        if headers.get("sec-fetch-site", "") not in _OWN_PAGES and not is_link:
            return PlainTextResponse("A page of another server may link here, and nothing else.\n", 403)
        return None
