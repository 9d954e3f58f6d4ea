"""The process that runs the job and records it, while its parent builds.

It opens nothing before its parent says which home, and ends when its parent does.
"""

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codesum_pipeline.store.layout import HomeLayout


def main(descriptor: int) -> None:
    """Run what the parent asks for over an inherited socket, until it closes it."""
    # The output of the command is its parent's alone.
    os.dup2(2, 1)
    # Importing makes a million objects and little garbage.
    gc.disable()
    with Connection(descriptor) as connection:
        _import_dagster()
        with suppress(EOFError, OSError):
            _record(connection, connection.recv())
    # All is closed; what Python would tidy up in a tenth of a second, the system does at once.
    os._exit(0)


# What Dagster imports, for a fifth of the time of its import, and a run seldom calls: migrations, locks of files that
# nobody shares here, and colours of tracebacks.
_SELDOM = (
    *("alembic.command", "alembic.config", "alembic.runtime.environment", "alembic.runtime.migration"),
    *("alembic.script", "filelock", "rich", "rich.console", "rich.traceback"),
)


class _SeldomModule(ModuleType):
    """Stands in for a module until something of it is used."""

    def __getattr__(self, name: str) -> "_SeldomName":
        if name.startswith("__"):
            raise AttributeError(name)
        return _SeldomName(self.__name__, name)


class _SeldomName:
    """A name of such a module."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._imported()(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._imported(), name)

    def _imported(self) -> Any:
        for module in [*sys.modules]:
            if isinstance(sys.modules[module], _SeldomModule):
                del sys.modules[module]
        return getattr(import_module(self._module), self._name)


def _import_dagster() -> None:
    """What needs nothing of the parent."""
    for name in _SELDOM:
        for part in (name.partition(".")[0], name):
            sys.modules.setdefault(part, _SeldomModule(part)).__path__ = []
    import dagster_duckdb  # noqa: F401

    # Private: imported ahead of time, as opening the instance would.
    from dagster._core.instance.ref import InstanceRef
    from dagster._core.storage.sqlite_storage import DagsterSqliteStorage  # noqa: F401

    # No asset here keeps a state, and its folder is opened by fsspec, which takes long to import.
    InstanceRef.defs_state_storage = None  # type: ignore[assignment, method-assign]


def _record(connection: "Connection[Any, Any]", opening: Any) -> None:
    from codesum_pipeline.defs.building.exchange import BuildSignal, FailureMessage, RemoteBuilder, RunRequest
    from codesum_pipeline.defs.building.facts import use_facts
    from codesum_pipeline.defs.building.values import RunOutcome

    use_facts(opening.facts)
    from codesum_pipeline.defs.resource import RunHost
    from codesum_pipeline.defs.runs import open_runs
    from codesum_pipeline.model.garbage import collect_seldom
    from codesum_pipeline.store.layout import HomeLayout

    gc.freeze()
    collect_seldom()
    gc.enable()
    try:
        layout = HomeLayout(opening.home)
        with open_runs(layout, opening.keys) as runs:
            while True:
                wanted = connection.recv()
                # What the run before did not ask for any more.
                if not isinstance(wanted, RunRequest):
                    continue
                host = RunHost(builder=RemoteBuilder(connection, wanted.process))
                outcome: RunOutcome | BuildSignal
                try:
                    outcome = runs.execute(
                        host, wanted.key, run_id=wanted.run_id, options=wanted.options, process=wanted.process
                    )
                except KeyboardInterrupt:
                    outcome = BuildSignal.INTERRUPTED
                try:
                    connection.send(outcome)
                except ConnectionError:
                    _tell_of_crash(layout, wanted.key)
                    raise
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        connection.send(FailureMessage.of(error))


def _tell_of_crash(layout: "HomeLayout", key: str) -> None:
    """The parent said nothing: it was killed, and a parser that crashes kills the process that it is in."""
    if layout.parsing(key).exists():
        sys.stderr.write(
            f"{key}: the build was killed while it parsed: run the same command again; if a file is the cause, it is "
            "named and left out\n"
        )
        sys.stderr.flush()
