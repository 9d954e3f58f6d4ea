"""The settings of the planner: when it looks, how hard it asks, and how often it tries."""

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.source.poll_policy import PollPolicy


class PlannerSettings(BaseModel):
    """When Dagster rebuilds a repository by itself, and looks for digests that are due."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    nightly_cron: str = Field("0 2 * * *", description="When the nightly schedule looks at every repository (UTC).")
    digests_cron: str = Field(
        "*/15 * * * *",
        description="When the schedule looks whether a digest is due: how late one may be at most. Intents have their "
        "own times and time zones.",
    )
    sensor_interval_s: int = Field(60, ge=5, description="How often the sensor looks for new commits.")
    push_interval_s: int = Field(
        5, ge=1, description="How often the sensor looks for repositories that a webhook said were pushed to."
    )
    poll_interval_s: float = Field(
        60.0,
        gt=0,
        description="How often each remote is asked for its head, give or take a tenth. A day or more is enough where "
        "webhooks tell of pushes.",
    )
    polls_per_tick: int = Field(
        200, ge=1, description="How many remotes one tick may ask; those that waited longest go first."
    )
    poll_parallel: int = Field(16, ge=1, le=256, description="How many repositories are looked at at one time.")
    host_parallel: int = Field(4, ge=1, description="How many of them may be of one host.")
    host_spacing_s: float = Field(
        0.02, ge=0, description="How long a host is left alone between the beginnings of two requests."
    )
    max_attempts: int = Field(3, ge=1, description="How often one state of a repository is tried.")
    max_requests_per_tick: int = Field(25, ge=1, description="How many runs one tick may ask for.")
    ls_remote_timeout_s: float = Field(20.0, gt=0, description="How long one repository may keep a tick waiting.")

    def poll_policy(self, *, timeout_s: float) -> PollPolicy:
        """How remotes are asked."""
        return PollPolicy(
            interval_s=self.poll_interval_s,
            per_tick=self.polls_per_tick,
            parallel=self.poll_parallel,
            host_parallel=self.host_parallel,
            host_spacing_s=self.host_spacing_s,
            timeout_s=timeout_s,
        )
