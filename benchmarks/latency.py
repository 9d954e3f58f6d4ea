"""How long a search takes as indexes grow, and what its part of a build costs.

    python -m benchmarks.latency [--lines LINES]... [--home FOLDER]
    python -m benchmarks.latency --beside SEMBLE_PYTHON --questions DEV.jsonl --clones CLONES [--home FOLDER]

Installed packages are gathered until there are LINES of sources (default:
100,000 and 2,000,000, about 5,000 and 100,000 documents; see
`benchmarks/throughput.py`), committed and indexed in FOLDER, which is kept: a
second run measures without building. Each index is asked 200 questions, warm
and in one process: the whole hybrid as `codesum search` asks it, embedding of
the question included. Questions are the beginnings of summaries, and names, of
documents spread over the index. The same index opened 10 and 100 times under
other names stands for as many repositories. `codesum search --json` is timed in
processes of its own. CPU times stand beside wall times: they hold on a machine
with other work too.

`--beside` asks semble (`pip install semble` in an environment of its own, given
this project's static vectors) and this project the same questions about the
same trees, in one run.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from benchmarks.cold_search import search_command, time_command
from benchmarks.latency_beside import compare_with_semble
from benchmarks.retrieval import Table, print_table
from benchmarks.throughput import gather_sources, time_build
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.repositories import GitRepo

LINES = (100_000, 2_000_000)
REPOSITORIES = (1, 10, 100)
QUESTIONS = 200
KEY = "measured"
SEARCH_PART = ("dense_index", "sparse_index", "index_candidate")
MOST_DOCUMENTS = 1_500_000


def main() -> None:
    """Build what is missing, measure, print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="append", type=int)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-latency")
    parser.add_argument("--beside", type=Path, metavar="SEMBLE_PYTHON")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--clones", type=Path)
    arguments = parser.parse_args()
    if arguments.beside:
        compare_with_semble(arguments.beside, arguments.questions, arguments.clones, arguments.home)
        return
    folders = {lines: arguments.home / f"lines-{lines}" for lines in sorted(arguments.lines or LINES)}
    builds = {lines: build(lines, folder) for lines, folder in folders.items()}
    rows: Table = [["documents", "repositories", "p50", "p95", "p50 of CPU", "cold command", "search part of a build"]]
    for lines, folder in folders.items():
        index = open_published(folder)
        rows += [row for count in REPOSITORIES if (row := row_of(index, count, folder, builds[lines]))]
    print_table(rows)


def build(lines: int, folder: Path) -> dict[str, float]:
    """The seconds of each step of a cold build; those of the build that made the folder, if it is there."""
    figures = folder / "build.json"
    if not figures.exists():
        repo = GitRepo.create(folder / "repo", gather_sources(lines))
        figures.write_text(json.dumps(time_build(folder / "home", repo)), encoding="utf-8")
    found: dict[str, float] = json.loads(figures.read_text(encoding="utf-8"))
    return found


def open_published(folder: Path) -> PublishedIndex:
    """The index that `build` published."""
    (name,) = (folder / "home" / "index_root" / "summary_index_function_level").glob("[!.]*")
    return PublishedIndex.open(name)


def row_of(index: PublishedIndex, count: int, folder: Path, seconds: dict[str, float]) -> Sequence[str]:
    """One row of the table; nothing where there would be more documents than memory is worth."""
    if count * len(index) > MOST_DOCUMENTS:
        return []
    manifest = index.version.manifest
    indexes = [
        replace(index, version=replace(index.version, manifest={**manifest, "repo": f"{KEY}-{number:03}"}))
        for number in range(count)
    ]
    wall, cpu = time_questions(indexes, questions_about(index), load_embedder("static"))
    row = [f"{count * len(index):,}", str(count), *(f"{ms:.1f} ms" for ms in (*wall, cpu))]
    if count > 1:
        return [*row, "", ""]
    cold = statistics.median(time_command(search_command(folder / "home")))
    part = 1e6 * sum(seconds[step] for step in SEARCH_PART) / len(index)
    return [*row, f"{cold:.2f} s", f"{part:.0f} ms per 1,000"]


def questions_about(index: PublishedIndex) -> list[str]:
    """Beginnings of summaries, and every fourth time a name."""
    rows = np.linspace(0, len(index) - 1, QUESTIONS).astype(int).tolist()
    documents = [index.document(row) for row in rows]
    return [
        document["qualified_name"] or document["file_path"]
        if number % 4 == 3
        else " ".join(document["summary"].split()[:8])
        for number, document in enumerate(documents)
    ]


def time_questions(
    indexes: Sequence[PublishedIndex], questions: Sequence[str], embedder: Embedder
) -> tuple[tuple[float, float], float]:
    """Median and 95th percentile of wall time, and the median of CPU time, in milliseconds; the first round warms."""
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(2):
        walls, cpus = [], []
        for question in questions:
            wall, cpu = time.perf_counter(), time.process_time()
            search_indexes(indexes, question, embedder=embedder)
            cpus.append(1000 * (time.process_time() - cpu))
            walls.append(1000 * (time.perf_counter() - wall))
    return (float(np.median(walls)), float(np.percentile(walls, 95))), float(np.median(cpus))


if __name__ == "__main__":
    main()
