"""What a finished run says, as values without Dagster."""

from collections.abc import Mapping
from dataclasses import dataclass

from codesum_pipeline.model.errors import CodesumError

Numbers = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class RunOutcome:
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
