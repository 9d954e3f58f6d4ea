"""The command line, the pages and the daemon of a home whose records are in Postgres."""

from pathlib import Path

import pytest

from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop_home import FILES

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


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_the_driver_of_postgres_is_named_whatever_the_address_says(scheme: str) -> None:
    from codesum_pipeline.builds.dagster.postgres import with_driver

    assert with_driver(f"{scheme}://user@db/x") == "postgresql+psycopg2://user@db/x?connect_timeout=10"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://user:secret@db/x",
        "mysql://user:secret@db/x",
        "postgresql://user:secret@db:port/x",
        "secret",
    ],
)
def test_another_driver_and_what_is_no_address_are_refused_with_the_words_to_write(url: str) -> None:
    from codesum_pipeline.builds.dagster.postgres import with_driver

    with pytest.raises(
        ConfigurationError, match=r"is no address, or .*: write postgresql\+psycopg2://USER@HOST:PORT/NAME"
    ) as refused:
        with_driver(url)
    assert "secret" not in str(refused.value)
