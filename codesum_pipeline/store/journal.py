"""What a worker wrote into its ledger since its last commit, as objects of a bucket.

What is paid for must outlive the worker that paid. Each transaction of the
ledger is sent as one object before anybody may count on it. Whoever holds the
repository next reads what a killed worker left, in order, and goes on from
there; a commit, which keeps the ledger itself, deletes them.
"""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from codesum_pipeline.store.objects import Objects

_JOURNAL = "journal/"
# The rows of one transaction, by table.
Entry = dict[str, list[dict[str, Any]]]


class Journal:
    """The journal of one repository, for the worker that holds it."""

    def __init__(self, objects: Objects, key: str, *, fence: int) -> None:
        self._objects = objects
        self._prefix = f"{_JOURNAL}{key}/"
        self._fence = fence
        self._count = 0
        self._names: list[str] = []
        self.is_taken = False

    def take_left(self) -> list[Entry]:
        """What earlier workers left, oldest first; the second time nothing. Until then no commit deletes anything."""
        if self.is_taken:
            return []
        left = []
        for info in self._objects.infos(self._prefix):
            found = self._objects.get(info.name)
            if found:
                self._names.append(info.name)
                left.append(json.loads(found.data))
        self.is_taken = True
        return left

    def write(self, entry: Entry) -> None:
        """Keep one transaction; raises `BucketUnavailable`, and then nobody may count on it."""
        self._count += 1
        name = f"{self._prefix}{self._fence:012}-{self._count:09}-{uuid4().hex}"
        self._objects.put(name, json.dumps(entry).encode())
        self._names.append(name)

    def names(self) -> list[str]:
        """The objects that the ledger of this moment holds, or that somebody left."""
        return list(self._names)

    def forget(self, names: Sequence[str]) -> None:
        """Delete what a commit keeps now."""
        if names:
            self._objects.delete(names)
            gone = set(names)
            self._names = [name for name in self._names if name not in gone]
