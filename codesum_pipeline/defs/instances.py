"""The Dagster instance of a home: its folder, its configuration and its records."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

import codesum_pipeline
from codesum_pipeline.defs import storage
from codesum_pipeline.defs.sqlite_records import with_open_records
from codesum_pipeline.store.atomic import write_bytes_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.refusals import writing

if TYPE_CHECKING:
    from dagster._core.instance.ref import InstanceRef

INSTANCE_FILE = "dagster.yaml"

# The terminal belongs to the command: its output is not copied into Dagster's files.
_OUTPUT_STAYS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
        "config": {},
    }
}


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
    with writing_records(layout):
        reference = reference_of(layout)
        storage.make_ready(reference, layout.dagster_home)
        with dg.DagsterInstance.from_ref(with_open_records(reference)) as instance:
            yield instance


def reference_of(layout: HomeLayout) -> "InstanceRef":
    """How the instance is opened, before any of its files is."""
    from dagster._core.instance.ref import InstanceRef

    return InstanceRef.from_dir(str(ensure_dagster_home(layout)), overrides=_OUTPUT_STAYS)


@contextmanager
def writing_records(layout: HomeLayout) -> Iterator[None]:
    """Name the folder where the system refuses to write there, and the way out where what is there is broken."""
    folder = layout.dagster_home
    with writing(folder, called=f"Dagster's records in {folder}"), storage.naming_breakage(folder):
        yield


def _packaged_file() -> Path:
    """In a wheel it lies in the package, in a checkout at the project's top."""
    package = Path(codesum_pipeline.__file__).parent
    inside = package / INSTANCE_FILE
    return inside if inside.exists() else package.parent / INSTANCE_FILE
