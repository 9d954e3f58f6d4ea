"""Chats through Apprise: what each service really gets, on loopback."""

import io
import logging
import re
import ssl
from pathlib import Path
from typing import Any

import pytest
from apprise.plugins.discord import NotifyDiscord
from apprise.plugins.slack import NotifySlack
from apprise.plugins.telegram import NotifyTelegram
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline_tests.notifications.delivery.test_rendering import HOSTILE
from codesum_pipeline_tests.support.delivery_desk import LINK, RESULT, Desk
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver

TOKEN = "3ccdd113474722377935511fc85d3dd4"
SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
OK = (200, {}, "ok")


def desk_of(tmp_path: Path, kind: str, address: str) -> Desk:
    channel = {"kind": kind, "secret_env": "CHAT", "timeout_s": 20}
    return Desk(tmp_path, {"chat": channel}, environ={"CHAT": address})


def mattermost(receiver: WebhookReceiver) -> str:
    return receiver.url.replace("http://", "mmost://").replace("/hook", f"/{TOKEN}")


def test_mattermost_gets_markdown_with_the_link_of_the_citation(tmp_path: Path) -> None:
    with webhook_receiver(OK) as receiver:
        desk = desk_of(tmp_path, "mattermost", mattermost(receiver))
        desk.add()
        assert desk.send() == [("chat", "sent")]

    [got] = receiver.received
    assert "how we authenticate" in got.json["text"]
    assert "**Ed25519** \\[1\\]" in got.json["text"]
    assert f"[Login.sign]({LINK})" in got.json["text"]


def test_slack_gets_its_own_markup_and_no_mention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_receiver(OK) as receiver:
        monkeypatch.setattr(NotifySlack, "webhook_url", receiver.url)
        desk = desk_of(tmp_path, "slack", SLACK)
        desk.add(replace(RESULT, summary=f"{RESULT.summary}\n{HOSTILE}"))
        assert desk.send() == [("chat", "sent")]

    sent = str(receiver.received[0].json)
    assert "*Ed25519* [1]" in sent
    assert f"<{LINK}|Login.sign>" in sent
    assert "<!channel>" not in sent and "<@U123>" not in sent and "<script>" not in sent
    assert "https://evil.example" not in sent


def test_telegram_gets_html_and_no_tag_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_receiver((200, {}, '{"ok": true, "result": {}}')) as receiver:
        monkeypatch.setattr(NotifyTelegram, "notify_url", f"{receiver.url}/bot")
        desk = desk_of(tmp_path, "telegram", "tgram://123456789:abcdefg_hijklmnop/12315544")
        desk.add(replace(RESULT, summary=f"{RESULT.summary}\n{HOSTILE}"))
        assert desk.send() == [("chat", "sent")]

    sent = receiver.received[-1].json
    assert sent["parse_mode"] == "HTML"
    assert "<b>Ed25519</b> [1]" in sent["text"]
    assert f'<a href="{LINK}">Login.sign</a>' in sent["text"]
    assert {*re.findall(r"</?(\w+)", sent["text"])} <= {"b", "i", "a", "code", "pre"}
    assert "https://evil.example" not in sent["text"]


def test_teams_gets_a_card_with_the_link_of_the_citation(
    tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    with webhook_receiver((202, {}, ""), tls=certificate[1]) as receiver:
        address = receiver.url.replace("https", "workflows").replace("/hook", f"/{TOKEN}/{TOKEN}?verify=no")
        desk = desk_of(tmp_path, "teams", address)
        desk.add(replace(RESULT, summary=f"{RESULT.summary}\n{HOSTILE}"))
        assert desk.send() == [("chat", "sent")]

    sent = str(receiver.received[0].json)
    assert "AdaptiveCard" in sent
    assert f"[Login.sign]({LINK})" in sent
    assert "https://evil.example" not in sent


def test_discord_gets_at_most_what_it_takes_cut_at_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_receiver((204, {}, "")) as receiver:
        monkeypatch.setattr(NotifyDiscord, "notify_url", receiver.url)
        address = "discord://123456789012345678/abcdefghijklmnopqrstuvwxyzabcdef"
        desk = desk_of(tmp_path, "discord", address)
        desk.add(SummaryResult("tax", " ".join(f"Sentence {n} ends here." for n in range(900)), ()), links=())
        assert desk.send() == [("chat", "sent")]

    [got] = receiver.received
    text = str(got.json.get("content") or got.json["embeds"][0]["description"])
    assert len(text) <= 2000
    assert "ends here.\n\n(left out for length: " in text


@pytest.mark.parametrize(
    ("answer", "state"),
    [((404, {}, ""), "given_up"), ((429, {}, ""), "failed"), ((500, {}, ""), "failed"), ("cut", "unknown")],
    ids=["404", "429", "500", "no answer"],
)
def test_what_apprise_says_of_a_failure_decides_about_another_try(tmp_path: Path, answer: Any, state: str) -> None:
    with webhook_receiver(answer) as receiver:
        desk = desk_of(tmp_path, "mattermost", mattermost(receiver))
        desk.add()
        assert desk.send() == [("chat", state)]

    assert TOKEN not in desk.delivery("chat").detail


def test_a_repeat_in_a_chat_says_that_it_may_be_one(tmp_path: Path) -> None:
    with webhook_receiver("cut", OK) as receiver:
        desk = desk_of(tmp_path, "mattermost", mattermost(receiver))
        desk.add()
        desk.send()
        desk.pass_time(minutes=1)
        assert desk.send() == [("chat", "sent")]

    assert ["This may be a repeat" in each.json["text"] for each in receiver.received] == [False, True]


def test_a_redirect_of_a_chat_is_not_followed(tmp_path: Path) -> None:
    with webhook_receiver(OK) as other, webhook_receiver((307, {"Location": other.url}, "")) as receiver:
        desk = desk_of(tmp_path, "mattermost", mattermost(receiver))
        desk.add()
        desk.send()

    assert other.received == []


@pytest.mark.parametrize(
    ("kind", "address", "says"),
    [
        ("chat", "no-such://address", "its secret is no address that Apprise knows"),
        ("discord", SLACK, "is of kind 'discord', but its secret is an address of Slack"),
    ],
)
def test_an_address_that_cannot_be_used_is_named_without_being_shown(
    tmp_path: Path, kind: str, address: str, says: str
) -> None:
    desk = desk_of(tmp_path, kind, address)
    desk.add()
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        assert desk.send() == []
    finally:
        logging.getLogger().removeHandler(handler)

    assert says in desk.delivery("chat").detail and says in log.getvalue()
    assert address not in desk.delivery("chat").detail + log.getvalue()
