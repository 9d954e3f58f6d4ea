"""Settings of asking code hosts which repositories an organisation has."""

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.hosts.options import HostOptions


class HostSettings(BaseModel):
    """How hosts are asked. Which organisations: `codesum org`, [organisations](organisations.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    sync_cron: str = Field(
        "23 * * * *", description="When the schedule asks hosts which repositories their organisations have (UTC)."
    )
    timeout_s: float = Field(30.0, gt=0, description="How long one request to a host's API may take.")
    max_wait_s: float = Field(
        60.0,
        ge=0,
        description="How long one sync waits in all where a host limits requests; the next sync tries again.",
    )
    max_retired_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="A sync that would retire more of an organisation's repositories (and more than two) retires none "
        "until that is confirmed.",
    )

    def options(self) -> HostOptions:
        """These settings, as they are used."""
        return HostOptions(
            timeout_s=self.timeout_s, max_wait_s=self.max_wait_s, max_retired_share=self.max_retired_share
        )
