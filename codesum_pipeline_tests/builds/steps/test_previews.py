"""Previews that are kept say what they would say of the tables as they are."""

import random
from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.build_values import Values
from codesum_pipeline.builds.steps.shows import SHOWS
from codesum_pipeline.foundation.store import table_parts
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import workspace_at
from codesum_pipeline_tests.builds.law.test_law_of_parts import NEIGHBOURS, cut_by
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP


def previews(ws: Workspace) -> dict[str, Values]:
    return {step: show(ws) for step, show in SHOWS.items()}


def forget(ws: Workspace) -> None:
    """Delete all that is kept of previews."""
    for path in ws.layout.memos(ws.key).glob("*.shown.arrow"):
        path.unlink()


def test_previews_after_edits_are_those_of_all_rows(tmp_path: Path) -> None:
    chance = random.Random(0)
    repo = GitRepo.create(tmp_path / "shop", files := {**SHOP, **NEIGHBOURS})
    built = workspace_at(tmp_path / "home", repo)
    with pytest.MonkeyPatch.context() as patch:
        cut_by(3, patch)
        for _ in range(4):
            build(built)
            found = previews(built)
            assert previews(built) == found
            forget(built)
            assert previews(built) == found
            files = change(files, chance.choice(OPERATIONS), chance)
            repo.commit_exactly(files)
    table_parts._cuts.cache_clear()
