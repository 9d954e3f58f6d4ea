"""Runs behind the promotion gate: what a person sees of a hold, and that nothing tries it again."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import PUBLISHED_INDEX, is_held
from codesum_pipeline.builds.dagster.observing import observe_repositories
from codesum_pipeline.builds.dagster.planner import BuildDecision, plan_builds
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, write_questions
from codesum_pipeline.source.repositories.poll_state import open_poll_state

RunJob = Callable[..., dg.ExecuteInProcessResult]
QUERIES = (
    "what a customer wants to buy", "return the sum to pay", "raise for an empty cart", "carts of customers",
    "checkout with a discount", "add up the prices of items", "sum of all prices", "prices", "total of items",
    "loop over items and add their price",
)  # fmt: skip
GATED = '[evaluation]\nenabled = true\ngate = true\nquestions = "questions.jsonl"\n'
# A slip of the keyboard that leaves out nearly everything.
SLIP = 'skip_patterns = ["shop/"]\n'


@pytest.fixture
def begin_with(job_template: Path) -> Path:
    return job_template


@pytest.fixture
def configure(home: Home) -> Callable[[str], None]:
    """`configure(text)`: the home's settings; its questions lie beside them."""
    questions = [
        Question(str(number), query, (AnswerPlace("shop/cart.py" if number < 5 else "shop/prices.py"),))
        for number, query in enumerate(QUERIES)
    ]
    write_questions(home.layout.home / "questions.jsonl", questions)

    def write(text: str) -> None:
        (home.layout.home / "codesum.toml").write_text(text, encoding="utf-8")

    return write


def verdict(home: Home, instance: dg.DagsterInstance) -> BuildDecision:
    from codesum_pipeline.builds.codesum_home.settings_loading import load_settings

    now = Home(load_settings({"home": home.settings.home}, environ={}))
    with open_poll_state(now.layout) as state:
        seen = observe_repositories(now, instance, state, now.registry.entries()).observations
    return plan_builds(seen, max_attempts=3, max_requests=1).verdicts["shop"]


def published_digest(home: Home) -> str:
    version = published_version(home.layout, "shop")
    assert version is not None
    return version.digest


def made(result: dg.ExecuteInProcessResult, asset: str) -> list[dg.AssetMaterialization]:
    return [
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey(asset)
    ]


def last_checks(instance: dg.DagsterInstance, name: str) -> list[dg.AssetCheckEvaluation]:
    """The newest evaluation of a check of the published index, as the UI shows it."""
    key = dg.AssetCheckKey(PUBLISHED_INDEX, name)
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
    return [
        record.event.dagster_event.asset_check_evaluation_data
        for record in records
        if record.event and record.event.dagster_event
    ]


@pytest.mark.slow
def test_a_held_run_says_why_serves_the_last_version_and_is_not_tried_again(
    configure: Callable[[str], None], run_job: RunJob, home: Home, instance: dg.DagsterInstance
) -> None:
    configure(GATED)
    assert run_job("shop").success
    good = published_digest(home)

    configure(SLIP + GATED)
    assert verdict(home, instance) is BuildDecision.BUILD
    held = run_job("shop")

    assert not held.success and published_digest(home) == good
    (check,) = [found for found in held.get_asset_check_evaluations() if found.check_name == "candidate_is_not_worse"]
    assert (check.passed, check.blocking, check.partition) == (False, True, "shop")
    assert check.description is not None
    assert check.description.startswith(
        "the new index answers 10 questions worse than the published one: 0.000 against"
    )
    scores = {name: value.value for name, value in check.metadata.items()}
    assert (scores["compared"], scores["candidate_score"]) == (10, 0.0)
    assert scores["gain_low"] <= scores["gain_high"] < -0.02 < 0 < scores["published_score"]
    assert not made(held, "published_index") and not made(held, "repo_overview")
    assert is_held(instance.get_runs(limit=1)[0])
    (at_head,) = last_checks(instance, "index_is_at_head")
    assert (at_head.passed, at_head.description) == (False, check.description)
    assert verdict(home, instance) is BuildDecision.HELD

    configure(SLIP + GATED.replace("gate = true", "gate = false"))
    assert verdict(home, instance) is BuildDecision.BUILD
    assert run_job("shop").success and published_digest(home) != good
    assert verdict(home, instance) is BuildDecision.UP_TO_DATE


@pytest.mark.slow
def test_an_evaluation_shows_its_figures_and_their_course(
    configure: Callable[[str], None], run_job: RunJob, home: Home
) -> None:
    configure(GATED)

    (evaluated,) = made(run_job("shop"), "retrieval_evaluation")
    shown = evaluated.metadata

    assert (shown["enabled"].value, shown["questions"].value, shown["asked"].value) == (True, 10, 10)
    assert 0 < shown["ndcg_at_10"].value <= 1  # type: ignore[operator]
    assert "| all lanes | all | " in str(shown["preview"].value)
    assert "| all | 10 | code only | " in str(shown["lift"].value)
    assert 0 < shown["code_only_ndcg_at_10"].value <= 1  # type: ignore[operator]
    assert str(shown["plot"].value).startswith("| nDCG@10 | 0 to 1, oldest first | last |\n")
    assert sum(len(str(value.value)) for value in shown.values()) < 60_000
