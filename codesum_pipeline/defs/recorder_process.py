"""The child process of a build from the command line, which imports Dagster from the first moment on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from msgspec import Struct

from codesum_pipeline.workers.child import start_child

# How long the child that is done, or has nobody to work for, to close its files.
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
            from codesum_pipeline.model.errors import ProcessGone

            status = self.process.wait()
            raise ProcessGone(
                f"the process that records in Dagster ended with status {status}; what is built stands, and the next "
                "`codesum index` records it"
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


_started: list[Recorder] = []


def start_recorder() -> None:
    """Let a child import Dagster, in case it is needed soon; it opens nothing by itself."""
    if not _started and not has_dagster() and (os.cpu_count() or 1) > 1:
        # Where none can be started now, `taken_recorder` tries once more.
        with suppress(OSError):
            _started.append(_new_recorder())


def end_recorder() -> None:
    """End the child that was started and not needed."""
    while _started:
        _started.pop().kill()


def has_dagster() -> bool:
    """Whether this process has imported Dagster, and needs nobody else to record."""
    return "dagster" in sys.modules


@contextmanager
def taken_recorder() -> Iterator[Recorder]:
    """The child that was started, else a new one, for the time of the block."""
    recorder = _started.pop() if _started else _new_recorder()
    try:
        yield recorder
    finally:
        recorder.end()


def _new_recorder() -> Recorder:
    process, ours = start_child("codesum_pipeline.defs.recorder")
    return Recorder(process, Connection(ours.detach()))
