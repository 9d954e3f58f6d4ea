"""How fast a Python repository is indexed, as ratios to merely parsing it.

    python -m benchmarks.throughput [PACKAGE ...]

Takes the sources of installed packages (default: one of about 5,000 and one of
more than 50,000 lines), commits them to a temporary repository and measures, in
one process per package: a bare tree-sitter parse of the same files on one core,
a cold build, an unchanged build, a build after a one-function edit, each step's
share, and the peak memory of the whole. Dagster's own start-up and overhead is
measured apart, as `codesum index` of the unchanged repository. Prints a table
per package and a JSON line.
"""

import argparse
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_python

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline_tests.building import STEPS, open_home, workspace_of
from codesum_pipeline_tests.repositories import GitRepo

DEFAULT_PACKAGES = ("click", "networkx")


def sources_of(package: str) -> dict[str, bytes]:
    """The Python files of an installed package, by path."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"package {package!r} is not installed")
    folder = Path(found.origin).parent
    return {
        f"{package}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*.py"))
        if "__pycache__" not in path.parts
    }


def bare_parse_s(sources: dict[str, bytes]) -> float:
    """The best of three parses of every file, and nothing else, in seconds."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for source in sources.values():
            parser.parse(source)
        best = min(best, time.perf_counter() - started)
    return best


def timed_build(home: Path, repo: GitRepo) -> dict[str, float]:
    """One build; seconds per step."""
    workspace = workspace_of(open_home(home), RepositoryEntry("measured", str(repo.path)))
    seconds = {}
    for name, step in STEPS.items():
        started = time.perf_counter()
        step(workspace)
        seconds[name] = time.perf_counter() - started
    return seconds


def edit_one_function(sources: dict[str, bytes]) -> dict[str, bytes]:
    """The sources with one statement added to the body of one function of the largest file."""
    path = max(sources, key=lambda name: len(sources[name]))
    changed, count = re.subn(rb"\n    return ", b"\n    edited = 1\n    return ", sources[path], count=1)
    if not count:
        raise SystemExit(f"{path} has no function to edit")
    return {**sources, path: changed}


def command_s(home: Path, repo: GitRepo) -> float:
    """`codesum index` of the unchanged repository, start-up and Dagster included."""
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), "index", str(repo.path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CODESUM_", "DAGSTER_"))}
    best = float("inf")
    for _ in range(2):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        best = min(best, time.perf_counter() - started)
    return best


def measure(package: str, folder: Path) -> dict[str, Any]:
    """All figures of one package."""
    sources = sources_of(package)
    lines = sum(source.count(b"\n") for source in sources.values())
    repo = GitRepo.create(folder / "repo", sources)
    bare = bare_parse_s(sources)
    builds = {"cold": timed_build(folder / "home", repo), "unchanged": timed_build(folder / "home", repo)}
    repo.commit(edit_one_function(sources))
    builds["one-function edit"] = timed_build(folder / "home", repo)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    totals = {name: sum(seconds.values()) for name, seconds in builds.items()}
    print(f"\n{package}: {len(sources)} files, {lines:,} lines; bare parse {bare:.3f} s; peak {peak_mb:.0f} MB")
    print(f"{'step':20}" + "".join(f"{name:>20}" for name in builds))
    for step in STEPS:
        print(f"{step:20}" + "".join(f"{seconds[step]:20.3f}" for seconds in builds.values()))
    print(f"{'total':20}" + "".join(f"{total:20.3f}" for total in totals.values()))
    figures = {
        "package": package,
        "lines": lines,
        "lines_per_s_cold": round(lines / totals["cold"]),
        "cold_to_bare_parse": round(totals["cold"] / bare, 1),
        "unchanged_to_cold": round(totals["unchanged"] / totals["cold"], 3),
        "edit_to_cold": round(totals["one-function edit"] / totals["cold"], 3),
        "peak_mb": round(peak_mb),
        "command_unchanged_s": round(command_s(folder / "cli-home", repo), 2),
    }
    print(json.dumps(figures))
    return figures


def main() -> None:
    """Measure each package in a process of its own, so that peaks do not add up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=DEFAULT_PACKAGES)
    packages = parser.parse_args().packages
    if len(packages) == 1:
        with tempfile.TemporaryDirectory() as folder:
            measure(packages[0], Path(folder))
        return
    for package in packages:
        subprocess.run([sys.executable, "-m", "benchmarks.throughput", package], check=True)


if __name__ == "__main__":
    main()
