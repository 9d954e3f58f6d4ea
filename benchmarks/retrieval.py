"""How well questions with known answers are answered, beside published figures.

    python -m benchmarks.retrieval DEV.jsonl CLONES [--published FILE] [--ablations] [--embedder NAME]...
                                   [--home FOLDER] [--run OUT.jsonl] [--texts docstring|names|facts]

DEV.jsonl holds questions as `codesum eval` takes them, each with `repo`
(owner/name), `commit` and `scope` (the folder to index). CLONES is a folder of
git clones named `owner+name`, `owner/name` or `name`, bare or not. What each
question's repository held at its commit is written out and indexed in the home
(default: one in the temporary folder), which stays for the next run.

`ndcg@10` is of the first ten hits as they came: the metric of the published
figures. `file_…` counts each file once. Where questions name the functions that
answer them, those are looked for among functions and classes alone.

With several embedders the first is the one that the others are compared with.
`--ablations` asks again with each lane alone, each lane left out, and each
weight of the search off, halved and doubled; see `benchmarks/ablations.py`.
`--texts` asks indexes whose texts hold less; see `benchmarks/text_levels.py`.
"""

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.ablations import print_ablations
from benchmarks.text_levels import TEXT_LEVELS, index_with
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    DEPTH,
    SYMBOLS,
    EvaluationSetup,
    QuestionResult,
    ask_questions,
    paired_interval,
)
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.evaluation.report import signed_interval
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

COLUMNS = ("ndcg@10", "file_ndcg@10", "file_mrr@10", "file_recall@10", "file_acc@5")
SYMBOL_COLUMNS = ("function_recall@10", "function_mrr@10")

Table = list[Sequence[str]]
# Indexes that are made for this run alone.
_LASTING = ExitStack()
atexit.register(_LASTING.close)


@dataclass(frozen=True, slots=True, order=True)
class Tree:
    """What one folder of a repository held at a commit."""

    repo: str
    commit: str
    scope: str

    @property
    def key(self) -> str:
        """The same key for the same tree, as a repository's key must be written."""
        return "-".join([*self.repo.split("/"), self.commit[:8], *filter(None, self.scope.split("/"))])


def main() -> None:
    """Build what is missing, ask, and print tables in Markdown."""
    arguments = _arguments()
    questions = read_questions(arguments.questions)
    trees = {question.id: tree_of(question) for question in questions}
    home = arguments.home or Path(tempfile.gettempdir()) / "codesum-retrieval"
    for tree in sorted(set(trees.values())):
        write_tree(tree, arguments.clones, home / "trees" / tree.key)
    tree_questions = [replace(question, repo=trees[question.id].key) for question in questions]
    names = {tree.key: tree.repo for tree in trees.values()}
    setups = [ALL, SYMBOLS] if any(question.cited_symbols for question in questions) else [ALL]
    embedders = arguments.embedder or ["static"]
    answers: dict[str, list[QuestionResult]] = {}
    for embedder in embedders:
        indexes = build_indexes(home, sorted(set(trees.values())), embedder, like=embedders[0], texts=arguments.texts)
        answers[embedder] = ask_setups(indexes, tree_questions, embedder, setups)
        print(f"\n# {arguments.questions.stem}, {embedder}\n")
        print_scores(answers[embedder], names, _read_published(arguments.published))
        if embedder == embedders[0]:
            if arguments.run:
                write_run(arguments.run, answers[embedder], indexes)
            if arguments.ablations:
                again = partial(ask_setups, indexes, tree_questions, embedder)
                print_ablations(answers[embedder], again, with_symbols=SYMBOLS in setups)
        else:
            print_difference(answers[embedders[0]], answers[embedder], embedders[0], embedder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, help="where trees and indexes are kept")
    parser.add_argument("--embedder", action="append", help="as the setting `embedder`; can be repeated")
    parser.add_argument("--published", type=Path, help='{"mean": {NAME: ndcg@10}, "per_repo": {REPO: {NAME: ndcg@10}}}')
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--texts", choices=TEXT_LEVELS, default="facts", help="what the texts that are searched hold")
    parser.add_argument("--run", type=Path, help="write what was found, one question a line")
    return parser.parse_args()


def tree_of(question: Question) -> Tree:
    """The tree that a question is about."""
    if not question.repo or not question.commit:
        raise SystemExit(f"question {question.id!r} names no repository and commit")
    return Tree(question.repo, question.commit, question.scope)


def write_tree(tree: Tree, clones: Path, folder: Path) -> None:
    """Write a tree's files out as they lie in the repository, if that was not done before."""
    if folder.exists():
        return
    clone = find_clone(clones, tree.repo)
    unfinished = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    git = ["git", "-C", str(clone), "--work-tree", str(unfinished)]
    # `git archive` would leave out what a repository keeps from its releases.
    with tempfile.TemporaryDirectory() as folder_of_index:
        settings = {**os.environ, "GIT_INDEX_FILE": str(Path(folder_of_index) / "index")}
        subprocess.run([*git, "read-tree", tree.commit], check=True, env=settings)
        paths = "\0".join(_present_files(clone, tree))
        command = [*git, "checkout-index", "-z", "--stdin", f"--prefix={unfinished.resolve()}/"]
        subprocess.run(command, input=paths, text=True, check=True, env=settings)
    unfinished.rename(folder)


def _present_files(clone: Path, tree: Tree) -> list[str]:
    """The files of a tree whose content the clone has; clones made without large files lack some."""
    git = ["git", "-C", str(clone)]
    command = [*git, "ls-tree", "-rz", tree.commit, "--", *filter(None, [tree.scope])]
    entries = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # A line is `mode type blob<TAB>path`; a submodule's commit is never in the clone.
    files = [entry.partition("\t") for entry in entries.split("\0") if entry.split(" ", 2)[1:2] == ["blob"]]
    blobs = "\n".join(about.rpartition(" ")[2] for about, _, _ in files)
    found = subprocess.run([*git, "cat-file", "--batch-check"], input=blobs, capture_output=True, text=True, check=True)
    states = found.stdout.splitlines()
    return [path for (_, _, path), state in zip(files, states, strict=True) if not state.endswith(" missing")]


def find_clone(clones: Path, repo: str) -> Path:
    """The git folder of a repository: itself, or the only one in a folder of its name."""
    names = (repo.replace("/", "+"), repo, repo.rpartition("/")[2])
    folders = [folder for name in names if (folder := clones / name).is_dir()]
    for candidate in [each for folder in folders for each in (folder, *sorted(folder.iterdir()))]:
        if (candidate / ".git").exists() or (candidate / "HEAD").is_file():
            return candidate
    raise SystemExit(f"{clones} holds no clone of {repo}: looked for {', '.join(names)}")


def build_indexes(
    home: Path, trees: Sequence[Tree], embedder: str, *, like: str, texts: str = "facts"
) -> list[PublishedIndex]:
    """The index of every tree; what was built before and still stands is kept.

    Another embedder starts from a copy of what was built with `like`: only the vectors differ. Indexes of other
    `texts` are made anew and last as long as the process.
    """
    folder, first = (home / "homes" / name.strip("/~").replace("/", "+") for name in (embedder, like))
    if not folder.exists() and first.exists():
        shutil.copytree(first, folder, symlinks=True)
    opened = open_home(folder, embedder=embedder)
    indexes = []
    for number, tree in enumerate(trees, start=1):
        print(f"index {number} of {len(trees)}: {tree.repo}", file=sys.stderr)
        entry = RepositoryEntry(tree.key, str((home / "trees" / tree.key).resolve()), subdir=tree.scope)
        ws = workspace_of(opened, entry)
        build(ws)
        published = opened.layout.published(tree.key)
        indexes.append(
            PublishedIndex.open(published) if texts == "facts" else _LASTING.enter_context(index_with(ws, texts))
        )
    return indexes


def ask_setups(
    indexes: Sequence[PublishedIndex], questions: Sequence[Question], embedder: str, setups: Sequence[EvaluationSetup]
) -> list[QuestionResult]:
    """The answers, with the count of ways on stderr."""

    def progress(doing: str, done: int, total: int) -> None:
        if done % len(questions) == 0:
            print(f"asked {done // len(questions)} of {len(setups)} ways", file=sys.stderr)

    return ask_questions(indexes, questions, embedder=load_embedder(embedder), setups=setups, progress=progress)


def print_scores(answers: Sequence[QuestionResult], names: Mapping[str, str], published: Mapping[str, Any]) -> None:
    """Means per repository, category and language; overall over repositories, as the published figures are."""
    by_repo = _group_answers(answers, lambda question: question.repo or "")
    peers = sorted(published.get("mean", {}), key=lambda peer: -published["mean"][peer])
    columns = [*COLUMNS, *(SYMBOL_COLUMNS if any(answer.setup == SYMBOLS.name for answer in answers) else ())]
    rows: Table = [["", "questions", *columns, *peers]]
    for key, found in by_repo.items():
        theirs = published.get("per_repo", {}).get(names[key], {})
        rows.append([names[key], *score_cells(found, columns), *(_format_number(theirs.get(peer)) for peer in peers)])
    means = [mean_scores(found, columns) for found in by_repo.values()]
    over_repositories = [_mean([each[name] for each in means if name in each]) for name in columns]
    rows.append(
        [
            "**mean over repositories**",
            f"{len(_question_ids(answers)):,}",
            *map(_format_number, over_repositories),
            *(_format_number(published["mean"][peer]) for peer in peers),
        ]
    )
    rows.append(["mean over questions", *score_cells(answers, columns), *("" for _ in peers)])
    print_table(rows)
    for what in ("category", "language"):
        groups = _group_answers(answers, lambda question, what=what: str(getattr(question, what)))
        if len(groups) > 1:
            head: Table = [[what, "questions", *columns]]
            print_table(head + [[value, *score_cells(groups[value], columns)] for value in sorted(groups)])
    latencies = sorted(answer.latency_ms for answer in answers if answer.setup == ALL.name)
    print(f"\n{len(latencies):,} searches for {DEPTH} hits: median {latencies[len(latencies) // 2]:.1f} ms")


def print_difference(
    before: Sequence[QuestionResult], after: Sequence[QuestionResult], first: str, second: str
) -> None:
    """Another embedder against the first, question by question."""
    rows: Table = [[f"{second} minus {first}", "difference"]]
    for name in (*COLUMNS, *SYMBOL_COLUMNS):
        old, new = by_question(before, name), by_question(after, name)
        if old:
            rows.append([name, signed_interval(paired_interval([old[id_] for id_ in old], [new[id_] for id_ in old]))])
    print_table(rows)


def score_cells(answers: Sequence[QuestionResult], columns: Sequence[str]) -> list[str]:
    """How many questions, and the means."""
    found = mean_scores(answers, columns)
    return [f"{len(_question_ids(answers)):,}", *(_format_number(found.get(name)) for name in columns)]


def mean_scores(answers: Sequence[QuestionResult], columns: Sequence[str]) -> dict[str, float]:
    """The means of those measures that any question has."""
    found = {name: by_question(answers, name) for name in columns}
    return {name: _mean(list(values.values())) for name, values in found.items() if values}


def by_question(answers: Sequence[QuestionResult], measure: str) -> dict[str, float]:
    """A measure by question: of functions where functions were looked for, of files where everything was."""
    setup = SYMBOLS.name if measure.startswith("function") else ALL.name
    return {
        answer.question.id: answer.measures[measure]
        for answer in answers
        if answer.setup == setup and measure in answer.measures
    }


def write_run(file: Path, answers: Sequence[QuestionResult], indexes: Sequence[PublishedIndex]) -> None:
    """What was found, for other programs to judge: `{"id", "results": [{"file_path", "start_line"?, …}]}`."""
    by_key = {index.repo: index for index in indexes}
    fields = {"file_path": "file_path", "start_line": "start_line", "end_line": "end_line", "qualified_name": "symbol"}
    with file.open("w", encoding="utf-8") as out:
        for answer in answers:
            if answer.setup != ALL.name:
                continue
            index = by_key[answer.question.repo or ""]
            documents = [index.document(row) for id_ in answer.top if (row := index.row(id_)) is not None]
            results = [
                {new: document[old] for old, new in fields.items() if document[old] is not None}
                for document in documents
            ]
            out.write(f"{json.dumps({'id': answer.question.id, 'results': results})}\n")


def print_table(rows: Table) -> None:
    """Rows in Markdown, the first as head."""
    head, *body = rows
    print()
    for line in (head, ["---", *["---:"] * (len(head) - 1)], *body):
        print(f"| {' | '.join(line)} |")


def _group_answers(answers: Sequence[QuestionResult], value_of: Any) -> dict[str, list[QuestionResult]]:
    groups: dict[str, list[QuestionResult]] = {}
    for answer in answers:
        groups.setdefault(value_of(answer.question), []).append(answer)
    return groups


def _question_ids(answers: Sequence[QuestionResult]) -> set[str]:
    return {answer.question.id for answer in answers}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _read_published(file: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file else {}
    return found


if __name__ == "__main__":
    main()
