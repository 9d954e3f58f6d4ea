"""The command line's one door to Dagster.

`codesum index` runs the same job in the same instance as the UI: its runs,
materialisations and checks are listed with those that the sensor starts.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from importlib.util import find_spec

import dagster as dg
from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import resource
from codesum_pipeline.builds.dagster.asset_steps import PUBLISHED_INDEX, is_held, recorded_fingerprint
from codesum_pipeline.builds.dagster.assets import ASSETS
from codesum_pipeline.builds.dagster.dagster_records import (
    mend_record_files,
    open_instance,
    reference_of,
    writing_records,
)
from codesum_pipeline.builds.dagster.instance_file import apply_engine, check_variables
from codesum_pipeline.builds.dagster.maintenance_job import Tell, maintain_everything
from codesum_pipeline.builds.dagster.observing import ACTIVE
from codesum_pipeline.builds.dagster.requesting import QueuedRuns, keys_that_failed, request_runs
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, PARTITIONS, add_partitions
from codesum_pipeline.builds.dagster.runs import STARTED_BY_TAG, note_recorded
from codesum_pipeline.builds.maintenance.freed import Maintenance
from codesum_pipeline.builds.steps.fleet_states import RunUnderWay
from codesum_pipeline.foundation.data_model.errors import BrokerUnavailable, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.operation_settings import BROKER_VARIABLE

# A planner's tick asks for a few runs; so many wait only where somebody started a backfill of everything.
_MOST_UNDER_WAY = 5_000
# A person waits.
_BROKER_S = 2.0
_MOST_SHOWN = 200
_NO_CELERY = (
    "engine.launcher is celery, which is not installed here: what its workers do is not known; in a checkout, "
    "`pip install -c constraints.txt '.[celery,postgres]'` installs it"
)
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
    apply_engine(home.layout, home.settings.engine)
    with open_instance(home.layout) as instance:
        yield instance


def mend_records(home: Home) -> list[str]:
    """Mend Dagster's records and register all repositories there again; returns what `mend` says."""
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
    with opened_instance(home) as instance:
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
    with opened_instance(home) as instance:
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
        raise ConfigurationError(_NO_CELERY)
    # Other homes do without it.
    from celery import Celery
    from celery.exceptions import OperationalError

    address = os.environ[BROKER_VARIABLE]
    options = {"socket_connect_timeout": _BROKER_S, "socket_timeout": _BROKER_S}
    connection = Celery(broker=address).connection_for_write(connect_timeout=_BROKER_S, transport_options=options)
    try:
        with connection:
            connection.ensure_connection(max_retries=1, timeout=_BROKER_S)
    except (OperationalError, OSError) as error:
        host = connection.hostname or "its host"
        raise BrokerUnavailable(
            f"the broker at {host} ({BROKER_VARIABLE}) cannot be reached ({one_line(str(error))[:_MOST_SHOWN]}): no "
            "run is started until it can; runs under way go on"
        ) from None


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


def worker_troubles(home: Home) -> list[str]:
    """The workers that take no runs, each with the reason; nothing where runs are carried out without a queue.

    Raises `BrokerUnavailable` and `RecordsUnavailable` if they cannot be asked.
    """
    if home.settings.engine.launcher != "celery":
        return []
    check_broker(home)
    # Others are without Celery.
    from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns, errors_of_broker
    from codesum_pipeline.builds.dagster.machine_watch import paused_workers

    with opened_instance(home) as instance:
        launcher = instance.run_launcher
        if not isinstance(launcher, CeleryRuns):
            return []
        try:
            paused = paused_workers(launcher.celery)
        except errors_of_broker(launcher.celery) as error:
            raise BrokerUnavailable(
                f"the workers cannot be asked whether they take runs: {type(error).__name__}"
            ) from None
    return [f"a worker on {each.host} takes no runs since {each.since}: {each.why}" for each in paused]


def end_vanished_runs(home: Home) -> list[str]:
    """Mark the runs whose process is gone as failed; their ids."""
    with opened_instance(home) as instance:
        return resource.end_vanished_runs(home.layout, instance)


def maintain_home(home: Home, *, is_dry_run: bool, has_secrets: bool, tell: Tell) -> Maintenance:
    """Prune everything that the settings do not keep, as the job `maintenance` does; with `has_secrets`, also what
    earlier versions stored of secrets."""
    with opened_instance(home) as instance, writing_records(home.layout):
        return maintain_everything(home, instance, is_dry_run=is_dry_run, has_secrets=has_secrets, tell=tell)
