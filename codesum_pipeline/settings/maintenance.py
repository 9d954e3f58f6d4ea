"""Settings of the maintenance: what is kept, and for how long."""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.model.moments import iso_moment


class MaintenanceSettings(BaseModel):
    """When old records are pruned, and what is kept. None of it shapes an index."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cron: str = Field("30 3 * * *", description="When the schedule prunes (UTC).")
    keep_runs: int = Field(
        10,
        ge=1,
        description="Runs of each repository and job that Dagster keeps with their events. Never deleted: runs that "
        "are under way, and those with the last materialisation or check of an asset of a repository.",
    )
    history_rows: int = Field(
        10,
        ge=1,
        description="Rows of the history that each document keeps, besides those that a standing text and `codesum "
        "explain` need.",
    )
    history_days: int = Field(90, ge=1, description="How long such rows are kept.")
    books_days: int = Field(
        90,
        ge=31,
        description="How long each call of a model has a row of its own; older ones are added up by month, model, "
        "level and outcome.",
    )
    answers_days: int = Field(
        365, ge=0, description="How long a model's text is kept that no build takes from the cache; 0: for ever."
    )
    overlays_days: int = Field(30, ge=1, description="How long the index of a work tree is kept that nobody opens.")
    mirrors_days: int = Field(
        30, ge=1, description="How long the mirror of a repository is kept that is not registered."
    )
    unreachable_days: int = Field(
        14, ge=1, description="How long a mirror keeps commits that no kept index and no registered ref leads to."
    )

    def history_since(self, now: datetime) -> str:
        """The moment before which the history is pruned."""
        return iso_moment(now - timedelta(days=self.history_days))

    def books_since(self, now: datetime) -> str:
        """The moment before which the books are added up."""
        return iso_moment(now - timedelta(days=self.books_days))
