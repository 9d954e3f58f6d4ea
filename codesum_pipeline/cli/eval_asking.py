"""The questions that `codesum eval` asks: those of a file, or a repository's own."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import SHORT_COMMIT, count, note
from codesum_pipeline.evaluation.evaluate import ALL, SYMBOLS, EvaluationSetup, QuestionResult, evaluate, indexes_of
from codesum_pipeline.evaluation.own_questions import ask_own_questions
from codesum_pipeline.evaluation.questions import Question
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.indexes.version_folder import LANES, Lane
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import has_lane
from codesum_pipeline.wiring import Home


class Ways(Struct, frozen=True):
    """The lanes and levels that a person chose, and which of them are asked alone beside them together."""

    lanes: tuple[Lane, ...]
    levels: tuple[Level, ...]
    each_lane: bool
    each_level: bool

    def setups(self, indexes: Sequence[PublishedIndex], *, with_symbols: bool) -> list[EvaluationSetup]:
        """What was chosen first; `with_symbols`, functions and classes are looked for among themselves as well. Of the
        lanes each is asked alone that all indexes have."""
        name = ALL.name if self.lanes == LANES else " + ".join(self.lanes)
        if self.levels != LEVELS:
            name = f"{name}, {' + '.join(self.levels)}"
        setups = [EvaluationSetup(name, self.lanes, self.levels)]
        if with_symbols and self.levels == LEVELS:
            setups.append(EvaluationSetup(SYMBOLS.name, self.lanes, SYMBOLS.levels))
        if self.each_lane:
            there = [lane for lane in self.lanes if all(has_lane(index, lane) for index in indexes)]
            setups += [EvaluationSetup(f"lane {lane}", (lane,), self.levels) for lane in there]
        if self.each_level:
            setups += [EvaluationSetup(f"level {level}", self.lanes, (level,)) for level in self.levels]
        return setups


class EvaluationAnswers(Struct, frozen=True):
    """The answers, and what a person should know about them."""

    answers: Sequence[QuestionResult]
    notes: tuple[str, ...]


def ask_given(
    called: Invocation,
    indexes: Sequence[PublishedIndex],
    questions: Sequence[Question],
    ways: Ways,
    *,
    progress: Progress,
) -> EvaluationAnswers:
    """Ask all questions about what is indexed; raises `ConfigurationError` where there are none."""
    left_out = Counter(question.repo for question in questions if not indexes_of(indexes, question))
    kept = [question for question in questions if question.repo not in left_out]
    named = ", ".join(f"{repo} ({number})" for repo, number in sorted(left_out.items(), key=str))
    here = ", ".join(sorted(index.repo for index in indexes))
    if not kept:
        raise ConfigurationError(f"no question is about an index that is asked ({here}), but about {named}")
    notes = [f"{count(len(kept), 'question')} for {here}"]
    if left_out:
        notes.append(f"{count(left_out.total(), 'question')} left out, about what is not asked: {named}")
    notes += _other_commits(indexes, kept)
    for remark in notes:
        note(remark)
    setups = ways.setups(indexes, with_symbols=any(question.symbols and question.level is None for question in kept))
    answers = evaluate(indexes, kept, embedder=embedder_of(called.settings), setups=setups, progress=progress)
    if not answers:
        raise ConfigurationError(f"no question is asked at level {', '.join(ways.levels)}: leave out --level")
    return EvaluationAnswers(answers, tuple(notes))


def ask_own(
    called: Invocation, indexes: Sequence[PublishedIndex], ways: Ways, *, progress: Progress
) -> EvaluationAnswers:
    """Ask of each repository what its docstrings and commit messages say."""
    home = Home(called.settings)
    answers: list[QuestionResult] = []
    notes = []
    for index in indexes:
        workspace = home.workspace(index.repo, run_id="eval")
        options = called.settings.evaluation
        own = ask_own_questions(
            workspace,
            index,
            setups=ways.setups([index], with_symbols=True),
            sample=options.sample,
            commits=options.commits,
            progress=progress,
        )
        kinds = Counter(category for category, _ in {(answer.question.category, answer.question.id) for answer in own})
        named = ", ".join(f"{category} ({number})" for category, number in sorted(kinds.items())) or "none"
        notes.append(f"{index.repo}: questions of its own: {named}")
        note(notes[-1])
        answers += own
    if not answers:
        raise ConfigurationError(
            f"no docstrings or commit messages to ask {', '.join(index.repo for index in indexes)}: "
            "give a file of questions"
        )
    return EvaluationAnswers(answers, tuple(notes))


def _other_commits(indexes: Sequence[PublishedIndex], questions: Sequence[Question]) -> list[str]:
    """A remark per index whose commit is not the one that questions were written for."""
    others = Counter(
        (index.repo, index.commit, question.commit)
        for question in questions
        if question.repo and question.commit
        for index in indexes_of(indexes, question)
        if index.commit != question.commit
    )
    return [
        f"{repo}: {count(number, 'question')} written for commit {wanted[:SHORT_COMMIT]}, "
        f"the index is of {indexed[:SHORT_COMMIT]}"
        for (repo, indexed, wanted), number in sorted(others.items())
    ]
