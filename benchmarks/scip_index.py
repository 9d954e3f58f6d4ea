"""What a compiler's index costs and is worth: CHECKOUT=INDEX names a git checkout and a SCIP index of it.

    python -m benchmarks.scip_index cost CHECKOUT=INDEX … [--copies N] [--pad-mb M]
    python -m benchmarks.scip_index stale CHECKOUT=INDEX … [--commits N] [--every N]
    python -m benchmarks.scip_index retrieval CHECKOUT=INDEX …

`cost` builds each checkout without the index and beside it, each in a process of its own, and prints seconds of the
processor and by the clock, and the most memory; with `--copies` the checkout and the documents of its index stand so
many times in folders of their own, and with `--pad-mb` the index holds documents of files that are not there, too.

`stale` puts the index beside the texts that its files had at earlier commits: of those that differ, how many are told
from the indexed one, and, with `--show`, what the others differ in.

`retrieval` asks the repository's own questions, from docstrings and commits, with the index and without, and compares
them in pairs.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.symbols.scip.comparing import compare_with_text
from codesum_pipeline.symbols.scip.offering import DocumentPlace, message_class, read_document, read_index_parts
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

_UNTIL = "call_graph"
_DOCUMENT_TAG = b"\x12"
_RESAMPLES = 2_000


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cost", "stale", "retrieval", "build"])
    parser.add_argument("pairs", nargs="+", metavar="CHECKOUT=INDEX")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--pad-mb", type=int, default=0)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--home", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for pair in arguments.pairs:
        checkout, _, index = pair.partition("=")
        if arguments.what == "build":
            _build_steps(Path(checkout), Path(arguments.home))
        elif arguments.what == "cost":
            _print_cost(Path(checkout), Path(index), copies=arguments.copies, pad_mb=arguments.pad_mb)
        elif arguments.what == "stale":
            _print_stale(Path(checkout), Path(index), arguments.commits, arguments.every, show=arguments.show)
        else:
            _print_retrieval(Path(checkout), Path(index))


def _print_cost(checkout: Path, index: Path, *, copies: int, pad_mb: int) -> None:
    with tempfile.TemporaryDirectory(prefix="codesum-bench-") as name:
        folder = Path(name)
        tree, large = checkout, index
        if copies > 1 or pad_mb:
            tree, large = _copy_repository(checkout, index, folder, copies), folder / "large.scip"
            _write_large(index, large, copies=copies, pad_mb=pad_mb)
        size = large.stat().st_size
        print(f"\n{checkout.name}: {copies} time(s), an index of {size / (1 << 20):,.0f} MB")
        without = _in_process(tree, folder / "without", None)
        beside = _in_process(tree, folder / "beside", large)
        for step in ("repo_snapshot", "symbols", "call_graph", "all"):
            cpu, wall = (beside[step][number] / max(without[step][number], 0.001) for number in (0, 1))
            print(
                f"  {step:15} without {without[step][0]:7.1f} s CPU {without[step][1]:7.1f} s clock   "
                f"beside {beside[step][0]:7.1f} s CPU {beside[step][1]:7.1f} s clock   ratio {cpu:.2f} {wall:.2f}"
            )
        print(f"  most memory     without {without['memory_mb']:,.0f} MB   beside {beside['memory_mb']:,.0f} MB")
        print(f"  of a worker     without {without['worker_mb']:,.0f} MB   beside {beside['worker_mb']:,.0f} MB")
        print(f"  {beside['counting']:,} files of the index count, {beside['trusted']:,} trusted edges")


def _in_process(tree: Path, home: Path, index: Path | None) -> dict[str, Any]:
    """Build the first steps in a process of its own."""
    (home / "mirrors").mkdir(parents=True)
    if index is not None:
        shutil.copy(index, home / "mirrors" / "p.scip")
    command = [sys.executable, "-m", "benchmarks.scip_index", "build", str(tree), "--home", str(home)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _build_steps(tree: Path, home: Path) -> None:
    ws = _workspace(tree, home)
    found: dict[str, Any] = {}
    begun = _read_clock()
    for step in STEPS:
        before = _read_clock()
        report = carry_out(step, ws).report
        found[step.name] = [now - then for now, then in zip(_read_clock(), before, strict=True)]
        if step.name == "symbols":
            found["counting"] = report.compiled.counting
        if step.name == _UNTIL:
            found["trusted"] = report.compiled.trusted_edges
            break
    found["all"] = [now - then for now, then in zip(_read_clock(), begun, strict=True)]
    found["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["worker_mb"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps(found))


def _read_clock() -> tuple[float, float]:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used), time.perf_counter()


def _workspace(tree: Path, home: Path, **settings: Any) -> Workspace:
    return workspace_of(open_home(home, **settings), RepositoryEntry("p", str(tree)))


def _copy_repository(checkout: Path, index: Path, folder: Path, copies: int) -> Path:
    """A repository with the indexed files of a checkout in several folders."""
    paths = [place.path for place in read_index_parts(index) if isinstance(place, DocumentPlace)]
    tree = folder / "tree"
    for number in range(copies):
        for path in paths:
            if (source := checkout / path).is_file():
                target = tree / f"copy{number}" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    repo = GitRepo(tree)
    repo.git("init", "-q", "-b", "main")
    repo.commit({}, "all of it")
    return tree


def _write_large(index: Path, to: Path, *, copies: int, pad_mb: int) -> None:
    """The index's documents under the folders of all copies, and others until it is large enough."""
    with to.open("wb") as file:
        for number in range(copies):
            _write_copy(index, file, f"copy{number}")
        number = copies
        while file.tell() < pad_mb << 20:
            _write_copy(index, file, f"elsewhere{number}")
            number += 1


def _write_copy(index: Path, file: Any, folder: str) -> None:
    for place in read_index_parts(index):
        if not isinstance(place, DocumentPlace):
            continue
        document = message_class("Document").FromString(read_document(index, place))
        document.relative_path = f"{folder}/{document.relative_path}"
        for one in (*document.occurrences, *document.symbols):
            one.symbol = _in_package(one.symbol, folder)
        content = document.SerializeToString()
        file.write(_DOCUMENT_TAG + _varint(len(content)) + content)


def _in_package(symbol: str, folder: str) -> str:
    """A symbol of a copy is another one: that of another package."""
    if symbol.startswith("local "):
        return symbol
    scheme, manager, package, rest = symbol.split(" ", 3)
    return f"{scheme} {manager} {package}-{folder} {rest}"


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _print_stale(checkout: Path, index: Path, commits: int, every: int, *, show: int) -> None:
    documents = {place.path: place for place in read_index_parts(index) if isinstance(place, DocumentPlace)}
    repo = GitRepo(checkout)
    noticed, counting = 0, list[str]()
    seen: set[str] = set()
    for commit in repo.git("log", "--format=%H", f"-{commits}").split()[::every]:
        for line in repo.git("diff", "--raw", "--no-renames", "--abbrev=40", commit, "HEAD").splitlines():
            facts, path = line.split("\t", 1)
            blob = facts.split()[2]
            if path not in documents or blob in seen or not blob.strip("0"):
                continue
            seen.add(blob)
            data = subprocess.run(["git", "-C", str(checkout), "cat-file", "blob", blob], capture_output=True).stdout
            if compare_with_text(read_document(index, documents[path]), read_text(data, "").text).problem:
                noticed += 1
            else:
                counting.append(f"{commit}:{path}")
    texts = noticed + len(counting)
    share = noticed / max(1, texts)
    print(f"{checkout.name}: {texts:,} other texts, {noticed:,} told ({share:.1%}), {len(counting)} count")
    for place in random.Random(0).sample(counting, min(show, len(counting))):
        print(f"  {place}")
        changes = repo.git("diff", "-U0", place, f"HEAD:{place.partition(':')[2]}").splitlines()[4:]
        print("\n".join(f"    {line[:110]}" for line in changes[:8]))


def _print_retrieval(checkout: Path, index: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="codesum-bench-") as name:
        without = dict(_ask_questions(checkout, Path(name) / "without", None))
        beside = dict(_ask_questions(checkout, Path(name) / "beside", index))
    shared = sorted(without.keys() & beside.keys())
    gains = [beside[question] - without[question] for question in shared]
    low, high = _mean_interval(gains)
    print(
        f"{checkout.name}: {len(shared)} questions, without {fmean(without[one] for one in shared):.4f}, "
        f"beside {fmean(beside[one] for one in shared):.4f}, gain {fmean(gains):+.4f} [{low:+.4f}, {high:+.4f}], "
        f"{sum(gain > 0 for gain in gains)} better, {sum(gain < 0 for gain in gains)} worse"
    )


def _ask_questions(checkout: Path, home: Path, index: Path | None) -> Iterator[tuple[str, float]]:
    (home / "mirrors").mkdir(parents=True)
    if index is not None:
        shutil.copy(index, home / "mirrors" / "p.scip")
    ws = _workspace(checkout, home, evaluation={"enabled": True})
    for step in STEPS:
        carry_out(step, ws)
    for row in ws.tables.read("evaluation_answers", ws.key).to_pylist():
        yield f"{row['question']} {row['query']}", row["score"]


def _mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % of the means of resamples."""
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]


if __name__ == "__main__":
    main()
