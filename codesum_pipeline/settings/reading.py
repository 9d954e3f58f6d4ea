"""`reading.*`: how indexes are kept open, and what is copied of a home in a bucket."""

from pydantic import BaseModel, ConfigDict, Field


class ReadingSettings(BaseModel):
    """How many indexes a long-lived process keeps open, and how much of a bucket a machine keeps."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    open_indexes: int = Field(
        default=1000,
        ge=1,
        description="Indexes that a process keeps open between questions; those that were not asked for longest are "
        "closed. A question about more opens these for itself.",
    )
    fresh_s: float = Field(
        default=5.0,
        ge=0,
        description="Home in a bucket: how long a process answers from what it knows to be published before it looks "
        "again.",
    )
    cache_gb: float = Field(
        default=20.0,
        gt=0,
        description="Home in a bucket: how much of its indexes and tables a machine keeps in the user's cache folder; "
        "what was not read for longest goes first.",
    )
