"""An import that is killed, or meets a full disk, leaves the old index; the next import or build ends right."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import CannotWrite
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.builds.law.killed_build import arm
from codesum_pipeline_tests.builds.law.test_law import differences, must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.bundles import import_into
from codesum_pipeline_tests.support.edits import swap
from codesum_pipeline_tests.support.homes import build, open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.small_disk import files_of_at_most

# How many files, links and folders an import of the shop puts in place: aside, into the home, and in the last steps.
LEAST_RENAMES, MOST_RENAMES = 60, 140
OLD = swap("shop/money.py", "cents / 100", "round(cents / 100, 2)")(SHOP)


@pytest.fixture
def before(exported_once: Path, tmp_path: Path) -> tuple[Path, GitRepo]:
    """A folder whose home has an older index than the bundle's, and the repository of it."""
    folder = tmp_path / "folder"
    repo = GitRepo(Path(shutil.copytree(exported_once / "repository", folder / "clone", symlinks=True)))
    repo.commit_exactly(OLD)
    build(workspace_at(folder / "home", repo))
    repo.git("reset", "-q", "--hard", "HEAD~1")
    return folder, repo


def in_a_process(run: Callable[[], object]) -> int:
    """The status of a fork of this process, which does nothing else."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run()
            status = 0
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def clean_of(folder: Path, repo: GitRepo) -> Workspace:
    """A build in a home of its own."""
    found = workspace_at(folder, repo)
    build(found)
    return found


def must_recover(once: Path, folder: Path, clean: Workspace, number: int, *, by_a_build: bool) -> bool:
    """Kill an import after so many renames; whether the kill came in time. In the end it is as `clean` is."""
    repo = GitRepo(folder / "clone")
    home, bundle = folder / "home", once / "shop.codesum"
    old = workspace_at(home, repo).layout.published("shop").resolve()

    def killed() -> None:
        arm(number, "after")
        import_into(open_home(home), bundle, repo.path)

    status = in_a_process(killed)
    assert status in (0, -signal.SIGKILL)
    layout = open_home(home).layout
    assert old.is_dir() and verify_index(layout, "shop") == []
    if by_a_build:
        after = workspace_at(home, repo, run_id="after")
        with hold_lease(layout.state("shop"), key="shop", run_id="after"):
            build(after)
    else:
        import_into(open_home(home), bundle, repo.path)
        after = workspace_at(home, repo, run_id="after")
    assert differences(after, clean) == (None, None)
    assert verify_index(layout, "shop", tables=after.tables) == []
    return status != 0


@pytest.mark.parametrize(
    ("number", "by_a_build"),
    [
        pytest.param(5, False, id="aside, then imported again"),
        pytest.param(56, True, id="among the tables, then built"),
    ],
)
def test_a_killed_import_leaves_the_old_index_and_can_be_repeated(
    exported_once: Path, before: tuple[Path, GitRepo], tmp_path: Path, number: int, by_a_build: bool
) -> None:
    folder, repo = before

    assert must_recover(exported_once, folder, clean_of(tmp_path / "clean", repo), number, by_a_build=by_a_build)


@pytest.mark.slow
@pytest.mark.parametrize("by_a_build", [False, True])
def test_an_import_killed_at_any_point_leaves_the_old_index(
    exported_once: Path, before: tuple[Path, GitRepo], tmp_path: Path, by_a_build: bool
) -> None:
    folder, repo = before
    clean = clean_of(tmp_path / "clean", repo)
    kept = shutil.copytree(folder, tmp_path / "kept", symlinks=True)
    killed = []
    for number in range(1, MOST_RENAMES):
        if not must_recover(exported_once, folder, clean, number, by_a_build=by_a_build):
            break
        killed.append(number)
        shutil.rmtree(folder)
        shutil.copytree(kept, folder, symlinks=True)

    assert killed == list(range(1, len(killed) + 1))
    assert LEAST_RENAMES < len(killed) < MOST_RENAMES - 1


# Each limit stops another part: the tables aside, the words of the index.
@pytest.mark.parametrize("limit", [pytest.param(2_000, marks=pytest.mark.slow), 20_000])
def test_a_full_disk_leaves_the_old_index(exported_once: Path, before: tuple[Path, GitRepo], limit: int) -> None:
    folder, repo = before
    home = open_home(folder / "home")
    old, hashes = home.layout.published("shop").readlink(), home.tables.content_hash("symbols", "shop")
    names = sorted(path.name for path in home.layout.home.rglob("*"))

    with files_of_at_most(limit), pytest.raises(CannotWrite, match="cannot be written: it would grow over"):
        import_into(home, exported_once / "shop.codesum", repo.path)

    assert home.layout.published("shop").readlink() == old
    assert home.tables.content_hash("symbols", "shop") == hashes
    assert verify_index(home.layout, "shop", tables=home.tables) == []
    assert [name for name in names if "steps" in name] == [
        name for name in sorted(path.name for path in home.layout.home.rglob("*")) if "steps" in name
    ]
    import_into(home, exported_once / "shop.codesum", repo.path)
    must_equal_a_clean_build(workspace_at(folder / "home", repo, run_id="after"), repo, folder / "clean")
