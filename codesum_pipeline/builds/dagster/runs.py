"""Runs of the job by `codesum index`, and what a finished run says, read from its events."""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import dagster as dg

from codesum_pipeline.builds.dagster import private_names
from codesum_pipeline.builds.dagster.asset_steps import (
    EVALUATED_IN,
    EVALUATION,
    JOB,
    PUBLISHED_INDEX,
    recorded_fingerprint,
)
from codesum_pipeline.builds.dagster.assets import resolve_job
from codesum_pipeline.builds.dagster.dagster_records import open_instance, writing_records
from codesum_pipeline.builds.dagster.resource import (
    IN_MEMORY,
    CodesumResource,
    RunHost,
    add_partitions,
    end_vanished_runs,
    process_tags,
    run_config_for,
)
from codesum_pipeline.builds.reports.build_values import NOT_WORSE, BuildOptions, Numbers, RunOutcome
from codesum_pipeline.builds.reports.exchange import RemoteTraceback
from codesum_pipeline.foundation.data_model import errors
from codesum_pipeline.foundation.data_model.errors import CannotWrite, CodesumError
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import LeaseHolder

if TYPE_CHECKING:
    from dagster_shared.error import SerializableErrorInfo

# Where Dagster's own processes load the definitions from.
MODULE = "codesum_pipeline.definitions"
# What Dagster calls definitions that nobody named.
REPOSITORY = "__repository__"
STARTED_BY_TAG = "codesum/started_by"
COMMAND_LINE = "command line"
REPOSITORY_TAGS = {
    # Lists the run under the job in the UI, where runs are looked up by the module they were loaded from.
    ".dagster/repository": f"{REPOSITORY}@{MODULE}",
    # The planner tries again, or who sits at the command line.
    "dagster/max_retries": "0",
}
_RECORD_IS_LOST = "Exception while writing logger call to event log"
_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


def outcome_of(key: str, result: dg.ExecuteInProcessResult, *, seconds: float) -> RunOutcome:
    """Read a run's events."""
    held_because: str | None = None
    numbers: dict[str, Numbers] = {}
    for event in result.all_events:
        if event.is_step_materialization:
            materialization = event.step_materialization_data.materialization
            numbers[materialization.asset_key.to_user_string()] = {
                name: value.value
                for name, value in materialization.metadata.items()
                if isinstance(value, dg.IntMetadataValue | dg.FloatMetadataValue | dg.BoolMetadataValue)
                and value.value is not None
            }
        elif event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION and not result.success:
            check = event.asset_check_evaluation_data
            if check.check_name == NOT_WORSE and not check.passed:
                held_because = check.description
    is_good = result.success or held_because is not None
    message, error = (held_because or "", None) if is_good else complaint_of(result.all_events)
    return RunOutcome(key, result.run_id, is_good, seconds, message, error, numbers, held_because is not None)


def complaint_of(events: Iterable[dg.DagsterEvent]) -> tuple[str, type[CodesumError] | None]:
    """The first check of this run that failed and blocks, else the first error."""
    failed: list[SerializableErrorInfo] = []
    ended = "the run ended without an error"
    for event in events:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            if check.blocking and not check.passed and EVALUATED_IN not in check.metadata:
                asset = check.asset_key.to_user_string()
                return f"check {check.check_name} of {asset} failed: {check.description or 'see the run'}", None
        elif event.is_step_failure and event.step_failure_data.error:
            failed.append(event.step_failure_data.error)
        elif event.event_type is dg.DagsterEventType.RUN_FAILURE:
            ended = event.message or ended
            # One that was marked as failed from outside has no data.
            if event.event_specific_data and event.job_failure_data.error:
                failed.append(event.job_failure_data.error)
    return _own_error(failed[0]) if failed else (ended, None)


def _own_error(error: "SerializableErrorInfo") -> tuple[str, type[CodesumError] | None]:
    """The package's error in a chain of causes; the innermost error where there is none."""
    while True:
        # The message without the name of its class.
        text = error.message.removeprefix(f"{error.cls_name}: ").rpartition(f".{error.cls_name}: ")[2].strip()
        kind = getattr(errors, error.cls_name or "", None)
        if isinstance(kind, type) and issubclass(kind, CodesumError):
            return text, kind
        if error.cause is None or error.cause.cls_name == RemoteTraceback.__name__:
            return f"{error.cls_name}: {text}" if error.cls_name else text, None
        error = error.cause


def note_recorded(layout: HomeLayout, key: str, fingerprint: str) -> None:
    """Every asset of a repository is materialised for this fingerprint."""
    write_text_atomically(layout.recorded(key), fingerprint)


class Runs:
    """Runs of the job, one after another. (Not in threads: each run configures Python's logging anew, and two at once
    lock each other out.)"""

    def __init__(self, layout: HomeLayout, instance: dg.DagsterInstance) -> None:
        self._layout = layout
        self._instance = instance
        self._job = resolve_job()

    def execute(
        self, host: RunHost, key: str, *, run_id: str, options: BuildOptions, process: LeaseHolder
    ) -> RunOutcome:
        """One run, by the process named; an interrupt cancels it and is raised again."""
        start = time.monotonic()
        try:
            with writing_records(self._layout):
                result = self._execute(host, key, run_id=run_id, options=options, process=process)
                outcome = outcome_of(key, result, seconds=time.monotonic() - start)
                if outcome.succeeded:
                    last = EVALUATION if outcome.is_held else PUBLISHED_INDEX
                    note_recorded(self._layout, key, recorded_fingerprint(self._instance, key, last) or "")
                return outcome
        except CannotWrite as error:
            # Dagster could not record the run to its end.
            return RunOutcome(key, run_id, False, time.monotonic() - start, str(error), type(error), {})

    def _execute(
        self, host: RunHost, key: str, *, run_id: str, options: BuildOptions, process: LeaseHolder
    ) -> dg.ExecuteInProcessResult:
        with redirect_stderr(_WithoutRepeats(sys.stderr)):
            result = self._job.execute_in_process(
                run_config=run_config_for(options, loggers=_QUIET),
                resources={"codesum": CodesumResource(host=host, duckdb=IN_MEMORY)},
                partition_key=key,
                instance=self._instance,
                tags={STARTED_BY_TAG: COMMAND_LINE, **REPOSITORY_TAGS, **process_tags(process)},
                raise_on_error=False,
                run_id=run_id,
            )
        for event in result.all_events:
            is_failure = event.event_type is dg.DagsterEventType.RUN_FAILURE
            reason = event.job_failure_data.failure_reason if is_failure else None
            if reason is not None and reason.value == "UNEXPECTED_TERMINATION":
                # Dagster cannot distinguish a person's Ctrl-C from a process that is being killed. Where there is no
                # terminal, as for a build that a server began, nobody asked for its end.
                if has_terminal():
                    self._instance.report_run_canceling(result.dagster_run, "Interrupted at the command line.")
                self._instance.report_run_canceled(result.dagster_run, "Interrupted at the command line.")
                raise KeyboardInterrupt
        return result


def has_terminal() -> bool:
    """Whether this process belongs to a terminal, at which a person may press Ctrl-C."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


@contextmanager
def open_runs(layout: HomeLayout, keys: Sequence[str]) -> Iterator[Runs]:
    """The runs of a home's instance, which knows of these repositories then."""
    with open_instance(layout) as instance:
        # The UI's timeline shows runs whose origin it knows; `execute_in_process` creates them without.
        instance.create_run_for_job = partial(instance.create_run_for_job, remote_job_origin=job_origin())  # type: ignore[method-assign]
        end_vanished_runs(layout, instance)
        add_partitions(instance, keys)
        yield Runs(layout, instance)


class _WithoutRepeats:
    """Standard error without what Dagster writes there of each record that it cannot keep, and then raises."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if text.startswith(_RECORD_IS_LOST) else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def job_origin() -> private_names.RemoteJobOrigin:
    """The job as the UI's processes load it."""
    location = private_names.ManagedGrpcPythonEnvCodeLocationOrigin(
        private_names.LoadableTargetOrigin(module_name=MODULE), location_name=MODULE
    )
    return private_names.RemoteRepositoryOrigin(location, REPOSITORY).get_job_origin(JOB)
