"""Settings of `codesum compact`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.model.options import CompactionOptions


class CompactionSettings(BaseModel):
    """Who may attest that old rows are compressed, and at most at what cost. Which model: `llm`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    allowed_signers: str = Field(
        "allowed_signers",
        min_length=1,
        description="The file of those who may sign attestations, in OpenSSH's format; relative to the home.",
    )
    max_cost_usd_per_job: float = Field(
        0.5, ge=0, description="At most so many US dollars for one attested job; 0: only models that cost nothing."
    )
    max_cost_usd_per_day: float = Field(
        5.0, ge=0, description="At most so many US dollars for all attested jobs of a day (UTC), of all repositories."
    )

    def options(self, *, home: Path) -> CompactionOptions:
        """These settings, as the stages take them."""
        return CompactionOptions(
            allowed_signers=str(home / self.allowed_signers),
            max_cost_usd_per_job=self.max_cost_usd_per_job,
            max_cost_usd_per_day=self.max_cost_usd_per_day,
        )
