"""Settings of `codesum webhooks`."""

from pydantic import BaseModel, ConfigDict, Field


class WebhookSettings(BaseModel):
    """What hosts that tell of pushes may send. Their secrets are in no settings: see [webhooks](webhooks.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    max_body_mb: float = Field(
        5.0,
        gt=0,
        le=25,
        description="A larger event is refused; what it tells of is found by polling. Hosts send up to 25 MB.",
    )
    max_per_minute: int = Field(600, ge=1, description="So many requests of one address are answered in a minute.")
