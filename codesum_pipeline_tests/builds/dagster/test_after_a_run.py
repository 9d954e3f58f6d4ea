"""The job and the sensor where `shop` has been built already."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import last_materialization
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.builds.dagster.test_ticks import verdicts
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo

Look = Callable[..., dg.SensorResult]
RunJob = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def begin_with(job_template: Path) -> Path:
    return job_template


def data_versions(instance: dg.DagsterInstance) -> dict[str, str]:
    """What the last run recorded of each asset."""
    made = {key.to_user_string(): last_materialization(instance, key, "shop") for key in instance.all_asset_keys()}
    return {name: (event.tags or {})["dagster/data_version"] for name, event in made.items() if event}


def wanted(result: dg.SensorResult) -> list[str | None]:
    return [request.partition_key for request in result.run_requests or ()]


def test_a_second_run_materialises_everything_again_and_writes_nothing(
    built_shop: GitRepo, run_job: RunJob, instance: dg.DagsterInstance, home: Home
) -> None:
    first = data_versions(instance)
    # A copied file is another file: the steps that wrote files look once, and note the new ones.
    build(home.workspace("shop", run_id="copied"))

    result = run_job("shop")

    assert result.success
    assert len(first) == 17
    plan = "summary_plan"  # it says what is about to be written: everything, then nothing
    assert {**data_versions(instance), plan: ""} == {**first, plan: ""}
    events = result.get_asset_materialization_events()
    made = {event.asset_key.to_user_string(): event.materialization for event in events if event.asset_key}
    shown = {name: {label: value.value for label, value in event.metadata.items()} for name, event in made.items()}
    levels = ("function_summaries", "class_summaries", "file_summaries", "module_summaries")
    assert [shown[level]["written"] for level in levels] == [0, 0, 0, 0]
    assert shown["dense_index"]["embedded"] == 0
    assert shown["sparse_index"]["tokenized"] == 0
    assert shown["symbols"]["parsed"] == 0
    assert shown["published_index"]["published"] is False
    looking = {"repo_snapshot", "retrieval_evaluation", "published_index"}
    assert {name for name, values in shown.items() if values["reused"] is False} == looking


def test_a_commit_is_noticed_and_gives_the_steps_it_touches_new_data_versions(
    built_shop: GitRepo, run_job: RunJob, instance: dg.DagsterInstance, look: Look, home: Home
) -> None:
    before = data_versions(instance)
    assert look().skip_reason == dg.SkipReason("1 up to date")
    commit = built_shop.commit(
        {"shop/prices.py": 'def total(items):\n    """Sum up."""\n    return sum(items) + len(items)\n'}
    )

    behind = look()
    assert run_job("shop").success

    assert wanted(behind) == ["shop"]
    changed = {name for name, version in data_versions(instance).items() if version != before[name]}
    assert {"repo_snapshot", "symbols", "function_summaries", "summary_documents", "published_index"} <= changed
    assert "class_summaries" not in changed
    version = published_version(home.layout, "shop", read_content=True)
    assert version is not None and version.manifest["commit"] == commit
    assert look().skip_reason == dg.SkipReason("1 up to date")


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_an_index_is_said_to_be_behind_time_and_again(
    built_shop: GitRepo, run_job: RunJob, instance: dg.DagsterInstance, look: Look, times: int
) -> None:
    for number in range(times):
        built_shop.commit({"shop/more.py": f"NUMBER = {number}\n"})

        assert wanted(look()) == ["shop"]
        assert wanted(look()) == ["shop"]
        assert verdicts(instance)[0] == "FAILED"
        assert run_job("shop").success
        assert verdicts(instance)[0] == "SUCCEEDED"


def test_a_changed_setting_is_something_to_build(built_shop: GitRepo, look: Look, home: Home) -> None:
    (home.layout.home / "codesum.toml").write_text("top_k_callers = 2\n")

    assert wanted(look()) == ["shop"]


def test_an_index_that_was_deleted_is_built_again(built_shop: GitRepo, look: Look, home: Home) -> None:
    home.layout.published("shop").unlink()

    assert wanted(look()) == ["shop"]
