"""How long a user waits for the first commands, beside `python -c 'import dagster'` in the same run.

    python -m benchmarks.first_contact [ROUNDS]

A repository of ten files is made anew each round: cold index (a fresh home), the same again (unchanged), an edit,
a search, each by turns. Also on a terminal of its own: when the first build writes its first byte, and how long it is
silent at most. Seconds of wall time, medians; on a busy machine read the ratios.
"""

import compileall
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import codesum_pipeline

FUNCTION = """\
def sign{n}(value, key):
    '''Sign a value.'''
    if not key:
        raise ValueError(key)
    return value + key
"""
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


def time_command(*command: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def codesum_command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), *arguments]


def make_repository(folder: Path) -> Path:
    folder.mkdir()
    for n in range(10):
        (folder / f"file{n}.py").write_text(FUNCTION.format(n=n))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    commit_all(folder)
    return folder


def commit_all(folder: Path) -> None:
    subprocess.run([*GIT, "-C", str(folder), "add", "-A"], check=True)
    subprocess.run([*GIT, "-C", str(folder), "commit", "-qm", "change"], check=True)


def time_on_terminal(command: list[str]) -> tuple[float, float]:
    """Seconds to the first byte, and the longest silence."""
    ours, theirs = pty.openpty()
    start = last = time.perf_counter()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    first, silence = 0.0, 0.0
    while True:
        try:
            if not os.read(ours, 1 << 16):
                break
        except OSError:
            break
        now = time.perf_counter()
        first, silence, last = first or now - start, max(silence, now - last), now
    process.wait()
    os.close(ours)
    return first, silence


def measure_round(folder: Path) -> dict[str, float]:
    cloned, home = make_repository(folder / "signing"), folder / "home"
    found = {"import dagster": time_command(sys.executable, "-c", "import dagster")}
    found["cold index"] = time_command(*codesum_command(home, "index", str(cloned)))
    found["unchanged"] = time_command(*codesum_command(home, "index", str(cloned)))
    (cloned / "file3.py").write_text(FUNCTION.format(n=3).replace("value + key", "key + value * 2"))
    commit_all(cloned)
    found["edit"] = time_command(*codesum_command(home, "index", str(cloned)))
    found["search"] = time_command(*codesum_command(home, "search", "sign a value"))
    found["first byte"], found["longest silence"] = time_on_terminal(
        codesum_command(folder / "seen", "index", str(cloned))
    )
    return found


def main() -> None:
    # As pip leaves an installed package; without it every process compiles what was changed since.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(codesum_pipeline.__file__).parent), quiet=1)
    rounds = []
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(measure_round(Path(folder)))
    print("| what | seconds | of import dagster |\n| --- | --- | --- |")
    for name in rounds[0]:
        seconds = statistics.median(one[name] for one in rounds)
        ratio = statistics.median(one[name] / one["import dagster"] for one in rounds)
        print(f"| {name} | {seconds:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
