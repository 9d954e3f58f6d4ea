"""One run of the job in this process, in the same instance as the UI's runs."""

import io
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import partial
from typing import TYPE_CHECKING, TextIO

import dagster as dg

from codesum_pipeline.defs import processes
from codesum_pipeline.defs.building.builder import BuildOptions
from codesum_pipeline.defs.building.run_outcome import RunOutcome, failed_run
from codesum_pipeline.defs.instances import open_instance, writing_records
from codesum_pipeline.defs.jobs import resolve_job
from codesum_pipeline.defs.outcomes import outcome_of, was_interrupted
from codesum_pipeline.defs.partitions import add_partitions
from codesum_pipeline.defs.resource import IN_MEMORY, CodesumResource, RunHost, run_config_for
from codesum_pipeline.defs.steps import EVALUATION, JOB, PUBLISHED_INDEX, recorded_fingerprint
from codesum_pipeline.model.errors import CannotWrite
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import Holder

if TYPE_CHECKING:
    from dagster._core.remote_origin import RemoteJobOrigin

# Where Dagster's own processes load the definitions from.
MODULE = "codesum_pipeline.definitions"
# What Dagster calls definitions that nobody named.
REPOSITORY = "__repository__"
STARTED_BY_TAG = "codesum/started_by"
COMMAND_LINE = "command line"

_RUN_TAGS = {
    STARTED_BY_TAG: COMMAND_LINE,
    # Lists the run under the job in the UI, where runs are looked up by the module they were loaded from.
    ".dagster/repository": f"{REPOSITORY}@{MODULE}",
    # Who sits at the command line tries again, or not.
    "dagster/max_retries": "0",
}
_RECORD_IS_LOST = "Exception while writing logger call to event log"
_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


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

    def execute(self, host: RunHost, key: str, *, run_id: str, options: BuildOptions, process: Holder) -> RunOutcome:
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
            return failed_run(key, run_id, error, seconds=time.monotonic() - start)

    def _execute(
        self, host: RunHost, key: str, *, run_id: str, options: BuildOptions, process: Holder
    ) -> dg.ExecuteInProcessResult:
        with redirect_stderr(_WithoutRepeats(sys.stderr)):
            result = self._job.execute_in_process(
                run_config=run_config_for(options, loggers=_QUIET),
                resources={"codesum": CodesumResource(host=host, duckdb=IN_MEMORY)},
                partition_key=key,
                instance=self._instance,
                tags={**_RUN_TAGS, **processes.process_tags(process)},
                raise_on_error=False,
                run_id=run_id,
            )
        if was_interrupted(result):
            # Dagster cannot tell a person's Ctrl-C from a process that is being shot.
            self._instance.report_run_canceled(result.dagster_run, "Interrupted at the command line.")
            raise KeyboardInterrupt
        return result


@contextmanager
def open_runs(layout: HomeLayout, keys: Sequence[str]) -> Iterator[Runs]:
    """The runs of a home's instance, which knows of these repositories then."""
    with open_instance(layout) as instance:
        # The UI's timeline shows runs whose origin it knows; `execute_in_process` creates them without.
        instance.create_run_for_job = partial(instance.create_run_for_job, remote_job_origin=_origin())  # type: ignore[method-assign]
        processes.end_vanished_runs(layout, instance)
        add_partitions(instance, keys)
        yield Runs(layout, instance)


class _WithoutRepeats(io.TextIOBase):
    """Standard error without what Dagster writes there of each record that it cannot keep, and then raises."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if text.startswith(_RECORD_IS_LOST) else self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def _origin() -> "RemoteJobOrigin":
    """The job as the UI's processes load it."""
    from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteRepositoryOrigin
    from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

    location = ManagedGrpcPythonEnvCodeLocationOrigin(LoadableTargetOrigin(module_name=MODULE), location_name=MODULE)
    return RemoteRepositoryOrigin(location, REPOSITORY).get_job_origin(JOB)
