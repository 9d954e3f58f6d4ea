"""Posts to an address: what it gets, and what each of its answers leads to."""

import base64
import hashlib
import hmac
import json
import socket
import ssl
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codesum_pipeline.foundation.settings.certificates import CERTIFICATES_VARIABLE
from codesum_pipeline_tests.support.delivery_desk import DIGEST, LINK, Desk
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver

SCHEMA = Path(__file__).parents[3] / "docs" / "webhook.schema.json"


def desk_of(tmp_path: Path, receiver: WebhookReceiver, **changes: Any) -> Desk:
    channel = {"kind": "webhook", "url": receiver.url, "allow_private": True, "timeout_s": 20, **changes}
    return Desk(tmp_path, {"hook": channel})


def test_a_digest_arrives_once_as_json_of_the_documented_schema(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        assert desk.add()
        assert desk.send() == [("hook", "sent")]
        assert not desk.add()
        assert desk.send() == []

    [got] = receiver.received
    jsonschema.validate(got.json, json.loads(SCHEMA.read_text()))
    assert got.json["intent"] == "how we authenticate"
    assert got.json["citations"][0]["url"] == LINK
    assert got.json["citations"][1]["source_name"] is None
    assert desk.delivery("hook").detail == "200 said 200"


def test_a_notice_is_of_the_documented_schema_too(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.settings = {"operator_channels": ["hook"]}
        desk.sender().notify_operator("template 'x'", "unknown placeholder {y}")
        desk.send()

    jsonschema.validate(receiver.received[0].json, json.loads(SCHEMA.read_text()))
    assert receiver.received[0].json["text"] == "unknown placeholder {y}"


@pytest.mark.parametrize("form", ["plain", "whsec"])
def test_the_signature_covers_id_moment_and_body(tmp_path: Path, form: str) -> None:
    key = b"0123456789abcdef0123456789abcdef"
    secret = key.decode() if form == "plain" else f"whsec_{base64.b64encode(key).decode()}"
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver, secret_env="HOOK_SECRET")
        desk.environ = {"HOOK_SECRET": secret}
        desk.add()
        desk.send()

    [got] = receiver.received
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{digest}"


def test_500_is_tried_again_later_with_the_same_id_and_body(tmp_path: Path) -> None:
    with webhook_receiver(500, 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("hook", "failed")]
        assert desk.send() == []
        desk.pass_time(minutes=1)
        assert desk.send() == [("hook", "sent")]

    first, second = receiver.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert second.headers["idempotency-key"] == second.headers["webhook-id"]
    assert second.headers["codesum-may-be-repeat"] == "false"
    assert [each.state.value for each in desk.attempts("hook")] == ["failed", "sent"]


def test_429_waits_as_long_as_it_says_and_so_does_all_else_for_that_channel(tmp_path: Path) -> None:
    with webhook_receiver((429, {"Retry-After": "7200"}, ""), 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("hook", "failed")]
        desk.add(id_=DIGEST.__class__("digest-0"))
        desk.pass_time(minutes=119)
        assert len(receiver.received) == 1
        first_due = desk.delivery("hook").due_at
        assert first_due == "2026-11-23T14:00:00.000Z"
        desk.pass_time(minutes=1)
        desk.send()

    assert desk.delivery("hook").state.value == "sent"


def test_what_waits_for_a_channel_waits_for_its_retry_after(tmp_path: Path) -> None:
    with webhook_receiver((429, {"Retry-After": "7200"}, ""), 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        desk.pass_time(seconds=1)
        desk.add(id_=DIGEST.__class__("digest-2"))

        assert desk.send() == [("hook", "failed")]
        assert len(receiver.received) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_refusal_of_what_was_asked_is_final(tmp_path: Path, status: int) -> None:
    with webhook_receiver(status) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("hook", "given_up")]
        desk.pass_time(days=2)
        assert desk.send() == []

    assert len(receiver.received) == 1


def test_a_redirect_is_not_followed_and_names_where_it_leads(tmp_path: Path) -> None:
    with webhook_receiver(200) as other, webhook_receiver((307, {"Location": other.url}, "")) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("hook", "given_up")]

    assert other.received == []
    assert other.url in desk.delivery("hook").detail


@pytest.mark.parametrize("end", ["cut", "hang"])
def test_no_answer_after_the_body_is_unknown_and_the_repeat_says_so(tmp_path: Path, end: str) -> None:
    with webhook_receiver(end, 200) as receiver:
        desk = desk_of(tmp_path, receiver, timeout_s=1.5 if end == "hang" else 20)
        desk.add()
        assert desk.send() == [("hook", "unknown")]
        desk.channels["hook"]["timeout_s"] = 20  # type: ignore[index]
        desk.pass_time(minutes=1)
        assert desk.send() == [("hook", "sent")]

    assert receiver.ids[0] == receiver.ids[1]
    assert [each.headers["codesum-may-be-repeat"] for each in receiver.received] == ["false", "true"]
    assert desk.delivery("hook").may_have_arrived


def test_tries_are_bounded_and_an_operator_can_start_them_again(tmp_path: Path) -> None:
    from codesum_pipeline.notifications.delivery.outbox import open_outbox

    with webhook_receiver(503, 503, 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.settings = {"max_attempts": 2}
        desk.add()
        desk.send()
        desk.pass_time(minutes=1)
        assert desk.send() == [("hook", "given_up")]
        desk.pass_time(days=9)
        assert desk.send() == []
        with open_outbox(tmp_path, now=desk.now) as outbox:
            outbox.retry(DIGEST, tries=2)
        assert desk.send() == [("hook", "sent")]

    assert len({*receiver.ids}) == 1


def test_nobody_at_the_address_is_a_failure_and_no_doubt(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": url, "allow_private": True}})
        desk.add()
        assert desk.send() == [("hook", "failed")]

    assert not desk.delivery("hook").may_have_arrived


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "10.1.2.3", "169.254.169.254", "[::ffff:127.0.0.1]"]
)
def test_an_address_of_a_private_network_needs_the_settings_leave(tmp_path: Path, host: str) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": f"http://{host}:9/"}})
    desk.add()

    assert desk.send() == [("hook", "given_up")]
    assert "set allow_private = true" in desk.delivery("hook").detail


def test_a_secret_that_a_receiver_repeats_is_in_no_table_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "correct-horse-battery"
    with webhook_receiver((401, {}, f"bad signature for {secret}"), 200) as receiver:
        desk = desk_of(tmp_path, receiver, secret_env="HOOK_SECRET")
        desk.environ = {"HOOK_SECRET": secret}
        desk.add()
        desk.send()

    assert "bad signature for …" in desk.delivery("hook").detail
    assert secret not in caplog.text
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.iterdir() if file.is_file())


def test_over_tls_the_authorities_of_the_process_are_trusted(
    tmp_path: Path, certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CERTIFICATES_VARIABLE, str(certificate[0]))
    with webhook_receiver(200, tls=certificate[1]) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()

        assert desk.send() == [("hook", "sent")]


def test_over_tls_the_certificate_must_vouch_for_the_host(
    tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    with webhook_receiver(200, tls=certificate[1]) as receiver:
        known = desk_of(tmp_path / "known", receiver, ca_file=str(certificate[0]))
        unknown = desk_of(tmp_path / "unknown", receiver)
        other = desk_of(tmp_path / "other", receiver, ca_file=str(certificate[0]))
        other.channels["hook"]["url"] = receiver.url.replace("127.0.0.1", "localhost")  # type: ignore[index]
        found = []
        for desk in (known, unknown, other):
            desk.add()
            found += desk.send()

    assert found == [("hook", "sent"), ("hook", "failed"), ("hook", "failed")]
    assert len(receiver.received) == 1
    assert "certificate" in unknown.delivery("hook").detail.lower()


def test_offline_nothing_is_sent(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send(offline=True) == []

    assert receiver.received == []
    assert desk.delivery("hook").state.value == "pending"
