"""What goes of a home's files, and what does not."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.maintenance.freed import FreedSpace, RemovalKind, SkippedUpkeep
from codesum_pipeline.builds.maintenance.maintaining import MaintainedHome
from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryRow
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.text_history import explain_text
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of
from codesum_pipeline_tests.support.killing import killed_at
from codesum_pipeline_tests.support.repositories import GitRepo

PAY = '"""Payments."""\n\n\ndef pay(card, amount):\n    """Charge a card."""\n    if amount > {0}:\n        raise {0}\n'
STRICT = {"maintenance": {"history_rows": 1, "history_days": 1}}
LATER = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def edited_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that built a repository after each of four edits."""
    folder = built_once(tmp_path_factory.mktemp("edited"), {"pay.py": PAY.format(0)})
    repo = GitRepo(folder / "repository")
    workspace = shop(folder, repo)
    for number in range(1, 4):
        repo.commit({"pay.py": PAY.format(number).replace("Charge", f"Charge {number}")})
        build(workspace)
    return folder


@pytest.fixture
def edited(edited_once: Path, tmp_path: Path) -> GitRepo:
    return copy_built(edited_once, tmp_path)


def shop(folder: Path, repo: GitRepo) -> Workspace:
    return workspace_of(open_home(folder / "home", **STRICT), RepositoryEntry("shop", str(repo.path)))


def maintain(home: Home, *, is_dry_run: bool = False, now: datetime = LATER) -> list[FreedSpace | SkippedUpkeep]:
    return [*MaintainedHome(home, now, is_dry_run).maintain()]


def of_kind(kind: RemovalKind, found: list[FreedSpace | SkippedUpkeep]) -> list[FreedSpace | SkippedUpkeep]:
    return [each for each in found if each.kind is kind]


def history(workspace: Workspace) -> list[HistoryRow]:
    return workspace.tables.read_rows("document_history", "shop", HistoryRow)


def every_file(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_dry_run_names_what_would_go_and_changes_nothing(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", **STRICT)
    before = every_file(tmp_path / "home")

    (found,) = maintain(home, is_dry_run=True)

    assert isinstance(found, FreedSpace) and (found.kind, found.repository) == (RemovalKind.HISTORY, "shop")
    assert every_file(tmp_path / "home") == before
    (gone,) = maintain(home)
    assert isinstance(gone, FreedSpace) and gone.count == found.count
    assert maintain(home) == []


def test_what_was_pruned_is_explained_and_built_upon_as_before(edited: GitRepo, tmp_path: Path) -> None:
    workspace = shop(tmp_path, edited)
    # The copied repository is at another place.
    build(workspace)
    before = {row.id: explain_text(workspace, row.id) for row in history(workspace)}
    published = workspace.layout.published("shop").resolve()

    maintain(open_home(tmp_path / "home", **STRICT))
    reports = build(workspace)

    assert {id_: explain_text(workspace, id_) for id_ in before} == before
    assert workspace.layout.published("shop").resolve() == published
    assert sum(reports[f"{level}_summaries"].written for level in LEVELS) == 0


@pytest.mark.slow
def test_an_incremental_build_over_a_pruned_history_equals_a_clean_one(edited: GitRepo, tmp_path: Path) -> None:
    workspace = shop(tmp_path, edited)
    for number, text in enumerate((PAY.format(2), PAY.format(7), PAY.format(0))):
        maintain(open_home(tmp_path / "home", **STRICT))
        edited.commit({"pay.py": text, f"more{number}.py": PAY.format(number)})
        build(workspace)
        must_equal_a_clean_build(workspace, edited, tmp_path / f"clean {number}")
    sequences = [row.sequence for row in history(workspace)]
    assert sequences == sorted(set(sequences))


def test_a_repository_that_is_being_built_is_left_for_the_next_time(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", **STRICT)
    before = history(shop(tmp_path, edited))

    with hold_lease(home.layout.state("shop"), key="shop", run_id="a build"):
        (found,) = maintain(home)

    assert isinstance(found, SkippedUpkeep) and "is being built" in found.because
    assert history(shop(tmp_path, edited)) == before


def test_a_damaged_table_is_told_and_stops_nothing_else(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", **STRICT)
    home.tables.path("document_history", "shop").write_bytes(b"PAR1")
    left = tmp_path / "home" / "state" / ".x.json.1@-2.tmp"
    _make_old(left)

    freed, untouched = maintain(home)

    assert isinstance(freed, FreedSpace) and freed.kind is RemovalKind.LEFTOVERS and not left.exists()
    assert isinstance(untouched, SkippedUpkeep) and "document_history" in untouched.because


def test_what_killed_writers_left_goes_after_a_day(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    old = home.tables.path("files", "shop").with_name(".part-0.parquet.1@-2.tmp")
    new = old.with_name(".part-0.parquet.3@-4.tmp")
    _make_old(old)
    new.write_bytes(b"x")

    (found,) = of_kind(RemovalKind.LEFTOVERS, maintain(home, now=datetime.now(UTC)))

    assert found == FreedSpace(RemovalKind.LEFTOVERS, "", 1, 1)
    assert (old.exists(), new.exists()) == (False, True)


def test_the_index_of_a_work_tree_that_nobody_opens_goes(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    old, new = (home.layout.overlays("shop") / name for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_bytes(b"x")
    _make_old(old)

    (found,) = of_kind(RemovalKind.OVERLAYS, maintain(home, now=datetime.now(UTC)))

    assert found == FreedSpace(RemovalKind.OVERLAYS, "shop", 1, 1)
    assert [path.name for path in home.layout.overlays("shop").iterdir()] == ["new"]


def test_the_mirror_of_a_repository_that_was_taken_out_goes_after_some_time(edited: GitRepo, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    home.registry.remove("shop")
    mirror = home.layout.mirror("shop")

    assert not of_kind(RemovalKind.MIRRORS, maintain(home, now=datetime.now(UTC)))
    assert mirror.exists()
    (found,) = of_kind(RemovalKind.MIRRORS, maintain(home))

    assert isinstance(found, FreedSpace) and found.count == 1 and found.size > 0
    assert not mirror.exists()
    assert home.layout.published("shop").exists()


@pytest.mark.slow
def test_a_maintenance_that_is_killed_at_any_line_leaves_a_home_that_the_next_one_finishes(
    edited_once: Path, tmp_path: Path
) -> None:
    edited = copy_built(edited_once, tmp_path)
    home = open_home(tmp_path / "home", **STRICT)
    whole = history(shop(tmp_path, edited))
    untouched = every_file(home.layout.warehouse)
    maintain(home)
    pruned = history(shop(tmp_path, edited))

    watched = (
        "builds/maintenance/maintaining.py",
        "builds/maintenance/appended_tables.py",
        "foundation/store/tables.py",
        "foundation/store/atomic.py",
    )
    number = 1
    with _forgetting(home, untouched):
        while killed_at(number, lambda: maintain(home), watched=watched, counted=tmp_path / "lines"):
            assert history(shop(tmp_path, edited)) in (whole, pruned)
            number += 7
    maintain(home)
    assert history(shop(tmp_path, edited)) == pruned


@contextmanager
def _forgetting(home: Home, files: dict[str, bytes]) -> Iterator[None]:
    """The tables as they were before, to begin with."""
    for name, content in files.items():
        Path(name).write_bytes(content)
    yield


def _make_old(path: Path) -> None:
    if not path.exists():
        path.write_bytes(b"x")
    long_ago = time.time() - 400 * 86_400
    os.utime(path, (long_ago, long_ago))
