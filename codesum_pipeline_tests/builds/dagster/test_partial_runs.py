"""Runs of some steps only: they never mix two states of a repository."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.support.repositories import GitRepo

RunJob = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def begin_with(job_template: Path) -> Path:
    """Every test begins where the job has built `shop`."""
    return job_template


def some(*names: str) -> dict[str, list[dg.AssetKey]]:
    return {"asset_selection": [dg.AssetKey(name) for name in names]}


def failure(result: dg.ExecuteInProcessResult) -> str:
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    return str(failed.step_failure_data.error)


def published_commit(home: Home) -> str:
    version = published_version(home.layout, "shop")
    assert version is not None
    return str(version.manifest["commit"])


@pytest.mark.parametrize(
    "step", ["symbols", "dense_index", "index_candidate", "retrieval_evaluation", "published_index"]
)
def test_a_step_alone_builds_on_the_steps_before_it(step: str, built_shop: GitRepo, run_job: RunJob) -> None:
    assert run_job("shop", **some(step)).success


def test_an_old_index_is_never_published_under_a_new_commit(built_shop: GitRepo, run_job: RunJob, home: Home) -> None:
    first = built_shop.git("rev-parse", "HEAD").strip()
    built_shop.commit({"shop/new.py": "def added(a):\n    if a:\n        return a\n"})
    assert run_job("shop", **some("repo_snapshot")).success

    result = run_job("shop", **some("index_candidate", "retrieval_evaluation", "published_index"))

    assert not result.success
    assert "call_graph was not made from the current snapshot" in failure(result)
    assert "every step from repo_snapshot on" in failure(result)
    assert published_commit(home) == first
    assert run_job("shop").success
    assert published_commit(home) == built_shop.git("rev-parse", "HEAD").strip()


@pytest.mark.slow
def test_texts_of_another_commit_are_never_published_under_the_one_that_came_back(
    built_shop: GitRepo, run_job: RunJob, home: Home
) -> None:
    first = built_shop.git("rev-parse", "HEAD").strip()
    built_shop.commit({"shop/prices.py": 'def total(items):\n    """Something else."""\n    return sum(items)\n'})
    levels = ("function_summaries", "class_summaries", "file_summaries", "module_summaries")
    until = ("repo_snapshot", "symbols", "call_graph", "summary_plan", *levels, "summary_documents")
    assert run_job("shop", **some(*until)).success
    built_shop.git("reset", "-q", "--hard", first)
    assert run_job("shop", **some("repo_snapshot")).success

    result = run_job("shop", **some("index_candidate", "retrieval_evaluation", "published_index"))

    assert not result.success
    assert "was not made from the current snapshot" in failure(result)
    assert published_commit(home) == first
