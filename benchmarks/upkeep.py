"""What a home is after ten builds of one small repository and after many, with a maintenance now and then.

    python -m benchmarks.upkeep [--builds 1000] [--every 50] [--report FILE.md]

Each build is the real Dagster job, in this process, after a commit that edits
one function. Sizes are of whole files, times medians: of `codesum index` where
nothing changed and of `codesum search` as commands, of a planner's tick in this
process.
"""

import argparse
import logging
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.control import maintain_home
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.ticks import take_tick
from codesum_pipeline.builds.maintenance.freed import size_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry

KEY = "shop"
FIRST = 10
FILES, FUNCTIONS = 8, 6
REPEATS = 7
PARTS = {
    "Dagster's records": ("dagster",),
    "tables": ("warehouse",),
    "published versions": ("index_root",),
    "mirrors": ("mirrors",),
    "state": ("state",),
}
FUNCTION = '''

def price_{0}(items, rate={1}):
    """Add up the prices of items of kind {0}, with {1} percent on top."""
    result = 0
    for item in items:
        result += item.price_{0} * {1}
    return result
'''


class Shop:
    """The repository, one function of which each edit changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._git("init", "-q")
        for file in range(FILES):
            self._write(file, [0] * FUNCTIONS)
        self._commit("begin")

    def edit(self, number: int) -> None:
        file = number % FILES
        rates = [(number - file - other * FILES) // (FILES * FUNCTIONS) + 1 for other in range(FUNCTIONS)]
        self._write(file, rates)
        self._commit(f"edit {number}")

    def _write(self, file: int, rates: list[int]) -> None:
        text = f'"""Prices {file}."""\n'
        for number, rate in enumerate(rates):
            text += FUNCTION.format(file * FUNCTIONS + number, rate)
        (self.folder / f"prices_{file}.py").write_text(text)

    def _commit(self, message: str) -> None:
        self._git("add", ".")
        self._git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", message, "--allow-empty")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--looks", default="100,300", help="Also compare after so many builds.")
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        for page in _build_and_measure(Path(folder), arguments):
            print(page, flush=True)
            if arguments.report:
                arguments.report.write_text(page)


def _build_and_measure(folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    """A page for each look; each is about more builds than the one before."""
    shop, name = Shop(folder / "shop now"), folder / "shop"
    name.symlink_to(shop.folder)
    home = Home(load_settings({"home": folder / "home"}, environ={}))
    home.registry.add(RepositoryEntry(key=KEY, location=str(name)))
    looks = {arguments.builds, *map(int, filter(None, arguments.looks.split(",")))}
    largest, start = 0, time.monotonic()
    for number in range(1, arguments.builds + 1):
        shop.edit(number)
        (outcome,) = index_repositories(home, [KEY])
        if not outcome.succeeded:
            raise SystemExit(f"build {number}: {outcome.message}")
        if number in (FIRST, *looks) or number % arguments.every == 0:
            largest = max(largest, size_of([home.layout.home]))
            done = maintain_home(home, is_dry_run=False, tell=lambda found: None)
            print(
                f"{number} builds, {time.monotonic() - start:.0f} s: {size_of([home.layout.home]):,} bytes, "
                f"{done.size:,} freed in {done.seconds:.1f} s",
                file=sys.stderr,
                flush=True,
            )
        if number == FIRST:
            shutil.copytree(shop.folder, folder / "shop then")
            shutil.copytree(home.layout.home, folder / "home then", symlinks=True)
        if number in looks:
            then = Home(load_settings({"home": folder / "home then"}, environ={}))
            pairs = ((then, folder / "shop then"), (home, shop.folder))
            yield _format_page(
                number, [_sizes_of(each) for each, _ in pairs], _measure_seconds(name, pairs), largest, arguments
            )


def _sizes_of(home: Home) -> dict[str, int]:
    """Bytes by part, and rows."""
    whole = size_of([home.layout.home])
    sizes = {part: size_of(home.layout.home / name for name in names) for part, names in PARTS.items()}
    return {**sizes, "everything else": whole - sum(sizes.values()), "all": whole}


def _measure_seconds(name: Path, pairs: Sequence[tuple[Home, Path]]) -> dict[str, list[float]]:
    """Medians of each home, measured in turn, since others work on the machine."""
    works: dict[str, Callable[[Home], None]] = {
        "a build where nothing changed": lambda home: _run_command(home, "index", KEY),
        "a search": lambda home: _run_command(home, "search", "add up the prices of items"),
        "a planner's tick": _run_tick,
    }
    found: dict[str, list[list[float]]] = {what: [[] for _ in pairs] for what in works}
    for repeat in range(REPEATS + 1):
        for place, (home, shop) in enumerate(pairs):
            name.unlink()
            name.symlink_to(shop)
            for what, work in works.items():
                start = time.perf_counter()
                work(home)
                # In the first round steps run once more that read what the maintenance took away.
                if repeat:
                    found[what][place].append(time.perf_counter() - start)
    return {what: [statistics.median(each) for each in seconds] for what, seconds in found.items()}


def _run_command(home: Home, *arguments: str) -> None:
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home.layout.home), *arguments]
    subprocess.run(command, check=True, capture_output=True)


def _run_tick(home: Home) -> None:
    with open_instance(home.layout) as instance:
        take_tick(home, instance, asker="benchmark", last="", log=logging.getLogger("tick"))


def _format_page(
    builds: int,
    sizes: Sequence[dict[str, int]],
    seconds: dict[str, list[float]],
    largest: int,
    arguments: argparse.Namespace,
) -> str:
    first, last = sizes
    lines = [
        f"# A home after {FIRST} builds and after {builds:,}",
        "",
        f"`python -m benchmarks.upkeep --builds {arguments.builds} --every {arguments.every}`: one repository of "
        f"{FILES} files and {FILES * FUNCTIONS} functions; for each build a function is edited and committed; a "
        f"maintenance with its defaults after each {arguments.every} builds and before each comparison. Times are "
        f"medians of {REPEATS}, of both "
        "homes in turn.",
        "",
        f"| | after {FIRST} | after {builds:,} | change |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {part}, KB | {size / 1000:,.0f} | {last[part] / 1000:,.0f} | {_format_change(size, last[part])} |"
        for part, size in first.items()
    ]
    lines += [
        f"| {what}, s | {then:.3f} | {now:.3f} | {_format_change(then, now)} |" for what, (then, now) in seconds.items()
    ]
    lines += ["", f"Between two maintenances the home grew to at most {largest / 1000:,.0f} KB.", ""]
    return "\n".join(lines)


def _format_change(before: float, after: float) -> str:
    return f"{after / before - 1:+.0%}" if before else ""


if __name__ == "__main__":
    main()
