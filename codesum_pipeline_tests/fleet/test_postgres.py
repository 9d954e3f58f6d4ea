"""The command line, the pages and the daemon of a home whose records are in Postgres."""

from pathlib import Path

import pytest

from codesum_pipeline.defs.resource import PARTITION_TAG
from codesum_pipeline_tests.cli.shop import FILES
from codesum_pipeline_tests.fleet.workers import Fleet
from codesum_pipeline_tests.repositories import GitRepo

pytestmark = pytest.mark.distributed


def test_codesum_index_records_where_the_pages_look_and_makes_no_file_of_sqlite(fleet: Fleet, tmp_path: Path) -> None:
    repository = GitRepo.create(tmp_path / "shop", FILES)

    fleet.call("index", str(repository.path))
    again = fleet.call("index", "shop")
    doctor = fleet.call("doctor")

    (run,) = fleet.runs()
    assert (run.tags[PARTITION_TAG], run.status.value) == ("shop", "SUCCESS")
    assert "nothing to do" in again
    assert "Dagster" not in doctor
    assert not list(fleet.layout.dagster_home.rglob("*.db"))
