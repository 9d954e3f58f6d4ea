"""A build's options and results as plain values, and the facts of the stages that the definitions show.

`builds/dagster/asset_steps.py` turns values into Dagster's.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.guard import Failure

# The entries of what a person sees of a table: a few rows, and a picture where it says more.
PREVIEW = "preview"
PLOT = "plot"
# The entry in which a check with a threshold says more than whether it passed: alerts are about the first two alone.
STATE = "state"
OK, OUT_OF_BAND, NO_DATA, OFF = "in the band", "out of the band", "no data", "switched off"
# The checks that steps carry out themselves: that of `retrieval_evaluation`, and those of `published_index`.
NOT_WORSE = "candidate_is_not_worse"
AT_HEAD = "index_is_at_head"
ANSWERED = "every_level_was_answered"
BLOCKING = (NOT_WORSE, ANSWERED)
# With a table's name behind it: how many of its rows were kept when its file was found to be damaged.
DAMAGED = "damaged_"
# The other checks of a build, each by the step after which it may look.
CHECKED_AFTER = {"summary_documents": "documents_are_whole", "dense_index": "vectors_are_whole"}


class Markdown(Struct, frozen=True):
    """Text that is shown as Markdown."""

    text: str


class PreviewRows(Struct, frozen=True):
    """A table by row; a row may lack columns."""

    rows: tuple[Mapping[str, Any], ...]


Value = bool | int | float | str | Markdown | PreviewRows
Values = Mapping[str, Value]
Numbers = Mapping[str, int | float]


class CheckFinding(Struct, frozen=True):
    """The finding of one check; `is_warning` if its failure stops nothing."""

    name: str
    passed: bool
    description: str | None = None
    values: Values | None = None
    is_warning: bool = False


class StepOutcome(Struct, frozen=True):
    """The result of one step of a build.

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


class RunOutcome(Struct, frozen=True):
    """One repository's run.

    `message` says why it failed, or why the promotion gate holds back what it built: such a run succeeded, and
    `is_held`. `error` is the package's error behind a failure, None if it was something else. `numbers` are the
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


class BuildOptions(Struct, frozen=True):
    """The options of one run, besides the settings; the fields of the Dagster resource say more."""

    force: bool = False
    confirm_llm: bool = False
    llm_usd_left: float | None = None


class Column(Struct, frozen=True):
    """A column as the UI lists it."""

    name: str
    type: str
    description: str | None
    is_nullable: bool


class AssetFacts(Struct, frozen=True):
    """What the definition of one asset says of its step: `deps` are the assets whose outputs the step reads."""

    code_version: str
    table: str
    deps: tuple[str, ...]


class StageFacts(Struct, frozen=True):
    """Assets in the order of their steps, and columns by table."""

    assets: Mapping[str, AssetFacts]
    columns: Mapping[str, tuple[Column, ...]]
