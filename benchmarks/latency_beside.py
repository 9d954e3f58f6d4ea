"""The same questions about the same trees to this project and to semble, in one run; see `benchmarks/latency.py`."""

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.retrieval import Table, Tree, print_table, tree_of, write_tree
from benchmarks.throughput import time_build
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER
from codesum_pipeline.search.evaluation.evaluate import DEPTH, measure_hits
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.repositories import GitRepo

METRICS = ("ndcg@10", "file_ndcg@10")

SEMBLE = """
import json, sys, time
from semble import SembleIndex
folder, model, top = sys.argv[1], sys.argv[2], int(sys.argv[3])
queries = json.load(sys.stdin)
start = time.perf_counter()
index = SembleIndex.from_path(folder, model_path=model)
seconds, answers = time.perf_counter() - start, []
for turn in range(2):
    answers = []
    for query in queries:
        start = time.process_time()
        found = [result.chunk for result in index.search(query, top_k=top)]
        ms = 1000 * (time.process_time() - start)
        answers.append([ms, [[chunk.file_path, chunk.start_line, chunk.end_line] for chunk in found]])
print(json.dumps({"seconds": seconds, "answers": answers}))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool over one tree: the seconds of its build, and for each question milliseconds of CPU and hits."""

    questions: Sequence[Question]
    seconds: float
    milliseconds: list[float]
    hits: Sequence[Sequence[Hit]]


def compare_with_semble(python: Path, file: Path, clones: Path, home: Path) -> None:
    """Ask both about each tree, in turn, and print their figures and ratios."""
    by_tree: dict[Tree, list[Question]] = {}
    for question in read_questions(file):
        by_tree.setdefault(tree_of(question), []).append(question)
    embedder = load_embedder("static")
    rows: Table = [["", "questions", *METRICS, "semble", "", "build", "ratio", "CPU of a search", "ratio"]]
    runs: list[tuple[Run, Run]] = []
    for tree in sorted(by_tree):
        folder = home / "trees" / tree.key
        write_tree(tree, clones, folder)
        questions = by_tree[tree]
        runs.append((run_own(folder, questions, embedder), run_semble(python, folder, tree, questions)))
        rows.append(row_of(tree.repo, runs[-1:]))
    rows.append(row_of("**all**", runs))
    print_table(rows)


def row_of(name: str, runs: Sequence[tuple[Run, Run]]) -> Sequence[str]:
    """Means over trees; ratios are this project's by semble's."""
    tools: list[tuple[Run, ...]] = list(zip(*runs, strict=True))
    own, other = (np.mean([mean_metrics(run) for run in of_tool], axis=0) for of_tool in tools)
    builds = [sum(run.seconds for run in of_tool) for of_tool in tools]
    medians = [statistics.median(ms for run in of_tool for ms in run.milliseconds) for of_tool in tools]
    return [
        name,
        str(sum(len(run.questions) for run in tools[0])),
        *(f"{value:.3f}" for value in (*own, *other)),
        f"{builds[0]:.2f} s, {builds[1]:.2f} s",
        f"{builds[0] / builds[1]:.1f}",
        f"{medians[0]:.1f} ms, {medians[1]:.1f} ms",
        f"{medians[0] / medians[1]:.1f}",
    ]


def mean_metrics(run: Run) -> list[float]:
    """The mean of each metric."""
    measures = [measure_hits(question, hits) for question, hits in zip(run.questions, run.hits, strict=True)]
    return [float(np.mean([found[name] for found in measures])) for name in METRICS]


def run_own(folder: Path, questions: Sequence[Question], embedder: Embedder) -> Run:
    """A cold build of all steps, and each question twice."""
    with tempfile.TemporaryDirectory() as scratch:
        sources = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        repo = GitRepo.create(Path(scratch) / "repo", sources)
        seconds = sum(time_build(Path(scratch) / "home", repo).values())
        (name,) = (Path(scratch) / "home" / "index_root" / "summary_index_function_level").glob("[!.]*")
        index = PublishedIndex.open(name)
    milliseconds: list[float] = []
    hits: list[Sequence[Hit]] = []
    for _ in range(2):
        milliseconds, hits = [], []
        for question in questions:
            start = time.process_time()
            hits.append(search_indexes([index], question.query, embedder=embedder, top=DEPTH))
            milliseconds.append(1000 * (time.process_time() - start))
    return Run(questions, seconds, milliseconds, hits)


def run_semble(python: Path, folder: Path, tree: Tree, questions: Sequence[Question]) -> Run:
    """semble's index of the same tree, in memory, in a process of its own, and each question twice."""
    command = [str(python), "-c", SEMBLE, str(folder / tree.scope), str(STATIC_MODEL_FOLDER), str(DEPTH)]
    queries = json.dumps([question.query for question in questions])
    output = json.loads(subprocess.run(command, input=queries, stdout=subprocess.PIPE, text=True, check=True).stdout)
    hits = [
        [hit_of(f"{tree.scope}/{path}".lstrip("/"), start, end) for path, start, end in found]
        for _, found in output["answers"]
    ]
    return Run(questions, output["seconds"], [ms for ms, _ in output["answers"]], hits)


def hit_of(path: str, start: int, end: int) -> Hit:
    """A chunk of semble's, as a hit that the measures judge."""
    return Hit(
        id=f"{path}:{start}-{end}",
        type="function",
        repo="",
        file_path=path,
        start_line=start,
        end_line=end,
        qualified_name=None,
        score=0.0,
        summary="",
        signature_summary=None,
        why="",
    )
