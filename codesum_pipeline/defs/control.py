"""The command line's one door to Dagster.

`codesum index` runs the same job in the same instance as the UI: its runs,
materialisations and checks stand beside those that the sensor starts.
"""

import io
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import dagster as dg

import codesum_pipeline
from codesum_pipeline.defs import mending, processes, storage
from codesum_pipeline.defs.assembly import build_defs
from codesum_pipeline.defs.assets import ASSETS
from codesum_pipeline.defs.caller import Caller, called_by
from codesum_pipeline.defs.guard import served_hosts
from codesum_pipeline.defs.guarded_ui import guarded_command
from codesum_pipeline.defs.observing import recorded_fingerprint
from codesum_pipeline.defs.outcomes import RunOutcome, outcome_of, was_interrupted
from codesum_pipeline.defs.resource import PARTITION_TAG, resource_config
from codesum_pipeline.defs.sqlite_records import with_open_records
from codesum_pipeline.model.errors import CannotWrite
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.atomic import write_bytes_atomically, write_text_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import this_process
from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.wiring import Home

if TYPE_CHECKING:
    from dagster._core.instance.ref import InstanceRef
    from dagster._core.remote_origin import RemoteJobOrigin

MODULE = "codesum_pipeline.definitions"
JOB = "index_repository"
# What Dagster calls definitions that nobody named.
REPOSITORY = "__repository__"
PARTITIONS = "codesum_repos"
INSTANCE_FILE = "dagster.yaml"
STARTED_BY_TAG = "codesum/started_by"

# The terminal belongs to the command: its output is not copied into Dagster's files.
_OUTPUT_STAYS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
        "config": {},
    }
}
_RUN_TAGS = {
    STARTED_BY_TAG: "command line",
    # Lists the run under the job in the UI, where runs are looked up by the module they were loaded from.
    ".dagster/repository": f"{REPOSITORY}@{MODULE}",
    # Who sits at the command line tries again, or not.
    "dagster/max_retries": "0",
}
_RECORD_IS_LOST = "Exception while writing logger call to event log"
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of a repository, as Dagster remembers it; times are Unix seconds."""

    run_id: str
    status: str
    started_at: float | None
    ended_at: float | None
    started_by: str


def ensure_dagster_home(layout: HomeLayout) -> Path:
    """Dagster's own folder in the home, with the package's `dagster.yaml` unless it has one."""
    folder = layout.dagster_home
    if not (folder / INSTANCE_FILE).exists():
        with exclusive(folder / storage.LOCK):
            if not (folder / INSTANCE_FILE).exists():
                write_bytes_atomically(folder / INSTANCE_FILE, _packaged_file().read_bytes())
    return folder.absolute()


@contextmanager
def open_instance(layout: HomeLayout) -> Iterator[dg.DagsterInstance]:
    """The instance that the UI shows.

    Raises `CannotWrite` where its records have no room, and `BrokenStore` for broken ones. Its files are
    whole before it is opened: Dagster's webserver and daemon open them at one moment.
    """
    with _writing_records(layout):
        reference = _reference(layout)
        storage.make_ready(reference, layout.dagster_home)
        with dg.DagsterInstance.from_ref(with_open_records(reference)) as instance:
            yield instance


def _reference(layout: HomeLayout) -> "InstanceRef":
    from dagster._core.instance.ref import InstanceRef

    return InstanceRef.from_dir(str(ensure_dagster_home(layout)), overrides=_OUTPUT_STAYS)


def mend_records(home: Home) -> list[str]:
    """Mend Dagster's records and let it know of all repositories again; what was wrong, and what became of it."""
    with _writing_records(home.layout):
        mended = mending.mend(_reference(home.layout), home.layout.dagster_home)
    if mended:
        with open_instance(home.layout) as instance:
            instance.add_dynamic_partitions(PARTITIONS, [entry.key for entry in home.registry.survey().entries])
    return mended


def index_repositories(
    home: Home,
    keys: Sequence[str],
    *,
    force: bool = False,
    confirm_llm: bool = False,
    progress: Progress | None = None,
    on_outcome: Callable[[RunOutcome], None] | None = None,
) -> list[RunOutcome]:
    """Build repositories, one run after another; the outcomes in the order of `keys`.

    A repository that fails does not stop the others, nor does one whose records
    have no room: theirs may. `confirm_llm` lets a model rewrite more of an index
    than `max_rewrite_fraction`. An interrupt ends the run
    that is under way, gives its lease back and is raised again. (Not in threads:
    each run configures Python's logging anew, and two at once lock each other out.)
    """
    job = build_defs({"home": home.settings.home}).resolve_job_def(JOB)
    config = {"force": force, "confirm_llm": confirm_llm}
    outcomes = []
    with open_instance(home.layout) as instance:
        # The UI's timeline shows runs whose origin it knows; `execute_in_process` creates them without.
        instance.create_run_for_job = partial(instance.create_run_for_job, remote_job_origin=_origin())  # type: ignore[method-assign]
        processes.end_vanished_runs(home.layout, instance)
        instance.add_dynamic_partitions(PARTITIONS, list(keys))
        for key in keys:
            with called_by(Caller(home, _named(progress, key) if progress and len(keys) > 1 else progress)):
                outcomes.append(_run_one(home, job, instance, key, config=config))
            if on_outcome:
                on_outcome(outcomes[-1])
    return outcomes


def is_recorded(home: Home, key: str, fingerprint: str) -> bool:
    """Whether every asset of a repository was materialised for a fingerprint; it is then noted beside the records."""
    with open_instance(home.layout) as instance:
        found = {recorded_fingerprint(instance, key, asset.key) for asset in ASSETS}
    if found != {fingerprint}:
        return False
    _note_recorded(home, key, fingerprint)
    return True


def register_partition(home: Home, key: str) -> None:
    """Let Dagster know of a repository before its first run."""
    with open_instance(home.layout) as instance:
        instance.add_dynamic_partitions(PARTITIONS, [key])


def forget_partition(home: Home, key: str) -> None:
    """Take a purged repository out of Dagster's lists; its past runs stay."""
    with open_instance(home.layout) as instance:
        instance.delete_dynamic_partition(PARTITIONS, key)


def run_history(home: Home, key: str, *, limit: int = 10) -> list[PastRun]:
    """The last runs of a repository, newest first."""
    with open_instance(home.layout) as instance:
        records = instance.get_run_records(filters=dg.RunsFilter(tags={PARTITION_TAG: key}), limit=limit)
    return [
        PastRun(
            run_id=record.dagster_run.run_id,
            status=record.dagster_run.status.value,
            started_at=record.start_time,
            ended_at=record.end_time,
            started_by=record.dagster_run.tags.get(STARTED_BY_TAG, "Dagster"),
        )
        for record in records
    ]


def end_vanished_runs(home: Home) -> list[str]:
    """Mark the runs whose process is gone as failed; their ids."""
    with open_instance(home.layout) as instance:
        return processes.end_vanished_runs(home.layout, instance)


def start_ui(home: Home, *, host: str = "127.0.0.1", port: int = 3000, allowed: Sequence[str] = ()) -> NoReturn:
    """Become `dagster dev`, guarded webserver and daemon, on this home; `allowed` are more names of this machine."""
    hosts = sorted(served_hosts(host, allowed))
    with open_instance(home.layout):
        folder = ensure_dagster_home(home.layout)
    environment = ui_environment(home.layout, os.environ)
    # Dagster puts the folder it is started in before everything else on the import path.
    os.chdir(folder)
    os.execve(sys.executable, ui_command(folder, host=host, port=port, hosts=hosts), environment)


def ui_command(folder: Path, *, host: str, port: int, hosts: Sequence[str]) -> list[str]:
    """The command that opens the UI from any folder, and answers to `hosts`."""
    arguments = ["-m", MODULE, "-d", str(folder), "-h", host, "-p", str(port)]
    return [sys.executable, *guarded_command("dev", hosts, arguments)]


def ui_environment(layout: HomeLayout, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the UI and of every run that it starts."""
    package = str(Path(codesum_pipeline.__file__).parent.parent)
    path = [package, *environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **environ,
        "CODESUM_HOME": str(layout.home.absolute()),
        "DAGSTER_HOME": str(layout.dagster_home.absolute()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(folder for folder in path if folder)),
    }


def _origin() -> "RemoteJobOrigin":
    """The job as the UI's processes load it."""
    from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteRepositoryOrigin
    from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

    location = ManagedGrpcPythonEnvCodeLocationOrigin(LoadableTargetOrigin(module_name=MODULE), location_name=MODULE)
    return RemoteRepositoryOrigin(location, REPOSITORY).get_job_origin(JOB)


def _packaged_file() -> Path:
    """In a wheel it lies in the package, in a checkout at the project's top."""
    package = Path(codesum_pipeline.__file__).parent
    inside = package / INSTANCE_FILE
    return inside if inside.exists() else package.parent / INSTANCE_FILE


def _note_recorded(home: Home, key: str, fingerprint: str) -> None:
    write_text_atomically(home.layout.recorded(key), fingerprint)


@contextmanager
def _writing_records(layout: HomeLayout) -> Iterator[None]:
    folder = layout.dagster_home
    with writing(folder, called=f"Dagster's records in {folder}"), storage.naming_breakage(folder):
        yield


def _run_one(
    home: Home, job: dg.JobDefinition, instance: dg.DagsterInstance, key: str, *, config: Mapping[str, bool]
) -> RunOutcome:
    start = time.monotonic()
    run_id = str(uuid.uuid4())
    try:
        with _writing_records(home.layout):
            result = _execute(job, instance, key, run_id=run_id, config=config)
            if result.success:
                _note_recorded(home, key, recorded_fingerprint(instance, key) or "")
    except CannotWrite as error:
        return RunOutcome(
            key,
            run_id,
            succeeded=False,
            seconds=time.monotonic() - start,
            message=str(error),
            error=CannotWrite,
            numbers={},
        )
    return outcome_of(key, result, seconds=time.monotonic() - start)


def _execute(
    job: dg.JobDefinition, instance: dg.DagsterInstance, key: str, *, run_id: str, config: Mapping[str, bool]
) -> dg.ExecuteInProcessResult:
    asked = {name: value for name, value in config.items() if value}
    with redirect_stderr(_WithoutRepeats(sys.stderr)):
        result = job.execute_in_process(
            run_config={**_QUIET, **resource_config(asked)},
            partition_key=key,
            instance=instance,
            tags={**_RUN_TAGS, **processes.process_tags(this_process(key))},
            raise_on_error=False,
            run_id=run_id,
        )
    if was_interrupted(result):
        # Dagster cannot tell a person's Ctrl-C from a process that is being shot.
        instance.report_run_canceled(result.dagster_run, "Interrupted at the command line.")
        raise KeyboardInterrupt
    return result


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


def _named(progress: Progress, key: str) -> Progress:
    """Progress that says of which repository it speaks."""
    return lambda doing, done, total: progress(f"{key}: {doing}", done, total)
