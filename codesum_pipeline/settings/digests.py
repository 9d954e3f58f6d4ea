"""`digests.*`: standing questions and what is written about them."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.model.options import DigestOptions


class DigestSettings(BaseModel):
    """Where the standing questions are, how items are grouped, and at most at what cost a model writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intents_file: Path = Field(
        default=Path("intents.yaml"), description="The standing questions; relative to the home."
    )
    grouped: bool = Field(
        default=True, description="Near-duplicate changes are one item in daily and weekly digests, too."
    )
    max_tokens: int = Field(default=4096, ge=1, description="Tokens of one answer about a digest at most.")
    max_cost_usd_per_digest: float = Field(
        default=0.25,
        ge=0,
        allow_inf_nan=False,
        description="At most so many US dollars for one digest; 0: only models that cost nothing.",
    )
    max_cost_usd_per_day: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="At most so many US dollars for all digests of a day (UTC), of all repositories.",
    )

    def options(self, *, home: Path) -> DigestOptions:
        """As the stages get them; the file is below `home` unless it is absolute."""
        return DigestOptions(
            intents_file=str(home / self.intents_file.expanduser()),
            grouped=self.grouped,
            max_tokens=self.max_tokens,
            max_cost_usd_per_digest=self.max_cost_usd_per_digest,
            max_cost_usd_per_day=self.max_cost_usd_per_day,
        )
