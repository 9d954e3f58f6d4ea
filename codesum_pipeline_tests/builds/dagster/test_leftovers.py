"""What models' caps left over, as the sensor sees it: gone on with only while the day's money lasts."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.planner import GOES_ON_TAG
from codesum_pipeline.builds.dagster.resource import run_config_for
from codesum_pipeline.builds.reports.build_values import BuildOptions
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.texts.llm.ledger import AttemptResult, CallAttempt, open_ledger
from codesum_pipeline_tests.builds.dagster.conftest import FILES, _register, _run_job
from codesum_pipeline_tests.builds.dagster.test_ticks import requested, skip_message, verdicts, wanted
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

Look = Callable[..., dg.SensorResult]
SETTINGS = {
    "enabled": "true",
    "model": json.dumps("openai/gpt-4o-mini"),
    "api_key_env": json.dumps("NO_SUCH_KEY"),
    "max_summaries_per_run": "5",
    "documented": "true",
    "max_cost_usd_per_day": "0.5",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`home` and `instance` after a build that had no key, and so left everything over."""
    folder = tmp_path_factory.mktemp("left over")
    home = open_home(folder / "home", lease_wait_s=0)
    _register(home, "shop", GitRepo.create(folder / "shop", FILES).path)
    configure(home)
    (folder / "instance").mkdir()
    with dg.DagsterInstance.local_temp(str(folder / "instance")) as instance:
        assert _run_job(open_home(folder / "home"), instance, "shop").success
    return folder


@pytest.fixture
def begin_with(template: Path) -> Path:
    return template


def configure(home: Home, **changed: str) -> None:
    lines = "".join(f"{name} = {value}\n" for name, value in {**SETTINGS, **changed}.items())
    home.layout.home.mkdir(exist_ok=True)
    (home.layout.home / "codesum.toml").write_text(f"[llm]\n{lines}")


def spend(home: Home, usd: float, *, days_ago: int = 0) -> None:
    """A call that cost so much."""
    earlier = utc_now() - timedelta(days=days_ago)
    with open_ledger(home.layout.state("shop"), run_id="earlier", now=lambda: earlier) as ledger:
        sequence = ledger.reserve(CallAttempt("a.py::f", Level.FUNCTION, "blake3:1", "m", 1, usd))
        ledger.settle(sequence, AttemptResult(AttemptOutcome.GOOD, usd, 1.0))


@pytest.mark.slow
def test_a_build_goes_on_with_what_is_left_over_and_may_spend_what_is_left_of_the_day(
    look: Look, home: Home, instance: dg.DagsterInstance
) -> None:
    spend(home, 0.2)
    spend(home, 7.0, days_ago=2)

    result = look()

    (request,) = result.run_requests or ()
    assert (request.partition_key, request.tags[GOES_ON_TAG]) == ("shop", "true")
    config = request.run_config["resources"]["request"]["config"]
    assert config == {"force": False, "confirm_llm": False, "llm_usd_left": pytest.approx(0.3)}
    assert "FAILED" not in verdicts(instance), "the index is not behind"


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"max_cost_usd_per_day": "0"}, id="never, by default"),
        pytest.param({"max_summaries_per_run": "0"}, id="nothing may be asked for"),
        pytest.param({"backend": json.dumps("noop")}, id="nobody is asked"),
    ],
)
def test_nothing_goes_on_by_itself_where_nothing_may_be_spent(look: Look, home: Home, changed: dict[str, str]) -> None:
    configure(home, **changed)

    assert skip_message(look()) == "1 up to date"


def test_when_the_days_money_is_spent_it_waits(look: Look, home: Home) -> None:
    spend(home, 0.5)

    assert skip_message(look()) == "1 with texts left over"


def test_one_build_at_a_time_goes_on(look: Look, home: Home, instance: dg.DagsterInstance) -> None:
    other = {"dagster/partition": "other", GOES_ON_TAG: "true"}
    requested(instance, home, fingerprint="f", status=dg.DagsterRunStatus.STARTED, tags=other)

    assert skip_message(look()) == "1 with texts left over"


def test_what_gives_nothing_is_not_tried_all_day(look: Look, home: Home, instance: dg.DagsterInstance) -> None:
    for _ in range(home.settings.planner.max_attempts):
        result = look()
        assert wanted(result) == ["shop"]
        (request,) = result.run_requests or ()
        fingerprint = request.tags[FINGERPRINT_TAG]
        requested(instance, home, fingerprint=fingerprint, status=dg.DagsterRunStatus.SUCCESS)

    assert skip_message(look()) == "1 with texts left over"


@pytest.mark.slow
def test_the_run_keeps_within_what_it_may_spend(
    home: Home, run_job: Callable[..., dg.ExecuteInProcessResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_SUCH_KEY", "sk-loopback-0123456789abcdef")

    result = run_job("shop", run_config=run_config_for(BuildOptions(llm_usd_left=0.0)))

    assert result.success
    gates = set(home.tables.read("texts_function", "shop").column("gate").to_pylist())
    assert gates == {"cap"}
