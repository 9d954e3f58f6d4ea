"""Ground truth that a repository brings along, free and offline: its docstrings and its history."""

from collections.abc import Sequence

from codesum_pipeline.evaluation.commit_questions import commit_questions
from codesum_pipeline.evaluation.docstring_questions import held_out, sample_documented
from codesum_pipeline.evaluation.evaluate import EvaluationSetup, QuestionResult, evaluate
from codesum_pipeline.indexes.embedders import embedder_of
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.store.workspace import Workspace

# Changed with what is asked: earlier answers are then no measure for later ones.
OWN_QUESTIONS_VERSION = "3"
DEFAULT_SAMPLE = 200
DEFAULT_COMMITS = 300


def ask_own_questions(
    ws: Workspace,
    index: PublishedIndex,
    *,
    setups: Sequence[EvaluationSetup],
    sample: int = DEFAULT_SAMPLE,
    commits: int = DEFAULT_COMMITS,
    guard: FailureGuard | None = None,
    progress: Progress = no_progress,
) -> list[QuestionResult]:
    """The answers to a repository's own questions, in each of several ways.

    `index` is made from the tables of `ws`. Docstrings of up to `sample`
    functions and classes are asked in a copy without them, the messages of the
    last `commits` commits in `index` itself. `guard` keeps what fails of them; without one it is raised.
    """
    embedder = embedder_of(ws.options)
    questions = commit_questions(ws, commits=commits, guard=guard)
    answers = evaluate([index], questions, embedder=embedder, setups=setups, guard=guard, progress=progress)
    if wanted := sample_documented(ws, sample, guard=guard):
        with held_out(ws, wanted, guard=guard, progress=progress) as (without, questions):
            answers += evaluate([without], questions, embedder=embedder, setups=setups, guard=guard, progress=progress)
    return answers
