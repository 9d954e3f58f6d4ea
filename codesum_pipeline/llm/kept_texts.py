"""A model's text as it is kept: under its keys, with what it was written with and what it cost.

Citations are in canonical lines, so that a text fits wherever the same body
stands. The ledger holds paid texts in this shape until the cache has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import TypeAdapter

from codesum_pipeline.model.documents import TextContext, WrittenText

COLUMNS = (
    "exact_key TEXT PRIMARY KEY, body_key TEXT, text TEXT NOT NULL, context TEXT NOT NULL, model TEXT NOT NULL, "
    "prompt_version TEXT NOT NULL, cost_usd REAL NOT NULL, created_at TEXT NOT NULL"
)
_TEXT = TypeAdapter(WrittenText)
_CONTEXT = TypeAdapter(TextContext | None)
NAMES = "exact_key, body_key, text, context, model, prompt_version, cost_usd, created_at"


@dataclass(frozen=True, slots=True)
class KeptText:
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
            _TEXT.dump_json(self.text).decode(),
            _CONTEXT.dump_json(self.context).decode(),
            self.model,
            self.prompt_version,
            self.cost_usd,
            self.created_at,
        )

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """The inverse of `row`."""
        exact_key, body_key, text, context, *rest = row
        return cls(exact_key, body_key, _TEXT.validate_json(text), _CONTEXT.validate_json(context), *rest)
