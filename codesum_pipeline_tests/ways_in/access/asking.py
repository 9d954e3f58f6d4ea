"""Whoever holds the token of A, at the servers of a home, and what an answer is without what no two answers share."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace
from starlette.testclient import TestClient

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.repository import RepositoryScope
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.ways_in.http_serving.access_tokens import AccessToken, Address, TokenSource, digest_of
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.http_serving.gate import Holder
from codesum_pipeline.ways_in.mcp.mcp_people import BearerPeople
from codesum_pipeline.ways_in.mcp.mcp_server import PATH, make_server
from codesum_pipeline.ways_in.mcp.mcp_server import make_app as mcp_app
from codesum_pipeline.ways_in.metrics.server_metrics import MetricsPage, ServerMetrics
from codesum_pipeline.ways_in.web.sign_in import BrowserPeople
from codesum_pipeline.ways_in.web.web_app import make_app, people_of
from codesum_pipeline_tests.support.small_provider import CLIENT_ID, CLIENT_SECRET, SmallProvider
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, MARKERS

SECRET = "the-token-of-the-cashier"
HEADERS = {"Authorization": f"Bearer {SECRET}"}
# As a browser says that a person goes to a page.
NAVIGATES = {
    "Accept": "text/html",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
}
ADDRESS = Address("127.0.0.1", 7777)
_SILENT = Auditor(None, "test")
# Random in each process, form or session.
_CHANGING = re.compile(
    r'(?:name="token" value|value)="[\w-]{43}"|"?mcp-session-id"?[:=] ?"?[0-9a-f]{32}|[\d.,]+ ?[a-z]+ ago'
)


def access_token(secret: str, *patterns: str, name: str) -> AccessToken:
    return AccessToken(digest_of(secret), RepositoryScope(patterns), name)


def catalogue_of(home: Path) -> IndexCatalogue:
    return IndexCatalogue.of(load_settings({"home": home}, environ={}))


def tokens_of_a(*patterns: str) -> TokenSource:
    return TokenSource(None, (access_token(SECRET, *(patterns or ("till",)), name="cashier"),))


@contextmanager
def pages(
    home: Path,
    tokens: TokenSource | None = None,
    audit: Auditor = _SILENT,
    people: BrowserPeople | None = None,
    metrics: ServerMetrics | None = None,
) -> Iterator[TestClient]:
    """A client of the pages of a home, which says no token by itself."""
    tokens, catalogue = tokens or tokens_of_a(), catalogue_of(home)
    if metrics:
        metrics.measure_fleet(catalogue)
        audit = replace(audit, measure=metrics.requests.measure)
    app = make_app(catalogue, ADDRESS, tokens=tokens, audit=audit, folder=Path("/"), people=people, metrics=metrics)
    base_url = people.web_url if people else ADDRESS.url
    with TestClient(app, base_url=base_url, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


@contextmanager
def mcp(
    home: Path,
    tokens: TokenSource | None = None,
    audit: Auditor = _SILENT,
    people: BearerPeople | None = None,
    metrics: ServerMetrics | None = None,
) -> Iterator[TestClient]:
    """A client of the tools of a home."""
    catalogue = catalogue_of(home)
    if metrics:
        metrics.measure_fleet(catalogue)
        audit = replace(audit, measure=metrics.requests.measure)

    def make(holder: Holder | None) -> Any:
        assert holder
        held = catalogue.held_by(holder.holder, holder.scope)
        page = MetricsPage(metrics, held) if metrics else None
        return make_server(held, folder=Path("/"), every_tool=True, audit=audit.of(holder.audited), metrics=page)

    app = mcp_app(make, ADDRESS, tokens=tokens or tokens_of_a(), audit=audit, people=people)
    with TestClient(app, base_url=ADDRESS.url, raise_server_exceptions=False) as client:
        yield client


def identity_settings(provider: SmallProvider, **more: Any) -> IdentitySettings:
    """The group `tills` opens A, the group `quokkas` B."""
    values = {
        "issuer": provider.issuer,
        "groups": {"tills": ["till"], "quokkas": [KEY_OF_B]},
        "mcp_url": "https://code.example.org/mcp",
        **more,
    }
    return IdentitySettings.model_validate(values)


def browser_people(provider: SmallProvider, audit: Auditor = _SILENT, **more: Any) -> BrowserPeople:
    settings = identity_settings(
        provider, **{"web_url": "https://code.example.org", "client_id": CLIENT_ID, "mcp_url": None, **more}
    )
    found = people_of(settings, CLIENT_SECRET, audit, has_tokens=False)
    assert found
    return found


def signed_in(browser: TestClient, target: str = "/") -> httpx.Response:
    """What a browser is shown that asks for a page, and follows every redirection, to the provider and back."""
    answer = browser.get(target, headers=NAVIGATES)
    for _ in range(6):
        if not answer.has_redirect_location:
            break
        place = str(answer.headers["location"])
        is_ours = place.startswith("/") or place.startswith(str(browser.base_url))
        answer = browser.get(place, headers=NAVIGATES) if is_ours else httpx.get(place)  # type: ignore[assignment]
    return answer  # type: ignore[return-value]


class Session:
    """One of the protocol, begun with the token of A, or by whom other headers name."""

    def __init__(self, client: TestClient, who: Mapping[str, str] = HEADERS) -> None:
        self.client, self.headers = client, {**who, "Accept": "application/json, text/event-stream"}
        parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        began = self.ask("initialize", parameters)
        self.headers["mcp-session-id"] = began.headers["mcp-session-id"]

    def ask(self, method: str, params: Mapping[str, Any]) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.client.post(PATH, json=message, headers=self.headers)  # type: ignore[return-value]


def all_of(answer: httpx.Response) -> str:
    """Status, headers and body, without what is random.

    An age has one digit or two, so the length is that without it. The answer to a HEAD has a length and no text to take
    the age out of: what it leaves open the GET of the same page shows.
    """
    if answer.request.method == "HEAD":
        answer.headers.pop("content-length", None)
    # How long to wait says how long ago the wait began.
    if "retry-after" in answer.headers:
        answer.headers["retry-after"] = "N"
    length = len(without_chance(answer.text)) - len(answer.text) + int(answer.headers.get("content-length", "0"))
    head = "\n".join(
        f"{name}: {length if name == 'content-length' else value}" for name, value in answer.headers.items()
    )
    return without_chance(f"{answer.status_code}\n{head}\n\n{answer.text}")


def without_chance(answer: str) -> str:
    return _CHANGING.sub("…", answer)


def leaked(answer: str, request: object) -> list[str]:
    """The markers of B that an answer has and the question had not."""
    sent = request if isinstance(request, str) else json.dumps(request, ensure_ascii=False, default=str)
    return [marker for marker in MARKERS if marker in answer.lower() and marker not in sent.lower()]
