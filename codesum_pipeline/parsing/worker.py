"""A process that parses batches: `python -m codesum_pipeline.parsing.worker`, driven over its standard streams.

It ends when its standard input does, and on Linux with the process that drives
it, in the middle of a file too. A Ctrl-C is for that process to handle.
"""

import ctypes
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Self

import pyarrow as pa

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing.batches import Failure, Parsed, Rows, SourceText, parse_batch

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1

ParseBatch = Callable[[Sequence[SourceText], HashPolicy], Parsed]


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent to a worker."""

    files: tuple[SourceText, ...]
    hash_policy: HashPolicy


@dataclass(frozen=True, slots=True)
class Response:
    """What it answers: tables as Arrow streams."""

    symbols: bytes
    facts: bytes
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, parsed: Parsed) -> Self:
        return cls(_stream(parsed.rows.symbols), _stream(parsed.rows.facts), parsed.failures)

    def parsed(self) -> Parsed:
        """The tables, over the bytes that were received."""
        return Parsed(Rows(_table(self.symbols), _table(self.facts)), self.failures)


def serve(requests: IO[bytes], responses: IO[bytes], parse: ParseBatch) -> None:
    """Answer requests until there are no more."""
    while True:
        try:
            request: Request = pickle.load(requests)
        except EOFError:
            return
        response = Response.of(parse(request.files, request.hash_policy))
        pickle.dump(response, responses, pickle.HIGHEST_PROTOCOL)
        responses.flush()


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _table(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


def main(parse: ParseBatch = parse_batch) -> None:
    """Serve over the standard streams; whatever a library prints goes to the standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    pa.set_cpu_count(1)
    responses = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, responses, parse)


if __name__ == "__main__":
    # Under its own name, for pickles say where their classes are from.
    from codesum_pipeline.parsing.worker import main as main_of_module

    main_of_module()
