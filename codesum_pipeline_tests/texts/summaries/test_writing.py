"""Texts written in several processes are those that one process writes."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries import level_step, writers
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

Make = Callable[..., Any]


@pytest.fixture
def texts_of(git_repo: Make, make_workspace: Make) -> Callable[[], dict[Level, pa.Table]]:
    """The texts of each level, of a build that writes all of them."""
    repo: GitRepo = git_repo(SHOP, name="shop")

    def write_all() -> dict[Level, pa.Table]:
        workspace: Workspace = replace(make_workspace(repo.path, key="shop"), force=True)
        build(workspace, until="module_summaries")
        return {level: workspace.tables.read(texts_table(level), workspace.key) for level in Level}

    return write_all


@pytest.mark.slow
def test_any_number_of_processes_and_of_batches_gives_the_same_rows(
    texts_of: Callable[[], dict[Level, pa.Table]], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = texts_of()
    monkeypatch.setattr(writers, "BATCH_FUNCTIONS", 3)
    monkeypatch.setattr(writers, "BATCH_UPPER", 1)
    in_small_batches = texts_of()
    monkeypatch.setattr(level_step, "LEAST_FUNCTIONS", 1)
    in_processes = texts_of()

    assert here[Level.FUNCTION].num_rows > 2 * writers.BATCH_FUNCTIONS
    assert all(table.num_rows for table in here.values())
    assert in_small_batches == here
    assert in_processes == here
