"""How fast a repository is indexed, as ratios to merely parsing its Python.

    python -m benchmarks.throughput [PACKAGE ...]
    python -m benchmarks.throughput --sizes [LINES ...] [--builds NUMBER]

The first takes the sources of installed packages (default: one of about 13,000
and one of nearly 200,000 lines), the second gathers installed packages until a
number of lines is reached (default: four sizes from 50,000 to 2,000,000) and
draws how time and memory grow. More lines than are installed are had from
copies in folders of their own whose function and class names end in the copy's
number, so that ids, texts and vectors differ.

For each it commits the sources to a temporary repository and measures, in one
process: a bare tree-sitter parse of the Python files on one core, a cold build,
an unchanged build, a build after a one-function edit, each step's share, the
peak memory of that process, and that of the largest of the processes it
started. For packages also a forced run of every step, and, with Dagster's own
start-up and overhead, `codesum index` of the unchanged repository, plain and
forced. For sizes also several first builds, each in a new home, and as many
edits by `codesum index` (`--builds`, default: five, two of the largest size),
which must all succeed: else this command fails. Prints a table each, and a
JSON line.
"""

import argparse
import importlib.util
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Self

import psutil
import tree_sitter
import tree_sitter_python

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.store.memory import release_memory
from codesum_pipeline.foundation.worker_processes.pool import WORKER
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

DEFAULT_PACKAGES = ("click", "networkx")
# How often each size is built for the first time, and then edited, by the command: all together take 40 minutes.
SIZES = {50_000: 5, 250_000: 5, 1_000_000: 5, 2_000_000: 2}
BUILDS = 5
RESULTS = Path(__file__).parent / "results"
# What a package brings besides Python is indexed too; data and binaries are not sources.
SUFFIXES = (".py", ".pyi", ".md", ".rst", ".js", ".ts", ".c", ".h", ".cpp", ".hpp", ".toml", ".sh")
LARGEST_FILE = 1_000_000

_DEFINED = re.compile(rb"\b(def|class) (\w+)")

Sources = dict[str, bytes]


def sources_of(package: str) -> Sources:
    """The sources of an installed package, by path."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"package {package!r} is not installed")
    return _sources_below(Path(found.origin).parent, package)


def _sources_below(folder: Path, name: str) -> Sources:
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= LARGEST_FILE
    }


def gather_sources(lines: int) -> Sources:
    """Installed packages, by name, until there are `lines`; then copies of them all with other names."""
    sources: Sources = {}
    total = 0
    for path, data in _installed_modules():
        if total >= lines:
            break
        sources[path] = data
        total += data.count(b"\n")
    return sources


def _installed_modules() -> Iterator[tuple[str, bytes]]:
    site = Path(sysconfig.get_path("purelib"))
    packages = sorted(path.parent for path in site.glob("*/__init__.py"))
    for copy in count():
        for package in packages:
            for path, data in _sources_below(package, package.name).items():
                yield (path, data) if copy == 0 else (f"copy{copy}/{path}", _rename_definitions(data, copy))


def _rename_definitions(data: bytes, copy: int) -> bytes:
    """A copy whose definitions, and words that are their names, end in the copy's number."""
    names = {name for _, name in _DEFINED.findall(data) if not name.startswith(b"__")}
    return re.sub(rb"\b[A-Za-z_]\w*\b", lambda word: word[0] + b"%d" % copy if word[0] in names else word[0], data)


def bare_parse_s(sources: Sources) -> float:
    """The best of three parses of every Python file, and nothing else, in seconds."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    python = [data for path, data in sources.items() if path.endswith((".py", ".pyi"))]
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for source in python:
            parser.parse(source)
        best = min(best, time.perf_counter() - started)
    return best


def time_build(home: Path, repo: GitRepo, *, force: bool = False) -> dict[str, float]:
    """One build; seconds per step."""
    workspace = workspace_of(open_home(home), RepositoryEntry("measured", str(repo.path)), force=force)
    seconds = {}
    for step in STEPS:
        started = time.perf_counter()
        carry_out(step, workspace)
        seconds[step.name] = time.perf_counter() - started
    return seconds


def edit_one_function(home: Path, repo: GitRepo) -> Sources:
    """One statement added to the body of one function of the largest indexed Python file that has one."""
    workspace = workspace_of(open_home(home), RepositoryEntry("measured", str(repo.path)))
    files = workspace.tables.read_rows("files", workspace.key, SourceFile)
    indexed = [file for file in files if file.status is FileStatus.INDEXED and file.language == "python"]
    for file in sorted(indexed, key=lambda file: -file.size):
        source = (repo.path / file.path).read_bytes()
        changed, edits = re.subn(rb"\n    return ", b"\n    edited = 1\n    return ", source, count=1)
        if edits:
            return {file.path: changed}
    raise SystemExit("no file has a function to edit")


def time_command(home: Path, repo: GitRepo, *arguments: str) -> float:
    """`codesum index` of the repository, start-up and Dagster included."""
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), "index", str(repo.path), *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CODESUM_", "DAGSTER_"))}
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return time.perf_counter() - started


def repeated_commands(folder: Path, repo: GitRepo, times: int) -> dict[str, Any]:
    """So many first builds, each in a new home, and then edits in the last one, by the command: their median seconds,
    and how many failed."""
    seconds: dict[str, list[float]] = {"first": [], "edit": []}
    failed = 0
    for number in range(2 * times):
        what = "first" if number < times else "edit"
        home = folder / f"home {min(number, times - 1)}"
        if what == "edit":
            repo.commit(edit_one_function(folder / "home", repo))
        elif number:
            shutil.rmtree(folder / f"home {number - 1}", ignore_errors=True)
        try:
            seconds[what].append(time_command(home, repo))
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"{what} build {number % times + 1} failed: {error.stderr[-2000:]}", flush=True)
    return {
        "builds": f"{times} + {times}",
        "failed": failed,
        **{f"command_{what}_s": round(median(of or [math.nan]), 2) for what, of in seconds.items()},
    }


def languages_of(sources: Sources) -> str:
    """The share of lines of each language."""
    lines: Counter[str] = Counter()
    for path, data in sources.items():
        lines[language_of_path(path) or "text"] += data.count(b"\n")
    shares = {language: round(100 * number / max(1, lines.total())) for language, number in lines.most_common()}
    return ", ".join(f"{language} {share} %" for language, share in shares.items() if share)


class WorkerPeak:
    """The most memory that one of this process's workers held while it lasts, looked at again and again.

    Not `RUSAGE_CHILDREN`: that counts the pages of this process that a child has until it starts its own program.
    """

    def __init__(self) -> None:
        self.mb = 0.0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.05):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    if any(WORKER in part for part in child.cmdline()):
                        self.mb = max(self.mb, child.memory_info().rss / 2**20)


def measure(name: str, sources: Sources, folder: Path, *, times: int) -> dict[str, Any]:
    """All figures of one repository: with `times`, of so many first builds and edits by the command; else also of
    forced runs.

    The sources are taken out of `sources`: what the builds need is not measured on top of them.
    """
    lines = sum(source.count(b"\n") for source in sources.values())
    files, languages = len(sources), languages_of(sources)
    repo = GitRepo.create(folder / "repo", sources)
    bare = bare_parse_s(sources)
    sources.clear()
    release_memory()
    with WorkerPeak() as workers:
        builds = {"cold": time_build(folder / "home", repo), "unchanged": time_build(folder / "home", repo)}
        repo.commit(edit_one_function(folder / "home", repo))
        builds["one-function edit"] = time_build(folder / "home", repo)
        if not times:
            builds["forced"] = time_build(folder / "home", repo, force=True)
    documents = open_home(folder / "home").tables.keep("documents", "measured").rows
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _print_steps(f"{name}: {files} files, {lines:,} lines; bare parse {bare:.3f} s", builds)
    totals = {what: sum(seconds.values()) for what, seconds in builds.items()}
    figures = {
        "name": name,
        "lines": lines,
        "documents": documents,
        "languages": languages,
        "bare_parse_s": round(bare, 3),
        "cold_s": round(totals["cold"], 2),
        "unchanged_s": round(totals["unchanged"], 3),
        "edit_s": round(totals["one-function edit"], 2),
        "cold_to_bare_parse": round(totals["cold"] / bare, 1),
        "unchanged_to_cold": round(totals["unchanged"] / totals["cold"], 3),
        "edit_to_cold": round(totals["one-function edit"] / totals["cold"], 3),
        "peak_mb": round(peak_mb),
        "worker_peak_mb": round(workers.mb),
    }
    if times:
        figures |= repeated_commands(folder, repo, times)
    else:
        time_command(folder / "cli-home", repo)
        figures |= {
            "forced_s": round(totals["forced"], 2),
            "command_unchanged_s": round(min(time_command(folder / "cli-home", repo) for _ in range(2)), 2),
            "command_forced_s": round(time_command(folder / "cli-home", repo, "--force"), 2),
        }
    print(json.dumps(figures), flush=True)
    return figures


def _print_steps(head: str, builds: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{head}")
    print(f"{'step':20}" + "".join(f"{name:>20}" for name in builds))
    for step in STEPS:
        print(f"{step.name:20}" + "".join(f"{seconds[step.name]:20.3f}" for seconds in builds.values()))
    print(f"{'total':20}" + "".join(f"{sum(seconds.values()):20.3f}" for seconds in builds.values()))


def write_growth(rows: Sequence[Mapping[str, Any]]) -> None:
    """The table and the plot of a series of sizes."""
    columns = ("lines", "documents", "languages", "bare_parse_s", "cold_s", "unchanged_s", "edit_s", "peak_mb",
               "worker_peak_mb", "builds", "failed", "command_first_s", "command_edit_s")  # fmt: skip
    lines = ["# How time and memory grow", "", "`python -m benchmarks.throughput --sizes`", ""]
    lines += [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(str(row[column]) for column in columns)} |" for row in rows]
    (RESULTS / "growth.md").write_text("\n".join([*lines, "", "![growth](growth.png)", ""]), encoding="utf-8")
    draw_growth(rows, RESULTS / "growth.png")


def draw_growth(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Seconds of each kind of build, and the peak of memory, over lines; both scales logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), dpi=110, layout="constrained")
    times, memory = figure.subplots(1, 2)
    sizes = [row["lines"] for row in rows]
    for name in ("cold_s", "edit_s", "unchanged_s", "bare_parse_s"):
        times.loglog(sizes, [row[name] for row in rows], marker="o", label=name.removesuffix("_s").replace("_", " "))
    times.set(title="seconds", xlabel="lines")
    times.legend()
    memory.loglog(sizes, [row["peak_mb"] for row in rows], marker="o")
    memory.set(title="peak memory, MB", xlabel="lines")
    figure.savefig(path, metadata={"Software": None})


def in_own_process(name: str, times: int = 0) -> dict[str, Any]:
    """One measurement in a process of its own, so that peaks do not add up; its last line is its figures."""
    command = [sys.executable, "-m", "benchmarks.throughput", "--one", name, "--builds", str(times)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(output, end="", flush=True)
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    return figures


def main() -> None:
    """Measure packages, or a series of sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--sizes", nargs="*", type=int, metavar="LINES")
    parser.add_argument("--builds", type=int, metavar="NUMBER", help="first builds, and edits, of each size")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sources = gather_sources(int(arguments.one)) if arguments.one.isdecimal() else sources_of(arguments.one)
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments.one, sources, Path(folder), times=arguments.builds)
    elif arguments.sizes is not None:
        sizes = arguments.sizes or SIZES
        rows = [in_own_process(str(lines), arguments.builds or SIZES.get(lines, BUILDS)) for lines in sizes]
        if not arguments.sizes:
            write_growth(rows)
        if failed := sum(row["failed"] for row in rows):
            raise SystemExit(f"{failed} builds failed")
    else:
        for package in arguments.packages or DEFAULT_PACKAGES:
            in_own_process(package)


if __name__ == "__main__":
    main()
