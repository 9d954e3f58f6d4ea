"""How well the files are found that no deep reader reads: tables, notebooks, components, workflows, manifests.

    python -m benchmarks.kinds_of_files CLONES --home FOLDER [--questions FILE.jsonl] [--out RESULT.json]

`benchmarks/questions/kinds_of_files.jsonl` has ten questions about each of six repositories. They were written by
reading the files, before anybody looked at an answer of this project. Each has a true file, and most have a true place
in it: lines, or the name of a definition in a notebook, whose lines mean nothing to a reader. CLONES is a folder of git
clones, as `benchmarks.retrieval` takes it. Each repository is indexed at the commit of its questions with the default
settings; its tree and its index stay in the home, and an index is brought up to date by the next run.

A question has two ranks among the hits of a plain search: that of the first hit in a true file, and that of the first
hit that is a true place. The latter has the name, or at least half of its lines are true lines, so that a whole file or
a class that spans it is none. With a rank r, the reciprocal rank is 1/r and nDCG@10 is 1/log2(1 + r), both up to the
tenth hit; `recall@5` is the share of questions with a rank of five or better.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.issue_questions import group_by_tree
from benchmarks.retrieval import Table, Tree, print_table, write_tree
from benchmarks.wild import Repository, index_of
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.evaluation.evaluate import ALL, PAGE, ask_questions
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, read_questions

QUESTIONS = Path(__file__).parent / "questions" / "kinds_of_files.jsonl"
MEASURES = ("mrr@10", "ndcg@10", "recall@5")


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where a question's answer is among the hits, from 1; None where it is not. `place` counts where `has_place`."""

    id: str
    query: str
    kind: str
    file: int | None
    place: int | None
    has_place: bool
    hits: list[str]


def main() -> None:
    """Make what is missing, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="where trees and indexes are kept")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--out", type=Path, help="write the ranks and the first ten hits of each question")
    arguments = parser.parse_args()
    found: list[Ranks] = []
    by_tree = group_by_tree(read_questions(arguments.questions))
    for number, (tree, questions) in enumerate(by_tree.items(), start=1):
        print(f"repository {number} of {len(by_tree)}: {tree.repo}", file=sys.stderr)
        write_tree(tree, arguments.clones, arguments.home / "trees" / tree.key)
        found += rank_answers(tree, questions, arguments.home)
    if arguments.out:
        arguments.out.write_text(json.dumps([asdict(ranks) for ranks in found], indent=1), encoding="utf-8")
    print_ranks(found)


def rank_answers(tree: Tree, questions: Sequence[Question], home: Path) -> list[Ranks]:
    """The ranks of all questions about one tree."""
    in_tree = [replace(question, repo=tree.key, commit=None) for question in questions]
    with index_of(Repository(tree.key, tree.commit, part=""), home) as index:
        answers = ask_questions([index], in_tree, embedder=load_embedder("static"), setups=[ALL])
        return [
            _rank(answer.question, [index.document(row) for id_ in answer.top if (row := index.row(id_)) is not None])
            for answer in answers
        ]


def _rank(question: Question, hits: Sequence[Mapping[str, Any]]) -> Ranks:
    files = {place.file_path for place in question.relevant}
    return Ranks(
        id=question.id,
        query=question.query,
        kind=question.language,
        file=_first(hit["file_path"] in files for hit in hits),
        place=_first(any(_is_place(hit, place) for place in question.cited_symbols) for hit in hits),
        has_place=bool(question.cited_symbols),
        hits=[hit["id"] for hit in hits[:PAGE]],
    )


def _first(are_true: Iterable[bool]) -> int | None:
    return next((rank for rank, is_true in enumerate(are_true, start=1) if is_true), None)


def _is_place(hit: Mapping[str, Any], place: AnswerPlace) -> bool:
    if hit["file_path"] != place.file_path or hit["start_line"] is None:
        return False
    if place.start_line is None or place.end_line is None:
        return bool(hit["qualified_name"] == place.symbol)
    common = min(hit["end_line"], place.end_line) - max(hit["start_line"], place.start_line) + 1
    return bool(2 * common >= hit["end_line"] - hit["start_line"] + 1)


def print_ranks(found: Sequence[Ranks]) -> None:
    """The measures by kind of repository and of all questions."""
    rows: Table = [["", "questions", *(f"{what} {name}" for what in ("file", "place") for name in MEASURES)]]
    for kind in [*dict.fromkeys(ranks.kind for ranks in found), ""]:
        some = [ranks for ranks in found if kind in ("", ranks.kind)]
        places = [ranks.place for ranks in some if ranks.has_place]
        cells = [*_measures([ranks.file for ranks in some]), *_measures(places)]
        rows.append([kind or "**all**", f"{len(some)}, {len(places)} with a place", *cells])
    print_table(rows)


def _measures(ranks: Sequence[int | None]) -> list[str]:
    within = [rank for rank in ranks if rank is not None and rank <= PAGE]
    sums = (
        sum(1 / rank for rank in within),
        sum(1 / math.log2(1 + rank) for rank in within),
        sum(rank <= PAGE // 2 for rank in within),
    )
    return [f"{value / len(ranks):.3f}" if ranks else "-" for value in sums]


if __name__ == "__main__":
    main()
