"""What a build writes through files that stay open is what Dagster reads."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.utils import make_new_run_id

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.runs import MODULE, REPOSITORY
from codesum_pipeline.builds.reports.build_values import RunOutcome
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.builds.dagster.conftest import FILES
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunOutcome]:
    """A folder with a home, and how the one build in it ended."""
    folder = tmp_path_factory.mktemp("records")
    home = open_home(folder / "home")
    home.registry.add(RepositoryEntry("shop", str(GitRepo.create(folder / "shop", FILES).path)))
    (outcome,) = index_repositories(home, ["shop"])
    return folder, outcome


@pytest.fixture
def begin_with(template: tuple[Path, RunOutcome]) -> Path:
    return template[0]


@pytest.fixture
def built(home: Home, template: tuple[Path, RunOutcome]) -> RunOutcome:
    return template[1]


@pytest.fixture
def dagsters_own(home: Home, built: RunOutcome) -> dg.DagsterInstance:
    return dg.DagsterInstance.from_config(str(home.layout.dagster_home))


def revision(file: Path) -> str:
    with sqlite3.connect(file) as connection:
        (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(found)


def test_dagster_reads_the_run_its_events_and_its_materialisations(
    built: RunOutcome, dagsters_own: dg.DagsterInstance
) -> None:
    run = dagsters_own.get_run_by_id(built.run_id)
    assert run is not None and run.status is dg.DagsterRunStatus.SUCCESS
    events = [
        record.event_log_entry.dagster_event_type for record in dagsters_own.get_records_for_run(built.run_id).records
    ]
    assert events.count(dg.DagsterEventType.ASSET_MATERIALIZATION) == 17
    assert events[-1] is dg.DagsterEventType.RUN_SUCCESS
    for key in dagsters_own.all_asset_keys():
        wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=["shop"])
        assert len(dagsters_own.fetch_materializations(wanted, limit=5).records) == 1


def test_a_runs_file_has_dagsters_revision_so_that_its_migrations_find_it(home: Home, built: RunOutcome) -> None:
    folder = home.layout.dagster_home / "history" / "runs"

    assert revision(folder / f"{built.run_id}.db") == revision(folder / "index.db")


def test_dagster_writes_on_where_a_build_ended(dagsters_own: dg.DagsterInstance, built: RunOutcome, home: Home) -> None:
    dagsters_own.add_run_tags(built.run_id, {"kept": "yes"})
    dagsters_own.delete_dynamic_partition("codesum_repos", "shop")

    with open_instance(home.layout) as instance:
        run = instance.get_run_by_id(built.run_id)
        assert run is not None and run.tags["kept"] == "yes"
        assert instance.get_dynamic_partitions("codesum_repos") == []


def test_a_build_of_the_command_line_has_the_origin_that_the_timeline_groups_runs_by(
    built: RunOutcome, dagsters_own: dg.DagsterInstance
) -> None:
    run = dagsters_own.get_run_by_id(built.run_id)
    assert run is not None and run.remote_job_origin is not None
    origin = run.remote_job_origin.repository_origin

    assert (origin.code_location_origin.location_name, origin.repository_name) == (MODULE, REPOSITORY)


@pytest.mark.slow
def test_a_run_may_be_looked_at_in_the_moment_in_which_it_begins(
    home: Home, built: RunOutcome, dagsters_own: dg.DagsterInstance
) -> None:
    """Whoever opens a run's file first makes it: a page of the UI, or the build."""
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")

    def look(run_id: str) -> int:
        while not dagsters_own.has_run(run_id):
            pass
        return len(dagsters_own.all_logs(run_id))

    with open_instance(home.layout) as instance, ThreadPoolExecutor(1) as beside:
        for _ in range(30):
            run_id = make_new_run_id()
            seen = beside.submit(look, run_id)
            instance.create_run_for_job(job, run_id=run_id)
            written = len(instance.all_logs(run_id))
            assert seen.result() <= written
            assert len(dagsters_own.all_logs(run_id)) == written > 0
    assert not list((home.layout.dagster_home / "history" / "runs").glob(".*"))
