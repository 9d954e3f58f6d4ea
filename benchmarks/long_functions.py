"""How often the passage that is named of a long function is the right one.

    python -m benchmarks.long_functions CLONES [--home FOLDER]

CLONES holds the repositories that `benchmarks/questions/long_functions.jsonl` is about, a folder each at the commit of
its questions; they are indexed in FOLDER, which is kept. The right lines were written down before any search. A passage
is right if it has one of them. Prints a table in Markdown: the passage of the right function, beside excerpts of the
lines with most words of the question, and what the first five hits of a search name.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.question_fit import open_index
from benchmarks.retrieval import Table, print_table
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.hits import best_lines
from codesum_pipeline.search.retrieval.passages import Passage, find_passage
from codesum_pipeline.search.retrieval.searching import answer_query

QUESTIONS = Path(__file__).parent / "questions" / "long_functions.jsonl"
EXCERPTS = (5, 12)


def main() -> None:
    """Ask, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-long")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    rows: Table = [["lines", "right", "mean length"]]
    passages = [_passage(question, arguments.clones) for question in questions]
    rows.append(_row("the passage", questions, passages))
    for size in EXCERPTS:
        rows.append(
            _row(f"excerpt of {size}", questions, [_excerpt(each, arguments.clones, size) for each in questions])
        )
    found = [_rank(question, arguments.clones, arguments.home) for question in questions]
    print_table(rows)
    for most in (1, 5):
        print(f"\nthe right function among the first {most}: {sum(0 < rank <= most for rank in found)} of {len(found)}")
    for question, passage, rank in zip(questions, passages, found, strict=True):
        sign = "right" if _is_right(question, passage) else "wrong"
        lines = f"{question['start_line']}-{question['end_line']}"
        print(f"- {sign}: {question['query']} ({lines}; {passage.start_line}-{passage.end_line}; rank {rank})")


def _span(question: dict[str, Any], clones: Path) -> tuple[str, int, int]:
    folder = clones / question["repo"].partition("/")[2]
    source = (folder / question["file_path"]).read_text(encoding="utf-8")
    return source, question["first_line"], question["last_line"]


def _passage(question: dict[str, Any], clones: Path) -> Passage:
    source, first, last = _span(question, clones)
    found = find_passage(source, question["query"], start_line=first, end_line=last)
    assert found is not None, question
    return found


def _excerpt(question: dict[str, Any], clones: Path, size: int) -> Passage:
    source, first, last = _span(question, clones)
    found = best_lines(source, question["query"], size=size, start_line=first, end_line=last)
    return Passage(found.start_line, found.start_line + len(found.lines) - 1)


def _is_right(question: dict[str, Any], passage: Passage) -> bool:
    return bool(passage.start_line <= question["end_line"] and passage.end_line >= question["start_line"])


def _row(name: str, questions: Sequence[dict[str, Any]], passages: Sequence[Passage]) -> list[str]:
    right = sum(_is_right(question, passage) for question, passage in zip(questions, passages, strict=True))
    length = sum(each.end_line - each.start_line + 1 for each in passages) / len(passages)
    return [name, f"{right} of {len(questions)}", f"{length:.1f}"]


def _rank(question: dict[str, Any], clones: Path, home: Path) -> int:
    """Where the function with the right lines is among the first ten hits, from 1; 0 where it is not."""
    index = open_index(home, clones / question["repo"].partition("/")[2])
    hits = answer_query([index], question["query"], embedder=load_embedder("static")).hits
    for rank, hit in enumerate(hits, start=1):
        first, last = hit.start_line or 0, hit.end_line or 0
        if hit.file_path == question["file_path"] and first <= question["start_line"] <= last:
            return rank
    return 0


if __name__ == "__main__":
    main()
