"""The law through the Dagster job itself, as the command line and the UI run it."""

import random
from pathlib import Path

import pytest

from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP, Files


def hold_the_law(number: int, edits: int, tmp_path: Path) -> None:
    """Run the job after every edit of a sequence, then compare with a clean build."""
    chance = random.Random(number)
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    home = open_home(tmp_path / "home")
    workspace = workspace_of(home, RepositoryEntry("shop", str(repo.path)))
    files: Files = SHOP
    for _ in range(edits):
        files = change(files, chance.choice(OPERATIONS), chance)
        repo.commit_exactly(files)
        (outcome,) = index_repositories(home, ["shop"])
        assert outcome.succeeded, outcome.message
    must_equal_a_clean_build(workspace, repo, tmp_path / "clean")


@pytest.mark.parametrize("number", [11])
def test_a_sequence_of_edits_built_by_the_job_ends_in_the_index_of_a_clean_build(number: int, tmp_path: Path) -> None:
    hold_the_law(number, 2, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(11, 14))
def test_a_long_sequence_of_edits_built_by_the_job_ends_in_the_index_of_a_clean_build(
    number: int, tmp_path: Path
) -> None:
    hold_the_law(number, 12, tmp_path)
