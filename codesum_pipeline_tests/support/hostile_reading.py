"""One hostile source is read by a worker of its own, as a build does it.

Run as a module, with a source's id, its bytes and the most seconds of a processor, it prints the rows, the failures,
the seconds of a processor and the megabytes of the worker, with the libraries that it imports, as JSON.
"""

import json
import resource
import subprocess
import sys

from msgspec import Struct

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.worker_processes.limits import WorkLimits
from codesum_pipeline.foundation.worker_processes.pool import Pool
from codesum_pipeline.symbols.parsing.batches import ParseFiles, SourceText
from codesum_pipeline_tests.support.hostile_sources import hostile_sources

_LONGEST_WAIT_S = 900


class Reading(Struct, frozen=True):
    """What came of a source; without rows its process ended before."""

    source: str
    rows: int = 0
    failures: tuple[str, ...] = ()
    processor_s: float = 0.0
    memory_mb: float = 0.0
    error: str = ""


def read_apart(source: str, size: int, seconds: int) -> Reading:
    """Read the source with this id in a worker, which may take so many seconds of a processor."""
    command = [sys.executable, "-m", __name__, source, str(size), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_WAIT_S, check=False)
    if done.returncode:
        return Reading(source, error=f"exit status {done.returncode}: {done.stderr[-500:]}")
    return Reading(source, *json.loads(done.stdout))


def _read(name: str, size: int, seconds: int) -> None:
    source = next(source for source in hostile_sources() if source.id == name)
    text = SourceText(source.file, source.language, "b", source.of_size(size).encode())
    limits = WorkLimits(processor_s=seconds)
    with Pool(2, limits=limits) as pool:
        (batch,) = pool.map(ParseFiles(HashPolicy.CANONICAL, limits=limits), [[text]])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    reasons = [failure.reason for failure in batch.failures]
    found = [batch.rows.facts.num_rows, reasons, round(used.ru_utime + used.ru_stime, 2), round(used.ru_maxrss / 1024)]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _read(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
