"""Previews from what is kept of parts of tables say what they would say of all rows."""

import random
from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.build_values import PREVIEW, Markdown, Values
from codesum_pipeline.builds.steps.shows import SHOWS
from codesum_pipeline.foundation.data_model.markdown import markdown_table
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
    for kind in ("preview", "shown"):
        for path in ws.layout.memos(ws.key).glob(f"*.{kind}.arrow"):
            path.unlink()


@pytest.mark.parametrize("seed", [0, 500])
def test_previews_after_edits_are_those_of_all_rows(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
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


def test_a_lane_counts_its_documents_and_texts(tmp_path: Path) -> None:
    twins = {f"{name}.py": "def pay():\n    raise ValueError('no money')\n" for name in "ab"}
    built = workspace_at(tmp_path / "home", GitRepo.create(tmp_path / "shop", twins))
    build(built)
    with built.connect("terms") as connection:
        rows = connection.execute(
            "SELECT lane, count(*), count(DISTINCT text_hash) FROM terms GROUP BY lane ORDER BY lane"
        ).fetchall()

    assert max(count for *_, count, _ in rows) > 1
    heads = ["lane", "documents", "different texts"]
    assert SHOWS["sparse_index"](built) == {PREVIEW: Markdown(markdown_table(heads, rows))}
