"""Parts of others: the official client of MCP signs in by itself, and the page at a provider that we did not write."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import oidc_provider_mock
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from oidc_provider_mock import User
from werkzeug.serving import make_server

from codesum_pipeline_tests.support.git_server import make_certificate
from codesum_pipeline_tests.support.mcp_client import text_of, with_client
from codesum_pipeline_tests.support.serving import served
from codesum_pipeline_tests.support.small_provider import AGENT_ID, CLIENT_ID, CLIENT_SECRET, small_provider
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

BACK = "http://127.0.0.1:1/back"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def environment_of(issuer: str, **more: str) -> dict[str, str]:
    groups = f'{{"tills": ["till"], "quokkas": ["{KEY_OF_B}"]}}'
    settings = {"ISSUER": issuer, "GROUPS": groups, **more}
    return {f"CODESUM_IDENTITY__{name}": value for name, value in settings.items()}


class KeptInMemory:
    """What a client of MCP keeps: it was registered at the provider before."""

    def __init__(self, issuer: str) -> None:
        self.tokens: OAuthToken | None = None
        self.client = OAuthClientInformationFull(
            client_id=AGENT_ID, redirect_uris=[BACK], token_endpoint_auth_method="none", issuer=issuer
        )

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def as_person(address: str, issuer: str, talk: Any) -> Any:
    """What `talk` gives for the official client, which finds the provider by what the server tells it."""
    came_back: list[str] = []

    async def go_there(url: str) -> None:
        async with httpx2.AsyncClient() as browser:
            came_back.append((await browser.get(url)).headers["location"])

    async def come_back() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(came_back[-1]).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])

    metadata = OAuthClientMetadata(redirect_uris=[BACK], token_endpoint_auth_method="none")  # type: ignore[list-item]
    signing_in = OAuthClientProvider(address, metadata, KeptInMemory(issuer), go_there, come_back)
    client = httpx2.AsyncClient(auth=signing_in, timeout=60)
    return with_client(streamable_http_client(address, http_client=client), talk)


def test_the_official_client_of_mcp_signs_in_by_what_the_server_tells_it(homes: Homes, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}/mcp"

    async def talk(client: Any) -> str:
        return text_of(await client.call_tool("status", {}))

    with small_provider() as provider:
        variables = environment_of(provider.issuer, MCP_URL=address)
        with served(homes.both, tmp_path, "mcp", "--http", str(port), env=variables) as said:
            assert said.startswith(address)
            answer = as_person(address, provider.issuer, talk)
            assert "/token" in provider.requests

    assert "till" in answer and KEY_OF_B not in answer


@contextmanager
def page_at_other_provider(homes: Homes, folder: Path, *users: User) -> Iterator[str]:
    """The page's address, with a provider of another project."""
    port = free_port()
    with oidc_provider_mock.run_server_in_thread(user_claims=users) as provider:
        page = f"http://127.0.0.1:{port}"
        variables = environment_of(f"http://localhost:{provider.server_port}", WEB_URL=page, CLIENT_ID=CLIENT_ID)
        variables["CODESUM_OIDC_CLIENT_SECRET"] = CLIENT_SECRET
        with served(homes.both, folder, "web", "--port", str(port), env=variables):
            yield page


@contextmanager
def provider_over_tls(certificate: Path, *users: User) -> Iterator[str]:
    """The address of a provider of another project, with a certificate of its own authority."""
    app = oidc_provider_mock.app(user_claims=users)
    chain = str(certificate / "cert.pem"), str(certificate / "key.pem")
    server = make_server("127.0.0.1", 0, app, threaded=True, ssl_context=chain)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()


def browsing(verify: ssl.SSLContext | bool = True) -> httpx.Client:
    return httpx.Client(follow_redirects=True, headers={"Accept": "text/html"}, timeout=60, verify=verify)


def submitted(browser: httpx.Client, page: httpx.Response, subject: str) -> httpx.Response:
    """The form of the provider, filled in as a person does."""
    return browser.post(str(page.url), data={"sub": subject})


@pytest.mark.parametrize(("groups", "key"), [(["tills"], "till"), (["quokkas"], KEY_OF_B)])
def test_a_provider_that_is_not_ours_signs_people_in(homes: Homes, tmp_path: Path, groups: list[str], key: str) -> None:
    alice = User(sub="alice", claims={"name": "Alice Example", "groups": groups})
    with page_at_other_provider(homes, tmp_path, alice) as page, browsing() as browser:
        form = browser.get(f"{page}/repository?repo={key}")
        assert urlsplit(str(form.url)).path == "/oauth2/authorize"
        shown = submitted(browser, form, "alice")
        (other,) = {"till", KEY_OF_B} - {key}
        forbidden = browser.get(f"{page}/repository?repo={other}")

    assert (shown.status_code, str(shown.url)) == (200, f"{page}/repository?repo={key}")
    assert "Alice Example" in shown.text
    assert forbidden.status_code == 404


def test_whom_the_provider_knows_without_groups_may_read_nothing(homes: Homes, tmp_path: Path) -> None:
    mallory = User(sub="mallory", claims={"name": "Mallory"})
    with page_at_other_provider(homes, tmp_path, mallory) as page, browsing() as browser:
        shown = submitted(browser, browser.get(page), "mallory")

    assert (shown.status_code, "no list of groups" in shown.text) == (403, True)


def test_a_provider_is_asked_with_the_authorities_of_the_setting(homes: Homes, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    alice = User(sub="alice", claims={"name": "Alice Example", "groups": ["tills"]})
    port = free_port()
    page = f"http://127.0.0.1:{port}"
    shown = {}
    with provider_over_tls(certificate, alice) as issuer:
        variables = environment_of(issuer, WEB_URL=page, CLIENT_ID=CLIENT_ID)
        variables["CODESUM_OIDC_CLIENT_SECRET"] = CLIENT_SECRET
        for bundle in ({}, {"CODESUM_CA_BUNDLE": str(certificate / "ca.pem")}):
            with (
                served(homes.both, tmp_path, "web", "--port", str(port), env={**variables, **bundle}),
                browsing(ssl.create_default_context(cafile=certificate / "ca.pem")) as browser,
            ):
                answer = browser.get(page)
                shown[bool(bundle)] = submitted(browser, answer, "alice") if bundle else answer

    assert (shown[False].status_code, "certificate" in shown[False].text) == (503, True)
    assert (shown[True].status_code, "Alice Example" in shown[True].text) == (200, True)
