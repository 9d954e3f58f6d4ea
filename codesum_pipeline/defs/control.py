"""The command line's one door to Dagster.

`codesum index` runs the same job in the same instance as the UI: its runs,
materialisations and checks are listed with those that the sensor starts.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import dagster as dg
from msgspec import Struct

import codesum_pipeline
from codesum_pipeline.defs import resource
from codesum_pipeline.defs.assets import ASSETS
from codesum_pipeline.defs.guarded_ui import UiOptions, guarded_command, served_hosts
from codesum_pipeline.defs.instance_file import apply_engine, ensure_dagster_home
from codesum_pipeline.defs.resource import PARTITION_TAG, PARTITIONS, add_partitions
from codesum_pipeline.defs.runs import MODULE, STARTED_BY_TAG, note_recorded
from codesum_pipeline.defs.steps import PUBLISHED_INDEX, is_held, recorded_fingerprint
from codesum_pipeline.defs.storage import mend, open_instance, reference_of, writing_records
from codesum_pipeline.defs.upkeep import Tell, maintain
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.upkeep.freed import Maintenance
from codesum_pipeline.wiring import Home

# Where `codesum worker` lives; importing it imports Celery.
WORKER = "codesum_pipeline.defs.worker"


class PastRun(Struct, frozen=True):
    """One run of a repository, as Dagster remembers it; times are Unix seconds."""

    run_id: str
    status: str
    started_at: float | None
    ended_at: float | None
    started_by: str


@contextmanager
def _instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The instance that the UI shows, on the engine of the home's settings."""
    apply_engine(home.layout, home.settings.engine)
    with open_instance(home.layout) as instance:
        yield instance


def mend_records(home: Home) -> list[str]:
    """Mend Dagster's records and register all repositories there again; returns what `mend` says."""
    apply_engine(home.layout, home.settings.engine)
    with writing_records(home.layout):
        mended = mend(reference_of(home.layout), home.layout.dagster_home)
    if mended:
        with _instance(home) as instance:
            add_partitions(instance, [entry.key for entry in home.registry.survey().entries])
    return mended


def is_recorded(home: Home, key: str, fingerprint: str, *, was_held: bool) -> bool:
    """Whether every asset of a repository was materialised for a fingerprint; it is then noted beside the records.

    Of a build that the promotion gate held back these are the assets before the published index.
    """
    keys = [asset.key for asset in ASSETS]
    with _instance(home) as instance:
        built = keys[: keys.index(PUBLISHED_INDEX)] if was_held else keys
        found = {recorded_fingerprint(instance, key, asset) for asset in built}
    if found != {fingerprint}:
        return False
    note_recorded(home.layout, key, fingerprint)
    return True


def register_partitions(home: Home, keys: Sequence[str]) -> None:
    """Let Dagster know of repositories before their first run."""
    with _instance(home) as instance:
        add_partitions(instance, keys)


def forget_partition(home: Home, key: str) -> None:
    """Take a purged repository out of Dagster's lists; its past runs stay."""
    with _instance(home) as instance:
        instance.delete_dynamic_partition(PARTITIONS, key)


def run_history(home: Home, key: str, *, limit: int = 10) -> list[PastRun]:
    """The last runs of a repository, newest first."""
    with _instance(home) as instance:
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


def end_vanished_runs(home: Home) -> list[str]:
    """Mark the runs whose process is gone as failed; their ids."""
    with _instance(home) as instance:
        return resource.end_vanished_runs(home.layout, instance)


def maintain_home(home: Home, *, is_dry_run: bool, has_secrets: bool, tell: Tell) -> Maintenance:
    """Prune everything that the settings do not keep, as the job `maintenance` does; with `has_secrets`, also what
    earlier versions stored of secrets."""
    with _instance(home) as instance, writing_records(home.layout):
        return maintain(home, instance, is_dry_run=is_dry_run, has_secrets=has_secrets, tell=tell)


def start_ui(
    home: Home,
    *,
    host: str = "127.0.0.1",
    port: int = 3000,
    allowed: Sequence[str] = (),
    part: str = "dev",
) -> NoReturn:
    """Become the guarded `webserver`, the `daemon` or, as `dev`, both, on this home; `allowed` are more names of this
    machine."""
    options = UiOptions(sorted(served_hosts(host, allowed)), home.settings.serving)
    _become(home, ui_command(ensure_dagster_home(home.layout), options, host=host, port=port, part=part))


def start_worker(home: Home, *, processes: int) -> NoReturn:
    """Become a worker that carries out runs of this home's instance."""
    _become(home, [sys.executable, "-P", "-W", "ignore", "-m", WORKER, "--processes", str(processes)])


def _become(home: Home, command: list[str]) -> NoReturn:
    with _instance(home):
        folder = ensure_dagster_home(home.layout)
    environment = ui_environment(home.layout, os.environ)
    # Dagster puts the folder it is started in before everything else on the import path.
    os.chdir(folder)
    os.execve(sys.executable, command, environment)


def ui_command(folder: Path, options: UiOptions, *, host: str, port: int, part: str = "dev") -> list[str]:
    """The command that opens the UI, or a part of it, from any folder."""
    loaded, served = ["-m", MODULE, "-d", str(folder)], ["-h", host, "-p", str(port)]
    if part == "daemon":
        return [sys.executable, *guarded_command(part, options, ["run", *loaded])]
    return [sys.executable, *guarded_command(part, options, [*loaded, *served])]


def ui_environment(layout: HomeLayout, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the UI and of every run that it starts."""
    package = str(Path(codesum_pipeline.__file__).parent.parent)
    path = [package, *environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **environ,
        "CODESUM_HOME": layout.bucket.url if layout.bucket else str(layout.home.absolute()),
        "DAGSTER_HOME": str(layout.dagster_home.absolute()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(folder for folder in path if folder)),
    }
