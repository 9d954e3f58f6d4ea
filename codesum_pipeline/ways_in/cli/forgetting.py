"""Taking repositories back out of a home: those that somebody wants deleted, and those that were never fetched."""

from contextlib import suppress
from typing import TYPE_CHECKING

from codesum_pipeline.foundation.data_model.errors import LeaseHeld
from codesum_pipeline.foundation.store.lease import PURGE_RUN, hold_repository
from codesum_pipeline.ways_in.cli.render import write_note

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home


def was_fetched(home: "Home", key: str) -> bool:
    """Whether a build ever got hold of a repository."""
    return home.tables.readable_path("snapshot", key) is not None


def forget_unfetched(home: "Home", key: str) -> None:
    """Remove a registration, unless another process builds the repository."""
    with suppress(LeaseHeld):
        forget_repository(home, key, is_registered=True)
        write_note(f"{key}: not registered any more: nothing could be fetched")


def forget_repository(home: "Home", key: str, *, is_registered: bool) -> None:
    """Delete what is kept of a repository while no build of it runs. The registration goes last: what was
    interrupted can be repeated. Raises `LeaseHeld`."""
    state = home.layout.state(key)
    with hold_repository(home.layout, key, run_id=PURGE_RUN):
        home.purge(key)
        if home.layout.dagster_home.exists():
            from codesum_pipeline.builds.dagster.control import forget_partition

            forget_partition(home, key)
        if is_registered:
            home.registry.purge(key)
    for path in state.parent.glob(f"{state.name}*"):
        path.unlink(missing_ok=True)
