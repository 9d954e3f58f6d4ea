"""A model's text as it is kept: under its keys, with its context and cost; and the texts that workers share.

Citations are in canonical lines, so that a text fits every document with the same body. The ledger holds paid texts in
this shape until the cache has them. Each worker of a bucket keeps all texts in its own cache, so that a text is found
by either key without a request. What a worker adds is one object; the first look fetches what others added since.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import uuid4

from msgspec import Struct, json

from codesum_pipeline.model.documents import TextContext, WrittenText
from codesum_pipeline.store.objects import Objects

COLUMNS = (
    "exact_key TEXT PRIMARY KEY, body_key TEXT, text TEXT NOT NULL, context TEXT NOT NULL, model TEXT NOT NULL, "
    "prompt_version TEXT NOT NULL, cost_usd REAL NOT NULL, created_at TEXT NOT NULL"
)
NAMES = "exact_key, body_key, text, context, model, prompt_version, cost_usd, created_at"


class KeptText(Struct, frozen=True):
    """One text. `exact_key` holds the document's id, `body_key` does not; `cost_usd` is of all calls for it."""

    exact_key: str
    body_key: str | None
    text: WrittenText
    context: TextContext | None
    model: str
    prompt_version: str
    cost_usd: float
    created_at: str

    def row(self) -> tuple[Any, ...]:
        """The values of `NAMES`."""
        return (
            self.exact_key,
            self.body_key,
            json.encode(self.text).decode(),
            json.encode(self.context).decode(),
            self.model,
            self.prompt_version,
            self.cost_usd,
            self.created_at,
        )

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """The inverse of `row`."""
        exact_key, body_key, text, context, *rest = row
        return cls(
            exact_key,
            body_key,
            json.decode(text, type=WrittenText),
            json.decode(context, type=TextContext | None),
            *rest,
        )


_ANSWERS = "answers/"


class SharedTexts:
    """The texts of one bucket, in the batches in which workers added them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def add(self, texts: Sequence[KeptText], *, at: datetime) -> str:
        """Keep these for all workers; the name of the batch. Raises `BucketUnavailable`."""
        name = f"{_ANSWERS}{at:%Y-%m-%d}/{uuid4().hex}"
        self._objects.put(name, json.encode([text.row() for text in texts]))
        return name

    def added(self, *, known: Collection[str]) -> Iterator[tuple[str, list[KeptText]]]:
        """The batches that are not known yet, with their names."""
        for info in self._objects.infos(_ANSWERS):
            found = None if info.name in known else self._objects.get(info.name)
            if found:
                yield info.name, [KeptText.of(row) for row in json.decode(found.data)]
