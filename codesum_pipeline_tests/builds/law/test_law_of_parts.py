"""The law where tables are cut into many parts: which parts there are shows in no row and in no published file."""

import random
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store import table_parts
from codesum_pipeline_tests.builds.law.test_killed_builds import CHANGED, LEAST_RENAMES, kill_a_build
from codesum_pipeline_tests.builds.law.test_law import differences, must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

OTHERS = [pytest.param(number, marks=pytest.mark.slow) for number in (1, table_parts.MODULUS, 0)]
# Paths whose order differs from that of their ids, and folders beside files of the same beginning.
_NAMES = ["shop.py", "shop/cart.py.b.py", "shop/cart.pyi", "shop-x/a.py", "shop/a b.py", "shop/é.py", "z.py"]
NEIGHBOURS = {path: f'"""Of {number}."""\n\n\ndef do_{number}():\n    pass\n' for number, path in enumerate(_NAMES)}
SMALL = {"LEAST_ROWS": 0, "LEAST_SOURCES": 0, "LEAST_PART_ROWS": 0}


def cut_by(modulus: int, patch: pytest.MonkeyPatch) -> None:
    for name, number in {**SMALL, "MODULUS": modulus}.items():
        patch.setattr(table_parts, name, number)
    table_parts._cuts.cache_clear()


@pytest.mark.parametrize("modulus", [3, *OTHERS])
def test_edits_of_a_repository_in_parts_end_in_the_index_of_a_clean_build_without_any(
    modulus: int, tmp_path: Path
) -> None:
    chance = random.Random(modulus)
    repo = GitRepo.create(tmp_path / "shop", files := {**SHOP, **NEIGHBOURS})
    built = workspace_at(tmp_path / "home", repo)
    with pytest.MonkeyPatch.context() as patch:
        cut_by(modulus, patch)
        build(built)
        for _ in range(5):
            files = change(files, chance.choice(OPERATIONS), chance)
            repo.commit_exactly(files)
            build(built)
        clean = workspace_at(tmp_path / "clean in parts", repo)
        build(clean)
        hashes = [
            {table: each.tables.content_hash(table, "shop") for table in ("symbols", "documents", "terms", "vectors")}
            for each in (built, clean)
        ]
    table_parts._cuts.cache_clear()

    assert hashes[0] == hashes[1]
    assert differences(built, clean) == (None, None)
    must_equal_a_clean_build(built, repo, tmp_path / "clean")


@pytest.mark.parametrize("number", [5, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, LEAST_RENAMES))])
def test_a_build_in_parts_that_is_killed_is_completed_by_the_next(number: int, tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    built = workspace_at(tmp_path / "home", repo)
    sizes = [f"foundation.store.table_parts:{name}={value}" for name, value in {**SMALL, "MODULUS": 3}.items()]
    with pytest.MonkeyPatch.context() as patch:
        cut_by(3, patch)
        build(built)
        repo.commit_exactly(CHANGED)
        status = kill_a_build(tmp_path / "home", repo, number, "after", *sizes)
        built = workspace_at(tmp_path / "home", repo, run_id="after")
        build(built)
    table_parts._cuts.cache_clear()

    assert status != 0
    must_equal_a_clean_build(built, repo, tmp_path / "clean")
