"""`codesum digest`, as an operator calls it."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.notifications.digests.digest_rows import DigestState
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.delivery_desk import DIGEST, Desk
from codesum_pipeline_tests.support.digest_making import digest
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver


def codesum(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return fork_codesum("--home", home, *arguments, cwd=home)


def home_of(tmp_path: Path, receiver: WebhookReceiver, *, secret: str = "") -> Desk:
    more = f'secret_env = "{secret}"\n' if secret else ""
    (tmp_path / "codesum.toml").write_text(
        f'[delivery.channels.hook]\nkind = "webhook"\nurl = "{receiver.url}"\nallow_private = true\n{more}'
    )
    return Desk(
        tmp_path, {"hook": {"kind": "webhook", "url": receiver.url, "allow_private": True}}, moment=datetime.now(UTC)
    )


@pytest.mark.slow
def test_an_operator_sees_sends_and_tries_again(tmp_path: Path) -> None:
    with webhook_receiver(404, 200) as receiver:
        home_of(tmp_path, receiver).add()
        waits = codesum(tmp_path, "digest", "outbox", "--json")
        refused = codesum(tmp_path, "digest", "deliver")
        again = codesum(tmp_path, "digest", "retry", DIGEST)
        sent = codesum(tmp_path, "digest", "deliver", "--json")
        shown = codesum(tmp_path, "digest", "outbox", DIGEST)
        undelivered = codesum(tmp_path, "digest", "outbox", "--state", "given_up")

    assert json.loads(waits.stdout)["state"] == "pending"
    assert (refused.returncode, "given_up" in refused.stdout) == (1, True)
    assert "to be sent again: hook" in again.stderr
    assert (sent.returncode, json.loads(sent.stdout)["state"]) == (0, "sent")
    assert "Sessions are now signed" in shown.stdout and "404" in shown.stdout
    assert "nothing of that kind" in undelivered.stderr


def test_deliver_sends_what_a_killed_process_had_written_and_not_put_into_the_outbox(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        home_of(tmp_path, receiver)
        with open_digests(tmp_path / "digests.sqlite", now=utc_now) as store:
            store.record(None, digest("d1", channels=("hook",), state=DigestState.WRITTEN))
        codesum(tmp_path, "digest", "deliver")

    assert [each.json["id"] for each in receiver.received] == ["d1"]


def test_a_channel_can_be_tried(tmp_path: Path) -> None:
    with webhook_receiver(200, 403) as receiver:
        home_of(tmp_path, receiver)
        works = codesum(tmp_path, "digest", "try", "hook")
        refuses = codesum(tmp_path, "digest", "try", "hook")
        unknown = codesum(tmp_path, "digest", "try", "hok")
        offline = codesum(tmp_path, "--offline", "digest", "try", "hook")

    assert (works.returncode, works.stderr.strip()) == (0, "hook: 200 said 200")
    assert "channel 'hook': 403 said 403" in refuses.stderr and refuses.returncode != 0
    assert "no channel 'hok' in delivery.channels: the nearest is 'hook'" in unknown.stderr
    assert "offline nothing is sent" in offline.stderr
    assert len(receiver.received) == 2


def test_deliver_names_the_variable_that_a_channel_lacks(tmp_path: Path) -> None:
    with webhook_receiver(200) as receiver:
        home_of(tmp_path, receiver, secret="HOOK_SECRET").add()
        called = codesum(tmp_path, "digest", "deliver")

    assert called.returncode == 1
    assert "channel 'hook' has no secret: the environment variable HOOK_SECRET" in called.stderr


@pytest.mark.parametrize("command", [("outbox", "nothing"), ("retry", "nothing")])
def test_a_post_that_is_not_there_is_named(tmp_path: Path, command: tuple[str, str]) -> None:
    called = codesum(tmp_path, "digest", *command)

    assert (called.returncode, "the outbox has no post 'nothing'" in called.stderr) == (2, True)


def test_the_channels_say_whether_they_can_be_used_and_what_a_repeat_means(tmp_path: Path) -> None:
    (tmp_path / "codesum.toml").write_text(
        '[delivery.channels.chat]\nkind = "slack"\nsecret_env = "CHAT_ADDRESS"\n'
        '[delivery.channels.hook]\nkind = "webhook"\nurl = "https://example.com/x"\n'
    )
    chat, hook = map(json.loads, codesum(tmp_path, "digest", "channels", "--json").stdout.splitlines())

    assert chat["promise"] == "at least once: the service has no key to tell a repeat by"
    assert chat["problem"] == (
        "channel 'chat' has no secret: the environment variable CHAT_ADDRESS is empty or not set"
    )
    assert (hook["problem"], hook["promise"]) == ("", "once, where the receiver drops a webhook-id that it has seen")
