"""How soon an edit is searchable, how soon a work tree is settled, and what twenty work trees cost beside a build.

    python -m benchmarks.follow [--lines 5000 50000 200000] [--rounds 5] [--trees 20]

For each size it commits the sources of installed packages to a temporary repository and measures, one after the other
in one run, so that the ratios hold whatever else the machine does:

- a cold build, in this process;
- linked work trees, each with 1, 5 and then 20 files that differ (a statement and a function more in each), compared
  and indexed in this process; a search in each, whose hits must be of that tree alone; then one more edit in it;
- `codesum mcp` over stdio: from the end of an edit to the answer that has it, and to the first that is settled;
- `codesum search`: the same, from process start to end, after an edit and without one.

Seconds are wall times; those of a processor are of the process that works and of those that it started. Prints tables
in Markdown.
"""

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from benchmarks.throughput import gather_sources
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex, open_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = (1, 5, 20)
_KEY = "measured"
_LAGS = "texts of folders are those of the commit"
# Smaller ones are empty package files.
_SMALLEST_FILE = 1_500
_LONGEST_WAIT_S = 120.0
# The sources are those of packages that it imports itself.
_CODESUM = (sys.executable, "-P", "-m", "codesum_pipeline.cli")


@dataclass
class Cost:
    """What something took."""

    wall_s: float = 0.0
    processor_s: float = 0.0
    bytes: int = 0
    lines: int = 0


@dataclass
class Figures:
    """All that was measured of one size."""

    lines: int
    files: int
    build: Cost
    memory_mb: float
    trees: dict[int, list[Cost]] = field(default_factory=dict)
    again: list[Cost] = field(default_factory=list)
    memory_added_mb: float = 0.0
    waits: dict[str, list[Cost]] = field(default_factory=dict)

    def add_wait(self, name: str) -> Cost:
        """A new cost among those of what somebody waits for."""
        cost = Cost()
        self.waits.setdefault(name, []).append(cost)
        return cost


@contextmanager
def measure_block(cost: Cost, process: psutil.Process | None = None) -> Iterator[None]:
    """Add the wall time of a block, and the processor time of a process, else of this one, and of its children."""
    measured_one = process or psutil.Process()
    began, before = time.perf_counter(), measured_one.cpu_times()
    yield
    cost.wall_s += time.perf_counter() - began
    # User and system, of the process and of the children that ended.
    cost.processor_s += sum(measured_one.cpu_times()[:4]) - sum(before[:4])


def measure_size(lines: int, folder: Path, *, rounds: int, trees: int) -> None:
    """Print all figures of one size, made in a new folder."""
    sources = gather_sources(lines)
    repo = GitRepo.create(folder / "repository", sources)
    home, entry = open_home(folder / "home"), RepositoryEntry(_KEY, str(repo.path))
    cost = Cost()
    with measure_block(cost):
        build(workspace_of(home, entry), may_fail=True)
    cost.bytes = size_of(home.layout.home)
    count = sum(source.count(b"\n") for source in sources.values())
    found = Figures(count, len(sources), cost, memory_mb())
    paths = sorted(name for name, data in sources.items() if name.endswith(".py") and len(data) > _SMALLEST_FILE)
    measure_trees(found, home, entry, repo, paths, trees)
    show_trees(found)
    measure_servers(found, home, repo, paths, rounds)
    show_waits(found)


def measure_trees(
    found: Figures, home: Home, entry: RepositoryEntry, repo: GitRepo, paths: list[str], trees: int
) -> None:
    """Linked work trees, one after the other."""
    base = PublishedIndex.open(home.layout.published(_KEY))
    kept, rescaled = home.layout.overlays(_KEY), RescaledIndexes()
    before = memory_mb()
    for number in range(trees):
        tree = GitRepo(repo.path.parent / f"tree-{number}")
        repo.git("worktree", "add", "-q", "--detach", str(tree.path))
        chosen = random.Random(number).sample(paths, min(max(FILES), len(paths)))
        for count in FILES:
            added = [edit_file(tree, path, f"tree_{number}") for path in chosen[:count] if not is_edited(tree, path)]
            # What the last step left would be taken over.
            shutil.rmtree(kept, ignore_errors=True)
            cost = Cost(lines=sum(text_of(tree, path).count("\n") for path in chosen[:count]))
            with measure_block(cost):
                opened = open_tree(home.settings, entry, base, tree.path, rescaled=rescaled)
            cost.bytes = size_of(kept)
            check_tree(home, opened, number, added)
            found.trees.setdefault(count, []).append(cost)
        again = Cost()
        edit_file(tree, chosen[0], f"again_{number}")
        with measure_block(again):
            open_tree(home.settings, entry, base, tree.path, rescaled=rescaled)
        found.again.append(again)
    found.memory_added_mb = memory_mb() - before


def check_tree(home: Home, tree: TreeIndex, number: int, names: list[str]) -> None:
    """Its edits are found, and none of another tree; raises `SystemExit`."""
    hits = search_indexes([*tree.parts], " ".join(names[:3]), embedder=embedder_of(home.settings))
    edited = {match for hit in hits for match in re.findall(r"edited_tree_(\d+)", hit.id)}
    if tree.warning or edited != {str(number)}:
        raise SystemExit(f"tree {number} was answered by {edited or tree.warning}")


def measure_servers(found: Figures, home: Home, repo: GitRepo, paths: list[str], rounds: int) -> None:
    """What somebody waits for in the checkout itself."""
    path = paths[len(paths) // 2]
    with serve_mcp(home, repo) as (process, ask):
        ask("edited")
        for number in range(rounds):
            name = edit_file(repo, path, f"mcp_{number}")
            first, settled = (
                found.add_wait("`codesum mcp` answers with it"),
                found.add_wait("`codesum mcp` answers settled"),
            )
            with measure_block(settled, process):
                with measure_block(first, process):
                    wait_until(lambda name=name: name in ask(name))  # type: ignore[misc]
                wait_until(lambda name=name: _LAGS not in ask(name), pause_s=0.2)  # type: ignore[misc]
    for number in range(rounds):
        name = edit_file(repo, path, f"search_{number}")
        with measure_block(found.add_wait("`codesum search` has answered with it")):
            answer = run_search(home, repo, name)
        if name not in answer:
            raise SystemExit(f"{name} was not found")
    repo.git("checkout", "-q", ".")
    for _ in range(rounds):
        with measure_block(found.add_wait("`codesum search`, nothing edited")):
            run_search(home, repo, "edited")


def wait_until(holds: Callable[[], bool], *, pause_s: float = 0.02) -> None:
    """Come back as soon as something holds."""
    began = time.perf_counter()
    while not holds():
        if time.perf_counter() - began > _LONGEST_WAIT_S:
            raise SystemExit("it took too long")
        time.sleep(pause_s)


@contextmanager
def serve_mcp(home: Home, repo: GitRepo) -> Iterator[tuple[psutil.Process, Callable[[str], str]]]:
    """A `codesum mcp`, and what asks it and answers with its text."""
    command = [*_CODESUM, "--home", str(home.layout.home), "mcp"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=repo.path, text=True) as process:
        assert process.stdin and process.stdout
        send_message(process.stdin, {"id": 0, "method": "initialize", "params": hello})
        process.stdout.readline()
        send_message(process.stdin, {"method": "notifications/initialized"})

        def ask(query: str) -> str:
            assert process.stdin and process.stdout
            send_message(
                process.stdin,
                {"id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": query}}},
            )
            while '"id":1' not in (line := process.stdout.readline()).replace(" ", ""):
                if not line:
                    raise SystemExit("codesum mcp ended")
            return line

        yield psutil.Process(process.pid), ask
        process.stdin.close()


def send_message(stream: IO[str], message: Mapping[str, Any]) -> None:
    stream.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    stream.flush()


def run_search(home: Home, repo: GitRepo, query: str) -> str:
    """What a new process of `codesum search` answers."""
    command = [*_CODESUM, "--home", str(home.layout.home), "search", query, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, cwd=repo.path, text=True)
    return done.stdout


def edit_file(repo: GitRepo, path: str, mark: str) -> str:
    """A statement more in a function of the file, and a function more; its name."""
    name = f"edited_{mark}_{re.sub('[^a-z]', '_', Path(path).stem.lower())}"
    source = re.sub(r"\n    return ", f"\n    {mark} = 1\n    return ", text_of(repo, path), count=1)
    added = f'\n\ndef {name}(parcel):\n    """Weigh a parcel of {mark}."""\n    return parcel.weigh({len(mark)}) + 1\n'
    (repo.path / path).write_text(source + added, encoding="utf-8")
    return name


def is_edited(repo: GitRepo, path: str) -> bool:
    return "\ndef edited_tree_" in text_of(repo, path)


def text_of(repo: GitRepo, path: str) -> str:
    return (repo.path / path).read_text(encoding="utf-8")


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def memory_mb() -> float:
    found: int = psutil.Process().memory_info().rss
    return found / 2**20


def show_trees(found: Figures) -> None:
    """What trees cost beside a build."""
    build = found.build
    print(f"\n{found.lines:,} lines in {found.files:,} files\n")
    print("| | lines in files that differ | wall s | processor s | of a build | MB | of a build |\n" + "|---" * 7 + "|")
    print(f"| a build | | {build.wall_s:.2f} | {build.processor_s:.2f} | | {build.bytes / 1e6:.1f} | |")
    rows = {f"a tree, {count} files differ": costs for count, costs in found.trees.items()}
    for name, costs in (rows | {"the same, one of them edited again": found.again}).items():
        mean = Cost(*(statistics.mean(values) for values in zip(*(vars(cost).values() for cost in costs), strict=True)))
        share = mean.processor_s / build.processor_s
        kept = f"{mean.bytes / 1e6:.2f} | {mean.bytes / build.bytes:.1%}" if mean.bytes else " | "
        print(f"| {name} | {mean.lines:,.0f} | {mean.wall_s:.3f} | {mean.processor_s:.3f} | {share:.1%} | {kept} |")
    print(
        f"\nMemory: {found.memory_mb:.0f} MB after the build, {found.memory_added_mb:+.0f} MB after all trees.\n",
        flush=True,
    )


def show_waits(found: Figures) -> None:
    """What somebody waits for."""
    print("| from the end of an edit | median s | worst s | processor s |\n|---|---|---|---|")
    for name, costs in found.waits.items():
        seconds = [cost.wall_s for cost in costs]
        used = statistics.median(cost.processor_s for cost in costs)
        print(f"| {name} | {statistics.median(seconds):.2f} | {max(seconds):.2f} | {used:.2f} |", flush=True)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", nargs="+", type=int, default=[5_000, 50_000, 200_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trees", type=int, default=20)
    options = parser.parse_args()
    for lines in options.lines:
        with tempfile.TemporaryDirectory() as folder:
            measure_size(lines, Path(folder), rounds=options.rounds, trees=options.trees)


if __name__ == "__main__":
    main()
