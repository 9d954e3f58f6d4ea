"""The command line's one door to Dagster.

`codesum index` runs the same job in the same instance as the UI: its runs,
materialisations and checks stand beside those that the sensor starts.
"""

import os
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import dagster as dg

import codesum_pipeline
from codesum_pipeline.defs import mending, processes
from codesum_pipeline.defs.assets import ASSETS
from codesum_pipeline.defs.building.builder import BuildOptions, progress_about
from codesum_pipeline.defs.building.run_outcome import RunOutcome
from codesum_pipeline.defs.caller import Caller, called_by
from codesum_pipeline.defs.guard import served_hosts
from codesum_pipeline.defs.guarded_ui import guarded_command
from codesum_pipeline.defs.instances import ensure_dagster_home, open_instance, reference_of, writing_records
from codesum_pipeline.defs.maintaining import Tell, maintain
from codesum_pipeline.defs.partitions import PARTITIONS, add_partitions
from codesum_pipeline.defs.resource import PARTITION_TAG
from codesum_pipeline.defs.runs import MODULE, STARTED_BY_TAG, note_recorded, open_runs
from codesum_pipeline.defs.steps import recorded_fingerprint
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import this_process
from codesum_pipeline.upkeep.freed import Maintenance
from codesum_pipeline.wiring import Home


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of a repository, as Dagster remembers it; times are Unix seconds."""

    run_id: str
    status: str
    started_at: float | None
    ended_at: float | None
    started_by: str


def mend_records(home: Home) -> list[str]:
    """Mend Dagster's records and let it know of all repositories again; what was wrong, and what became of it."""
    with writing_records(home.layout):
        mended = mending.mend(reference_of(home.layout), home.layout.dagster_home)
    if mended:
        with open_instance(home.layout) as instance:
            add_partitions(instance, [entry.key for entry in home.registry.survey().entries])
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
    than `max_rewrite_fraction`. An interrupt ends the run that is under way,
    gives its lease back and is raised again.
    """
    options = BuildOptions(force=force, confirm_llm=confirm_llm)
    outcomes = []
    with open_runs(home.layout, keys) as runs:
        for key in keys:
            run_id = str(uuid.uuid4())
            with called_by(Caller(home, progress_about(key, among=keys, progress=progress))):
                outcomes.append(runs.execute(key, run_id=run_id, options=options, process=this_process(run_id)))
            if on_outcome:
                on_outcome(outcomes[-1])
    return outcomes


def is_recorded(home: Home, key: str, fingerprint: str) -> bool:
    """Whether every asset of a repository was materialised for a fingerprint; it is then noted beside the records."""
    with open_instance(home.layout) as instance:
        found = {recorded_fingerprint(instance, key, asset.key) for asset in ASSETS}
    if found != {fingerprint}:
        return False
    note_recorded(home.layout, key, fingerprint)
    return True


def register_partition(home: Home, key: str) -> None:
    """Let Dagster know of a repository before its first run."""
    with open_instance(home.layout) as instance:
        add_partitions(instance, [key])


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


def maintain_home(home: Home, *, is_dry_run: bool, tell: Tell) -> Maintenance:
    """Prune what the settings let go, as the job `maintenance` does."""
    with open_instance(home.layout) as instance, writing_records(home.layout):
        return maintain(home, instance, is_dry_run=is_dry_run, tell=tell)


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
