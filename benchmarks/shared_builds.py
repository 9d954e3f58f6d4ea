"""What a shared build costs beside a first build: the size of the bundle, and the seconds of export and import.

    python -m benchmarks.shared_builds CLONE [CLONE …]

Each command is `codesum` in a process of its own, in new homes on one disk. Seconds are those of the processor, of all
processes together, so that other work on the machine does not count; those of the clock are beside them. After the
import comes a build of the same commit, and one of a commit that changes a file.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.revisions import PROJECT
from codesum_pipeline_tests.support.repositories import GitRepo

RESULTS = Path(__file__).parent / "results"
COMMAND = [sys.executable, "-m", "codesum_pipeline.cli"]
_MB = 1_000_000


def timed(*arguments: object) -> tuple[float, float]:
    """The seconds of the processor and of the clock that a call of `codesum` takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*COMMAND, *map(str, arguments)], cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.perf_counter() - start


def measure(clone: Path, folder: Path) -> str:
    """A row of the table."""
    work = GitRepo(folder / "work")
    subprocess.run(["git", "clone", "-q", str(clone), str(work.path)], check=True)
    bundle, one, other = folder / "shop.codesum", folder / "one", folder / "other"
    steps = [
        timed("--home", one, "index", work.path, "--key", "shop"),
        timed("--home", one, "export", "shop", bundle),
        timed("--home", other, "import", bundle, work.path, "--unsigned"),
        timed("--home", other, "index", "shop"),
    ]
    changed = next(path for path in sorted(work.path.rglob("*.*")) if path.suffix in _SUFFIXES and path.is_file())
    changed.write_bytes(changed.read_bytes() + b"\n\n")
    changed.with_name(f"added_by_measure{changed.suffix}").write_bytes(changed.read_bytes())
    work.git("add", "-A")
    work.git("commit", "-q", "-m", "one file")
    steps.append(timed("--home", other, "index", "shop"))
    lines = sum(
        len(path.read_bytes().splitlines())
        for path in work.path.rglob("*.*")
        if path.suffix in _SUFFIXES and path.is_file()
    )
    index = sum(path.stat().st_size for path in (one / "warehouse").rglob("*.parquet"))
    shown = [f"{processor:.1f} ({clock:.1f})" for processor, clock in steps]
    share = f"{steps[2][0] / steps[0][0]:.0%}"
    size = bundle.stat().st_size / _MB
    return f"| {clone_name(clone)} | {lines:,} | {size:.1f} | {index / _MB:.1f} | {' | '.join(shown)} | {share} |"


def clone_name(clone: Path) -> str:
    """`owner/name`, where the folders above the clone say so."""
    return next((part.replace("+", "/") for part in reversed(clone.parts) if "+" in part), clone.name)


_SUFFIXES = (
    *(".py", ".rs", ".ts", ".js", ".php", ".go", ".java", ".kt", ".c", ".h", ".cpp", ".cs", ".rb", ".swift"),
    *(".scala", ".hs", ".ex", ".lua", ".zig", ".sh"),
)
_HEAD = """| repository | lines of code | bundle, MB | tables at home, MB | first build, s | export, s | import, s | \
next build, nothing changed, s | next build, one file, s | import / first build |
|---|---|---|---|---|---|---|---|---|---|
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    sys.stdout.write(_HEAD)
    for clone in parser.parse_args(arguments).clones:
        folder = Path(tempfile.mkdtemp(prefix="codesum-shared-"))
        try:
            sys.stdout.write(f"{measure(clone, folder)}\n")
            sys.stdout.flush()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
