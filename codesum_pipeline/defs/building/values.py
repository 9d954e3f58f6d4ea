"""What a build is asked for and what it says, as plain values: `defs.metadata` turns them into Dagster's."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.guard import Failure
from codesum_pipeline.model.progress import Progress


class Markdown(Struct, frozen=True):
    """Text that is shown as Markdown."""

    text: str


class PreviewRows(Struct, frozen=True):
    """A table by row; a row may lack columns."""

    rows: tuple[Mapping[str, Any], ...]


# The entries of what a person sees of a table: a few rows, and a picture where it says more.
PREVIEW = "preview"
PLOT = "plot"
# The entry in which a check with a threshold says more than whether it passed: alerts are about the first two alone.
STATE = "state"
OK, OUT_OF_BAND, NO_DATA, OFF = "in the band", "out of the band", "no data", "switched off"

Value = bool | int | float | str | Markdown | PreviewRows
Values = Mapping[str, Value]


class CheckFinding(Struct, frozen=True):
    """What one check found; `is_warning` where a failure stops nothing."""

    name: str
    passed: bool
    description: str | None = None
    values: Values | None = None
    is_warning: bool = False


class StepOutcome(Struct, frozen=True):
    """What one step of a build came to.

    `built_from` is the fingerprint of what it was built from, `rows` the length of its table, `findings` those of
    checks that belong to the step itself. `seconds` is what the step's work took, on the clock.
    """

    table_hash: str
    built_from: str
    seconds: float
    is_reused: bool
    rows: int
    values: Values
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[CheckFinding, ...] = ()


Numbers = Mapping[str, int | float]


class RunOutcome(Struct, frozen=True):
    """One repository's run.

    `message` says why it failed, or why the promotion gate holds back what it built: such a run succeeded, and
    `is_held`. `error` is the package's error behind a failure, None where it was something else. `numbers` are the
    reports' numbers and truths by asset, `seconds` among them.
    """

    key: str
    run_id: str
    succeeded: bool
    seconds: float
    message: str
    error: type[CodesumError] | None
    numbers: Mapping[str, Numbers]
    is_held: bool = False


def failed_run(key: str, run_id: str, error: CodesumError, *, seconds: float) -> RunOutcome:
    """A run that Dagster could not record to its end."""
    return RunOutcome(key, run_id, succeeded=False, seconds=seconds, message=str(error), error=type(error), numbers={})


# The checks that steps carry out themselves: that of `retrieval_evaluation`, and those of `published_index`.
NOT_WORSE = "candidate_is_not_worse"
AT_HEAD = "index_is_at_head"
ANSWERED = "every_level_was_answered"
BLOCKING = (NOT_WORSE, ANSWERED)


class BuildOptions(Struct, frozen=True):
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
