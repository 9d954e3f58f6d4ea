"""Whoever brings an access token of the provider reads what their groups open; every other token opens nothing."""

import base64
import hmac
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from codesum_pipeline.foundation.data_model.errors import NotAdmitted
from codesum_pipeline.foundation.data_model.repository import RepositoryScope
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog, Auditor, read_audit
from codesum_pipeline.ways_in.mcp.mcp_people import WELL_KNOWN, BearerPeople
from codesum_pipeline_tests.support.small_provider import METADATA, SmallProvider, key_of, small_provider
from codesum_pipeline_tests.ways_in.access.asking import HEADERS, Session, identity_settings, mcp
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

MCP_URL = "https://code.example.org/mcp"


@pytest.fixture
def provider() -> Iterator[SmallProvider]:
    with small_provider() as found:
        yield found


@pytest.fixture
def people(provider: SmallProvider) -> BearerPeople:
    return BearerPeople.of(identity_settings(provider))


@pytest.fixture
def client(homes: Homes, people: BearerPeople) -> Iterator[TestClient]:
    with mcp(homes.both, people=people) as found:
        yield found


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def encoded(header: dict[str, Any]) -> str:
    return base64url(json.dumps(header).encode())


def ask(client: TestClient, token: str) -> Any:
    return client.post("/mcp", headers=bearer(token))


def status_of(client: TestClient, token: str) -> str:
    return Session(client, bearer(token)).ask("tools/call", {"name": "status", "arguments": {}}).text


def test_a_client_learns_where_it_gets_a_token(client: TestClient, provider: SmallProvider) -> None:
    answer = client.post("/mcp")
    told = answer.headers["www-authenticate"]
    metadata = client.get(f"{WELL_KNOWN}/mcp").json()

    assert answer.status_code == 401
    assert told == f'Bearer resource_metadata="https://code.example.org{WELL_KNOWN}/mcp"'
    assert (metadata["resource"], metadata["authorization_servers"]) == (MCP_URL, [provider.issuer])
    assert client.get(WELL_KNOWN).json() == metadata


def test_a_person_reads_what_any_of_their_groups_opens(client: TestClient, provider: SmallProvider) -> None:
    tills = status_of(client, provider.token(MCP_URL))
    both = status_of(client, provider.token(MCP_URL, groups=["tills", "quokkas", "unknown"]))
    listed = status_of(client, provider.token([MCP_URL, "https://other.example.org"], sub="bob", groups="quokkas"))

    assert "till" in tills and KEY_OF_B not in tills
    assert "till" in both and KEY_OF_B in both
    assert KEY_OF_B in listed


def test_what_one_group_closes_another_may_open(homes: Homes, provider: SmallProvider) -> None:
    groups = {"developers": ["*", f"!{KEY_OF_B}"], "quokkas": [KEY_OF_B]}
    with mcp(homes.both, people=BearerPeople.of(identity_settings(provider, groups=groups))) as client:
        of_one = status_of(client, provider.token(MCP_URL, groups=["developers"]))
        of_both = status_of(client, provider.token(MCP_URL, groups=["quokkas", "developers"]))

    assert KEY_OF_B not in of_one and KEY_OF_B in of_both


def test_static_tokens_of_machines_are_taken_beside(client: TestClient, provider: SmallProvider) -> None:
    assert "till" in Session(client, HEADERS).ask("tools/call", {"name": "status", "arguments": {}}).text
    assert "till" in status_of(client, provider.token(MCP_URL))
    assert ask(client, "a-token-of-nobody").status_code == 401


def test_a_session_goes_on_with_a_new_token_and_is_nobody_elses(client: TestClient, provider: SmallProvider) -> None:
    session = Session(client, bearer(provider.token(MCP_URL)))

    def listed(token: str) -> int:
        session.headers.update(bearer(token))
        return session.ask("tools/list", {}).status_code

    assert listed(provider.token(MCP_URL, exp=int(time.time()) + 600)) == 200
    assert listed(provider.token(MCP_URL, sub="bob")) == 404
    # With other groups, what the session told before is not theirs any more.
    assert listed(provider.token(MCP_URL, groups=["quokkas"])) == 404


NOW = int(time.time())


@pytest.mark.parametrize(
    ("claims", "status", "reason"),
    [
        ({"aud": "https://other.example.org/mcp"}, 401, "another audience"),
        ({"aud": "codesum-page"}, 401, "another audience"),
        ({"aud": None}, 401, "lacks aud"),
        ({"iss": "https://evil.example.org"}, 401, "another issuer"),
        ({"exp": NOW - 120, "iat": NOW - 400}, 401, "has expired"),
        ({"exp": None}, 401, "lacks exp"),
        ({"exp": float("nan")}, 401, "claim exp is not the expected one"),
        ({"exp": 10**400}, 401, "valid for too long"),
        ({"exp": NOW + 86_400}, 401, "valid for too long"),
        # Hours, since the tests that are run before may take long.
        ({"iat": NOW + 36_000, "exp": NOW + 36_300}, 401, "issued in the future"),
        ({"nbf": NOW + 36_000}, 401, "not yet valid"),
        ({"sub": None}, 401, "lacks sub"),
        ({"sub": "x" * 300}, 401, "subject"),
        ({"sub": "a\nb"}, 401, "subject"),
        ({"groups": None}, 403, "no list of groups"),
        ({"groups": {"tills": True}}, 403, "no list of groups"),
        ({"groups": [1]}, 403, "no list of groups"),
        ({"groups": []}, 403, "none of their 0 groups"),
        ({"groups": ["TILLS"]}, 403, "none of their 1 group"),
        ({"groups": [f"g{number}" for number in range(2_000)]}, 403, "at most 1,000 are read"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_token_that_says_something_else_opens_nothing(
    client: TestClient, provider: SmallProvider, claims: dict[str, Any], status: int, reason: str
) -> None:
    answer = ask(client, provider.token(**{"audience": MCP_URL, **claims}))

    assert (answer.status_code, reason in answer.text) == (status, True), answer.text
    assert f'error="{"invalid_token" if status == 401 else "insufficient_scope"}"' in answer.headers["www-authenticate"]
    assert KEY_OF_B not in answer.text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=5), values, max_size=3),
    max_leaves=5,
)
CLAIMS = ("aud", "iss", "exp", "iat", "nbf", "sub", "jti", "groups", "name", "scope", "scp", "azp")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(CLAIMS), ANYTHING | st.just(10**400), min_size=1, max_size=4))
def test_whatever_a_signed_token_says_is_answered(people: BearerPeople, provider: SmallProvider, claims: Any) -> None:
    token = provider.token(**{"audience": MCP_URL, **claims})
    try:
        admitted = anyio.run(people.admitted, Headers(), token)
    except NotAdmitted as error:
        assert str(error)
    else:
        assert admitted and admitted.person.scope.scopes == (RepositoryScope(("till",)),)


def test_only_keys_of_the_provider_sign(client: TestClient, provider: SmallProvider) -> None:
    right = provider.token(MCP_URL)
    head, body, signature = right.split(".")
    stranger = key_of("of a stranger")
    as_first = {"kid": "first"}
    public = provider.key.as_pem(private=False)  # type: ignore[union-attr]
    by_public = f"{encoded({'alg': 'HS256', **as_first})}.{body}"
    by_public += f".{base64url(hmac.digest(public, by_public.encode(), 'sha256'))}"
    tokens = {
        "the algorithm none": f"{encoded({'alg': 'none', **as_first})}.{body}.",
        "HS256 with the public key": by_public,
        "a key of somebody else": provider.token(MCP_URL, key=stranger, header=as_first),
        "a key that the token brings along": provider.token(
            MCP_URL, key=stranger, header={"jwk": stranger.as_dict(private=False)}
        ),
        "a key of another kind": provider.token(MCP_URL, key=key_of("of a stranger", "EC"), header=as_first),
        "no key named, of somebody else": provider.token(MCP_URL, key=stranger, header={"kid": None}),
        "another text": f"{head}.{body[:-4]}AAAA.{signature}",
        "no signature": f"{head}.{body}.",
        "no JSON": "a.b.c",
        "for another purpose": provider.token(MCP_URL, header={"typ": "logout+jwt"}),
        "300 KB": provider.token(MCP_URL, groups=["tills"], padding="x" * 300_000),
    }
    for name, token in tokens.items():
        answer = ask(client, token)
        assert answer.status_code == 401, name
    assert "till" in status_of(client, right)


def test_a_list_of_100_000_groups_is_refused_before_it_is_read(provider: SmallProvider, client: TestClient) -> None:
    token = provider.token(MCP_URL, groups=[f"group-{number}" for number in range(100_000)])

    answer = ask(client, token)

    assert (answer.status_code, "the token is too large" in answer.text) == (401, True)


def test_keys_rotate_without_a_restart(people: BearerPeople, homes: Homes, provider: SmallProvider) -> None:
    now = 1000.0
    people.provider.clock = lambda: now
    with mcp(homes.both, people=people) as client:
        old = provider.token(MCP_URL)
        assert "till" in status_of(client, old)
        provider.rotate("second")
        # Unknown keys cause a request every ten seconds at most.
        assert "does not have now" in ask(client, provider.token(MCP_URL)).text
        asked = len(provider.requests)
        now += 11
        assert "till" in status_of(client, provider.token(MCP_URL))
        for number in range(20):
            ask(client, provider.token(MCP_URL, key=key_of(f"guess{number}", "EC")))

        assert len(provider.requests) == asked + 2
        assert ask(client, old).status_code == 401


def test_a_provider_that_is_down_closes_after_some_minutes(
    people: BearerPeople, homes: Homes, provider: SmallProvider
) -> None:
    now = 1000.0
    people.provider.clock = lambda: now
    with mcp(homes.both, people=people) as client:
        assert "till" in status_of(client, provider.token(MCP_URL))
        provider.answers[METADATA] = (503, b"")
        now += 600
        assert "till" in status_of(client, provider.token(MCP_URL))
        now += 600
        closed = ask(client, provider.token(MCP_URL))
        assert (closed.status_code, closed.headers["retry-after"]) == (503, "10")
        assert f"{provider.issuer} cannot be used: {provider.issuer}{METADATA} answers 503" in closed.text
        assert "till" in Session(client, HEADERS).ask("tools/call", {"name": "status", "arguments": {}}).text
        provider.answers.clear()
        now += 11
        assert "till" in status_of(client, provider.token(MCP_URL))


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        (METADATA, b"{", "no JSON"),
        (METADATA, b"[]", "no JSON object"),
        (METADATA, b'{"issuer": "https://evil.example.org"}', "it calls itself 'https://evil.example.org'"),
        (METADATA, b"[" * 100_000, "no JSON"),
        (METADATA, b" " * 2_000_000, "more than 1,048,576 bytes"),
        ("/jwks", b'{"keys": []}', "no key that this server can use"),
        ("/jwks", b'{"keys": [{"kty": "oct", "k": "AAAA", "kid": "first"}]}', "no key that this server can use"),
        ("/jwks", b'{"keys": [{"kty": "RSA", "n": 3}, 7]}', "no key that this server can use"),
    ],
    ids=["no JSON", "a list", "another issuer", "nested", "2 MB", "no keys", "a secret as key", "malformed keys"],
)
def test_what_a_broken_provider_says_admits_nobody(
    client: TestClient, provider: SmallProvider, path: str, body: bytes, reason: str
) -> None:
    provider.answers[path] = (200, body)
    answer = ask(client, provider.token(MCP_URL))

    assert (answer.status_code, reason in answer.text) == (503, True), answer.text


def test_a_provider_of_which_keys_lie_elsewhere_in_the_clear_is_not_asked(
    client: TestClient, provider: SmallProvider
) -> None:
    provider.metadata = {"jwks_uri": "http://192.0.2.1/jwks"}
    answer = ask(client, provider.token(MCP_URL))

    assert (answer.status_code, "is not encrypted" in answer.text) == (503, True)


@pytest.mark.parametrize("offset_s", [-900, 900], ids=["behind", "ahead"])
def test_a_provider_with_another_clock_closes(client: TestClient, provider: SmallProvider, offset_s: float) -> None:
    provider.clock_offset_s = offset_s
    answer = ask(client, provider.token(MCP_URL))

    assert answer.status_code == 503
    assert "more than 60 s apart" in answer.text


def test_what_is_being_answered_ends_with_the_token(
    people: BearerPeople, homes: Homes, provider: SmallProvider
) -> None:
    with mcp(homes.both, people=people) as client:
        session = Session(client, bearer(provider.token(MCP_URL)))
        # Three seconds are left of the minute by which clocks may differ.
        ending = bearer(provider.token(MCP_URL, exp=int(time.time()) - 57))
        began = time.monotonic()
        listening = client.get("/mcp", headers={**session.headers, **ending})

    assert listening.status_code == 200
    assert 1 < time.monotonic() - began < 30


def test_a_scope_that_is_asked_for_must_be_granted(homes: Homes, provider: SmallProvider) -> None:
    people = BearerPeople.of(identity_settings(provider, mcp_scopes=("code.read",)))
    with mcp(homes.both, people=people) as client:
        without = ask(client, provider.token(MCP_URL))
        assert client.get(f"{WELL_KNOWN}/mcp").json()["scopes_supported"] == ["code.read"]
        assert (without.status_code, 'scope="code.read"' in without.headers["www-authenticate"]) == (403, True)
        assert "till" in status_of(client, provider.token(MCP_URL, scope="openid code.read"))
        assert "till" in status_of(client, provider.token(MCP_URL, scp=["code.read"]))


def test_the_audit_log_names_the_person(
    people: BearerPeople, homes: Homes, provider: SmallProvider, tmp_path: Path
) -> None:
    log = AuditLog(tmp_path, 1_000_000, 2)
    with mcp(homes.both, people=people, audit=Auditor(log, "mcp")) as client:
        status_of(client, provider.token(MCP_URL, name="Alice\u202e Example\n"))
        ask(client, provider.token(MCP_URL, sub="mallory", groups=["others"]))
        for _ in range(30):
            ask(client, provider.token(MCP_URL, exp=NOW - 200, iat=NOW - 300))
    answered, refused, *expired = read_audit(tmp_path)

    assert (answered["person"], answered["subject"], answered["token"]) == ("Alice Example", "alice", "")
    assert (refused["subject"], refused["outcome"], refused["token"]) == ("mallory", "refused", "")
    assert "none of their 1 group" in refused["why"]
    # Nobody fills the log with refusals.
    assert len(expired) < 12 and expired[0]["subject"] == "alice"


def test_people_of_one_address_are_not_kept_waiting_by_a_guesser(client: TestClient, provider: SmallProvider) -> None:
    for number in range(12):
        ask(client, f"a-guessed-token-{number}")
    assert ask(client, "a-guessed-token-more").status_code == 429

    assert "till" in status_of(client, provider.token(MCP_URL))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"issuer": "login.example.org"}, "is no address"),
        ({"issuer": "http://login.example.org"}, "is not encrypted"),
        ({"issuer": "https://a:b@login.example.org"}, "is no address"),
        ({"groups": {"x": []}}, "name what is included"),
        ({"groups": {"x": ["!a"]}}, "every pattern excludes"),
        ({"groups": {"x": ["a b"]}}, "is no pattern"),
        ({"web_url": "https://code.example.org/x", "client_id": "c"}, "has a path"),
        ({"web_url": "https://code.example.org"}, "web_url needs client_id"),
        ({"client_id": "c", "mcp_audience": "c"}, "would open MCP"),
        ({"scopes": ["profile"]}, 'must have "openid"'),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_settings_that_cannot_work_are_refused(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        IdentitySettings.model_validate(values)


def test_a_person_is_forgotten_when_the_token_ends(people: BearerPeople, provider: SmallProvider) -> None:
    token = provider.token(MCP_URL)
    admitted = anyio.run(people.admitted, Headers(), token)

    assert admitted
    assert timedelta(0) < admitted.until - datetime.now(UTC) <= timedelta(seconds=361)


def test_people_who_asked_least_recently_make_room(
    people: BearerPeople, homes: Homes, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codesum_pipeline.ways_in.http_serving.gate._MOST_PEOPLE", 2)
    with mcp(homes.both, people=people) as client:

        def begun(name: str) -> Session:
            return Session(client, bearer(provider.token(MCP_URL, sub=name)))

        def listed(session: Session) -> int:
            return session.ask("tools/list", {}).status_code

        alice, bob = begun("alice"), begun("bob")
        assert listed(alice) == 200
        begun("carol")

        # A client whose session is gone begins another one.
        assert (listed(alice), listed(bob), listed(begun("bob"))) == (200, 404, 200)
