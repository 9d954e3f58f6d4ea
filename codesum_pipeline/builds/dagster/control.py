"""The command line's one door to Dagster.

`codesum index` runs the same job in the same instance as the UI: its runs,
materialisations and checks are listed with those that the sensor starts.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

import dagster as dg
import sqlalchemy
from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import private_names, resource
from codesum_pipeline.builds.dagster.asset_steps import JOB, PUBLISHED_INDEX, is_held, recorded_fingerprint
from codesum_pipeline.builds.dagster.assets import ASSETS, resolve_job
from codesum_pipeline.builds.dagster.dagster_records import (
    mend_record_files,
    open_instance,
    reference_of,
    writing_records,
)
from codesum_pipeline.builds.dagster.instance_file import apply_engine, check_packages, check_variables
from codesum_pipeline.builds.dagster.maintenance_job import ENDED, Tell, maintain_everything
from codesum_pipeline.builds.dagster.observing import ACTIVE, active_keys
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, PARTITIONS, add_partitions
from codesum_pipeline.builds.dagster.run_tags import fault_of
from codesum_pipeline.builds.dagster.runs import MODULE, REPOSITORY_TAGS, STARTED_BY_TAG, job_origin, note_recorded
from codesum_pipeline.builds.maintenance.freed import Maintenance
from codesum_pipeline.builds.steps.fleet_states import RunUnderWay
from codesum_pipeline.foundation.data_model.errors import BrokerUnavailable, ConfigurationError
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.operation_settings import BROKER_VARIABLE, POSTGRES_VARIABLE

if TYPE_CHECKING:
    from codesum_pipeline.builds.dagster.machine_watch import PausedWorker

# A planner's tick asks for a few runs; so many wait only where somebody started a backfill of everything.
_MOST_UNDER_WAY = 5_000
# A person waits.
_ANSWER_S = 2.0
_MOST_SHOWN = 200
_MOST_ENDED = 5_000
_WAITING = (dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING)


class PastRun(Struct, frozen=True):
    """One run of a repository, as Dagster remembers it; times are Unix seconds."""

    run_id: str
    status: str
    started_at: float | None
    ended_at: float | None
    started_by: str


@contextmanager
def opened_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The instance that the UI shows, on the engine of the home's settings."""
    check_packages(home.settings.engine)
    apply_engine(home.layout, home.settings.engine)
    with open_instance(home.layout) as instance:
        yield instance


@contextmanager
def _looked_at(home: Home) -> Iterator[dg.DagsterInstance]:
    """The instance for a command that only looks, for which a person waits."""
    check_database(home)
    with opened_instance(home) as instance:
        yield instance


def check_database(home: Home) -> None:
    """Raises `RecordsUnavailable` if the database of Dagster's records does not answer now. Dagster itself asks again
    for 13 s, with a warning each time, which is right for a build and long for a person."""
    engine = home.settings.engine
    if engine.storage != "postgres":
        return
    check_variables(engine, os.environ)
    check_packages(engine)
    # Other homes do without the driver.
    from codesum_pipeline.builds.dagster.postgres import with_driver

    address = with_driver(os.environ[POSTGRES_VARIABLE])
    database = sqlalchemy.create_engine(address, connect_args={"connect_timeout": int(_ANSWER_S)})
    with writing_records(home.layout):
        database.connect().close()
    database.dispose()


def mend_records(home: Home) -> list[str]:
    """Mend Dagster's records and register all repositories there again; returns what `mend` says."""
    check_database(home)
    apply_engine(home.layout, home.settings.engine)
    with writing_records(home.layout):
        mended = mend_record_files(reference_of(home.layout), home.layout.dagster_home)
    if mended:
        with opened_instance(home) as instance:
            add_partitions(instance, [entry.key for entry in home.registry.survey().entries])
    return mended


def is_recorded(home: Home, key: str, fingerprint: str, *, was_held: bool) -> bool:
    """Whether every asset of a repository was materialised for a fingerprint; it is then noted beside the records.

    Of a build that the promotion gate held back these are the assets before the published index.
    """
    keys = [asset.key for asset in ASSETS]
    with opened_instance(home) as instance:
        built = keys[: keys.index(PUBLISHED_INDEX)] if was_held else keys
        found = {recorded_fingerprint(instance, key, asset) for asset in built}
    if found != {fingerprint}:
        return False
    note_recorded(home.layout, key, fingerprint)
    return True


def register_partitions(home: Home, keys: Sequence[str]) -> None:
    """Let Dagster know of repositories before their first run."""
    with opened_instance(home) as instance:
        add_partitions(instance, keys)


def forget_partition(home: Home, key: str) -> None:
    """Take a purged repository out of Dagster's lists; its past runs stay."""
    with opened_instance(home) as instance:
        instance.delete_dynamic_partition(PARTITIONS, key)


def run_history(home: Home, key: str, *, limit: int = 10) -> list[PastRun]:
    """The last runs of a repository, newest first."""
    with _looked_at(home) as instance:
        records = instance.get_run_records(filters=dg.RunsFilter(tags={PARTITION_TAG: key}), limit=limit)
    return [
        PastRun(
            run_id=record.dagster_run.run_id,
            status="HELD" if is_held(record.dagster_run) else record.dagster_run.status.value,
            started_at=record.start_time,
            ended_at=record.end_time,
            started_by=record.dagster_run.tags.get(STARTED_BY_TAG, "Dagster"),
        )
        for record in records
    ]


def runs_under_way(home: Home) -> dict[str, RunUnderWay]:
    """The run of each repository that waits or goes on; of several, the one that goes on."""
    with _looked_at(home) as instance:
        records = instance.get_run_records(dg.RunsFilter(statuses=list(ACTIVE)), limit=_MOST_UNDER_WAY)
    found: dict[str, RunUnderWay] = {}
    # The newest come first.
    for record in reversed(records):
        run = record.dagster_run
        key = run.tags.get(PARTITION_TAG)
        if not key or run.job_name == resource.VERIFY_JOB:
            continue
        is_queued = run.status in _WAITING
        holder = None if is_queued else resource.holder_of(run)
        if is_queued and key in found:
            continue
        found[key] = RunUnderWay(
            run_id=run.run_id,
            is_queued=is_queued,
            since=record.create_timestamp.replace(tzinfo=UTC).timestamp() if is_queued else record.start_time,
            host=holder.host if holder else "",
            pid=holder.pid if holder else None,
            started_by=run.tags.get(STARTED_BY_TAG, "Dagster"),
        )
    return found


def check_broker(home: Home) -> None:
    """Raises `BrokerUnavailable` if runs cannot be handed to workers now."""
    if home.settings.engine.launcher != "celery":
        return
    check_variables(home.settings.engine, os.environ)
    if find_spec("celery") is None:
        raise ConfigurationError(
            "engine.launcher is celery, which is not installed here: what its workers do is not known; "
            f"{way_to_install('celery', 'postgres')}"
        )
    # Other homes do without it.
    from celery import Celery
    from celery.exceptions import OperationalError

    address = os.environ[BROKER_VARIABLE]
    options = {"socket_connect_timeout": _ANSWER_S, "socket_timeout": _ANSWER_S}
    connection = Celery(broker=address).connection_for_write(connect_timeout=_ANSWER_S, transport_options=options)
    try:
        with connection:
            connection.ensure_connection(max_retries=1, timeout=_ANSWER_S)
    except (OperationalError, OSError) as error:
        host = connection.hostname or "its host"
        raise BrokerUnavailable(
            f"the broker at {host} ({BROKER_VARIABLE}) cannot be reached ({one_line(str(error))[:_MOST_SHOWN]}): no "
            "run is started until it can; runs under way go on"
        ) from None


BY_RETRY = "codesum retry"
# The daemon reports every 30 s, and takes runs from the queue every second.
_SILENT_S = 300.0


class QueuedRuns(Struct, frozen=True):
    """The runs that were put into the queue, by repository; `active` have one already. `is_served`: a daemon has
    reported in the last minutes, and will start them."""

    run_ids: dict[str, str]
    active: tuple[str, ...]
    is_served: bool


def request_runs(instance: dg.DagsterInstance, keys: Sequence[str]) -> QueuedRuns:
    """Put a run of each repository into the queue, unless it has one there or under way."""
    active = active_keys(instance)
    asked = [key for key in keys if key not in active]
    add_partitions(instance, asked)
    run_ids = {key: _enqueue(instance, key) for key in asked}
    return QueuedRuns(run_ids, tuple(key for key in keys if key in active), _has_daemon(instance))


def keys_that_failed(instance: dg.DagsterInstance) -> set[str]:
    """The repositories whose last run failed or was cancelled."""
    over = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
    last = instance.run_storage.get_run_partition_data(dg.RunsFilter(job_name=JOB))
    return {run.partition for run in last if run.status in over}


def _enqueue(instance: dg.DagsterInstance, key: str) -> str:
    place = private_names.RepositoryPythonOrigin(
        executable_path=sys.executable,
        code_pointer=private_names.ModuleCodePointer(MODULE, "defs", working_directory=None),
        entry_point=private_names.DEFAULT_DAGSTER_ENTRY_POINT,
    )
    run = instance.create_run_for_job(
        resolve_job(),
        status=dg.DagsterRunStatus.NOT_STARTED,
        tags={PARTITION_TAG: key, STARTED_BY_TAG: BY_RETRY, **REPOSITORY_TAGS},
        remote_job_origin=job_origin(),
        job_code_origin=private_names.JobPythonOrigin(job_name=JOB, repository_origin=place),
    )
    instance.report_dagster_event(dg.DagsterEvent.job_enqueue(run), run_id=run.run_id)
    return run.run_id


def _has_daemon(instance: dg.DagsterInstance) -> bool:
    return any(time.time() - beat.timestamp < _SILENT_S for beat in instance.get_daemon_heartbeats().values())


def retry_repositories(home: Home, key: str | None) -> QueuedRuns:
    """Ask for a run of one repository; None: of each whose last run failed or was cancelled.

    A run that a person asks for ends what is held by hand, and the count of failed attempts. Raises
    `UnknownRepository`, and `ConfigurationError` for one that is disabled.
    """
    if key is not None and not home.registry.get(key).enabled:
        raise ConfigurationError(f"repository {key!r} is disabled: `codesum add {key}` enables it")
    with opened_instance(home) as instance:
        if key is not None:
            keys = [home.registry.get(key).key]
        else:
            failed = keys_that_failed(instance)
            keys = [each.key for each in home.registry.survey().entries if each.enabled and each.key in failed]
        if keys:
            home.layout.queued.touch()
        return request_runs(instance, keys)


class EndedBuild(Struct, frozen=True):
    """A run that has ended; times are Unix seconds. `outcome` is success, failure, canceled or, where the gate kept it
    from being published, held. `cause` is whose fault it was that it failed: that of the machine,
    of a shared part, or of the repository; empty where it did not."""

    run_id: str
    key: str
    outcome: str
    cause: str
    seconds: float
    ended_at: float
    recorded_at: float


def ended_builds(home: Home, *, after: datetime) -> list[EndedBuild]:
    """The builds of whose end the record was written after a moment, oldest first, `_MOST_ENDED` at most."""
    wanted = dg.RunsFilter(statuses=list(ENDED), updated_after=after)
    with _looked_at(home) as instance:
        records = instance.get_run_records(wanted, limit=_MOST_ENDED, order_by="update_timestamp", ascending=True)
    found = []
    for record in records:
        run, ended = record.dagster_run, record.end_time
        if run.job_name in (JOB, "__ASSET_JOB") and (key := run.tags.get(PARTITION_TAG)) and ended is not None:
            fault = None if is_held(run) else fault_of(run)
            outcome = "held" if is_held(run) else run.status.value.lower()
            cause = fault.source.value if fault else ""
            recorded_at = record.update_timestamp.replace(tzinfo=UTC).timestamp()
            seconds = max(0.0, ended - (record.start_time or ended))
            found.append(EndedBuild(run.run_id, key, outcome, cause, seconds, ended, recorded_at))
    return found


def workers_without_runs(home: Home) -> "list[PausedWorker]":
    """The workers that take no runs; none where runs are carried out without a queue.

    Raises `BrokerUnavailable` and `RecordsUnavailable` if they cannot be asked.
    """
    if home.settings.engine.launcher != "celery":
        return []
    check_broker(home)
    # Others are without Celery.
    from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns, errors_of_broker
    from codesum_pipeline.builds.dagster.machine_watch import paused_workers

    with _looked_at(home) as instance:
        launcher = instance.run_launcher
        if not isinstance(launcher, CeleryRuns):
            return []
        try:
            return paused_workers(launcher.celery)
        except errors_of_broker(launcher.celery) as error:
            raise BrokerUnavailable(
                f"the workers cannot be asked whether they take runs: {type(error).__name__}"
            ) from None


def end_vanished_runs(home: Home) -> list[str]:
    """Mark the runs whose process is gone as failed; their ids."""
    with opened_instance(home) as instance:
        return resource.end_vanished_runs(home.layout, instance)


def maintain_home(home: Home, *, is_dry_run: bool, tell: Tell) -> Maintenance:
    """Prune everything that the settings do not keep, as the job `maintenance` does."""
    with opened_instance(home) as instance, writing_records(home.layout):
        return maintain_everything(home, instance, is_dry_run=is_dry_run, tell=tell)
