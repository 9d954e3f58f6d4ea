"""Models' texts that the workers of one bucket share.

Each worker keeps all of them in its own cache, so that a text is found by either
key without a request. What a worker adds is one object; what others added since
is fetched before the first look.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from uuid import uuid4

from codesum_pipeline.llm.kept_texts import KeptText
from codesum_pipeline.store.objects import Objects

_ANSWERS = "answers/"


class SharedTexts:
    """The texts of one bucket, in the batches in which workers added them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def add(self, texts: Sequence[KeptText], *, at: datetime) -> str:
        """Keep these for all workers; the name of the batch. Raises `BucketUnavailable`."""
        name = f"{_ANSWERS}{at:%Y-%m-%d}/{uuid4().hex}"
        self._objects.put(name, json.dumps([text.row() for text in texts]).encode())
        return name

    def added(self, *, known: Collection[str]) -> Iterator[tuple[str, list[KeptText]]]:
        """The batches that are not known yet, with their names."""
        for info in self._objects.infos(_ANSWERS):
            found = None if info.name in known else self._objects.get(info.name)
            if found:
                yield info.name, [KeptText.of(row) for row in json.loads(found.data)]
