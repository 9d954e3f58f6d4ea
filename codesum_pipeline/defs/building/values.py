"""What a step and a check say, as plain values: `defs.metadata` turns them into Dagster's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.model.guard import Failure


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text that is shown as Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class PreviewRows:
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


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """What one check found; `is_warning` where a failure stops nothing."""

    name: str
    passed: bool
    description: str | None = None
    values: Values | None = None
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class StepOutcome:
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
