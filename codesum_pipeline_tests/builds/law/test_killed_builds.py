"""A build that is killed at any point leaves a state from which the next one ends right."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.lease import current_holder, hold_lease
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.edits import swap, together
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

ROOT = Path(__file__).parents[3]
# How many files, links and folders a build of a changed shop puts in place, at least and at most.
LEAST_RENAMES = 18
MOST_RENAMES = 60

CHANGED = together(
    swap("shop/money.py", "cents / 100", "round(cents / 100, 2)"),
    swap("shop/orders/delivery.py", "Brings an order to its buyer.", "Carries an order to whoever bought it."),
    swap("README.md", "A small shop that sells things.", "A bigger shop."),
)(SHOP)


def kill_a_build(home: Path, repo: GitRepo, number: int, moment: str, *sizes: str) -> int:
    """Run a build in a process of its own that kills itself; its exit status."""
    command = [sys.executable, "-m", "codesum_pipeline_tests.builds.law.killed_build", str(home), str(repo.path)]
    done = subprocess.run([*command, str(number), moment, *sizes], cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


def must_go_back(folder: Path, number: int, moment: str) -> bool:
    """Kill a build of a commit that adds a file, go back to the commit before, and compare."""
    repo = GitRepo.create(folder / "shop", SHOP)
    home = folder / "home"
    build(workspace_at(home, repo))
    repo.commit_exactly({**SHOP, "shop/added.py": "class Added:\n    def work(self, a):\n        return a.b()\n"})
    status = kill_a_build(home, repo, number, moment)
    repo.commit_exactly(SHOP)
    after = workspace_at(home, repo, run_id="after")
    with hold_lease(after.layout.state("shop"), key="shop", run_id="after"):
        build(after)
    must_equal_a_clean_build(after, repo, folder / "clean")
    return status != 0


def must_recover(folder: Path, number: int, moment: str) -> bool:
    """Build, change, kill a build, and check readers, lease and the next build; whether the kill came in time."""
    repo = GitRepo.create(folder / "shop", SHOP)
    home = folder / "home"
    before = workspace_at(home, repo)
    build(before)
    published = before.layout.published("shop").resolve()
    repo.commit_exactly(CHANGED)

    status = kill_a_build(home, repo, number, moment)

    assert verify_index(before.layout, "shop") == []
    if status == 0:
        return False
    assert published.is_dir()
    left = current_holder(before.layout.state("shop"))
    assert left is not None and left.is_gone()
    after = workspace_at(home, repo, run_id="after")
    with hold_lease(after.layout.state("shop"), key="shop", run_id="after"):
        build(after)
    must_equal_a_clean_build(after, repo, folder / "clean")
    assert verify_index(after.layout, "shop", tables=after.tables) == []
    assert [path.name for path in after.layout.versions("shop").iterdir() if path.name.startswith(".")] == []
    return True


def test_a_build_killed_at_a_random_point_is_completed_by_the_next(tmp_path: Path) -> None:
    chance = random.Random(0)

    assert must_recover(tmp_path, chance.randint(1, LEAST_RENAMES), chance.choice(["before", "after"]))


@pytest.mark.slow
def test_going_back_after_a_killed_build_leaves_nothing_of_it(tmp_path: Path) -> None:
    assert must_go_back(tmp_path, 4, "after")


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_build_killed_at_any_point_is_completed_by_the_next(tmp_path: Path, moment: str) -> None:
    killed = [number for number in range(1, MOST_RENAMES) if must_recover(tmp_path / str(number), number, moment)]

    assert len(killed) >= LEAST_RENAMES
    assert killed == list(range(1, len(killed) + 1))


@pytest.mark.slow
def test_going_back_after_a_build_killed_at_any_point_leaves_nothing_of_it(tmp_path: Path) -> None:
    killed = [number for number in range(1, MOST_RENAMES) if must_go_back(tmp_path / str(number), number, "after")]

    assert len(killed) >= LEAST_RENAMES
