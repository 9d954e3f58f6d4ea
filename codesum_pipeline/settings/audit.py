"""`audit.*`: what is written down of those who ask with a token."""

from pydantic import BaseModel, ConfigDict, Field


class AuditSettings(BaseModel):
    """Whether, in how many files of which size, and with or without the questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(
        default=True,
        description="Servers that ask for a token write a line for each request into audit/audit.jsonl in the home: "
        "when, which token, what kind of request, which repositories answered, outcome, duration, hits.",
    )
    questions: bool = Field(default=False, description="The lines have the questions themselves, too.")
    max_mb: float = Field(
        default=10.0, gt=0, le=1024, allow_inf_nan=False, description="A file that would get larger is closed."
    )
    files: int = Field(default=10, ge=1, le=1000, description="Files that are kept; the oldest goes first.")
