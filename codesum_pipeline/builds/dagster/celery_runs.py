"""Whole runs as tasks of Celery, over Redis.

Dagster's own launcher trusts Celery's results. They stay "started" for ever for a worker that was killed, are missing
once Redis restarted empty, and are "success" for a run whose process could not record how it ended. It also takes the
task's id from a tag of the run, and a run that died before it was handed over has none. Here a task has the id of its
run, and the workers themselves are asked which tasks they carry out.
"""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from celery import Celery
from celery.exceptions import CeleryError, OperationalError, WorkerLostError
from dagster import DagsterRun, Field, Float, StringSource
from dagster_celery.config import TASK_EXECUTE_JOB_NAME
from dagster_celery.defaults import task_default_queue
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tasks import create_execute_job_task
from msgspec import Struct, field

from codesum_pipeline.builds.dagster import private_names
from codesum_pipeline.builds.dagster.resource import holder_of
from codesum_pipeline.builds.dagster.run_tags import note_fault
from codesum_pipeline.builds.dagster.runs import COMMAND_LINE, STARTED_BY_TAG
from codesum_pipeline.builds.reports.faults import QUEUE, UNWRITTEN_END
from codesum_pipeline.evidence.packaged_tables import packaged_table

# How long workers may take to answer which tasks they carry out, and how long that answer is used.
ANSWER_S = 2.0
FRESH_S = 5.0
_OPTIONS: dict[str, Any] = {
    **packaged_table(__package__, "celery"),
    "task_default_queue": task_default_queue,
    # For ever.
    "broker_connection_max_retries": None,
}

logger = logging.getLogger("dagster.codesum.celery")


class CeleryRuns(CeleryRunLauncher):
    """Hands runs to `codesum worker`, and notices when one is lost."""

    def __init__(
        self, broker: str, lost_after_s: float, inst_data: private_names.ConfigurableClassData | None = None
    ) -> None:
        super().__init__(
            default_queue=task_default_queue, broker=broker, backend=broker, config_source=_OPTIONS, inst_data=inst_data
        )
        self._sightings, self._lost_after_s = Sightings(lambda: find_tasks_in_hand(self.celery)), lost_after_s

    @classmethod
    def config_type(cls) -> Mapping[str, Any]:
        return {
            "broker": Field(StringSource, description="The URL of Redis."),
            "lost_after_s": Field(Float, description="How long a run may go without a worker that carries it out."),
        }

    @property
    def supports_resume_run(self) -> bool:
        """Its steps are in one process: where that is gone, the run begins anew."""
        return False

    def launch_run(self, context: private_names.LaunchRunContext) -> None:
        run = context.dagster_run
        assert run.job_code_origin is not None
        arguments = private_names.ExecuteRunArgs(
            job_origin=run.job_code_origin,
            run_id=run.run_id,
            instance_ref=self._instance.get_ref(),
            set_exit_code_on_failure=True,
        )
        task = create_execute_job_task(self.celery).si(execute_job_args_packed=private_names.pack_value(arguments))
        try:
            task.apply_async(
                task_id=run.run_id,
                queue=self.default_queue,
                routing_key=f"{self.default_queue}.{TASK_EXECUTE_JOB_NAME}",
            )
        except Exception:
            # Whatever keeps a run from its queue is no fault of what it would build.
            note_fault(self._instance, run.run_id, QUEUE)
            raise
        self._instance.report_engine_event("The run waits for a worker.", run, cls=self.__class__)

    def terminate(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        # SIGTERM: Dagster, which carries the run out there, cancels it and gives its lease back.
        self.celery.control.revoke(run_id, terminate=True)
        return True

    def check_run_worker_health(self, run: DagsterRun) -> private_names.CheckRunHealthResult:
        """Whether a started run is being carried out."""
        end: str | None = None
        if run.tags.get(STARTED_BY_TAG) == COMMAND_LINE:
            # `codesum index` carries it out, in the same instance and without a launcher.
            holder = holder_of(run)
            if holder and holder.is_gone():
                end = f"process {holder.pid} on {holder.host} ended without a word"
        elif (missed_s := self._sightings.missed_s(run.run_id)) is not None:
            is_lost = missed_s >= self._lost_after_s
            end = self._end_of(run.run_id) or ("no worker carries it out any more" if is_lost else None)
        status = private_names.WorkerStatus.FAILED if end else private_names.WorkerStatus.RUNNING
        return private_names.CheckRunHealthResult(status, end)

    def _end_of(self, run_id: str) -> str | None:
        """How the task of a run ended that is not over in Dagster's records; None if it goes on, or nobody can say."""
        try:
            result = self.celery.AsyncResult(run_id)
            state, value = result.state, result.result
        except errors_of_broker(self.celery):
            return None
        if isinstance(value, WorkerLostError):
            return f"its process ended: {value}"
        # Dagster keeps what a build raises to itself: a task fails where Dagster's records cannot be read or written.
        ends = {"SUCCESS": UNWRITTEN_END, "FAILURE": UNWRITTEN_END, "REVOKED": "its process ended without a word"}
        return ends.get(state)

    def get_run_worker_debug_info(self, run: DagsterRun, include_container_logs: bool | None = True) -> str | None:
        holder = holder_of(run)
        return f"It was carried out by process {holder.pid} on {holder.host}." if holder else None


class Sightings(Struct, eq=False):
    """When each run was last seen with a worker. Many are asked about at one moment, so one answer is for all."""

    look: Callable[[], frozenset[str] | None]
    fresh_s: float = FRESH_S
    _lock: Lock = field(default_factory=Lock)
    _looked_at: float = float("-inf")
    _seen: frozenset[str] | None = None
    _missed_since: dict[str, float] = {}

    def missed_s(self, run_id: str) -> float | None:
        """For how long no worker has had a run in hand, in seconds; None if one has, or if they cannot be asked."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at > self.fresh_s:
                self._seen, self._looked_at = self.look(), time.monotonic()
                if self._seen is None:
                    self._missed_since.clear()
            if self._seen is None or run_id in self._seen:
                self._missed_since.pop(run_id, None)
                return None
            return now - self._missed_since.setdefault(run_id, now)


def find_tasks_in_hand(app: Celery) -> frozenset[str] | None:
    """The ids of the tasks that workers have in hand; None if the broker cannot be asked."""
    try:
        workers = app.control.inspect(timeout=ANSWER_S)
        answers = [workers.active() or {}, workers.reserved() or {}]
    except errors_of_broker(app) as error:
        logger.warning("the workers cannot be asked what they carry out: %s", type(error).__name__)
        return None
    return frozenset(task["id"] for answer in answers for tasks in answer.values() for task in tasks)


def errors_of_broker(app: Celery) -> tuple[type[BaseException], ...]:
    """The errors raised if Redis cannot be reached."""
    return (OSError, CeleryError, OperationalError, *app.backend.connection_errors)
