"""Who carries out the steps of a run: this process, or the one that started it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codesum_pipeline.defs.building.values import CheckFinding, StepOutcome, Values
from codesum_pipeline.model.progress import Progress

# The checks that steps carry out themselves: that of `retrieval_evaluation`, and those of `published_index`.
NOT_WORSE = "candidate_is_not_worse"
AT_HEAD = "index_is_at_head"
ANSWERED = "every_level_was_answered"
BLOCKING = (NOT_WORSE, ANSWERED)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What one run is asked for, besides the settings; the fields of the Dagster resource say more."""

    force: bool = False
    confirm_llm: bool = False
    llm_usd_left: float | None = None


class Builder(Protocol):
    """Carries out what a run's assets and checks ask for. Each may raise any `CodesumError`."""

    def built_from(self) -> str:
        """The fingerprint of the snapshot that stands, under the settings of now."""
        ...

    def perform(self, step: str) -> StepOutcome:
        """Carry out a step, unless its last run still stands."""
        ...

    def show(self, step: str) -> Values:
        """What a person sees of a step's table."""
        ...

    def check(self, name: str) -> list[CheckFinding]:
        """What a check finds."""
        ...


def progress_about(key: str, *, among: Sequence[str], progress: Progress | None) -> Progress | None:
    """Progress that says of which of several repositories it speaks."""
    if progress is None or len(among) < 2:
        return progress
    return lambda doing, done, total: progress(f"{key}: {doing}", done, total)
