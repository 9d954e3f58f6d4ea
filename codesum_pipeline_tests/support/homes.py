"""The steps of a build in order: the same functions that the assets call."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace, write_serving_file
from codesum_pipeline.indexes.publishing import publish
from codesum_pipeline.search.overviews import page as overview
from codesum_pipeline_tests.support.repositories import GitRepo

Reports = Mapping[str, Any]


def open_home(home: Path, **settings: Any) -> Home:
    """A home with these settings, and nothing from the environment."""
    return Home(load_settings({"home": home, **settings}, environ={}))


def workspace_of(home: Home, entry: RepositoryEntry, *, run_id: str = "run", force: bool = False) -> Workspace:
    """A workspace of `entry`, registered if it is not."""
    if entry.key not in {known.key for known in home.registry.entries()}:
        home.registry.add(entry)
    return home.workspace(entry.key, run_id=run_id, force=force, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))


def built_once(
    folder: Path,
    files: Mapping[str, str | bytes],
    *,
    key: str = "shop",
    entry: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """`folder` with `repository`, and `home` in which that was built: see `copy_built`."""
    repo = GitRepo.create(folder / "repository", files)
    build(workspace_of(open_home(folder / "home", **settings), RepositoryEntry(key, str(repo.path), **(entry or {}))))
    return folder


def copy_built(once: Path, folder: Path, *, repository: str = "repository") -> GitRepo:
    """A copy of the home and of its repository, which is where the copied registry says."""
    repo = GitRepo(Path(shutil.copytree(once / "repository", folder / repository, symlinks=True)))
    repo.git("update-index", "--refresh")
    shutil.copytree(once / "home", folder / "home", symlinks=True)
    registry = folder / "home" / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(once / "repository"), str(repo.path)))
    return repo


def build(
    workspace: Workspace, *, until: str | None = None, may_fail: bool = False, serving_file: bool = False
) -> Reports:
    """Run the steps in order, up to and with `until`; their reports by name. No item may fail unless it is said.

    The file for other DuckDB clients has its views only where it is asked for.
    """
    reports: dict[str, Any] = {}
    with nullcontext() if serving_file else empty_serving_file():
        for step in STEPS:
            done = carry_out(step, workspace)
            assert may_fail or not done.failures, done.failures
            reports[step.name] = done.report
            if step.name == until:
                break
    return reports


@contextmanager
def empty_serving_file() -> Iterator[None]:
    """Steps of this thread leave the file for other DuckDB clients empty: its views take a third of a small build."""
    before = _IS_EMPTY.set(True)
    try:
        yield
    finally:
        _IS_EMPTY.reset(before)


_IS_EMPTY = ContextVar("_IS_EMPTY", default=False)


def _write_where_wanted(store: TableStore, path: Path) -> None:
    if _IS_EMPTY.get():
        path.touch()
    else:
        write_serving_file(store, path)


for writer in (publish, overview):
    vars(writer)[write_serving_file.__name__] = _write_where_wanted
