"""Settings of `codesum ask`."""

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.model.options import AskOptions


class AskSettings(BaseModel):
    """How far a model may go to answer a question, and at most at what cost. Which model: `llm`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    max_cost_usd_per_question: float = Field(
        0.5, ge=0, description="At most so many US dollars for one question; 0: only models that cost nothing."
    )
    max_cost_usd_per_day: float = Field(
        5.0, ge=0, description="At most so many US dollars for all questions of a day (UTC), of all repositories."
    )
    max_steps: int = Field(
        50, ge=1, le=1000, description="How often a model may call tools for one question; then it has to answer."
    )
    max_tokens: int = Field(4096, ge=256, description="Tokens of one answer at most.")
    primary_document: str = Field(
        "README",
        min_length=1,
        max_length=200,
        description="The document of a repository that an overview always shows, at most cut: a path, or a name with "
        "or without its ending.",
    )
    synthesis_timeout_s: float = Field(
        90.0, gt=0, description="How long writing an overview may take before the question is answered without it."
    )

    def options(self) -> AskOptions:
        """These settings, as the stages take them."""
        return AskOptions(**self.model_dump())
