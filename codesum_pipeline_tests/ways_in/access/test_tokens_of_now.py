"""Which tokens open what now: patterns, files that change, days that pass, and whoever guesses."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, RepositoryScope, read_scope
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.ways_in.http_serving.access_tokens import TokenSource, digest_of, hashed_token, read_tokens
from codesum_pipeline.ways_in.http_serving.gate import Attempts
from codesum_pipeline_tests.ways_in.access.asking import HEADERS, SECRET, Session, mcp, pages, tokens_of_a
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

OTHER = "the-token-of-somebody-else"


def written(file: Path, content: str) -> Path:
    file.write_text(content)
    file.chmod(0o600)
    return file


def source_of(file: Path) -> TokenSource:
    return TokenSource.of(file, {}, variable="X")


@pytest.mark.parametrize(
    ("patterns", "opened"),
    [
        (["payments-*"], {"payments-api", "payments-secrets"}),
        (["payments-*", "!payments-secrets"], {"payments-api"}),
        (["!payments-secrets", "payments-*"], {"payments-api"}),
        (["payments-*", "!PAYMENTS-S*"], {"payments-api"}),
        (["PAYMENTS-*"], set()),
        (["payments-ap[i]"], {"payments-api"}),
        (["*", "!payments-*"], {"shop"}),
        (["acme/*"], {"shop"}),
        (["*", "!Acme/*"], {"payments-api", "payments-secrets"}),
    ],
    ids=lambda value: " ".join(sorted(value)) or "nothing",
)
def test_patterns_open_and_close(patterns: list[str], opened: set[str]) -> None:
    slugs = {"payments-api": None, "payments-secrets": None, "shop": "acme/shop"}
    scope = read_scope(patterns)

    assert {key for key, slug in slugs.items() if scope.opens(key, slug)} == opened


@pytest.mark.parametrize("patterns", [["!all"], ["a b"], [""], ["a\n"], ["§"]], ids=repr)
def test_what_is_no_pattern_or_opens_nothing_is_refused(patterns: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        read_scope(patterns)


def test_a_repository_is_open_from_its_registration_until_its_removal(homes: Homes, tmp_path: Path) -> None:
    registry = Registry(homes.alone / "repos.yaml")
    before = registry.file.read_text()
    (tmp_path / "new").mkdir()
    try:
        with pages(homes.alone, tokens_of_a("till*", "!till-x")) as site:

            def status(key: str) -> int:
                return site.get(f"/repository?repo={key}", headers=HEADERS).status_code

            assert (status("till"), status("till-new"), status("till-x")) == (200, 404, 404)
            registry.add(RepositoryEntry("till-new", str(tmp_path / "new")))
            registry.add(RepositoryEntry("till-x", str(tmp_path / "new"), subdir="x"))
            registry.remove("till")

            assert (status("till"), status("till-new"), status("till-x")) == (404, 200, 404)
    finally:
        registry.file.write_text(before)


def test_a_changed_file_counts_from_the_next_request_on(homes: Homes, tmp_path: Path) -> None:
    file = written(tmp_path / "tokens", f"[a]\ntoken = '{SECRET}'\nrepos = ['till']\n")
    with mcp(homes.both, source_of(file)) as client:
        old = Session(client)
        written(file, f"[a]\ntoken = '{SECRET}'\nrepos = ['{KEY_OF_B}']\n")
        # Its session was of what it opened before.
        assert old.ask("tools/list", {}).status_code == 404
        new = Session(client).ask("tools/call", {"name": "status", "arguments": {}}).text
        assert KEY_OF_B in new
        written(file, f"[b]\ntoken = '{OTHER}'\nrepos = ['till']\n")

        assert client.post("/mcp", headers=HEADERS).status_code == 401


@pytest.mark.parametrize(
    "content",
    ["", "short", "[a]\ntoken = 3\n", "[a\n", "\x00\x01 x", f"[a]\ntoken='{OTHER}'\nrepos=['!x']\n"],
    ids=["empty", "short", "another type", "no TOML", "no text", "nothing is open"],
)
def test_a_broken_file_leaves_the_last_good_tokens_and_says_so_once(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = source_of(written(tmp_path / "tokens", f"[a]\ntoken = '{SECRET}'\nrepos = ['till']\n"))
    good = source.now()
    written(tmp_path / "tokens", content)
    with caplog.at_level(logging.WARNING):
        assert [source.now(), source.now()] == [good, good]

    assert len(caplog.records) == 1
    assert "the tokens that were read before are used further" in caplog.text
    assert OTHER not in caplog.text


def test_a_file_that_is_gone_or_that_others_may_read_is_a_broken_one(tmp_path: Path) -> None:
    source = source_of(written(tmp_path / "tokens", SECRET))
    good = source.now()
    (tmp_path / "tokens").write_text(OTHER)
    (tmp_path / "tokens").chmod(0o644)
    open_to_others = source.now()
    (tmp_path / "tokens").unlink()

    assert (open_to_others, source.now()) == (good, good)
    written(tmp_path / "tokens", OTHER)
    assert source.now()[0].digest == digest_of(OTHER)


def test_a_token_ends_with_its_day_and_answers_as_one_that_never_was(homes: Homes, tmp_path: Path) -> None:
    file = written(tmp_path / "tokens", f"[a]\ntoken = '{SECRET}'\nrepos = ['till']\nexpires = 2020-01-01\n")
    (token,) = read_tokens(file, {}, variable="X")
    midnight = datetime(2020, 1, 1, tzinfo=UTC)
    with pages(homes.both, source_of(file)) as site:
        expired = site.get("/", headers=HEADERS)
        wrong = site.get("/", headers={"Authorization": f"Bearer {OTHER}"})

    assert (token.is_valid(midnight - timedelta(seconds=1)), token.is_valid(midnight)) == (True, False)
    assert (expired.status_code, expired.text, expired.headers) == (401, wrong.text, wrong.headers)


def test_a_time_of_day_needs_its_offset(tmp_path: Path) -> None:
    file = written(tmp_path / "tokens", f"[a]\ntoken = '{SECRET}'\nrepos = ['x']\nexpires = 2020-01-01T12:00:00\n")

    with pytest.raises(ConfigurationError, match="a time with its offset"):
        read_tokens(file, {}, variable="X")


def test_a_file_may_hold_hashes_and_a_hash_is_no_token(homes: Homes, tmp_path: Path) -> None:
    file = written(tmp_path / "tokens", f"[a]\ntoken = '{hashed_token(SECRET)}'\nrepos = ['till']\n")
    with pages(homes.both, source_of(file)) as site:
        by_secret = site.get("/", headers=HEADERS)
        by_hash = site.get("/", headers={"Authorization": f"Bearer {hashed_token(SECRET)}"})

    assert (by_secret.status_code, by_hash.status_code) == (200, 401)
    twice = f"[a]\ntoken = '{hashed_token(SECRET)}'\nrepos = ['x']\n[b]\ntoken = '{SECRET}'\nrepos = ['y']\n"
    with pytest.raises(ConfigurationError, match=r"\[a\] and \[b\] have the same token"):
        read_tokens(written(file, twice), {}, variable="X")


def test_a_token_that_is_said_twice_is_none(homes: Homes) -> None:
    with pages(homes.both) as site:
        twice = site.get("/", headers=[("Authorization", f"Bearer {OTHER}"), ("Authorization", f"Bearer {SECRET}")])

    assert twice.status_code == 401


def test_whoever_guesses_waits_and_whoever_was_right_does_not() -> None:
    now = 1000.0
    attempts = Attempts(lambda: now)
    attempts.was_right("192.0.2.1", b"right")
    for _ in range(10):
        assert attempts.wait_s("192.0.2.1", b"guess") == 0
        attempts.was_wrong("192.0.2.1")

    assert attempts.wait_s("192.0.2.1", b"guess") == 6
    assert attempts.wait_s("::ffff:192.0.2.1", b"guess") == 6
    assert (attempts.wait_s("192.0.2.1", b"right"), attempts.wait_s("192.0.2.2", b"guess")) == (0, 0)
    now += 6
    assert attempts.wait_s("192.0.2.1", b"guess") == 0


def test_one_network_of_ipv6_is_one_address() -> None:
    attempts = Attempts(lambda: 0.0)
    for number in range(10):
        attempts.was_wrong(f"2001:db8::{number}")

    assert attempts.wait_s("2001:db8::ffff", b"guess") > 0
    assert attempts.wait_s("2001:db8:0:1::1", b"guess") == 0


def test_while_an_address_waits_no_token_is_compared(homes: Homes) -> None:
    with pages(homes.both) as site:
        for number in range(10):
            assert site.get("/", headers={"Authorization": f"Bearer {OTHER}{number}"}).status_code == 401
        wrong = site.get("/", headers={"Authorization": f"Bearer {OTHER}"})
        right = site.get("/", headers=HEADERS)

    # The clock goes on between the two.
    waits = [int(answer.headers.pop("Retry-After")) for answer in (wrong, right)]
    assert (wrong.status_code, wrong.text, wrong.headers) == (429, right.text, right.headers)
    assert 1 <= waits[1] <= waits[0] <= 7


def test_a_scope_of_everything_is_one() -> None:
    assert RepositoryScope(("*",)).is_everything and not RepositoryScope(("*", "!x")).is_everything
