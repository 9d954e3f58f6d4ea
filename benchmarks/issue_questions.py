"""Questions that people asked in public issues, answered by this project and by semble.

    python -m benchmarks.issue_questions QUESTIONS.jsonl CLONES --home FOLDER [--semble PYTHON] [--losses FILE.md]

QUESTIONS.jsonl holds questions as `codesum eval` takes them, each with `repo` (owner/name) and `commit`. What answers
a question was changed by the commit that closed its issue, or is the place that its thread is about. CLONES is a
folder of git clones, as `benchmarks.retrieval` takes it. Each repository is indexed at its commit with the default
settings. What is made of it (its tree, its index, and what semble finds) stays in the home for the next run; an index
is brought up to date.

semble (MIT, in an environment of its own) reads the same tree and is given this project's static vectors as its
model, so nothing is downloaded. `ndcg@10` is of the first ten hits of a plain search as they came, the metric that
semble publishes; `file_…` counts each file once. Intervals are by resampling questions, in pairs. `--losses` writes
the questions that semble answers better, or of which no answer is among the first five hits.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.retrieval import Table, Tree, print_table, tree_of, write_tree
from benchmarks.wild import Comparison, Repository, ask_semble, index_of, join_results, print_tables
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.evaluation.evaluate import ALL, SYMBOLS, QuestionResult, ask_questions, paired_interval
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.evaluation.report import signed_interval
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

MEASURES = ("ndcg@10", "file_ndcg@10", "file_mrr@10", "file_recall@10", "file_acc@5")
# How many hits of each search are shown beside a lost question.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question, its measures, and the first hits of both searches as text."""

    comparison: Comparison
    ours: Sequence[str]
    theirs: Sequence[str]

    @property
    def is_lost(self) -> bool:
        """Whether the peer's answer is better, or no answer is among those shown."""
        plain, theirs = self.comparison.plain, self.comparison.theirs
        return plain["file_recall@5"] == 0 or plain["ndcg@10"] < theirs.get("ndcg@10", 0)


def main() -> None:
    """Make what is missing, ask both, and print the tables."""
    arguments = _arguments()
    answered: list[AnsweredQuestion] = []
    by_tree = group_by_tree(read_questions(arguments.questions))
    for number, (tree, questions) in enumerate(by_tree.items(), start=1):
        print(f"repository {number} of {len(by_tree)}: {tree.repo}", file=sys.stderr)
        write_tree(tree, arguments.clones, arguments.home / "trees" / tree.key)
        answered += answer_questions(tree, questions, arguments.home, arguments.semble)
    print_tables([each.comparison for each in answered])
    print_measures([each.comparison for each in answered])
    if arguments.losses:
        arguments.losses.write_text(describe_losses(answered), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="where trees and indexes are kept")
    parser.add_argument("--semble", type=Path, help="the Python of an environment in which semble is installed")
    parser.add_argument("--losses", type=Path, help="write the questions that are answered worse, in Markdown")
    return parser.parse_args()


def group_by_tree(questions: Iterable[Question]) -> dict[Tree, list[Question]]:
    """The questions about each tree, the trees in order."""
    found: dict[Tree, list[Question]] = {}
    for question in questions:
        found.setdefault(tree_of(question), []).append(question)
    return dict(sorted(found.items()))


def answer_questions(
    tree: Tree, questions: Sequence[Question], home: Path, semble: Path | None
) -> list[AnsweredQuestion]:
    """Ask the index of a tree, and semble where it is given."""
    repository = Repository(tree.key, tree.commit, part="")
    in_tree = [replace(question, repo=tree.key, commit=None) for question in questions]
    theirs = ask_semble(repository, home, in_tree, semble) if semble else {}
    with index_of(repository, home) as index:
        answers = ask_questions([index], in_tree, embedder=load_embedder("static"), setups=[ALL, SYMBOLS])
        shown = {each.question.id: _places(index, each) for each in answers if each.setup == ALL.name}
    return [
        AnsweredQuestion(
            replace(each, question=replace(each.question, repo=tree.repo)),
            shown[each.question.id],
            [_describe_chunk(hit) for hit in theirs.get(each.question.id, ())[:SHOWN]],
        )
        for each in join_results(in_tree, answers, theirs)
    ]


def _places(index: PublishedIndex, answer: QuestionResult) -> list[str]:
    rows = [row for id_ in answer.top[:SHOWN] if (row := index.row(id_)) is not None]
    return [_describe_document(index.document(row)) for row in rows]


def _describe_document(document: Mapping[str, object]) -> str:
    name = f" `{document['qualified_name']}`" if document["qualified_name"] else ""
    return f"{document['file_path'] or document['id']}{name}"


def _describe_chunk(hit: Hit) -> str:
    return f"{hit.file_path}:{hit.start_line}-{hit.end_line}"


def print_measures(comparisons: Sequence[Comparison]) -> None:
    """Each measure of both, and the difference with its interval."""
    rows: Table = [["measure", "ours", "semble", "difference"]]
    for name in MEASURES:
        pairs = [(each.theirs[name], each.plain[name]) for each in comparisons if each.theirs]
        if pairs:
            theirs, ours = zip(*pairs, strict=True)
            difference = signed_interval(paired_interval(theirs, ours))
            rows.append([name, f"{sum(ours) / len(ours):.4f}", f"{sum(theirs) / len(theirs):.4f}", difference])
    print_table(rows)


def describe_losses(answered: Iterable[AnsweredQuestion]) -> str:
    """The lost questions, the widest distance to the peer first, each with what answers and what was found."""
    lost = sorted((each for each in answered if each.is_lost), key=_lead_and_id)
    return "\n".join(["# Questions lost\n", *map(_describe_loss, lost)])


def _lead_and_id(answered: AnsweredQuestion) -> tuple[float, str]:
    comparison = answered.comparison
    return comparison.plain["ndcg@10"] - comparison.theirs.get("ndcg@10", 0), comparison.question.id


def _describe_loss(answered: AnsweredQuestion) -> str:
    comparison, question = answered.comparison, answered.comparison.question
    symbols = [f"`{place.symbol}`" for place in question.cited_symbols]
    lines = [
        f"## {question.query}\n",
        f"- {question.repo}, {question.category}, nDCG {comparison.plain['ndcg@10']:.2f}"
        f" (semble {comparison.theirs.get('ndcg@10', 0):.2f}), `{question.id}`",
        f"- answer: {', '.join([place.file_path for place in question.relevant] + symbols)}",
        f"- ours: {'; '.join(answered.ours)}",
        f"- semble: {'; '.join(answered.theirs)}\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
