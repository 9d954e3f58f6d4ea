"""People sign in at the provider, and a browser that has not, or not in this way, sees nothing."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog, Auditor, read_audit
from codesum_pipeline.ways_in.web.sign_in import BrowserPeople
from codesum_pipeline_tests.support.small_provider import CLIENT_ID, METADATA, SmallProvider, small_provider
from codesum_pipeline_tests.ways_in.access.asking import HEADERS, NAVIGATES, browser_people, pages, signed_in
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes


@pytest.fixture
def provider() -> Iterator[SmallProvider]:
    with small_provider() as found:
        yield found


@pytest.fixture
def people(provider: SmallProvider) -> BrowserPeople:
    return browser_people(provider)


@pytest.fixture
def browser(homes: Homes, people: BrowserPeople) -> Iterator[TestClient]:
    with pages(homes.both, people=people) as found:
        yield found


def begun(browser: TestClient, target: str = "/") -> dict[str, str]:
    """What the provider is asked when a sign-in begins."""
    answer = browser.get("/sign-in", params={"to": target}, headers=NAVIGATES)
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


def came_back(browser: TestClient, **query: str) -> Any:
    return browser.get("/signed-in", params=query, headers={**NAVIGATES, "Sec-Fetch-Site": "cross-site"})


def test_a_person_signs_in_and_reads_what_their_groups_open(browser: TestClient, provider: SmallProvider) -> None:
    shown = signed_in(browser, "/repository?repo=till")

    assert (shown.status_code, shown.request.url.path, shown.request.url.query) == (200, "/repository", b"repo=till")
    assert "Alice Example" in shown.text and "Sign out" in shown.text
    assert browser.get(f"/repository?repo={KEY_OF_B}", headers=NAVIGATES).status_code == 404
    provider.signs_in["groups"] = ["quokkas"]
    browser.cookies.clear()
    assert signed_in(browser, f"/repository?repo={KEY_OF_B}").status_code == 200


def test_a_sign_in_has_a_state_a_nonce_and_a_challenge(browser: TestClient) -> None:
    first, second = begun(browser), begun(browser)

    assert (first["response_type"], first["client_id"], first["scope"]) == ("code", CLIENT_ID, "openid profile")
    assert first["redirect_uri"] == "https://code.example.org/signed-in"
    assert first["code_challenge_method"] == "S256"
    assert all(len(first[name]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))


def test_the_cookie_of_a_session_is_for_this_server_and_no_script(browser: TestClient, provider: SmallProvider) -> None:
    answer = browser.get("/sign-in", headers=NAVIGATES)
    back = httpx.get(answer.headers["location"]).headers["location"]
    cookies = browser.get(back, headers=NAVIGATES).headers.get_list("set-cookie")

    session, ended = cookies
    marks = {"HttpOnly", "Max-Age=3600", "Path=/", "SameSite=lax", "Secure"}
    assert session.startswith("__Host-codesum-session=") and {*session.split("; ")[1:]} == marks
    assert ended.startswith('__Host-codesum-sign-in="";')


def test_without_tls_on_this_machine_a_cookie_is_kept_too(homes: Homes, provider: SmallProvider) -> None:
    people = browser_people(provider, web_url="http://127.0.0.1:7777")
    with pages(homes.both, people=people) as browser:
        assert signed_in(browser).status_code == 200
        assert "codesum-session" in browser.cookies


def test_signing_out_ends_the_session(browser: TestClient, provider: SmallProvider) -> None:
    signed_in(browser)
    kept = dict(browser.cookies)
    by_another_page = browser.post("/sign-out", headers={"Origin": "https://evil.example.org"})
    out = browser.post("/sign-out", headers={"Origin": "https://code.example.org"})

    assert by_another_page.status_code == 403
    assert out.status_code == 200 and f"{provider.issuer}/end?client_id={CLIENT_ID}" in out.text
    assert "Alice" not in out.text
    browser.cookies.update(kept)
    assert browser.get("/", headers=NAVIGATES).headers["location"] == "/sign-in?to=%2F"


def test_a_session_is_short(people: BrowserPeople, browser: TestClient) -> None:
    signed_in(browser)
    people.provider.now = lambda: datetime.now(UTC) + timedelta(minutes=59)
    assert browser.get("/", headers=NAVIGATES).status_code == 200
    people.provider.now = lambda: datetime.now(UTC) + timedelta(minutes=61)

    assert browser.get("/?q=charge", headers=NAVIGATES).headers["location"] == "/sign-in?to=%2F%3Fq%3Dcharge"
    script = browser.get("/hits?q=charge", headers={"Sec-Fetch-Dest": "empty", "Sec-Fetch-Site": "same-origin"})
    assert (script.status_code, "sign in again" in script.text) == (401, True)
    form = browser.post("/ask", data={"question": "x"}, headers={**NAVIGATES, "Sec-Fetch-Site": "same-origin"})
    assert (form.status_code, 'href="/sign-in?to=%2Fask"' in form.text) == (401, True)


def test_only_the_browser_that_began_a_sign_in_ends_it(browser: TestClient, provider: SmallProvider) -> None:
    begin = browser.get("/sign-in", headers=NAVIGATES)
    back = httpx.get(begin.headers["location"]).headers["location"]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    for query in ({**asked, "state": "x" * 43}, {"code": asked["code"]}, {**asked, "iss": "https://evil.example.org"}):
        assert came_back(browser, **query).status_code == 401
    begun_here = dict(browser.cookies)
    browser.cookies.clear()
    assert came_back(browser, **asked).status_code == 401
    browser.cookies.update(begun_here)
    assert came_back(browser, **asked).status_code == 303
    # A code is used once.
    browser.cookies.update(begun_here)
    assert came_back(browser, **asked).status_code == 401


def test_an_id_token_for_another_sign_in_is_refused(browser: TestClient, provider: SmallProvider) -> None:
    provider.signs_in["nonce"] = "that-of-another-sign-in"
    shown = signed_in(browser)

    assert (shown.status_code, "nonce" in shown.text) == (401, True)
    assert "codesum-session" not in str(browser.cookies)


@pytest.mark.parametrize(
    ("claims", "status", "reason"),
    [
        ({"groups": None}, 403, "no list of groups"),
        ({"groups": ["others"]}, 403, "Alice Example is known to"),
        ({"groups": [f"group-{number}" for number in range(100_000)]}, 503, "more than 1,048,576 bytes"),
        ({"groups": [f"group-{number}" for number in range(20_000)]}, 401, "send fewer groups"),
        ({"groups": [f"g{number}" for number in range(5_000)]}, 403, "at most 1,000 are read"),
        ({"aud": "another-page"}, 401, "another audience"),
        ({"aud": [CLIENT_ID, "another-page"]}, 401, "lacks azp"),
        ({"exp": int(time.time()) - 300}, 401, "has expired"),
        # Hours, since the tests that are run before may take long.
        ({"iat": int(time.time()) + 36_000}, 401, "issued in the future"),
        ({"name": "<script>alert(1)</script>", "groups": []}, 403, "&lt;script&gt;"),
    ],
    ids=[
        "no groups",
        "other groups",
        "100,000 groups",
        "20,000 groups",
        "5,000 groups",
        "audience",
        "two audiences",
        "expired",
        "early",
        "HTML",
    ],
)
def test_who_may_not_read_is_told_why(
    browser: TestClient, provider: SmallProvider, claims: dict[str, Any], status: int, reason: str
) -> None:
    provider.signs_in.update(claims)
    shown = signed_in(browser)

    assert (shown.status_code, reason in shown.text) == (status, True), shown.text
    assert 'href="/sign-in?to=%2F"' in shown.text and "<script>alert" not in shown.text
    assert browser.get("/", headers=NAVIGATES).status_code == 303


def test_what_the_provider_says_of_an_error_is_shown_as_text(browser: TestClient) -> None:
    state = begun(browser)["state"]
    shown = came_back(browser, state=state, error="access_denied", error_description="<b>" + "no" * 1000)

    assert shown.status_code == 401
    assert "did not sign you in: access_denied: &lt;b&gt;nono" in shown.text and len(shown.text) < 3_000


def test_a_provider_that_is_down_signs_nobody_in_and_ends_no_session(
    people: BrowserPeople, browser: TestClient, provider: SmallProvider
) -> None:
    now = 1000.0
    people.provider.clock = lambda: now
    signed_in(browser)
    provider.answers[METADATA] = (500, b"")
    now += 1_000
    assert browser.get("/", headers=NAVIGATES).status_code == 200
    browser.cookies.clear()
    shown = signed_in(browser)

    assert (shown.status_code, f"{provider.issuer} cannot be used" in shown.text) == (503, True)
    assert browser.get("/", headers=HEADERS).status_code == 200


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((200, b" " * 2_000_000), 503),
        ((200, b"[]"), 503),
        ((200, b"{}"), 503),
        ((500, b""), 503),
        ((200, b"<html>"), 503),
    ],
    ids=["2 MB", "a list", "no ID token", "an error", "HTML"],
)
def test_a_token_endpoint_that_answers_otherwise_signs_nobody_in(
    browser: TestClient, provider: SmallProvider, answer: tuple[int, bytes], status: int
) -> None:
    provider.answers["/token"] = answer

    assert signed_in(browser).status_code == status


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example.org/",
        "//evil.example.org",
        "/\\evil.example.org",
        "javascript:alert(1)",
        "/sign-out",
        "/?q=" + "\u00e9" * 500,
    ],
    ids=["an address", "without scheme", "a backslash", "a script", "the end", "long"],
)
def test_nobody_is_sent_elsewhere_after_signing_in(browser: TestClient, target: str) -> None:
    begin = browser.get("/sign-in", params={"to": target}, headers=NAVIGATES)
    back = httpx.get(begin.headers["location"]).headers["location"]

    assert browser.get(back, headers=NAVIGATES).headers["location"] == "/"


def test_a_token_of_a_machine_counts_and_a_wrong_one_beside_a_session_is_refused(browser: TestClient) -> None:
    assert browser.get("/", headers=HEADERS).status_code == 200
    signed_in(browser)
    wrong = browser.get("/", headers={**NAVIGATES, "Authorization": "Bearer a-token-of-nobody"})

    assert wrong.status_code == 401


def test_an_access_token_of_mcp_opens_no_page(browser: TestClient, provider: SmallProvider) -> None:
    for audience in ("https://code.example.org/mcp", CLIENT_ID):
        headers = {"Authorization": f"Bearer {provider.token(audience)}"}
        assert browser.get("/", headers=headers).status_code == 401


def test_sign_ins_that_fail_wait(browser: TestClient) -> None:
    for _ in range(10):
        assert came_back(browser, code="x", state="y").status_code == 401

    assert came_back(browser, code="x", state="y").status_code == 429


def test_the_oldest_sessions_end_where_there_are_too_many(people: BrowserPeople, browser: TestClient) -> None:
    from starlette.responses import Response

    signed_in(browser)
    (admitted,) = people._sessions.values()
    for _ in range(10_000):
        people._begin_session(admitted.person, Response())

    assert len(people._sessions) == 10_000
    assert browser.get("/", headers=NAVIGATES).status_code == 303


def test_the_audit_log_names_who_signs_in_and_out_and_who_may_not(
    homes: Homes, provider: SmallProvider, tmp_path: Path
) -> None:
    auditor = Auditor(AuditLog(tmp_path, 1_000_000, 2), "web")
    with pages(homes.both, audit=auditor, people=browser_people(provider, auditor)) as browser:
        signed_in(browser)
        browser.post("/sign-out", headers={"Origin": "https://code.example.org"})
        provider.signs_in = {"sub": "mallory", "groups": ["others"]}
        signed_in(browser)
    lines = [*read_audit(tmp_path)]

    assert [(line["asked"], line.get("subject"), line.get("person")) for line in lines] == [
        ("sign in", "alice", "Alice Example"),
        ("GET /", "alice", "Alice Example"),
        ("sign out", "alice", "Alice Example"),
        ("a sign-in", "mallory", None),
    ]
    assert lines[-1]["outcome"] == "refused" and "none of their 1 group" in lines[-1]["why"]


def test_questions_are_a_persons_own(homes: Homes, provider: SmallProvider) -> None:
    with pages(homes.both, people=browser_people(provider)) as browser:
        provider.signs_in = {"sub": "boss", "groups": ["tills", "quokkas"]}
        shown = signed_in(browser, "/ask")

    # The token that is called so has asked: a person of the same subject is somebody else.
    assert shown.status_code == 200 and "kowariasked" not in shown.text
