"""One hostile source is read in a process of its own, as a build does it.

Run as a module, with a source's id, its bytes and the most seconds of a processor, it prints the rows, the failures,
the seconds of a processor and the megabytes that the reading took, as JSON.
"""

import json
import resource
import subprocess
import sys

from msgspec import Struct

from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.parsing.batches import ParseFiles, SourceText
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
    """Read the source with this id in a child process, which ends after so many seconds of a processor."""
    command = [sys.executable, "-m", __name__, source, str(size), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_WAIT_S, check=False)
    if done.returncode:
        return Reading(source, error=f"exit status {done.returncode}: {done.stderr[-500:]}")
    return Reading(source, *json.loads(done.stdout))


def _read(name: str, size: int, seconds: int) -> None:
    source = next(source for source in hostile_sources() if source.id == name)
    text = source.of_size(size).encode()
    before = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(before.ru_utime + before.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    batch = ParseFiles(HashPolicy.CANONICAL)([SourceText(source.file, source.language, "b", text)])
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    reasons = [failure.reason for failure in batch.failures]
    memory = (after.ru_maxrss - before.ru_maxrss) / 1024
    sys.stdout.write(json.dumps([batch.rows.facts.num_rows, reasons, round(spent, 2), round(memory)]))


if __name__ == "__main__":
    _read(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
