"""Who is believed to have sent a request."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.source.repositories.organisations import HostKind
from codesum_pipeline.ways_in.webhooks.push_events import (
    CLOCK_TOLERANCE_S,
    VARIABLE,
    Secret,
    SignedEvent,
    read_secrets,
    sender_of,
)
from codesum_pipeline_tests.support.webhook_payloads import (
    SECRET,
    SIGNING_KEY,
    SIGNING_SECRET,
    gitea_headers,
    github_headers,
    gitlab_headers,
    hex_hmac,
    signed_gitlab_headers,
)

NOW = 1_700_000_000
BODY = b'{"ref": "refs/heads/main"}'
SECRETS = [Secret(b"an-older-secret-of-theirs"), Secret(SECRET.encode())]
SIGNING = [Secret(SIGNING_SECRET.encode(), SIGNING_KEY)]


def test_the_example_of_githubs_documentation_is_signed() -> None:
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    headers = {"x-hub-signature-256": signature, "x-github-event": "ping"}

    found = sender_of(headers, b"Hello, World!", [Secret(b"It's a Secret to Everybody")], now_s=NOW)

    assert found == SignedEvent(HostKind.GITHUB, "ping")


@pytest.mark.parametrize(
    ("headers", "sender"),
    [
        (github_headers(BODY), SignedEvent(HostKind.GITHUB, "push")),
        (gitea_headers(BODY), SignedEvent(HostKind.GITEA, "push")),
        (gitea_headers(BODY, name="forgejo"), SignedEvent(HostKind.GITEA, "push")),
        (
            gitlab_headers(),
            SignedEvent(HostKind.GITLAB, "Push Hook"),
        ),
    ],
    ids=["github", "gitea", "forgejo", "gitlab"],
)
def test_each_host_is_known_by_its_own_headers_and_by_any_of_the_secrets(
    headers: dict[str, str], sender: SignedEvent
) -> None:
    assert sender_of(headers, BODY, SECRETS, now_s=NOW) == sender
    assert sender_of(headers, BODY, SECRETS[:1], now_s=NOW) is None


@pytest.mark.parametrize("headers", [github_headers(BODY), gitea_headers(BODY)], ids=["github", "gitea"])
def test_a_body_that_was_changed_is_not_signed(headers: dict[str, str]) -> None:
    assert sender_of(headers, BODY + b" ", SECRETS, now_s=NOW) is None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-github-event": "push"},
        {"x-github-event": "push", "x-hub-signature-256": ""},
        {"x-github-event": "push", "x-hub-signature-256": "sha256="},
        {"x-github-event": "push", "x-hub-signature-256": hex_hmac(BODY)},
        {"x-github-event": "push", "x-hub-signature": f"sha1={hex_hmac(BODY)}"},
        {"x-github-event": "push", "x-hub-signature-256": "sha256=é"},
        {"x-gitea-event": "push", "x-hub-signature-256": f"sha256={hex_hmac(BODY)}"},
        {"x-gitlab-event": "Push Hook"},
        {"x-gitlab-event": "Push Hook", "x-gitlab-token": ""},
        {"x-gitlab-event": "Push Hook", "x-gitlab-token": "é"},
    ],
)
def test_what_is_not_signed_has_no_sender(headers: dict[str, str]) -> None:
    assert sender_of(headers, BODY, SECRETS, now_s=NOW) is None


def test_a_signature_of_gitlab_holds_for_its_time_and_body() -> None:
    headers = signed_gitlab_headers(BODY, sent_at=NOW)

    assert sender_of(headers, BODY, SIGNING, now_s=NOW) == SignedEvent(HostKind.GITLAB, "Push Hook")
    assert sender_of(headers, BODY, SIGNING, now_s=NOW + CLOCK_TOLERANCE_S + 1) is None
    assert sender_of(headers, BODY, SIGNING, now_s=NOW - CLOCK_TOLERANCE_S - 1) is None
    assert sender_of(headers, BODY + b" ", SIGNING, now_s=NOW) is None
    assert sender_of({**headers, "webhook-id": "c-2"}, BODY, SIGNING, now_s=NOW) is None
    assert sender_of({**headers, "webhook-timestamp": "²"}, BODY, SIGNING, now_s=NOW) is None


def test_one_of_several_signatures_is_enough_while_a_key_is_replaced() -> None:
    headers = signed_gitlab_headers(BODY, sent_at=NOW)
    other = signed_gitlab_headers(BODY, sent_at=NOW, key=b"other")["webhook-signature"]

    both = {**headers, "webhook-signature": f"{other} {headers['webhook-signature']}"}

    assert sender_of(both, BODY, SIGNING, now_s=NOW) is not None
    assert sender_of({**headers, "webhook-signature": other}, BODY, SIGNING, now_s=NOW) is None


def test_a_wrong_signature_is_not_saved_by_a_token_and_a_signing_key_is_no_token() -> None:
    wrong = signed_gitlab_headers(BODY, sent_at=NOW, key=b"other") | gitlab_headers()

    assert sender_of(wrong, BODY, [*SIGNING, *SECRETS], now_s=NOW) is None
    assert sender_of(gitlab_headers(secret=SIGNING_SECRET), BODY, SIGNING, now_s=NOW) is None


def test_secrets_come_from_a_file_of_ones_own_or_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"# the new one\n{SECRET}\n\n{SIGNING_SECRET}\n")
    file.chmod(0o600)

    expected = [Secret(SECRET.encode()), Secret(SIGNING_SECRET.encode(), SIGNING_KEY)]

    assert read_secrets(file, {}) == expected
    assert read_secrets(None, {VARIABLE: f"{SECRET} {SIGNING_SECRET}"}) == expected
    assert SECRET not in repr(expected)


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (SECRET, 0o644, "others may read it: run `chmod 600"),
        ("", 0o600, "no webhook secret: give the host's with --secret-file or CODESUM_WEBHOOK_SECRET"),
        ("too-short", 0o600, "secret 1 is shorter than 16 characters"),
        (f"{SECRET}\nwhsec_?????????????", 0o600, "secret 2 begins with whsec_ but is not base64"),
        ("\n".join([SECRET] * 21), 0o600, "21 secrets, and at most 20"),
    ],
)
def test_secrets_that_cannot_be_are_an_error_that_does_not_show_them(
    content: str, mode: int, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "secrets"
    file.write_text(content)
    file.chmod(mode)

    with pytest.raises(ConfigurationError) as caught:
        read_secrets(file, {})

    assert message in str(caught.value)
    assert not content or not any(line in str(caught.value) for line in content.splitlines())
