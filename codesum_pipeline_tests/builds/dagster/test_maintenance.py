"""What goes of Dagster's records, and what its pages and the planner still find."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.dagster_records import StorageFile
from codesum_pipeline.builds.dagster.maintenance_job import LOCK, RunRecords, compact_records_file, maintain_everything
from codesum_pipeline.builds.maintenance.freed import FreedSpace, RemovalKind, SkippedUpkeep
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline_tests.support.killing import killed_at
from codesum_pipeline_tests.support.repositories import GitRepo

CHECK = dg.AssetCheckKey(dg.AssetKey("documents"), "are_whole")
MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION
KEYS = dg.DynamicPartitionsDefinition(name="keys")


@dg.asset(partitions_def=KEYS, check_specs=[dg.AssetCheckSpec("are_whole", asset="documents", partitions_def=KEYS)])
def documents(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]
    if "fail" in context.run.tags:
        raise dg.Failure("as asked")
    check = dg.AssetCheckResult(passed=True, check_name="are_whole")
    return dg.MaterializeResult(metadata={"run": context.run_id}, check_results=[check])


@dg.asset(partitions_def=KEYS)
def vectors() -> dg.MaterializeResult[None]:
    return dg.MaterializeResult()


@pytest.fixture
def instance(tmp_path: Path) -> Any:
    (tmp_path / "instance").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "instance")) as temporary:
        temporary.add_dynamic_partitions("keys", ["a", "b"])
        yield temporary


@pytest.fixture
def run(instance: dg.DagsterInstance) -> Callable[..., str]:
    """`run("a", documents)`: a run of some assets for a partition; its id."""
    defs = dg.Definitions(
        assets=[documents, vectors],
        jobs=[dg.define_asset_job("build", selection="*", executor_def=dg.in_process_executor)],
    )

    def execute(key: str, *only: dg.AssetsDefinition, **tags: str) -> str:
        job = defs.resolve_job_def("build")
        selection = [asset.key for asset in only] or None
        return job.execute_in_process(
            partition_key=key, instance=instance, asset_selection=selection, tags=tags, raise_on_error=False
        ).run_id

    return execute


def prune(instance: dg.DagsterInstance, *, keep: int = 2, is_dry_run: bool = False) -> list[FreedSpace]:
    return [*RunRecords(instance, Path(instance.root_directory)).prune(keep=keep, is_dry_run=is_dry_run)]


def run_ids(instance: dg.DagsterInstance) -> list[str]:
    """Oldest first."""
    return [each.run_id for each in reversed(instance.get_runs())]


def shown(instance: dg.DagsterInstance) -> object:
    """What the UI's pages of assets, partitions and checks say."""
    keys = (documents.key, vectors.key)
    checks = instance.event_log_storage.get_latest_asset_check_execution_by_key([CHECK])
    return (
        {key: instance.get_materialized_partitions(key) for key in keys},
        {
            key: instance.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION)
            for key in keys
        },
        {(key, part): _last_run(instance, key, part) for key in keys for part in "ab"},
        {key: (record.run_id, record.status) for key, record in checks.items()},
        instance.get_dynamic_partitions("keys"),
    )


def _last_run(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str) -> str | None:
    wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition])
    records = instance.fetch_materializations(wanted, limit=1).records
    return records[0].run_id if records else None


def test_the_newest_runs_of_each_repository_stay_and_the_pages_of_assets_say_the_same(
    instance: dg.DagsterInstance, run: Callable[..., str]
) -> None:
    of_a = [run("a") for _ in range(5)]
    of_b = [run("b")]
    before = shown(instance)

    (found,) = prune(instance)

    assert (found.kind, found.repository, found.count) == (RemovalKind.RUNS, "a", 3)
    assert found.size > 100_000
    assert run_ids(instance) == [*of_a[3:], *of_b]
    assert shown(instance) == before
    assert prune(instance) == []


def test_nothing_of_a_run_that_went_is_left(instance: dg.DagsterInstance, run: Callable[..., str]) -> None:
    gone, *_ = [run("a") for _ in range(4)]
    printed = Path(instance.root_directory) / "storage" / gone
    printed.mkdir(parents=True, exist_ok=True)

    prune(instance)

    assert not [path for path in Path(instance.root_directory).rglob("*") if gone in path.name]
    for file in Path(instance.root_directory).rglob("*.db"):
        assert gone.encode() not in b"".join(_values(file))


def _values(file: Path) -> list[bytes]:
    """All rows of a file's tables, as text."""
    with closing(sqlite3.connect(file)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [repr(row).encode() for table in tables for row in connection.execute(f"SELECT * FROM {table}")]


def test_the_last_materialisation_and_check_of_a_partition_stay_however_old(
    instance: dg.DagsterInstance, run: Callable[..., str]
) -> None:
    whole = run("a")
    later = [run("a", vectors) for _ in range(5)]
    failed = [run("a", documents, fail="yes") for _ in range(3)]
    before = shown(instance)

    prune(instance)

    assert run_ids(instance) == [whole, later[-1], *failed[1:]]
    assert shown(instance) == before


def test_runs_under_way_stay(instance: dg.DagsterInstance, run: Callable[..., str]) -> None:
    queued = instance.create_run_for_job(
        dg.Definitions(assets=[documents]).get_implicit_global_asset_job_def(),
        tags={"dagster/partition": "a"},
        status=dg.DagsterRunStatus.STARTED,
    )
    done = [run("a") for _ in range(4)]

    prune(instance)

    assert {queued.run_id, *done[2:]} <= {*run_ids(instance)}


def test_a_dry_run_counts_and_deletes_nothing(instance: dg.DagsterInstance, run: Callable[..., str]) -> None:
    runs = [run("a") for _ in range(4)]

    (found,) = prune(instance, is_dry_run=True)

    assert found.count == 2
    assert run_ids(instance) == runs
    assert all(instance.all_logs(run_id) for run_id in runs)


def test_a_file_of_events_without_its_run_goes_once_it_is_old(
    instance: dg.DagsterInstance, run: Callable[..., str]
) -> None:
    run("a")
    folder = Path(instance.root_directory) / "history" / "runs"
    old, new = (folder / f"00000000-0000-4000-8000-00000000000{number}.db" for number in (1, 2))
    for file in (old, new):
        file.write_bytes(b"x")
    os.utime(old, (time.time() - 90_000,) * 2)

    assert prune(instance) == [FreedSpace(RemovalKind.LEFTOVERS, "", 1, 1)]
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.slow
def test_a_pruning_that_is_killed_at_any_line_is_finished_by_the_next(
    instance: dg.DagsterInstance, run: Callable[..., str], tmp_path: Path
) -> None:
    runs = [run("a") for _ in range(6)]
    before, reference = shown(instance), instance.get_ref()

    def prune_anew() -> None:
        with dg.DagsterInstance.from_ref(reference) as opened:
            prune(opened)

    number = 1
    while killed_at(number, prune_anew, watched=("builds/dagster/maintenance_job.py",), counted=tmp_path / "lines"):
        assert shown(instance) == before
        assert {*runs[4:]} <= {*run_ids(instance)}
        number += 3
    prune(instance)

    assert run_ids(instance) == runs[4:]
    assert shown(instance) == before


@pytest.mark.slow
def test_a_state_whose_first_runs_were_pruned_is_asked_for_under_a_run_key_that_was_never_used(
    register: Callable[[str], GitRepo], look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance, home: Home
) -> None:
    repo = register("shop")
    fingerprint = home.fingerprint(home.registry.get("shop"), commit=repo.git("rev-parse", "HEAD").strip())
    instance.add_dynamic_partitions("codesum_repos", ["shop"])
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    for number in range(1, 8):
        is_of_state = number < 6
        tags = {"dagster/partition": "shop", "dagster/run_key": f"shop:{fingerprint}:{number}"}
        instance.create_run_for_job(
            job,
            tags={**tags, FINGERPRINT_TAG: fingerprint} if is_of_state else {"dagster/partition": "shop"},
            status=dg.DagsterRunStatus.FAILURE,
        )

    prune(instance, keep=4)
    (request,) = look().run_requests or ()

    assert request.run_key == f"shop:{fingerprint}:6"


def test_free_pages_are_given_back_where_they_are_many(tmp_path: Path) -> None:
    file = StorageFile(SqliteEventLogStorage, tmp_path / "index.db")
    with closing(sqlite3.connect(file.path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE events (text)")
        connection.executemany("INSERT INTO events VALUES (?)", [("x" * 4000,)] * 1000)
        connection.commit()
        assert [*compact_records_file(file)] == []
        connection.execute("DELETE FROM events WHERE rowid > 100")
        connection.commit()
    before = file.path.stat().st_size

    (found,) = compact_records_file(file)

    assert isinstance(found, FreedSpace) and found.size > 3_000_000
    assert file.path.stat().st_size < before / 4
    with closing(sqlite3.connect(file.path)) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (100,)


def test_one_maintenance_at_a_time(home: Home, instance: dg.DagsterInstance) -> None:
    with lock_exclusively(home.layout.home / "state" / LOCK):
        done = maintain_everything(home, instance)

    assert done.untouched == (SkippedUpkeep(None, "", "another maintenance of this home is under way"),)


def test_the_job_says_in_its_metadata_what_went(
    instance: dg.DagsterInstance, run: Callable[..., str], home: Home
) -> None:
    for _ in range(4):
        run("a")
    definitions = build_defs({"home": home.settings.home, "maintenance": {"keep_runs": 1}})

    result = definitions.resolve_job_def("maintenance").execute_in_process(instance=instance)

    (output,) = (event for event in result.all_events if event.is_successful_output)
    metadata = output.step_output_data.metadata
    assert metadata["freed_bytes"].value > 100_000
    (row,) = metadata["by_kind"].records
    assert (row.data["kind"], row.data["count"]) == (RemovalKind.RUNS.value, 1)
    assert row.data["bytes"] == metadata["freed_bytes"].value


def test_the_schedule_runs_unless_somebody_stops_it(tmp_path: Path) -> None:
    settings = {"home": tmp_path, "maintenance": {"cron": "5 5 * * *"}}

    schedule = build_defs(settings).get_repository_def().get_schedule_def("maintenance")

    assert (schedule.cron_schedule, schedule.job_name) == ("5 5 * * *", "maintenance")
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
