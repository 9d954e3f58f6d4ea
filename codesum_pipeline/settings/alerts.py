"""`alerts.*`: who is told when something breaks or recovers, and how soon."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class AlertSettings(BaseModel):
    """Alerts are about changes of state; nothing is said while a state lasts."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    channels: tuple[str, ...] = Field(
        (), description="Channels of `delivery.channels` that are told; empty: those of `delivery.operator_channels`."
    )
    severity: Literal["WARN", "ERROR"] = Field(
        "WARN", description="Checks whose failure is less than this are left out."
    )
    failed_builds: int = Field(
        3, ge=1, description="After how many failed runs in a row of one repository (or job) an alert says so."
    )
    settle_minutes: float = Field(
        5.0,
        ge=0,
        description="How long a new state must last before it is told. It doubles with each alert about the same "
        "thing within a day, so that what goes on and off is told seldom.",
    )
    digest_above: int = Field(5, ge=1, description="More changes than this at one time are one message, not one each.")
    away_hours: float = Field(
        1.0, ge=0, description="After how many hours without a look the sensor says that it was away; 0: it never does."
    )
    interval_s: int = Field(60, ge=10, description="How often the sensor `alerts` looks.")
