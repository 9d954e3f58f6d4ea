"""Settings of a home that is kept in a bucket."""

from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.store.bucket_place import BucketPlace


class StorageSettings(BaseModel):
    """How a worker uses the bucket of its home; a home in a folder has no use for them."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    lease_s: float = Field(
        60.0,
        ge=1,
        description="A worker renews the lease of a repository that it builds three times in so many seconds. One that "
        "was not heard of for so long may be replaced.",
    )
    retry_s: float = Field(
        60.0, ge=0, description="How long a request is tried again where the bucket does not answer, or is too busy."
    )
    transfers: int = Field(8, ge=1, description="Files that are sent or fetched at once.")

    def place(self, url: str | None) -> BucketPlace | None:
        """The bucket at a URL, as the stages take it; none without one."""
        return BucketPlace(url, self.lease_s, self.retry_s, self.transfers) if url else None
