"""How well a search tells questions that a repository answers from those of another.

    python -m benchmarks.question_fit CLONES [--home FOLDER]

CLONES holds the repositories that `benchmarks/questions/people.jsonl` is about, a folder each; they are indexed in
FOLDER, which is kept. Each question is asked of its own repository and of all others. The rule is chosen on the
questions and repositories of one half, so that at most 4.5 % of the answered questions are marked, and measured on the
other half; then the halves change places. What the package has is measured on all.
"""

import argparse
import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from benchmarks.retrieval import Table, print_table
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query
from codesum_pipeline.search.retrieval.weights import DEFAULT_FIT, FitRule, Likeness
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

QUESTIONS = Path(__file__).parent / "questions" / "people.jsonl"
# Of the answered questions of the half that a rule is chosen on.
MOST_MARKED = 0.045
SHARES = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15)
WORDS = [k / 20 for k in range(11)]
DOCUMENTS = [-k / 100 for k in range(9)]


@dataclass(frozen=True, slots=True)
class Trial:
    """A question of one repository, asked of one."""

    own: str
    of: str
    likeness: Likeness

    @property
    def is_answered(self) -> bool:
        return self.own == self.of


def main() -> None:
    """Index what is missing, ask, choose, print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-fit")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    names = repository_names()
    indexes = {name: open_index(arguments.home, arguments.clones / name) for name in names}
    embedder = load_embedder("static")
    trials = [
        Trial(question["repo"], name, answer_query([index], question["query"], embedder=embedder).likeness)
        for question in questions
        for name, index in indexes.items()
    ]
    halves = (frozenset(names[::2]), frozenset(names[1::2]))
    rows: Table = [["chosen on", "measured on", "rule", "of others, marked", "answered, marked"]]
    for ours, others in (halves, halves[::-1]):
        rule = choose_rule(select_trials(trials, ours))
        rows.append(
            [
                ", ".join(sorted(ours)),
                "the others",
                format_rule(rule),
                *format_shares(select_trials(trials, others), rule),
            ]
        )
    rows.append(["all", "all", format_rule(choose_rule(trials)), *format_shares(trials, choose_rule(trials))])
    rows.append(["", "all", f"the package's: {format_rule(DEFAULT_FIT)}", *format_shares(trials, DEFAULT_FIT)])
    print_table(rows)


def repository_names() -> list[str]:
    """The repositories that there are questions about."""
    return sorted({json.loads(line)["repo"] for line in QUESTIONS.read_text(encoding="utf-8").splitlines()})


def open_index(home: Path, clone: Path) -> PublishedIndex:
    """The index of a clone, built where it is missing."""
    codesum = open_home(home)
    published = codesum.layout.published(clone.name)
    if not published.exists():
        build(workspace_of(codesum, RepositoryEntry(clone.name, str(clone.resolve()))))
    return PublishedIndex.open(published)


def select_trials(trials: Sequence[Trial], names: frozenset[str]) -> list[Trial]:
    """Questions of some repositories, asked of these."""
    return [each for each in trials if each.own in names and each.of in names]


def choose_rule(trials: Sequence[Trial]) -> FitRule:
    """The rule that marks most questions of other repositories; on average over several shares of answered ones that
    may be marked, since few questions decide about one share."""
    weights = max(itertools.product(WORDS, DOCUMENTS), key=lambda pair: _marked_on_average(trials, *pair))
    return fit_rule(trials, *weights, most_marked=MOST_MARKED)


def fit_rule(trials: Sequence[Trial], words: float, documents: float, *, most_marked: float) -> FitRule:
    """The rule with these weights that marks as many answered questions as it may."""
    rule = FitRule(words=words, documents=documents)
    scores = [each.likeness.score(rule) for each in trials if each.is_answered]
    return replace(rule, least=round(float(np.quantile(scores, most_marked)), 3))


def _marked_on_average(trials: Sequence[Trial], words: float, documents: float) -> float:
    rules = (fit_rule(trials, words, documents, most_marked=most) for most in SHARES)
    return sum(share_marked(trials, rule, answered=False) for rule in rules)


def share_marked(trials: Sequence[Trial], rule: FitRule, *, answered: bool) -> float:
    """How many questions of a kind a rule marks."""
    marked = [not each.likeness.fits(rule) for each in trials if each.is_answered is answered]
    return sum(marked) / len(marked)


def format_shares(trials: Sequence[Trial], rule: FitRule) -> list[str]:
    """How many of the questions of others and of the answered ones a rule marks."""
    return [f"{100 * share_marked(trials, rule, answered=answered):.1f} %" for answered in (False, True)]


def format_rule(rule: FitRule) -> str:
    """A rule as a formula."""
    return f"nearness + {rule.words} words {rule.documents:+} ln(documents) ≥ {rule.least}"


if __name__ == "__main__":
    main()
