"""What `codesum doctor` says of a home in a bucket."""

from collections.abc import Iterator, Sequence

from codesum_pipeline.model.errors import BucketUnavailable, ConfigurationError
from codesum_pipeline.store.bucket_health import broken_promises, examine_heads, release_head
from codesum_pipeline.store.bucket_place import BucketPlace

# Repository, what is wrong, and the way out.
Trouble = tuple[str | None, str, str | None]


def bucket_troubles(place: BucketPlace, keys: Sequence[str]) -> Iterator[Trouble]:
    """Whether the bucket can be reached and swaps objects, who builds, and which states are not whole."""
    objects = place.objects()
    try:
        for promise in broken_promises(objects):
            way_out = "keep the home in a store with conditional writes (If-None-Match and If-Match), or in a folder"
            yield None, f"{place.url}: {promise}", way_out
        for found in examine_heads(objects, keys):
            yield found.key, found.what, f"codesum index {found.key} --rebuild" if found.is_broken else None
    except BucketUnavailable as error:
        yield None, str(error), "see that the endpoint is right and can be reached from here"
    except ConfigurationError as error:
        yield None, str(error), "correct the address or the credentials"


def release_in_bucket(place: BucketPlace, key: str) -> str | None:
    """Who held the lease of a repository; whoever it was can commit nothing any more."""
    holder = release_head(place.objects(), key)
    return f"run {holder.run_id} on {holder.host}" if holder else None
