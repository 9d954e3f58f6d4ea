"""Search in repositories that no benchmark knows, by questions made from them.

    python -m benchmarks.wild CLONES --home FOLDER [--part tune|test] [--also QUESTIONS.jsonl]... [--semble PYTHON]
                              [--only OWNER/NAME]... [--run OUT.jsonl] [--texts docstring|names|facts]

`benchmarks/wild_repositories.tsv` lists them by name and commit; those of `test` are looked at last, and no choice is
made on them. CLONES is a folder of git clones, as `benchmarks.retrieval` takes it. What is made of a repository (its
questions, the tree in which they are asked, its index, and what semble finds) stays in the home for the next run; an
index is brought up to date. Questions written by hand come beside those (`--also`).

`ndcg@10` is of the first ten hits of a plain search as they came, `functions` the recall@10 of those functions and
classes among the same hits that answer, `asked` the same where nothing but functions and classes is asked for. semble
(MIT, in an environment of its own) is given this project's vectors. Intervals are by resampling questions. `--texts`
asks indexes whose texts hold less (`benchmarks/text_levels.py`).
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.retrieval import Table, find_clone, print_table
from benchmarks.text_levels import TEXT_LEVELS, index_with
from benchmarks.wild_questions import KINDS, make_questions
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    DEPTH,
    SYMBOLS,
    QuestionResult,
    ask_questions,
    measure_hits,
    paired_interval,
)
from codesum_pipeline.search.evaluation.questions import Question, read_questions, write_questions
from codesum_pipeline.search.evaluation.report import signed_interval
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

LIST = Path(__file__).with_name("wild_repositories.tsv")
GROUPS = {
    "scripts": ("python", "ruby", "php", "lua", "bash"),
    "web": ("javascript", "typescript", "tsx"),
    "managed": ("java", "kotlin", "c-sharp", "swift"),
    "native": ("c", "cpp", "rust", "go", "zig"),
    "functional": ("haskell", "scala", "elixir"),
}
SEMBLE = """
import json, sys
from semble import SembleIndex
index = SembleIndex.from_path(sys.argv[1], model_path=sys.argv[2])
for query in json.load(sys.stdin):
    found = [(hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line) for hit in index.search(query, top_k=20)]
    print(json.dumps(found))
"""

# What a search finds of one question, by measure.
Measured = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Repository:
    """One line of the list."""

    name: str
    commit: str
    part: str

    @property
    def key(self) -> str:
        return self.name.replace("/", "-")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question, and what each search makes of it; `theirs` is empty where semble is not asked."""

    question: Question
    plain: Measured
    functions: Measured
    theirs: Measured


def main() -> None:
    """Make what is missing, ask, and print the tables."""
    arguments = _arguments()
    with LIST.open(encoding="utf-8", newline="") as lines:
        listed = [Repository(**row) for row in csv.DictReader(lines, delimiter="\t")]
    repositories = [
        each
        for each in listed
        if (each.name in arguments.only if arguments.only else each.part in (arguments.part, ""))
    ]
    written = [question for file in arguments.also for question in read_questions(file)]
    comparisons: list[Comparison] = []
    answers: list[QuestionResult] = []
    for number, repository in enumerate(repositories, start=1):
        print(f"repository {number} of {len(repositories)}: {repository.name}", file=sys.stderr)
        try:
            questions = prepare_questions(repository, arguments.clones, arguments.home)
        except RepositoryUnavailable as error:
            print(f"{repository.name} is left out: {error}", file=sys.stderr)
            continue
        questions += [move_to_tree(each, repository) for each in written if each.repo == repository.name]
        with index_of(repository, arguments.home, arguments.texts) as index:
            found = ask_questions([index], questions, embedder=load_embedder("static"), setups=[ALL, SYMBOLS])
        try:
            theirs = ask_semble(repository, arguments.home, questions, arguments.semble) if arguments.semble else {}
        except subprocess.CalledProcessError as error:
            # It knows fewer languages: a repository of which it reads no file is compared with nobody.
            print(f"{repository.name} is left out: {error.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        answers += [answer for answer in found if answer.setup == ALL.name]
        comparisons += join_results(questions, found, theirs)
    if arguments.run:
        write_run(arguments.run, answers)
    print_tables(comparisons)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="where trees and indexes are kept")
    parser.add_argument("--part", choices=("tune", "test"), default="tune")
    parser.add_argument("--only", action="append", help="these repositories of either part")
    parser.add_argument("--also", type=Path, action="append", default=[], help="questions written by hand")
    parser.add_argument("--semble", type=Path, help="the Python of an environment in which semble is installed")
    parser.add_argument("--texts", choices=TEXT_LEVELS, default="facts", help="what the texts that are searched hold")
    parser.add_argument("--run", type=Path, help="write what was found, one question a line")
    return parser.parse_args()


def prepare_questions(repository: Repository, clones: Path, home: Path) -> list[Question]:
    """The questions about a repository; they and their tree are made once."""
    kept, tree = home / "questions" / f"{repository.key}.jsonl", home / "trees" / repository.key
    if not (kept.exists() and tree.exists()):
        kept.parent.mkdir(parents=True, exist_ok=True)
        clone = find_clone(clones, repository.name).resolve()
        entry = RepositoryEntry(repository.key, str(clone), ref=repository.commit)
        ws = workspace_of(open_home(home / "parsed"), entry)
        build(ws, until="symbols", may_fail=True)
        write_questions(kept, make_questions(ws, tree))
    return read_questions(kept) if kept.stat().st_size else []


def move_to_tree(question: Question, repository: Repository) -> Question:
    """A written question, asked in the tree of its repository: its lines are others there, its names are not."""
    cited = tuple(replace(target, start_line=None, end_line=None) for target in question.cited_symbols if target.symbol)
    category = f"written: {question.category}"
    return replace(question, repo=repository.key, category=category, cited_symbols=cited, commit=None)


@contextmanager
def index_of(repository: Repository, home: Path, texts: str = "facts") -> Iterator[PublishedIndex]:
    """The index of a repository's tree, brought up to date; of other `texts` one that lasts as long as the block."""
    opened = open_home(home / "asked", embedder="static")
    tree = str((home / "trees" / repository.key).resolve())
    ws = workspace_of(opened, RepositoryEntry(repository.key, tree))
    build(ws, may_fail=True)
    if texts == "facts":
        yield PublishedIndex.open(opened.layout.published(repository.key))
    else:
        with index_with(ws, texts) as index:
            yield index


def ask_semble(
    repository: Repository, home: Path, questions: Sequence[Question], python: Path
) -> dict[str, Sequence[Hit]]:
    """What semble finds for each question, by id; asked once for the same questions."""
    kept = home / "semble" / f"{repository.key}.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if not {question.query for question in questions} <= set(known):
        queries = [question.query for question in questions]
        command = [str(python), "-c", SEMBLE, str(home / "trees" / repository.key), str(STATIC_MODEL_FOLDER)]
        done = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=True)
        known = dict(zip(queries, map(json.loads, done.stdout.splitlines()), strict=True))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(known), encoding="utf-8")
    return {question.id: [_hit_of(*each) for each in known[question.query]] for question in questions}


def _hit_of(path: str, start_line: int, end_line: int) -> Hit:
    """A chunk of semble's as a hit of ours."""
    return Hit("", "", "", path, start_line, end_line, None, 0.0, "", None, "")


def join_results(
    questions: Sequence[Question], answers: Iterable[QuestionResult], theirs: Mapping[str, Sequence[Hit]]
) -> list[Comparison]:
    """Each question with all that was found."""
    by_setup: dict[str, dict[str, Measured]] = {ALL.name: {}, SYMBOLS.name: {}}
    for answer in answers:
        by_setup[answer.setup][answer.question.id] = answer.measures
    return [
        Comparison(
            question,
            by_setup[ALL.name][question.id],
            by_setup[SYMBOLS.name].get(question.id, {}),
            measure_hits(question, theirs[question.id][:DEPTH]) if question.id in theirs else {},
        )
        for question in questions
    ]


def write_run(file: Path, answers: Iterable[QuestionResult]) -> None:
    """What was found: ids of documents, best first."""
    with file.open("w", encoding="utf-8") as out:
        for answer in answers:
            row = {
                "id": answer.question.id,
                "query": answer.question.query,
                "relevant": [target.file_path for target in answer.question.relevant],
                "cited": [target.symbol for target in answer.question.cited_symbols],
                "ndcg": answer.measures["ndcg@10"],
                "top": answer.top[:10],
            }
            out.write(f"{json.dumps(row)}\n")


def print_tables(comparisons: Sequence[Comparison]) -> None:
    """By kind, by group of languages, by language and by repository."""
    kinds = [*KINDS, *sorted({each.question.category for each in comparisons} - set(KINDS))]
    _print_parts("kind", comparisons, {kind: {kind} for kind in kinds}, "category")
    _print_parts("group", comparisons, GROUPS, "language")
    for what in ("language", "repo"):
        values = sorted({str(getattr(each.question, what)) for each in comparisons})
        _print_parts(what, comparisons, {value: {value} for value in values}, what)


def _print_parts(
    what: str, comparisons: Sequence[Comparison], parts: Mapping[str, Collection[str]], field: str
) -> None:
    """A row for each part: the questions whose `field` has one of its values; and one for all."""
    rows: Table = [[what, "questions", "ndcg@10", "semble", "difference", "file MRR", "functions", "asked"]]
    found = {
        name: [each for each in comparisons if str(getattr(each.question, field)) in values]
        for name, values in parts.items()
    }
    rows += [
        [name, f"{len(some):,}", *_table_row(some)] for name, some in {**found, "all": [*comparisons]}.items() if some
    ]
    print_table(rows)


def _table_row(some: Sequence[Comparison]) -> list[str]:
    both = [(each.plain["ndcg@10"], each.theirs["ndcg@10"]) for each in some if each.theirs]
    difference = signed_interval(paired_interval([b for _, b in both], [a for a, _ in both])) if both else "-"
    return [
        _mean(each.plain["ndcg@10"] for each in some),
        _mean(each.theirs["ndcg@10"] for each in some if each.theirs),
        difference,
        _mean(each.plain["file_mrr@10"] for each in some),
        _mean(each.plain["function_recall@10"] for each in some if "function_recall@10" in each.plain),
        _mean(each.functions["function_recall@10"] for each in some if "function_recall@10" in each.functions),
    ]


def _mean(values: Iterable[float]) -> str:
    found = list(values)
    return f"{sum(found) / len(found):.4f}" if found else "-"


if __name__ == "__main__":
    main()
