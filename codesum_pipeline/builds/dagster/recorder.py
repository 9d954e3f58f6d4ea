"""The child process of `codesum index`: it imports Dagster from the first moment on, runs the job and records it.

The child opens nothing before its parent, which builds, names the home. It ends when its parent does.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.worker_processes.child import start_child

# How long the child that is done, or has nobody to work for, may take to close its files.
CLOSE_S = 10.0


class Recorder(Struct):
    """The child process, and this end of the sockets."""

    process: "subprocess.Popen[bytes]"
    connection: "Connection[Any, Any]"

    def receive(self) -> Any:
        """The next message; raises `ProcessGone`."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            from codesum_pipeline.foundation.data_model.errors import ProcessGone

            status = self.process.wait()
            raise ProcessGone(
                f"the process that records in Dagster ended with status {status}; the built index is kept, and "
                "the next `codesum index` records it"
            ) from None

    def send(self, message: object) -> None:
        """To a child that is gone nothing is sent; `receive` says so."""
        with suppress(OSError):
            self.connection.send(message)

    def end(self) -> None:
        """Let the child close Dagster's files and go."""
        self.connection.close()
        try:
            self.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End a child that has opened nothing, or does not go."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def has_dagster() -> bool:
    """Whether this process has imported Dagster, and can record by itself."""
    return "dagster" in sys.modules


class SpareRecorder:
    """The recorder of this process, which its entry point starts before anybody knows whether a build needs it."""

    def __init__(self) -> None:
        self._started: Recorder | None = None

    def start(self) -> None:
        """Let a child import Dagster, in case it is needed soon; it opens nothing by itself."""
        if self._started is None and not has_dagster() and (os.cpu_count() or 1) > 1:
            # Where none can be started now, `take` tries once more.
            with suppress(OSError):
                self._started = _new_recorder()

    @contextmanager
    def take(self) -> Iterator[Recorder]:
        """The child that was started, else a new one, for the time of the block."""
        recorder, self._started = self._started or _new_recorder(), None
        try:
            yield recorder
        finally:
            recorder.end()

    def end(self) -> None:
        """End the child that was started and not needed."""
        if self._started:
            self._started.kill()
            self._started = None


# Of the whole process: the entry point starts it, long before what builds is imported.
SPARE_RECORDER = SpareRecorder()


def _new_recorder() -> Recorder:
    process, ours = start_child("codesum_pipeline.builds.dagster.recorder")
    return Recorder(process, Connection(ours.detach()))


def main(descriptor: int) -> None:
    """In the child: run what the parent asks for over an inherited socket, until it closes it."""
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


def _import_dagster() -> None:
    """Import Dagster, which needs nothing from the parent."""
    import dagster_duckdb  # noqa: F401

    # With it come Dagster's storages, as opening the instance would import them.
    from codesum_pipeline.builds.dagster.private_names import InstanceRef

    # No asset here keeps a state, and its folder is opened by fsspec, which takes long to import.
    InstanceRef.defs_state_storage = None  # type: ignore[assignment, method-assign]


def _record(connection: "Connection[Any, Any]", opening: Any) -> None:
    from codesum_pipeline.builds.reports.build_values import RunOutcome
    from codesum_pipeline.builds.reports.exchange import BuildSignal, FailureMessage, RemoteBuilder, RunRequest
    from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS

    STAGE_FACTS.use(opening.facts)
    from codesum_pipeline.builds.dagster.resource import RunHost
    from codesum_pipeline.builds.dagster.runs import open_runs
    from codesum_pipeline.foundation.store.layout import HomeLayout
    from codesum_pipeline.foundation.store.memory import collect_seldom

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
                    # The parent was killed, and a parser that crashes kills the process that it is in.
                    if layout.parsing(wanted.key).exists():
                        sys.stderr.write(
                            f"{wanted.key}: the build was killed while it parsed: run the same command again; if a "
                            "file is the cause, it is named and left out\n"
                        )
                        sys.stderr.flush()
                    raise
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        connection.send(FailureMessage.of(error))
