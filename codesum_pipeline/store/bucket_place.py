"""Which bucket holds the record of a home, and how this worker uses it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codesum_pipeline.store.objects import Objects

_opened: dict["BucketPlace", "Objects"] = {}


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A bucket by its URL. A lease that is not renewed for `lease_s` seconds may be taken over; a request is tried
    again for `retry_s` seconds, and `transfers` files are sent or fetched at once."""

    url: str
    lease_s: float = 60.0
    retry_s: float = 60.0
    transfers: int = 8

    def objects(self) -> "Objects":
        """The objects of the bucket, opened once a process."""
        from codesum_pipeline.store.objects import open_objects

        if self not in _opened:
            _opened[self] = open_objects(self.url, retry_s=self.retry_s)
        return _opened[self]
