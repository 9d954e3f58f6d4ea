"""`checks.*`: what an operator expects of each repository, and how bad it is where that does not hold."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class CheckName(StrEnum):
    """The checks that have a threshold. None of them stops a build."""

    FRESH = "index_is_fresh"
    CALLS = "calls_are_resolved"
    PLACEHOLDERS = "placeholders_in_band"
    MODEL_TEXTS = "model_texts_in_band"
    FAILURES = "failures_in_band"
    COST = "cost_of_day_in_band"
    VERIFIED = "published_index_equals_tables"


class CheckSettings(BaseModel):
    """Thresholds, all of them shares between 0 and 1 where nothing else is said."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    errors: tuple[CheckName, ...] = Field(
        (CheckName.VERIFIED,),
        description="Checks whose failure is an ERROR; that of the others is a WARN. None of them stops a build.",
    )
    behind_hours: float = Field(
        24.0, gt=0, description="How long a published index may be behind its repository, in hours."
    )
    resolved_calls_least: float = Field(
        0.0, ge=0, le=1, description="The least share of calls whose target is known, in the repository or outside."
    )
    resolved_calls_drop: float = Field(
        0.1,
        ge=0,
        le=1,
        description="By how much that share may be below the median of the repository's last ten commits; 1: by any.",
    )
    placeholders_most: float = Field(
        0.95, ge=0, le=1, description="The largest share of documents that are placeholders."
    )
    model_texts_least: float = Field(
        0.5,
        ge=0,
        le=1,
        description="The least share of documents, placeholders aside, that a model wrote; looked at where a model "
        "writes.",
    )
    failures_most: float = Field(
        0.05, ge=0, le=1, description="The most failures of files and texts for each document."
    )
    cost_usd_most: float | None = Field(
        None, ge=0, description="The most US dollars for a repository's texts on one day (UTC); default: not looked at."
    )
    verify_days: float = Field(
        7.0, gt=0, description="In how many days each published index is once compared with its tables, byte by byte."
    )
