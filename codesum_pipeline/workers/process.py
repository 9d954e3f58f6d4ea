"""A process that works on batches: `python -m codesum_pipeline.workers.process`, driven over its standard streams.

It imports what a request's work is made of when the first one comes, and nothing
before. It ends when its standard input does, and on Linux with the process that
drives it, in the middle of a batch too. A Ctrl-C is for that process to handle.
"""

import ctypes
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from typing import IO, Any

import pyarrow as pa

from codesum_pipeline.model.garbage import collect_seldom

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1


# How Python ends after an error of its own; one of the work ends its worker in the other way.
COULD_NOT_BEGIN, WORK_FAILED = 1, 70


def send(value: Any, pipe: IO[bytes]) -> None:
    """Write one value; `receive` reads it."""
    _Pickler(pipe, pickle.HIGHEST_PROTOCOL).dump(value)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one value; raises `EOFError` where there are no more."""
    return pickle.load(pipe)


class _Pickler(pickle.Pickler):
    """Tables go as Arrow streams: pickled otherwise, a slice takes along the whole that it was cut from."""

    def reducer_override(self, value: Any) -> Any:
        return (_table, (_stream(value),)) if isinstance(value, pa.Table) else NotImplemented


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _table(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


def main() -> None:
    """Serve over the standard streams; whatever a library prints goes to the standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    pa.set_cpu_count(1)
    collect_seldom()
    responses = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.stdin.buffer, responses)


def _serve(requests: IO[bytes], responses: IO[bytes]) -> None:
    while True:
        try:
            request: tuple[Callable[[Any], Any], Any] = receive(requests)
        except EOFError:
            return
        work, batch = request
        try:
            send(work(batch), responses)
        except Exception:
            traceback.print_exc()
            sys.exit(WORK_FAILED)


if __name__ == "__main__":
    # Under its own name, for pickles say where their functions are from.
    from codesum_pipeline.workers.process import main as main_of_module

    main_of_module()
