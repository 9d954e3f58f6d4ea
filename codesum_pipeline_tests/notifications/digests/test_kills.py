"""A process that is killed at each state of a digest: it is sent once, and nothing is lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from codesum_pipeline.notifications.delivery.outbox import OUTBOX_FILE, open_outbox
from codesum_pipeline.notifications.digests.desk import deliver_digests, finish_left
from codesum_pipeline.notifications.digests.digest_rows import DigestState
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.digests.tick import run_after_build
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.support.digest_shop import Shop, answer
from codesum_pipeline_tests.support.hooks import install_hook
from codesum_pipeline_tests.support.llm_server import Answers, Hangs, ScriptedServer
from codesum_pipeline_tests.support.receivers import WebhookReceiver

SIGNING = 'intents:\n  signing-in: {text: "How do users sign in?", schedule: {every: build}, channels: [hook]}\n'
RUN = """
import json
import sys
from pathlib import Path
from codesum_pipeline.notifications.digests.tick import run_after_build
from codesum_pipeline_tests.support.digest_shop import Shop
home, channels, base = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
shop = Shop(Path(home), ("", ""), ("", ""), channels=channels)
if base:
    shop.ask(base)
run_after_build(shop.desk, "shop")
"""


@pytest.fixture
def shop(shop_as_made: Shop, tmp_path: Path, hook: WebhookReceiver) -> Shop:
    found = shop_as_made.copied(tmp_path / "home")
    found.channels = {"hook": {"kind": "webhook", "url": hook.url, "allow_private": True}}
    found.write_intents(SIGNING)
    found.find()
    with open_outbox(found.home, now=found.now):
        pass
    return found


@contextmanager
def running(shop: Shop, *path: Path, base: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that ticks, and is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(shop.home), json.dumps(shop.channels), base],
        env=environment({"PYTHONPATH": os.pathsep.join([*map(str, path), environment()["PYTHONPATH"]])}),
    )
    try:
        yield process
        assert process.poll() is None, "it ended before it was killed"
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def blocked(file: Path) -> Iterator[None]:
    """Nobody else can write into a database."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        yield
        blocker.execute("ROLLBACK")


def wait_for(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until, "it did not happen within two minutes"
        time.sleep(0.02)


def states(shop: Shop) -> list[str]:
    with closing(sqlite3.connect(shop.desk.layout.digests)) as connection:
        return [state for (state,) in connection.execute("SELECT state FROM digests ORDER BY created_at")]


def posts(shop: Shop) -> int:
    with closing(sqlite3.connect(shop.home / OUTBOX_FILE)) as connection:
        return int(connection.execute("SELECT count(*) FROM posts").fetchone()[0])


def ids(hook: WebhookReceiver) -> list[str]:
    return [each.json["id"] for each in hook.received]


@pytest.mark.slow
def test_killed_while_the_model_writes_nothing_is_sent_and_the_next_tick_tells_it(
    shop: Shop, hook: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPORTER_KEY", "any word will do")
    with ScriptedServer(lambda request: Hangs() if request.number == 1 else Answers(answer(1))) as server:
        with running(shop, base=server.base):
            wait_for(lambda: server.seen)
        assert (states(shop), shop.pending(), posts(shop)) == ([], 1, 0)
        shop.ask(server.base)
        run_after_build(shop.desk, "shop")

    [digest] = shop.digests()
    assert (digest.state, ids(hook)) == (DigestState.QUEUED, [digest.id])
    assert digest.cost_usd > 0


@pytest.mark.slow
def test_killed_after_the_model_wrote_it_the_text_is_not_paid_for_again(
    shop: Shop, hook: WebhookReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REPORTER_KEY", "any word will do")
    hook_began = tmp_path / "asked"
    body = f"import time\ndef hook(result):\n    open({str(hook_began)!r}, 'w').close()\n    time.sleep(3600)\n"
    slow = install_hook(tmp_path / "slow", "slow", "pre_push", body)
    with ScriptedServer(lambda _request: Answers(answer(1))) as server:
        with running(shop, slow, base=server.base):
            wait_for(hook_began.exists)
        assert (states(shop), shop.pending(), posts(shop)) == ([], 1, 0)
        shop.ask(server.base)
        run_after_build(shop.desk, "shop")
        assert len(server.seen) == 1

    assert ids(hook) == [digest.id for digest in shop.digests()]
    assert len(ids(hook)) == 1


def test_killed_before_it_is_in_the_outbox_a_digest_goes_there_with_the_next_delivery(
    shop: Shop, hook: WebhookReceiver
) -> None:
    with blocked(shop.home / OUTBOX_FILE), running(shop):
        wait_for(lambda: states(shop))
    assert (states(shop), shop.pending(), posts(shop)) == (["written"], 0, 0)
    deliver_digests(shop.desk)

    assert (states(shop), ids(hook)) == (["queued"], [digest.id for digest in shop.digests()])


def test_killed_between_outbox_and_mark_a_digest_is_in_the_outbox_once(shop: Shop, hook: WebhookReceiver) -> None:
    # Two writers at once would wait: the process is held before the outbox until its own file is blocked.
    with running(shop):
        with blocked(shop.home / OUTBOX_FILE):
            wait_for(lambda: states(shop))
            held = sqlite3.connect(shop.desk.layout.digests, isolation_level=None, timeout=60)
            held.execute("BEGIN IMMEDIATE")
        wait_for(lambda: posts(shop))
        time.sleep(0.2)
    held.close()
    assert (states(shop), posts(shop)) == (["written"], 1)
    run_after_build(shop.desk, "shop")

    assert (states(shop), posts(shop), len(ids(hook))) == (["queued"], 1, 1)


@pytest.mark.slow
def test_killed_while_a_hook_hears_of_it_the_hook_hears_again_and_the_digest_is_sent_once(
    shop: Shop, hook: WebhookReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, free = tmp_path / "heard", tmp_path / "free"
    body = (
        f"import os, time\ndef hook(result):\n    open({str(heard)!r}, 'a').write('x')\n"
        f"    while not os.path.exists({str(free)!r}):\n        time.sleep(0.02)\n"
    )
    folder = install_hook(tmp_path / "slow", "slow", "on_summary", body)
    with running(shop, folder):
        wait_for(heard.exists)
    assert (states(shop), posts(shop)) == (["queued"], 1)
    free.touch()
    monkeypatch.syspath_prepend(str(folder))
    for _ in range(2):
        run_after_build(shop.desk, "shop")

    assert (heard.read_text(), posts(shop), len(ids(hook))) == ("xx", 1, 1)


@pytest.mark.slow
def test_what_a_living_process_has_in_hand_is_left_to_it(shop: Shop, hook: WebhookReceiver) -> None:
    with blocked(shop.home / OUTBOX_FILE), running(shop):
        wait_for(lambda: states(shop))
        with open_digests(shop.desk.layout.digests, now=shop.now) as store:
            assert finish_left(store, shop.sender) == []
    deliver_digests(shop.desk)

    assert len(ids(hook)) == 1
