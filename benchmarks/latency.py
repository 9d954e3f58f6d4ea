"""How long a search takes as indexes grow, and what its part of a build costs.

    python -m benchmarks.latency [--lines LINES]... [--home FOLDER] [--cells] [--tiled COPIES]
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

`--cells` compares looking at all vectors with looking into the nearest cells:
the vectors of the largest index, and copies of them with noise up to a million.

`--tiled` asks an index that has every document of the smallest one so many times:
see `benchmarks/latency_tiled.py`. 174 copies of 5,745 documents are a million.

`--beside` asks semble (`pip install semble` in an environment of its own, given
this project's static vectors) and this project the same questions about the
same trees, in one run.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from benchmarks.cold_search import search_command, time_command
from benchmarks.latency_beside import compare_with_semble
from benchmarks.latency_tiled import write_tiled
from benchmarks.retrieval import Table, print_table
from benchmarks.throughput import gather_sources, time_build
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.nearest_vectors import (
    FEWEST_VECTORS,
    NearestVectors,
    is_sampled,
    write_nearest,
)
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.repositories import GitRepo

LINES = (100_000, 2_000_000)
REPOSITORIES = (1, 10, 100)
QUESTIONS = 200
KEY = "measured"
SEARCH_PART = ("dense_index", "sparse_index", "index_candidate")
# The noise of a copied vector's numbers: copies are as near to each other as documents of one file.
NOISE = 0.02
CELL_SIZES = (5_000, 20_000, 100_000, 1_000_000)
MOST_DOCUMENTS = 1_500_000


def main() -> None:
    """Build what is missing, measure, print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="append", type=int)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-latency")
    parser.add_argument("--cells", action="store_true")
    parser.add_argument("--tiled", type=int, metavar="COPIES")
    parser.add_argument("--beside", type=Path, metavar="SEMBLE_PYTHON")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--clones", type=Path)
    arguments = parser.parse_args()
    if arguments.beside:
        compare_with_semble(arguments.beside, arguments.questions, arguments.clones, arguments.home)
        return
    folders = {lines: arguments.home / f"lines-{lines}" for lines in sorted(arguments.lines or LINES)}
    builds = {lines: build(lines, folder) for lines, folder in folders.items()}
    if arguments.tiled:
        ask_tiled(open_published(folders[min(folders)]), arguments.tiled, arguments.home / "tiled")
        return
    rows: Table = [["documents", "repositories", "p50", "p95", "p50 of CPU", "cold command", "search part of a build"]]
    for lines, folder in folders.items():
        index = open_published(folder)
        rows += [row for count in REPOSITORIES if (row := row_of(index, count, folder, builds[lines]))]
    print_table(rows)
    if arguments.cells:
        compare_cells(open_published(folders[max(folders)]))


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


def ask_tiled(index: PublishedIndex, copies: int, folder: Path) -> None:
    """The table's row of an index with all documents so many times; few rounds, since each question takes long."""
    many = write_tiled(index, copies, folder, enlarge_vectors)
    wall, cpu = time_questions([many], questions_about(index)[::4], load_embedder("static"))
    head = ["documents", "repositories", "p50", "p95", "p50 of CPU"]
    print_table([head, [f"{len(many):,}", "1", *(f"{ms:.1f} ms" for ms in (*wall, cpu))]])


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


def compare_cells(index: PublishedIndex) -> None:
    """All vectors against the nearest cells, by CPU time and recall."""
    embedder = load_embedder("static")
    queries = embedder.embed(questions_about(index)[:100])
    rows: Table = [["vectors", "all", "cells", "recall@10", "recall@100", "recall@400", "build", "bytes a vector"]]
    vectors = np.asarray(index.vectors[Lane.SUMMARY])
    for count in CELL_SIZES:
        rows.append(cells_row(enlarge_vectors(vectors, count), queries))
    print(f"\ncells are made from {FEWEST_VECTORS:,} vectors on")
    print_table(rows)


def enlarge_vectors(vectors: Vectors, count: int) -> Vectors:
    """As many vectors: some of these, or these and noisy copies."""
    if count <= len(vectors):
        return np.ascontiguousarray(vectors[:: len(vectors) // count][:count])
    random = np.random.default_rng(0)
    found = np.empty((count, vectors.shape[1]), dtype=np.float32)
    for start in range(0, count, len(vectors)):
        part = vectors[: count - start]
        copy = part + (NOISE * random.standard_normal(part.shape, dtype=np.float32) if start else 0)
        found[start : start + len(part)] = copy / np.maximum(np.linalg.norm(copy, axis=1, keepdims=True), 1e-9)
    return found


def cells_row(vectors: Vectors, queries: Vectors) -> Sequence[str]:
    """What both ways cost, and how many of the nearest the cells hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.ivf"
        started = time.process_time()
        write_nearest(path, vectors, is_sampled(map(str, range(len(vectors)))))
        seconds, size = time.process_time() - started, path.stat().st_size
        cells = NearestVectors.map_file(path)
        recalls: dict[int, list[float]] = {10: [], 100: [], 400: []}
        costs: dict[str, list[float]] = {"all": [], "cells": []}
        for query in queries:
            scores = time_work(partial(np.einsum, "ij,j->i", vectors, query), costs["all"])
            near = time_work(partial(find_candidates, cells, vectors, query), costs["cells"])
            for depth, found in recalls.items():
                best = np.argpartition(-scores, depth)[:depth]
                found.append(len(np.intersect1d(best, near[:depth])) / depth)
    return [
        f"{len(vectors):,}",
        *(f"{np.median(cost):.1f} ms" for cost in costs.values()),
        *(f"{np.mean(found):.3f}" for found in recalls.values()),
        f"{seconds:.1f} s",
        f"{size / len(vectors):.0f}",
    ]


def find_candidates(cells: NearestVectors, vectors: Vectors, query: Vectors) -> npt.NDArray[np.int64]:
    """The rows that the cells give, best first by their exact scores."""
    rows = cells.candidates(query, 400, among=slice(0, len(vectors)))
    best: npt.NDArray[np.int64] = rows[np.argsort(-np.einsum("ij,j->i", vectors[rows], query), kind="stable")]
    return best


def time_work(work: Callable[[], Any], costs: list[float]) -> Any:
    """What a piece of work gives; its CPU time is put to the costs."""
    started = time.process_time()
    result = work()
    costs.append(1000 * (time.process_time() - started))
    return result


if __name__ == "__main__":
    main()
