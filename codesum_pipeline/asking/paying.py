"""Paid calls of a model for one turn: caps are checked before each call, and the ledger is written before and after.

The ledger has the form of that of texts, and lies in the store's own file.
"""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from codesum_pipeline.llm.ledger import AttemptResult, CallAttempt, Ledger
from codesum_pipeline.llm.paying import Cap, Till
from codesum_pipeline.llm.pins import ChatBackend, ChatRequest, ChatResponse, OnText
from codesum_pipeline.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.llm.retrying import wait_before_retry
from codesum_pipeline.model.errors import BackendNotConfigured, CodesumError, SummaryCallFailed
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.settings.llm import AskSettings, LlmSettings

# The ledger's level of questions.
LEVEL = "ask"
# A person waits, so no provider is called more than three times.
MAX_RETRIES = 2
_LONGEST_WAIT_S = 20.0
OnDiscard = Callable[[], None]


class CostCapReached(CodesumError):
    """The next call could pass a cap in dollars; it was not made."""


class Payer(Struct):
    """Pays for the calls of one turn, and sums up `usd`, `prompt_tokens` and `completion_tokens` of all attempts."""

    backend: ChatBackend
    ledger: Ledger
    llm: LlmSettings
    ask: AskSettings
    turn: str
    # Whether others share the caps of a day; then messages do not name what was spent.
    is_one_of_many: bool = False
    usd: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0

    async def next_message(
        self,
        make: Callable[[str], ChatRequest],
        on_text: OnText,
        *,
        timeout_s: float,
        retries: int | None = None,
        on_discard: OnDiscard = lambda: None,
    ) -> ChatResponse:
        """The next message, from the first model that gives one; `make` makes the request for a model's name.

        `on_discard` is called when the text that `on_text` got is void, since the call is made again. Raises the error
        of the last call, or `CostCapReached`.
        """
        retries = min(self.llm.max_retries, MAX_RETRIES) if retries is None else retries
        *before, last = (self.llm.model, *self.llm.fallback_models)
        for model in before:
            try:
                return await self._with_retries(make(model), on_text, timeout_s, retries, on_discard)
            except (SummaryCallFailed, BackendNotConfigured):
                on_discard()
        return await self._with_retries(make(last), on_text, timeout_s, retries, on_discard)

    async def _with_retries(
        self, request: ChatRequest, on_text: OnText, timeout_s: float, retries: int, on_discard: OnDiscard
    ) -> ChatResponse:
        for attempt in range(1, retries + 1):
            try:
                return await self._attempt(request, attempt, on_text, timeout_s)
            except SummaryCallFailed as failure:
                wait_s = wait_before_retry(failure, attempt)
                if wait_s is None or wait_s > _LONGEST_WAIT_S:
                    raise
                on_discard()
                await asyncio.sleep(wait_s)
        return await self._attempt(request, retries + 1, on_text, timeout_s)

    async def _attempt(self, request: ChatRequest, number: int, on_text: OnText, timeout_s: float) -> ChatResponse:
        if self.llm.asks_nobody:
            return await self.backend.chat(request, on_text, timeout_s=timeout_s)
        worst = worst_case_usd(price_of(request.model_name, self.llm), tokens_upper(*request.texts), request.max_tokens)
        attempt = CallAttempt(self.turn, LEVEL, request.request_hash, request.model_name, number, worst)
        ask, ledger = self.ask, self.ledger
        caps = (
            Cap("ask.max_cost_usd_per_question", ask.max_cost_usd_per_question, ledger.spent),
            Cap("ask.max_cost_usd_per_day", ask.max_cost_usd_per_day, ledger.spent_today, not self.is_one_of_many),
        )
        return await Till(ledger, caps, CostCapReached, "ask a cheaper model").pay(
            attempt, lambda: self.backend.chat(request, on_text, timeout_s=timeout_s), _settled, self._count
        )

    def _count(self, settled: AttemptResult) -> None:
        self.usd = self.ledger.spent()
        if settled.outcome is not AttemptOutcome.NOT_SENT:
            self.calls += 1
        if settled.usage:
            self.prompt_tokens += settled.usage.prompt_tokens
            self.completion_tokens += settled.usage.completion_tokens


def _settled(response: ChatResponse, latency_s: float) -> AttemptResult:
    return AttemptResult(
        AttemptOutcome.GOOD,
        response.cost_usd,
        latency_s,
        usage=response.usage,
        has_tool_call=bool(response.calls),
        model_echoed=response.model_name_echoed,
    )
