"""The law beside a compiler's index that is fresh, stale, damaged or gone: what counts is decided file by file."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import differences
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.python_indexer import index_python
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP, Files


def _workspace(home: Path, repo: GitRepo) -> Workspace:
    return workspace_of(open_home(home), RepositoryEntry("shop", str(repo.path)))


def _repository(folder: Path, files: Files) -> GitRepo:
    """A repository that ignores the index, as most do."""
    repo = GitRepo.create(folder, files)
    (repo.path / ".git" / "info" / "exclude").write_text("index.scip\n")
    return repo


def _fresh(index: Path, files: Files) -> None:
    index.write_bytes(index_python(files))


def _gone(index: Path, files: Files) -> None:
    index.unlink(missing_ok=True)


def _truncated(index: Path, files: Files) -> None:
    content = index_python(files)
    index.write_bytes(content[: len(content) // 2])


def _as_it_is(index: Path, files: Files) -> None:
    """It falls behind."""


_INDEXERS: tuple[Callable[[Path, Files], None], ...] = (_fresh, _as_it_is, _as_it_is, _fresh, _gone, _truncated)


def _hold_the_law(folder: Path, number: int, edits: int) -> list[int]:
    """Edit, index and build some times, then compare with a clean build; how many files an index counted for."""
    chance = random.Random(number)
    files: Files = SHOP
    repo = _repository(folder / "shop", files)
    index = repo.path / "index.scip"
    _fresh(index, files)
    counting = [build(_workspace(folder / "home", repo))["symbols"].compiled.counting]
    for _ in range(edits):
        files = change(files, chance.choice(OPERATIONS), random.Random(chance.randrange(10_000)))
        repo.commit_exactly(files)
        chance.choice(_INDEXERS)(index, files)
        counting.append(build(_workspace(folder / "home", repo))["symbols"].compiled.counting)
    clean = _workspace(folder / "clean", repo)
    build(clean)
    assert differences(_workspace(folder / "home", repo), clean) == (None, None)
    return counting


@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 12))])
def test_edits_beside_any_index_end_in_the_index_of_a_clean_build(number: int, tmp_path: Path) -> None:
    counting = _hold_the_law(tmp_path, number, edits=12 if number else 5)

    assert counting[0] > 10


def test_an_index_that_comes_changes_and_goes_moves_the_edges_and_no_text(tmp_path: Path) -> None:
    repo = _repository(tmp_path / "shop", SHOP)
    index = repo.path / "index.scip"
    without = build(_workspace(tmp_path / "home", repo))
    _fresh(index, SHOP)
    beside = build(_workspace(tmp_path / "home", repo))
    _gone(index, SHOP)
    again = build(_workspace(tmp_path / "home", repo))

    assert beside["call_graph"].compiled.trusted_edges > 20
    assert (again["call_graph"].compiled.trusted_edges, again["call_graph"].compiled.files) == (0, 0)
    assert again["call_graph"].table_hash == without["call_graph"].table_hash != beside["call_graph"].table_hash
    for report in (beside, again):
        levels = [report[f"{level}_summaries"] for level in ("function", "class", "file", "module")]
        assert [level.written for level in levels] == [0, 0, 0, 0]


def test_the_same_index_and_files_are_read_once(tmp_path: Path) -> None:
    repo = _repository(tmp_path / "shop", SHOP)
    _fresh(repo.path / "index.scip", SHOP)
    build(_workspace(tmp_path / "home", repo))
    (repo.path / "index.scip").touch()

    again = build(_workspace(tmp_path / "home", repo))

    assert (again["symbols"].parsed, again["call_graph"].files_resolved) == (0, 0)
    assert again["call_graph"].compiled.trusted_edges > 20


def test_an_edit_takes_only_its_own_file_from_the_index(tmp_path: Path) -> None:
    repo = _repository(tmp_path / "shop", SHOP)
    _fresh(repo.path / "index.scip", SHOP)
    before = build(_workspace(tmp_path / "home", repo))["symbols"].compiled
    repo.commit({"shop/money.py": "# Moved down.\n" + SHOP["shop/money.py"]})

    after = build(_workspace(tmp_path / "home", repo))["symbols"].compiled

    assert (after.counting, after.stale) == (before.counting - 1, 1)
    assert [path for path, _ in after.ignored] == ["shop/money.py"]
