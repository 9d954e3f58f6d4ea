"""The Dagster instance of a home: its folder, its configuration and its records."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from codesum_pipeline.defs import storage
from codesum_pipeline.defs.instance_file import ensure_dagster_home
from codesum_pipeline.defs.sqlite_records import with_open_records
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.refusals import writing

if TYPE_CHECKING:
    from dagster._core.instance.ref import InstanceRef

# The terminal belongs to the command: its output is not copied into Dagster's files.
_OUTPUT_STAYS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
        "config": {},
    }
}


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
