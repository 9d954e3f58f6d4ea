"""Which bucket holds the record of a home, and how this worker uses it."""

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from codesum_pipeline.settings.operation import StorageSettings

if TYPE_CHECKING:
    from codesum_pipeline.store.objects import Objects

_opened: dict[tuple[str, float], "Objects"] = {}


class BucketPlace(Struct, frozen=True):
    """A bucket by its URL, and how it is used."""

    url: str
    storage: StorageSettings

    def objects(self, *, most_retry_s: float = math.inf) -> "Objects":
        """The objects of the bucket, opened once a process; a request is tried again for `most_retry_s` at most."""
        from codesum_pipeline.store.objects import open_objects

        known_by = (self.url, min(self.storage.retry_s, most_retry_s))
        if known_by not in _opened:
            _opened[known_by] = open_objects(self.url, retry_s=known_by[1])
        return _opened[known_by]
