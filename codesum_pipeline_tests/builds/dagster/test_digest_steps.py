"""What a build's last two steps do, and that nothing in them fails it. The steps before them are the build's own."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import codesum_pipeline
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.build_values import BuildOptions, Markdown, StepOutcome
from codesum_pipeline.builds.steps.digest_steps import DIGEST_STEPS
from codesum_pipeline.builds.steps.one_build import Build
from codesum_pipeline.builds.steps.scheduled_digests import explain_due_digests, tell_due_digests
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline_tests.builds.dagster.digest_home import CHEAPER, FILES, HOSTILE, SHORTER, SIGN_IN, DigestHome
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver
from codesum_pipeline_tests.support.repositories import GitRepo

BILLING = {"text": "Anything that changes what a customer is charged", "threshold": 0.2, "channels": ["hook"]}
BUILT = [step.name for step in STEPS]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose `shop` was built once, before anybody asked a question, and the repository beside it."""
    folder = tmp_path_factory.mktemp("built")
    home = open_home(folder / "home")
    DigestHome.at(home, GitRepo.create(folder / "shop", FILES), hook="http://127.0.0.1:9/hook")
    build(open_home(folder / "home"))
    return folder


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture
def shop(built: Path, tmp_path: Path, receiver: WebhookReceiver) -> DigestHome:
    """A copy of that home, with one question."""
    found = DigestHome.copied(built, tmp_path, hook=receiver.url)
    found.ask(auth=SIGN_IN)
    return found


def build(home: Home, *steps: str) -> dict[str, StepOutcome]:
    """A build by this process, or some of its steps; what came of each."""
    made = Build(home, "shop", "run", BuildOptions())
    return {step: made.perform(step) for step in steps or (*BUILT, *DIGEST_STEPS)}


def received_intents(receiver: WebhookReceiver) -> list[str]:
    return [each.json["intent"] for each in receiver.received]


def reasons(done: StepOutcome) -> list[tuple[str, str]]:
    return [(failure.item, failure.reason) for failure in done.failures]


def test_a_question_that_was_added_after_a_build_hears_of_the_next_change(
    shop: DigestHome, receiver: WebhookReceiver
) -> None:
    shop.repo.commit(SHORTER)

    done = build(shop.home)

    assert received_intents(receiver) == ["auth"]
    assert (done["intent_matches"].values["matches"], done["intent_matches"].rows) == (1, 1)
    assert (done["intent_digests"].values["digests"], done["intent_digests"].rows) == (1, 1)


def test_who_asks_nothing_pays_nothing(built: Path, tmp_path: Path) -> None:
    shop = DigestHome.copied(built, tmp_path, hook="http://127.0.0.1:9/hook")
    shop.repo.commit(SHORTER)

    done = build(shop.home)

    assert not (shop.folder / "digests.sqlite").exists()
    assert not (shop.folder / "outbox.sqlite").exists()
    assert [done[step].is_reused for step in DIGEST_STEPS] == [True, True]


def test_one_broken_question_is_reported_and_the_others_are_answered(
    shop: DigestHome, receiver: WebhookReceiver
) -> None:
    shop.ask(auth=SIGN_IN, broken={"text": "What?", "threshold": 7})
    shop.repo.commit(SHORTER)

    done = build(shop.home)

    assert received_intents(receiver) == ["auth"]
    ((item, reason),) = reasons(done["intent_matches"])
    assert (item, "intents.yaml:" in reason, "7" in reason) == ("broken", True, True)


@pytest.mark.slow
def test_while_the_file_of_questions_cannot_be_read_nothing_is_lost(
    shop: DigestHome, receiver: WebhookReceiver
) -> None:
    (shop.folder / "intents.yaml").write_text("intents: [")
    shop.repo.commit(SHORTER)

    broken = build(shop.home)
    assert [item for item, _ in reasons(broken["intent_matches"])] == ["intents.yaml"]
    assert received_intents(receiver) == []

    shop.ask(auth=SIGN_IN)
    build(shop.home)
    assert received_intents(receiver) == ["auth"]


@pytest.mark.slow
def test_a_receiver_that_is_away_gets_its_digest_without_another_build(built: Path, tmp_path: Path) -> None:
    with webhook_receiver(503, 200) as receiver:
        shop = DigestHome.copied(built, tmp_path, hook=receiver.url)
        shop.ask(auth=SIGN_IN)
        shop.repo.commit(SHORTER)
        done = build(shop.home)["intent_digests"]
        assert (done.values["messages_not_sent"], done.failures) == (1, ())
        assert "503" in done.warnings[0]

        later = utc_now() + timedelta(hours=1)
        assert explain_due_digests(shop.home) == "", "the outbox waits a while"
        assert explain_due_digests(shop.home, now=lambda: later) == "to be sent on hook"
        assert tell_due_digests(shop.home, now=lambda: later).values["messages_not_sent"] == 0
        assert len({*receiver.ids}) == 1 and len(receiver.ids) == 2


@pytest.mark.slow
def test_a_channel_without_its_secret_fails_no_build_and_starts_no_runs_for_ever(
    shop: DigestHome, monkeypatch: pytest.MonkeyPatch, receiver: WebhookReceiver
) -> None:
    shop.configure('secret_env = "HOOK_SECRET"\n')
    shop.repo.commit(SHORTER)
    build(shop.home)
    assert received_intents(receiver) == []
    assert explain_due_digests(shop.home) == "", "nobody can send it before the secret is there"

    monkeypatch.setenv("HOOK_SECRET", "a secret of the process that runs")
    assert explain_due_digests(shop.home) == "to be sent on hook"
    tell_due_digests(shop.home)
    assert received_intents(receiver) == ["auth"]


DIE = """
    import os, sys
    from codesum_pipeline.notifications.matching.changed_documents import VersionComparison
    from codesum_pipeline_tests.support.homes import open_home
    from codesum_pipeline_tests.builds.dagster.test_digest_steps import build
    {}
    build(open_home(sys.argv[1]))
"""
DEATHS = {
    "before the matches are kept": "import codesum_pipeline.notifications.digests.digest_store as s\n    "
    "s.DigestStore.add_matches = lambda *_, **__: os._exit(9)",
    "before the baseline moves": "VersionComparison.keep = lambda _: os._exit(9)",
    "before the digest": "import codesum_pipeline.notifications.digests.tick as d\n    "
    "d.run_after_build = lambda *_: os._exit(9)",
}


@pytest.mark.parametrize("line", [pytest.param(line, id=when) for when, line in DEATHS.items()])
@pytest.mark.slow
def test_what_a_killed_build_did_not_tell_the_next_one_tells_once(
    shop: DigestHome, receiver: WebhookReceiver, line: str
) -> None:
    shop.repo.commit(SHORTER)
    code = textwrap.dedent(DIE).format(line.replace("\n    ", "\n"))
    environment = {**os.environ, "PYTHONPATH": str(Path(codesum_pipeline.__file__).parent.parent)}
    died = subprocess.run([sys.executable, "-c", code, str(shop.folder)], env=environment, check=False)
    assert (died.returncode, received_intents(receiver)) == (9, [])

    build(shop.home)
    build(shop.home)

    assert received_intents(receiver) == ["auth"]


def test_what_was_matched_and_not_told_is_told_by_the_next_build_of_the_same_commit(
    shop: DigestHome, receiver: WebhookReceiver
) -> None:
    shop.repo.commit(SHORTER)
    build(shop.home, *BUILT, "intent_matches")
    assert shop.home.has_digest_waiting("shop"), "so that `codesum index` has something to do"

    build(shop.home)

    assert received_intents(receiver) == ["auth"]
    assert not shop.home.has_digest_waiting("shop")


@pytest.mark.slow
def test_what_no_build_told_the_schedule_tells(shop: DigestHome, receiver: WebhookReceiver) -> None:
    shop.repo.commit(SHORTER)
    build(shop.home, *BUILT, "intent_matches")

    assert explain_due_digests(shop.home) == "to be tried again: shop"
    tell_due_digests(shop.home)

    assert (received_intents(receiver), explain_due_digests(shop.home)) == (["auth"], "")


@pytest.mark.slow
def test_two_questions_have_a_digest_each(shop: DigestHome, receiver: WebhookReceiver) -> None:
    shop.ask(auth=SIGN_IN, billing=BILLING)
    shop.repo.commit(SHORTER | CHEAPER)

    build(shop.home)

    assert sorted(received_intents(receiver)) == ["auth", "billing"]


def kinds(markdown: str) -> set[str]:
    """Of what a reader that allows everything would make of a text."""
    blocks = MarkdownIt("commonmark", {"html": True}).parse(markdown)
    return {token.type for block in blocks for token in (block, *(block.children or ()))}


def test_the_words_of_a_repository_do_nothing_in_a_preview(shop: DigestHome) -> None:
    shop.repo.commit({"shop/auth.py": HOSTILE})
    build(shop.home)

    made = Build(shop.home, "shop", "run", BuildOptions())
    shown = made.show("intent_digests")["preview"]

    assert isinstance(shown, Markdown)
    assert "auth" in shown.text
    assert not kinds(shown.text) & {"html_block", "html_inline", "link_open", "image"}


@pytest.mark.slow
def test_what_waits_is_shown_with_place_and_score(shop: DigestHome) -> None:
    shop.ask(auth={**SIGN_IN, "schedule": {"every": "daily"}})
    shop.repo.commit(SHORTER)

    done = build(shop.home)
    shown = Build(shop.home, "shop", "run", BuildOptions()).show("intent_matches")["preview"]

    assert done["intent_digests"].values["digests"] == 0, "it is not due with the build"
    assert isinstance(shown, Markdown)
    assert shown.text.splitlines()[0] == "| standing question | waiting | document | place | change | score |"
    assert "auth | 1 | sign" in shown.text
    assert "changed | 0\\." in shown.text
