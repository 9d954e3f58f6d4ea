"""`codesum eval --lift`: what written texts add to each repository's index, and what they cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.evaluation.evaluate import indexes_of
from codesum_pipeline.evaluation.lift import Lift, lift_markdown, lift_report
from codesum_pipeline.evaluation.questions import Question
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.wiring import Home


def lifts(
    called: Invocation, indexes: Sequence[PublishedIndex], questions: Sequence[Question] | None, *, progress: Progress
) -> dict[str, Lift]:
    """The ledger of each repository, by key; of those without a question there is none.

    Raises `ConfigurationError` where no repository has a question.
    """
    home, options = Home(called.settings), called.settings.evaluation
    found: dict[str, Lift] = {}
    for index in indexes:
        about = None if questions is None else [asked for asked in questions if index in indexes_of(indexes, asked)]
        workspace = home.workspace(index.repo, run_id="eval")
        if about is None or about:
            found[index.repo] = lift_report(
                workspace, index, about, sample=options.sample, commits=options.commits, progress=progress
            )
    if not any(lift.rows for lift in found.values()):
        raise ConfigurationError(f"no question is about {', '.join(index.repo for index in indexes)}")
    return found


def lifts_markdown(found: Mapping[str, Lift]) -> str:
    """The ledgers, a section each."""
    return "\n".join(f"## {repo}\n\n{lift_markdown(lift)}\n" for repo, lift in found.items())


def lifts_json(found: Mapping[str, Lift]) -> dict[str, Any]:
    """The ledgers for programs."""
    return {"lift": {repo: to_builtins(lift)["rows"] for repo, lift in found.items()}}
