"""Two workers and a daemon build twenty repositories while everything that they need fails once."""

from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline_tests.building import build, open_home, workspace_of
from codesum_pipeline_tests.cli.shop import FILES
from codesum_pipeline_tests.fleet.workers import Fleet
from codesum_pipeline_tests.law.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.repositories import GitRepo

pytestmark = pytest.mark.distributed

KEYS = [f"shop{number:02}" for number in range(20)]


def make_repositories(folder: Path) -> dict[str, Path]:
    """Twenty repositories, no two alike."""
    made = {}
    for number, key in enumerate(KEYS):
        own = {f"shop/own{part}.py": _module(number, part) for part in range(8)}
        made[key] = GitRepo.create(folder / key, {**FILES, **own}).path
    return made


def _module(number: int, part: int) -> str:
    return f'def own{number}_{part}(x):\n    """Add {number}."""\n    total = x + {number}\n    return total\n'


def test_nothing_is_lost_or_built_in_half_whatever_fails(fleet: Fleet, tmp_path: Path) -> None:
    repositories = make_repositories(tmp_path / "repositories")
    fleet.make_quick()
    for key, path in repositories.items():
        open_home(fleet.layout.home).registry.add(RepositoryEntry(key, str(path)))
    fleet.start("daemon", "dev", "--only", "daemon")
    one = fleet.start("one", "worker")
    fleet.start("two", "worker")

    lost = fleet.wait_for_run_of(one, timeout_s=120)
    one.kill()
    three = fleet.start("three", "worker")
    fleet.redis.kill()
    fleet.redis.start()
    fleet.wait_for_run_of(three, timeout_s=120)
    fleet.postgres.kill()
    fleet.postgres.start()
    fleet.wait_until_built(KEYS, timeout_s=300)

    (ended,) = [run for run in fleet.runs() if run.run_id == lost.run_id]
    assert ended.status is dg.DagsterRunStatus.FAILURE
    expected = open_home(tmp_path / "alone")
    found = open_home(fleet.layout.home)
    for key, path in repositories.items():
        alone = workspace_of(expected, RepositoryEntry(key, str(path)))
        build(alone)
        shared = found.workspace(key, run_id="run")
        assert first_difference(table_rows(shared), table_rows(alone)) is None
        assert first_difference(published_files(shared), published_files(alone)) is None
