"""Deleting all that is kept of a repository."""

from codesum_pipeline.store.holding import hold_repository
from codesum_pipeline.wiring import Home


def forget(home: Home, key: str, *, is_registered: bool) -> None:
    """Delete what is kept of a repository while no build of it runs. The registration goes last: what was
    interrupted can be repeated. Raises `LeaseHeld`."""
    state = home.layout.state(key)
    with hold_repository(home.layout, key, run_id="purge"):
        home.purge(key)
        if home.layout.dagster_home.exists():
            from codesum_pipeline.defs.control import forget_partition

            forget_partition(home, key)
        if is_registered:
            home.registry.purge(key)
    for path in state.parent.glob(f"{state.name}*"):
        path.unlink(missing_ok=True)
