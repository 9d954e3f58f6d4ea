"""From commit to digest: the job that builds an index tells those who asked for it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.scheduled_digests import write_rollups
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.notifications.digests.digest_rows import DigestState
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.builds.dagster.conftest import _run_job, with_settings
from codesum_pipeline_tests.builds.dagster.digest_home import FILES, SHORTER, SIGN_IN, DigestHome
from codesum_pipeline_tests.notifications.digests.history_rows import cited, row
from codesum_pipeline_tests.support.commands import run_codesum
from codesum_pipeline_tests.support.digest_items import answer as digest_answer
from codesum_pipeline_tests.support.digest_items import claim
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.llm_server import Says, ScriptedServer
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver
from codesum_pipeline_tests.support.repositories import GitRepo

RunJob = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture
def shop(home: Home, git_repo: Callable[..., GitRepo], receiver: WebhookReceiver) -> DigestHome:
    """A repository that was never built, and one question about it."""
    found = DigestHome.at(home, git_repo(FILES, name="shop"), hook=receiver.url)
    found.ask(auth=SIGN_IN)
    return found


@pytest.fixture
def run(home: Home, instance: dg.DagsterInstance) -> RunJob:
    """`run()`, `run(key="other")`: the job, by a process that reads its settings from the home, as Dagster's do."""
    return lambda key="shop", **options: _run_job(open_home(home.layout.home, lease_wait_s=0), instance, key, **options)


def metadata(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Any]:
    (found,) = result.asset_materializations_for_node(asset)
    return {name: value.value for name, value in found.metadata.items()}


def received_intents(receiver: WebhookReceiver) -> list[str]:
    """The questions that digests came about."""
    return [each.json["intent"] for each in receiver.received]


@pytest.mark.slow
def test_a_change_that_concerns_a_question_is_told_once(
    shop: DigestHome, run: RunJob, receiver: WebhookReceiver
) -> None:
    assert run().success
    assert received_intents(receiver) == [], "the first build has nothing to compare with"

    shop.repo.commit(SHORTER)
    second = run()
    assert second.success
    assert received_intents(receiver) == ["auth"]
    assert metadata(second, "intent_digests")["digests"] == 1
    (digest,) = shop.digests
    assert digest.repositories == ("shop",)
    assert [cited.document_id for cited in digest.result.citations] == ["shop/auth.py::sign_in"]

    assert run().success
    assert received_intents(receiver) == ["auth"], "the same commit again has nothing to tell"
    assert len(shop.ticks) == 1


@pytest.mark.slow
def test_a_build_from_the_command_line_tells_too(shop: DigestHome, receiver: WebhookReceiver, tmp_path: Path) -> None:
    """Its steps are carried out by a process without Dagster."""
    index = ("--home", shop.folder, "index", "shop")
    assert run_codesum(*index, cwd=tmp_path).returncode == 0
    shop.repo.commit(SHORTER)

    done = run_codesum(*index, cwd=tmp_path)

    assert (done.returncode, received_intents(receiver)) == (0, ["auth"]), done.stderr
    assert "1 digest written" in done.stdout
    assert "nothing to do" in run_codesum(*index, cwd=tmp_path).stdout
    assert received_intents(receiver) == ["auth"]


def look(home: Home, instance: dg.DagsterInstance, at: datetime, name: str = "digests") -> dg.RunRequest | str:
    """What the schedule says at a moment: a request, or why there is none."""
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()
    with dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=at,
        repository_def=repository,
        resources=dict(definitions.resources or {}),
    ) as context:
        found = repository.get_schedule_def(name).evaluate_tick(context)
    return found.run_requests[0] if found.run_requests else str(found.skip_message)


def test_a_daily_digest_is_asked_for_from_its_moment_on_until_it_is_made(
    shop: DigestHome, instance: dg.DagsterInstance
) -> None:
    shop.ask(auth={**SIGN_IN, "schedule": {"every": "daily", "at": "07:00", "timezone": "Europe/Berlin"}})
    with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
        store.mark_served("auth", "2026-11-20T06:00:00.000Z")

    def at(day: int, hour: int, minute: int = 0) -> dg.RunRequest | str:
        return look(shop.home, instance, datetime(2026, 11, day, hour, minute, tzinfo=UTC))

    assert at(21, 5, 45) == "no digest is due"
    assert isinstance(at(21, 6, 0), dg.RunRequest), "seven o'clock in Berlin"
    assert isinstance(at(21, 6, 15), dg.RunRequest), "nothing was made of it"
    assert isinstance(at(25, 12), dg.RunRequest), "after days without a look"

    with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
        store.mark_served("auth", "2026-11-25T06:00:00.000Z")
    assert at(25, 12) == "no digest is due"


def test_nothing_is_looked_at_where_nobody_asked(home: Home, instance: dg.DagsterInstance) -> None:
    assert look(home, instance, datetime(2026, 11, 21, 6, tzinfo=UTC)) == "no digest is due"
    assert "too few digests" in str(look(home, instance, datetime(2026, 12, 1, 14, tzinfo=UTC), "digest_rollup"))
    assert not home.layout.digests.exists()


def test_a_roll_up_that_was_badly_answered_starts_no_run_until_something_differs_on_any_day(
    shop: DigestHome, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPORTER_KEY", "any word will do")
    days = iter(("2026-10-01", "2026-10-08", "2026-10-15"))

    def tell_one() -> None:
        day = next(days)
        text = "Sessions end after 8 hours [1]."
        with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
            told = row(day, day, text, cited("shop/auth.py::sign_in"))
            store.record(None, replace(told, intent_name="auth", state=DigestState.QUEUED, told_at=told.created_at))

    def at(day: int) -> dg.RunRequest | str:
        return look(shop.home, instance, datetime(2026, 11, day, 14, tzinfo=UTC), "digest_rollup")

    tell_one()
    tell_one()
    bad = digest_answer(claim("It is all new.", 1, quote="words that stand nowhere"))
    with ScriptedServer(lambda _request: Says(bad)) as server:
        shop.configure(
            f'[llm]\nenabled = true\nmodel = "openai/r"\napi_base = "{server.base}"\napi_key_env = "REPORTER_KEY"\n'
            'prices = [{model = "openai/r", input = 1.0, output = 2.0}]\n'
        )
        assert isinstance(at(2), dg.RunRequest)
        done = write_rollups(shop.home, now=lambda: datetime(2026, 11, 2, 14, tzinfo=UTC))
        assert (len(server.seen), len(done.failures)) == (3, 1)

        skipped = str(at(3))
        assert skipped.startswith("no roll-up of auth for 2026-10: ")
        assert "else from 2026-11-09 14:00 UTC on; `codesum digest run --again` asks now, and pays again" in skipped
        assert isinstance(at(10), dg.RunRequest), "a week is over"
        tell_one()
        assert isinstance(at(3), dg.RunRequest), "there is another digest"
        assert isinstance(at(28), dg.RunRequest), "also late in the month"
    cron = build_defs({"home": shop.folder}).get_repository_def().get_schedule_def("digest_rollup").cron_schedule
    assert cron == "0 14 * * *"


def test_questions_that_cannot_be_read_do_not_break_the_look(shop: DigestHome, instance: dg.DagsterInstance) -> None:
    with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
        store.mark_served("auth", "2026-11-20T06:00:00.000Z")
    (shop.folder / "intents.yaml").write_text("intents: [")

    assert look(shop.home, instance, datetime(2026, 11, 21, 6, tzinfo=UTC)) == "no digest is due"


def test_while_a_run_goes_on_no_other_is_asked_for(shop: DigestHome, instance: dg.DagsterInstance) -> None:
    shop.ask(auth={**SIGN_IN, "schedule": {"every": "daily", "at": "07:00"}})
    with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
        store.mark_served("auth", "2026-11-20T06:00:00.000Z")
    instance.add_run(dg.DagsterRun("send_digests", status=dg.DagsterRunStatus.STARTED))

    assert "the run before goes on" in str(look(shop.home, instance, datetime(2026, 11, 21, 8, tzinfo=UTC)))


@pytest.mark.slow
def test_a_daily_question_has_one_digest_over_all_repositories_however_many_days_passed(
    shop: DigestHome, run: RunJob, home: Home, instance: dg.DagsterInstance, receiver: WebhookReceiver, git_repo: Any
) -> None:
    shop.ask(auth={**SIGN_IN, "schedule": {"every": "daily", "at": "00:00"}})
    other = git_repo(FILES, name="other")
    home.registry.add(RepositoryEntry(key="other", location=str(other.path)))
    for repo in (shop.repo, other):
        assert run(key=repo.path.name).success
    for repo in (shop.repo, other):
        repo.commit(SHORTER)
        assert run(key=repo.path.name).success
    assert (received_intents(receiver), shop.waiting) == ([], {"auth": 2})
    with open_digests(shop.folder / "digests.sqlite", now=utc_now) as store:
        store.mark_served("auth", iso_moment(utc_now() - timedelta(days=5)))

    done = scheduled(home, instance, "send_digests")
    again = scheduled(home, instance, "send_digests")

    assert (done.success, again.success) == (True, True)
    assert received_intents(receiver) == ["auth"]
    (digest,) = shop.digests
    assert digest.repositories == ("other", "shop")
    assert metadata(done, "scheduled_digests")["digests"] == 1
    assert "sign" in metadata(done, "scheduled_digests")["preview"]


def test_a_run_of_a_schedule_may_not_say_where_anything_is_sent(home: Home, instance: dg.DagsterInstance) -> None:
    channels = {"delivery": {"channels": {"mine": {"kind": "webhook", "url": "https://example.com"}}}}

    result = scheduled(home, instance, "send_digests", run_config=with_settings(channels))

    assert not result.success
    assert not home.layout.digests.exists()


def scheduled(home: Home, instance: dg.DagsterInstance, job: str, **options: Any) -> dg.ExecuteInProcessResult:
    definitions = build_defs({"home": home.settings.home})
    return definitions.resolve_job_def(job).execute_in_process(instance=instance, raise_on_error=False, **options)
