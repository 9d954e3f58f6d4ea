"""Exactly once: processes that are killed at each state, and two at once."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.notifications.delivery.outbox import ENDED_WHILE_SENDING, OUTBOX_FILE, DeliveryState, open_outbox
from codesum_pipeline_tests.support.delivery_desk import DIGEST, MAIL, RESULT, Desk
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver

SEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
from codesum_pipeline.notifications.delivery.sending import OutboxSender
channel = {"kind": "webhook", "url": sys.argv[2], "allow_private": True, "timeout_s": 60}
options = DeliverySettings.model_validate({"channels": {"hook": channel}})
OutboxSender(Path(sys.argv[1]), options, lambda: datetime(2026, 11, 23, 12, tzinfo=UTC)).send_due()
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
"""
ADD = """
import sys
from pathlib import Path
from codesum_pipeline_tests.support.delivery_desk import Desk
print(Desk(Path(sys.argv[1]), {"hook": {"kind": "webhook", "url": "https://example.com/"}}).add())
"""


def desk_of(home: Path, receiver: WebhookReceiver) -> Desk:
    return Desk(home, {"hook": {"kind": "webhook", "url": receiver.url, "allow_private": True, "timeout_s": 60}})


def start(script: str, *arguments: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def kill(process: "subprocess.Popen[bytes]") -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until, "it did not happen within two minutes"
        time.sleep(0.02)


def test_killed_between_send_and_mark_it_is_sent_again_with_the_same_id_and_says_so(tmp_path: Path) -> None:
    with webhook_receiver("held", 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        process = start(SEND, tmp_path, receiver.url)
        assert receiver.came.wait(120)
        # Nobody can write now, so the process gets its answer and cannot say so.
        blocker = sqlite3.connect(tmp_path / OUTBOX_FILE, isolation_level=None, timeout=60)
        blocker.execute("BEGIN IMMEDIATE")
        receiver.let_go.set()
        assert receiver.answered.wait(120)
        time.sleep(0.2)
        assert desk_state(tmp_path) == "sending"
        kill(process)
        blocker.execute("ROLLBACK")
        blocker.close()

        assert desk.send() == [("hook", "sent")]

    assert len(receiver.received) == 2
    assert receiver.ids[0] == receiver.ids[1]
    assert receiver.received[1].headers["codesum-may-be-repeat"] == "true"
    assert next((each.state.value, each.detail) for each in desk.attempts("hook")) == ("unknown", ENDED_WHILE_SENDING)
    assert desk.delivery("hook").may_have_arrived
    assert not any((tmp_path / "outbox.holders").iterdir())


def desk_state(home: Path) -> str:
    connection = sqlite3.connect(home / OUTBOX_FILE)
    [(state,)] = connection.execute("SELECT state FROM deliveries").fetchall()
    connection.close()
    return str(state)


def test_killed_while_it_waits_for_an_answer_it_is_sent_again_with_the_same_id(tmp_path: Path) -> None:
    with webhook_receiver("hang", 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        process = start(SEND, tmp_path, receiver.url)
        assert receiver.came.wait(120)
        assert desk.send() == [], "a delivery in the hands of a living process is nobody else's"
        kill(process)
        assert desk.send() == [("hook", "sent")]

    assert receiver.ids[0] == receiver.ids[1]


@pytest.mark.slow
def test_a_stopped_process_keeps_what_it_sends_however_long_it_sleeps(tmp_path: Path) -> None:
    with webhook_receiver("hang", 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        process = start(SEND, tmp_path, receiver.url)
        assert receiver.came.wait(120)
        os.kill(process.pid, signal.SIGSTOP)
        desk.pass_time(days=30)
        assert desk.send() == []
        kill(process)


@pytest.mark.slow
def test_killed_before_it_is_written_down_a_post_is_not_there_and_can_be_added(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}})
    with open_outbox(tmp_path, now=desk.now):
        pass
    blocker = sqlite3.connect(tmp_path / OUTBOX_FILE, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    process = start(ADD, tmp_path)
    time.sleep(3)
    kill(process)
    blocker.execute("ROLLBACK")
    blocker.close()

    assert desk.add()
    assert desk.delivery("hook").state is DeliveryState.PENDING


@pytest.mark.slow
def test_killed_after_a_failure_it_is_tried_at_its_time_and_not_before(tmp_path: Path) -> None:
    with webhook_receiver(500, 200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        process = start(SEND, tmp_path, receiver.url)
        wait_for(lambda: desk.delivery("hook").state is DeliveryState.FAILED)
        kill(process)
        assert desk.send() == []
        desk.pass_time(minutes=1)
        assert desk.send() == [("hook", "sent")]


def test_processes_that_send_at_once_send_each_post_once(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        for number in range(12):
            desk.add(id_=PostId(f"digest-{number}"))
        processes = [start(SEND, tmp_path, receiver.url) for _ in range(2)]
        assert [process.wait(300) for process in processes] == [0, 0]

    assert sorted(receiver.ids) == sorted({*receiver.ids})
    assert len(receiver.received) == 12


def test_delays_grow_to_six_hours_and_end_with_the_tries(tmp_path: Path) -> None:
    with webhook_receiver(500) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        delays = []
        while desk.send() == [("hook", "failed")]:
            due = datetime.fromisoformat(desk.delivery("hook").due_at)
            delays.append((due - desk.moment).total_seconds() / 60)
            desk.moment = due

    assert delays == [1, 4, 16, 64, 256, 360, 360]
    assert desk.delivery("hook").state is DeliveryState.GIVEN_UP


def test_of_a_digest_that_is_made_again_the_first_words_are_sent(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert not desk.add(RESULT.__class__(RESULT.intent_name, "other words", ()))
        desk.send()

    assert receiver.received[0].json["summary"] == RESULT.summary


def test_only_what_was_given_up_can_be_tried_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}})
    desk.add()
    with open_outbox(tmp_path, now=desk.now) as outbox:
        with pytest.raises(ConfigurationError, match="was not given up on any channel"):
            outbox.retry(DIGEST, tries=2)
        with pytest.raises(ConfigurationError, match="has no post 'x': `codesum digest outbox` lists them"):
            outbox.retry(PostId("x"), tries=2)


def test_a_channel_that_was_taken_out_of_the_settings_says_so_and_keeps_its_posts(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}})
    desk.add()
    desk.channels = {"hooks": desk.channels["hook"]}

    assert desk.send() == []
    assert desk.delivery("hook").detail == "no channel 'hook' in delivery.channels: the nearest is 'hooks'"
    assert desk.delivery("hook").state is DeliveryState.PENDING


def test_the_same_notice_goes_to_the_operator_once_a_day(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.settings = {"operator_channels": ["hook"]}
        for _ in range(3):
            desk.sender().notify_operator("template 'x' of intent 'tax'", "unknown placeholder {y}")
            desk.send()
        desk.pass_time(days=1)
        desk.sender().notify_operator("template 'x' of intent 'tax'", "unknown placeholder {y}")
        desk.send()

    assert len(receiver.received) == 2
    assert receiver.received[0].json["subject"] == "template 'x' of intent 'tax'"


def test_without_a_channel_for_operators_the_log_says_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Desk(tmp_path, {}).sender().notify_operator("three ticks failed", "intent 'tax'")

    assert "three ticks failed: intent 'tax'" in caplog.text


def test_bringing_the_outbox_up_to_date_twice_changes_nothing_and_keeps_what_is_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}})
    desk.add()
    for _ in range(2):
        with open_outbox(tmp_path, now=lambda: desk.moment):
            pass

    assert desk.delivery("hook").state is DeliveryState.PENDING


def test_no_state_that_is_none_can_be_written(tmp_path: Path) -> None:
    Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}}).add()
    connection = sqlite3.connect(tmp_path / OUTBOX_FILE)
    for change in ("state = 'lost'", "state = 'sending'", "state = 'sent'"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"UPDATE deliveries SET {change}")
    connection.close()


def test_a_channel_that_breaks_in_an_unforeseen_way_stops_no_other(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        desk = desk_of(tmp_path, receiver)
        channel = dict(desk.channels["hook"])
        # A host that no name can be made of for the network.
        desk.channels = {"broken": {**channel, "url": f"http://{'a' * 70}.example/"}, "hook": channel}
        desk.add()
        states = dict(desk.send())

    assert states == {"broken": "unknown", "hook": "sent"}


def test_a_clock_of_another_time_zone_is_written_down_in_utc(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"hook": {"kind": "webhook", "url": "https://example.com/"}})
    desk.moment = datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo("Asia/Tokyo"))
    desk.add()

    assert desk.delivery("hook").due_at == "2026-03-28T17:30:00.000Z"


@pytest.mark.parametrize(
    ("channel", "environ", "says"),
    [
        ({**MAIL, "to": ["a@example.com"], "ca_file": "no.pem"}, {}, "ca_file 'no.pem': there is no such file"),
        (
            {"kind": "webhook", "url": "https://example.com/", "secret_env": "HOOK"},
            {"HOOK": "whsec_not base64"},
            "begins with 'whsec_' and does not go on in base64",
        ),
    ],
    ids=["certificates", "key"],
)
def test_a_channel_that_cannot_be_opened_waits_and_says_why(
    tmp_path: Path, channel: dict[str, Any], environ: dict[str, str], says: str
) -> None:
    desk = Desk(tmp_path, {"it": channel}, environ=environ)
    desk.add()

    assert desk.sender().send_due().unusable == {"it": desk.delivery("it").detail}
    assert desk.delivery("it").detail.startswith("channel 'it': ") and says in desk.delivery("it").detail
    assert desk.delivery("it").tries == 0
