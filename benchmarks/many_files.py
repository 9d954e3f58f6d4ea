"""What a repository costs that holds little in very many pieces: files of one line in one folder, in many folders, and
a history of very many refs.

    python -m benchmarks.many_files [--only SHAPE:COUNT]

Each is built by all steps in a process of its own at a quarter, a half and the whole of its size. The seconds are those
of the processor, of all processes together, so that other work on the machine does not count. A cost that is linear
doubles from column to column.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import psutil

from benchmarks.revisions import PROJECT
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import open_home, workspace_of

WHOLE = {"files in one folder": 200_000, "files in many folders": 200_000, "refs": 100_000}
RESULTS = Path(__file__).parent / "results"
SHARES = (4, 2, 1)
_A_FOLDER = 100
_WHO = b"a <a@example.org> %d +0000"
# Files of a repository that has many refs.
_FEW = 20
_BETWEEN_LOOKS_S = 0.2


def write_repository(folder: Path, shape: str, count: int) -> None:
    """A bare repository with so many files of one line, or with so many commits, each with a tag."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    marks = folder / "marks"
    importer = subprocess.Popen(
        ["git", "fast-import", "--quiet", f"--export-marks={marks}"], cwd=folder, stdin=subprocess.PIPE
    )
    assert importer.stdin is not None
    files = _FEW if shape == "refs" else count
    names = (f"d{n // _A_FOLDER:05d}/f{n:06d}.py" if "many" in shape else f"all/f{n:06d}.py" for n in range(files))
    _write_commit(importer.stdin, 1, ((name, b"v%d = %d\n" % (n, n)) for n, name in enumerate(names)))
    for number in range(2, count + 2 if shape == "refs" else 2):
        _write_commit(importer.stdin, number, [("r.py", b"r = %d\n" % number)])
    importer.stdin.close()
    if importer.wait() != 0:
        raise RuntimeError("git fast-import failed")
    # As `git pack-refs` writes them; to write a file for each first takes minutes.
    ids = (line.split() for line in marks.read_text().splitlines())
    refs = sorted(f"{commit} refs/tags/t{int(mark[1:]):06d}" for mark, commit in ids)
    refs.sort(key=lambda line: line.partition(" ")[2])
    head = subprocess.run(["git", "rev-parse", "main"], cwd=folder, check=True, capture_output=True, text=True).stdout
    lines = ["# pack-refs with: peeled fully-peeled sorted ", f"{head.strip()} refs/heads/main", *refs]
    (folder / "packed-refs").write_text("".join(f"{line}\n" for line in lines))
    marks.unlink()


def _write_commit(importer: IO[bytes], number: int, files: Iterable[tuple[str, bytes]]) -> None:
    who = _WHO % (1_700_000_000 + number)
    importer.write(b"commit refs/heads/main\nmark :%d\ncommitter %b\ndata 1\nx\n" % (number, who))
    if number > 1:
        importer.write(b"from :%d\n" % (number - 1))
    for name, content in files:
        importer.write(b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(content), content))


def measure_shape(shape: str, count: int) -> dict[str, float]:
    """Processor seconds of each step, of a second build without a change, and the peak of memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        write_repository(repository, shape, count)
        workspace = workspace_of(open_home(Path(folder) / "home"), RepositoryEntry("many", str(repository)))
        peak = _Peak()
        took = {}
        for step in STEPS:
            before = _processor_s()
            carry_out(step, workspace)
            took[step.name] = _processor_s() - before
        again = workspace_of(open_home(Path(folder) / "home"), RepositoryEntry("many", str(repository)), run_id="again")
        before = _processor_s()
        for step in STEPS:
            carry_out(step, again)
        return took | {"all steps": sum(took.values()), "again": _processor_s() - before, "peak MB": peak.ended()}


def _processor_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    living = (child.cpu_times() for child in psutil.Process().children(recursive=True))
    return sum(each.ru_utime + each.ru_stime for each in used) + sum(each.user + each.system for each in living)


class _Peak:
    """The most memory that this process and those that it started have used at a time."""

    def __init__(self) -> None:
        self._most = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def ended(self) -> float:
        self._is_over.set()
        self._thread.join()
        return self._most / 1e6

    def _look(self) -> None:
        while not self._is_over.wait(_BETWEEN_LOOKS_S):
            total = 0
            for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
            self._most = max(self._most, total)


def in_own_process(shape: str, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.many_files", "--only", f"{shape}:{count}"]
    done = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _table_lines(shape: str, found: dict[int, dict[str, float]]) -> Iterator[str]:
    counts = sorted(found)
    yield f"\n## {counts[-1]:,} {shape}\n"
    yield "|  | " + " | ".join(f"{count:,}" for count in counts) + " |"
    yield "|---|" + "---:|" * len(counts)
    for name in found[counts[-1]]:
        yield f"| {name} | " + " | ".join(f"{found[count][name]:,.1f}" for count in counts) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only")
    only = parser.parse_args().only
    if only:
        shape, _, count = only.partition(":")
        print(json.dumps(measure_shape(shape, int(count))))
        return
    lines = ["# Little in very many pieces", "", f"`python -m benchmarks.many_files`, {time.strftime('%Y-%m-%d')}:"]
    lines += ["seconds of the processor for each step, of all processes together; then the peak of memory."]
    for shape, whole in WHOLE.items():
        lines += _table_lines(shape, {whole // share: in_own_process(shape, whole // share) for share in SHARES})
        (RESULTS / "many_files.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
