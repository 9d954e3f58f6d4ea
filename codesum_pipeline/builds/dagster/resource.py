"""A home, as Dagster's runs, schedules and sensors open it, with one partition per entry of the registry.

A run that has a partition holds that repository's lease from its first step to its last, whoever started it, so two
builds of one repository never mix. The run's tags name its process: after a power loss or a SIGKILL from outside,
Dagster believes for hours that a run goes on, and the tags show that its process is gone.
"""

import logging
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import dagster as dg
from dagster_duckdb import DuckDBResource
from msgspec import Struct, field, to_builtins
from pydantic import Field, PrivateAttr
from sqlalchemy.exc import IntegrityError

from codesum_pipeline.builds.dagster.run_tags import HIDDEN, noting_fault
from codesum_pipeline.builds.reports.build_values import BuildOptions
from codesum_pipeline.builds.reports.exchange import RemoteBuilder
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import BrokenStore, ConfigurationError
from codesum_pipeline.foundation.data_model.ids import check_repository_key
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import (
    OF_A_PROCESS,
    LeaseHolder,
    current_holder,
    hold_repository,
    this_process,
)
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD, RepositoryRecord

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from codesum_pipeline.builds.codesum_home.wiring import Home
    from codesum_pipeline.builds.steps.one_build import Build

    # Carries out what a run's assets and checks ask for. Each method may raise any `CodesumError`.
    Builder = Build | RemoteBuilder

# Checks per partition are a preview in Dagster 1.13; said once here instead of once per check.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
# So are owners of jobs, schedules and sensors.
warnings.filterwarnings("ignore", message="Parameter `owners`", category=dg.BetaWarning)

PARTITIONS = "codesum_repos"
# On each run of a partition.
PARTITION_TAG = "dagster/partition"
# How many partitions are added in one statement, and by one tick: a database takes no more, and others wait.
PORTION = 500
# Dagster takes any text for a key: ours are checked in the registry and where a run takes its lease.
codesum_repos = dg.DynamicPartitionsDefinition(name=PARTITIONS)
VERIFY_JOB = "verify_indexes"
# `dagster_celery.core_execution_loop.DELEGATE_MARKER`, whose module imports Celery.
_WAITS_FOR_WORKER = "celery_queue_wait"
# A retry, and a re-execution from the UI, begin with the tags of the run before them, whose process is another one.
_PROCESS_OF_RUN = f"{HIDDEN}process_of_run"
# Each line is a row in Dagster's event log: often enough to see that it moves, rare enough to be read.
LOG_EVERY_S = 10.0
UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
# As `store.views.connect`: nothing is downloaded or loaded behind our back.
IN_MEMORY = DuckDBResource(
    database=":memory:",
    connection_config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
)


def add_partitions(instance: dg.DagsterInstance, keys: Sequence[str]) -> None:
    """Add repositories to Dagster's partitions; those that it has stay."""
    for start in range(0, len(keys), PORTION):
        some = list(keys[start : start + PORTION])
        # Dagster looks which are missing and then adds them: it fails where another process adds one in between.
        for tries_left in range(len(some), -1, -1):
            try:
                instance.add_dynamic_partitions(PARTITIONS, some)
                break
            except IntegrityError:
                if not tries_left:
                    raise


def process_tags(holder: LeaseHolder) -> dict[str, str]:
    """The run tags that name the process of a run, from before it waits for its lease."""
    tags = {f"{HIDDEN}{name}": str(getattr(holder, name)) for name in OF_A_PROCESS}
    return {name: value for name, value in {**tags, _PROCESS_OF_RUN: holder.run_id}.items() if value}


def holder_of(run: dg.DagsterRun) -> LeaseHolder | None:
    """The process of a run; None if its tags name no process, or only that of the run that it repeats."""
    # Earlier versions wrote the same names without the dot before them, and their runs may still count as started.
    found = {name: run.tags.get(f"{HIDDEN}{name}", run.tags.get(f"codesum/{name}", "")) for name in OF_A_PROCESS}
    if run.tags.get(_PROCESS_OF_RUN, run.root_run_id or run.run_id) != run.run_id or not found["pid"]:
        return None
    return convert({**found, "run_id": run.run_id, "acquired_at": 0.0}, LeaseHolder, strict=False)


def end_vanished_runs(layout: HomeLayout, instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs whose process certainly is gone as failed; their ids."""
    ended = []
    for run in instance.get_runs(filters=dg.RunsFilter(statuses=list(UNFINISHED))):
        process = holder_of(run)
        if process and (process.is_gone() or _has_left_lease(layout, run.tags.get(PARTITION_TAG), process)):
            instance.report_run_failed(run, _how_it_ended(instance, run, process))
            ended.append(run.run_id)
    return ended


def _how_it_ended(instance: dg.DagsterInstance, run: dg.DagsterRun, process: LeaseHolder) -> str:
    """What the launcher says of a run whose process is gone, if it can say more than that."""
    launcher = instance.run_launcher
    told = launcher.check_run_worker_health(run).msg if launcher.supports_check_run_worker_health else None
    return told or f"process {process.pid} on {process.host} ended without a word"


def _has_left_lease(layout: HomeLayout, key: str | None, process: LeaseHolder) -> bool:
    """Whether a process in another container is gone, according to the lease of its repository."""
    try:
        holder = current_holder(layout.state(key)) if key else None
    except BrokenStore:
        return False
    return holder is not None and holder.is_process_of(process) and holder.is_gone()


class BuildRequest(dg.ConfigurableResource["BuildRequest"]):
    """What one run is asked for. Its ops share it, and it says nothing of the home: no place, address, key or cap."""

    force: bool = Field(default=False, description="Write every text again.")
    confirm_llm: bool = Field(
        default=False, description="Let a model rewrite more of the index than max_rewrite_fraction."
    )
    llm_usd_left: float | None = Field(
        default=None, description="At most so many US dollars for models' texts, besides the caps of the settings."
    )

    def options(self) -> BuildOptions:
        """The same for what builds without Dagster."""
        return BuildOptions(self.force, self.confirm_llm, self.llm_usd_left)


def run_config_for(options: BuildOptions, *, loggers: dict[str, Any] | None = None) -> dg.RunConfig:
    """The run config that asks for these."""
    return dg.RunConfig(resources={"request": BuildRequest(**to_builtins(options))}, loggers=loggers)


class RunHost(Struct, frozen=True):
    """What the process that made the definitions gives to their runs; no run config reaches it.

    `settings`, `home` among them, win over file and environment. `home` is open already and is taken as it is, and
    `builder` is the process that carries out the steps.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    home: "Home | None" = None
    progress: Progress | None = None
    builder: RemoteBuilder | None = None


StepContext = dg.AssetExecutionContext | dg.AssetCheckExecutionContext


class CodesumResource(dg.ConfigurableResource["CodesumResource"]):
    """The home that a run works in: $CODESUM_HOME, else the nearest .codesum.

    Whoever can start a run can write its config, and that may be a page in a browser or a program on this machine: what
    says where something is kept or sent, names a key or raises a cap stands in the home or the environment.
    """

    settings: dict[str, Any] = Field(
        default={}, description="Settings of this run alone: those that docs/settings.md marks as settable by a run."
    )
    host: dg.ResourceDependency[RunHost]
    duckdb: dg.ResourceDependency[DuckDBResource]

    _open: ExitStack = PrivateAttr(default_factory=ExitStack)
    _home: "Home | None" = PrivateAttr(default=None)
    _database: "DuckDBPyConnection | None" = PrivateAttr(default=None)
    _record: RepositoryRecord = PrivateAttr(default=FOLDER_RECORD)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["CodesumResource"]:
        """Hold the lease of the run's repository, if it has one, say whose run it is, and close what was opened."""
        with self._open:
            if context.run is not None and PARTITION_TAG in context.run.tags:
                with noting_fault(context.instance, context.run.run_id) if context.instance else nullcontext():
                    self._take_lease(context, context.run)
            elif context.run is not None and context.instance is not None:
                context.instance.add_run_tags(context.run.run_id, process_tags(this_process(context.run.run_id)))
            yield self

    def open_home(self) -> "Home":
        """The home with its settings, read once."""
        if self._home is None:
            from codesum_pipeline.builds.codesum_home.settings_loading import check_is_settable_by_run, load_settings

            check_is_settable_by_run(self.settings)
            if self.host.home:
                self._home = self.host.home
            else:
                from codesum_pipeline.builds.codesum_home.wiring import Home

                self._home = Home(load_settings(self.host.settings, run=self.settings))
                self._home.settings.apply_mode()
        return self._home

    def builder(self, context: StepContext, options: BuildOptions) -> "Builder":
        """The builder that carries out the steps of a run: another process, or this one."""
        if self.host.builder:
            return self.host.builder
        from codesum_pipeline.builds.steps.one_build import Build

        progress = self.host.progress or logged_progress(context.log)
        key, run_id = context.partition_key, context.run.run_id
        return Build(
            self.open_home(),
            key,
            run_id,
            options,
            progress=progress,
            new_connection=self._connect,
            record=self._record,
        )

    def _connect(self) -> "DuckDBPyConnection":
        """A connection of its user to the one database in memory of the run: another database takes 20 ms."""
        if self._database is None:
            self._database = self._open.enter_context(self.duckdb.get_connection())
        return self._database.cursor()

    def _take_lease(self, context: dg.InitResourceContext, run: dg.DagsterRun) -> None:
        instance = context.instance
        if instance is None or _has_step_processes(instance, run):
            raise ConfigurationError(
                f"run {run.run_id} starts each step in a process of its own, between which its lease of the "
                "repository would be free: use dagster.in_process_executor"
            )
        key = check_repository_key(run.tags[PARTITION_TAG])
        if remote := self.host.builder:
            instance.add_run_tags(run.run_id, process_tags(remote.process))
            remote.hold()
            return
        home = self.open_home()
        instance.add_run_tags(run.run_id, process_tags(this_process(run.run_id)))
        # A verification looks at the bucket before, and then holds the repository itself.
        if run.job_name != VERIFY_JOB:
            lease = hold_repository(home.layout, key, run_id=run.run_id, wait_s=home.settings.lease_wait_s)
            self._record = self._open.enter_context(lease)


def _has_step_processes(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    if instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.STEP_WORKER_STARTING, limit=1).records:
        return True
    # Celery's executor says only that a step waits for a worker.
    engine = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    events = [record.event_log_entry.dagster_event for record in engine.records]
    return any(event and event.engine_event_data.marker_start == _WAITS_FOR_WORKER for event in events)


def logged_progress(log: logging.Logger) -> Progress:
    """Counts in a log, at most one line every `LOG_EVERY_S` seconds."""
    last = time.monotonic()

    def tell(doing: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_EVERY_S:
            last = time.monotonic()
            log.info("%s: %s of %s", doing, f"{done:,}", f"{total:,}")

    return tell
