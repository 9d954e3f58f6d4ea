"""Tasks, answers and a backend that remembers: what the tests of writing share."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.document import ContextNeighbour, Level, TextContext
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.checking import AnswerBounds
from codesum_pipeline.texts.llm.conversation import WritingTask
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline.texts.llm.prices import Price
from codesum_pipeline.texts.llm.text_cache import AnswerCache

MODEL = "openai/writer-1"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
# A call of `FakeBackend` costs 0.01 + 0.02; at most 1,000 and 2,048 tokens are reserved for: 0.1 + 0.2048.
PRICE = Price(input=0.0001, output=0.0001, cached_input=0.0001, cache_write=0.0001)
USAGE = TokenUsage(prompt_tokens=100, completion_tokens=200)
CALL_USD = 0.03
WORST_USD = 0.3048
SETTINGS = LlmSettings(enabled=True, model=MODEL, form=AnswerForm.TOOL, concurrency=1, max_retries=0)
CONTEXT = TextContext((ContextNeighbour("a.py::caller", "1"),), (), ("a.py::caller",), ())


def noon() -> datetime:
    return NOON


def price_of(_model: str) -> Price:
    return PRICE


def function_answer(**changed: Any) -> dict[str, Any]:
    """A good answer for a function of ten lines."""
    return {
        "purpose": "Adds up the prices of an order and takes the discount off.",
        "business_intent": "Tells a buyer what an order costs.",
        "keywords": ["price", "order", "discount"],
        "inputs": [{"name": "order", "type": "Order", "description": "The order whose prices are added up."}],
        "returns": {"type": "int", "type_summary": "an amount in cents", "details": "The sum of all its prices."},
        "side_effects": ["reads the discounts of the shop"],
        "invariants": None,
        "citations": [
            {"field": name, "start_line": 1, "end_line": 3} for name in ("purpose", "inputs", "returns", "side_effects")
        ],
    } | changed  # fmt: skip


def upper_answer(**changed: Any) -> dict[str, Any]:
    """A good answer for a class with `add` and `total`."""
    return {
        "summary": "Keeps the lines of an order and tells what they cost together.",
        "business_intent": "Tells a buyer what an order costs.",
        "keywords": ["price", "order", "total"],
        "responsibilities": [{"text": "Adds up what was ordered", "children": ["add", "total"]}],
    } | changed


def task(number: int = 1, **changed: Any) -> WritingTask:
    """The `number`-th function to write, ten lines long."""
    values = {
        "id": f"a.py::f{number}",
        "level": Level.FUNCTION,
        "template_blake3": "blake3:template",
        "prompt": f"Write about f{number}.",
        "bounds": AnswerBounds(Level.FUNCTION, line_count=10),
        "exact_key": f"exact-{number}",
        "body_key": f"body-{number}",
        "context": CONTEXT,
        "prompt_tokens_upper": 1000,
    }
    return WritingTask(**{**values, **changed})


def responding(answer: Mapping[str, Any] | str, **changed: Any) -> SummaryResponse:
    """An answer as a backend gives it; a string is a text without a tool call."""
    is_text = isinstance(answer, str)
    values = {
        "claim": answer if is_text else json.dumps(answer),
        "has_tool_call": not is_text,
        "usage": USAGE,
        "model_name_echoed": MODEL,
        "cost_usd": CALL_USD,
    }
    return SummaryResponse(**{**values, **changed})


Respond = Callable[[SummaryRequest, int], SummaryResponse]


def respond_well(_request: SummaryRequest, _number: int) -> SummaryResponse:
    return responding(function_answer())


class FakeBackend(SummaryBackend):
    """A provider in memory: `respond` gets each request with its number, from 1, and answers or raises."""

    max_prompt_chars = 100_000

    def __init__(self, respond: Respond = respond_well) -> None:
        self._respond = respond
        self.requests: list[SummaryRequest] = []
        self.was_made = False
        self.is_closed = False

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        self.requests.append(request)
        return self._respond(request, len(self.requests))

    async def health(self) -> bool:
        return True

    async def aclose(self) -> None:
        self.is_closed = True

    @property
    def prompts(self) -> list[str]:
        """The first user turn of each request."""
        return [request.sources[0] for request in self.requests]


def cache_in(folder: Path, now: Callable[[], datetime] = noon) -> AnswerCache:
    return AnswerCache(folder / "cache", now=now)
