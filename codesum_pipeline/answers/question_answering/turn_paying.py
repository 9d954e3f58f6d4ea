"""Paid calls of a model for one turn: caps are checked before each call, and the ledger is written before and after.

The ledger has the same form as that of texts, and is in the store's own file.
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.settings.llm_settings import AskSettings, LlmSettings
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.ledger import AttemptResult, Ledger
from codesum_pipeline.texts.llm.ledger_readings import Totals, add_up_calls
from codesum_pipeline.texts.llm.paying import Cap, Till
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, AnswerEnd, ChatRequest, ChatResponse, OnText
from codesum_pipeline.texts.llm.retrying import with_fallbacks, with_retries

# The ledger's level of questions.
LEVEL = "ask"
# A person waits, so no provider is called more than three times.
MAX_RETRIES = 2
_LONGEST_WAIT_S = 20.0


class CostCapReached(CodesumError):
    """The next call could pass a cap in dollars; it was not made."""


class Payer(Struct, frozen=True):
    """Pays for the calls of one turn. Where others share the caps of a day (`is_one_of_many`), messages do not name
    what was spent."""

    backend: SummaryBackend
    ledger: Ledger
    llm: LlmSettings
    ask: AskSettings
    turn: str
    is_one_of_many: bool = False

    @property
    def totals(self) -> Totals:
        """All attempts of the turn so far."""
        return add_up_calls(self.ledger.rows(self.turn))

    async def next_message(
        self,
        make: Callable[[str], ChatRequest],
        on_text: OnText,
        *,
        timeout_s: float,
        retries: int | None = None,
        on_discard: Callable[[], None] = lambda: None,
    ) -> ChatResponse:
        """The next message, from the first model that gives one; `make` makes the request for a model's name.

        `on_discard` is called when the text that `on_text` got is void, since the call is made again. Raises the error
        of the last call, or `CostCapReached`.
        """
        attempts = 1 + (min(self.llm.max_retries, MAX_RETRIES) if retries is None else retries)

        async def ask(model: str) -> ChatResponse:
            request = make(model)

            async def attempt(number: int) -> ChatResponse:
                def call() -> Awaitable[ChatResponse]:
                    return self.backend.chat(request, on_text, timeout_s=timeout_s)

                if self.llm.asks_nobody:
                    return await call()
                return await self._till.pay(request, number, request.texts, call, _settled)

            return await with_retries(
                attempt, attempts=attempts, longest_provider_wait_s=_LONGEST_WAIT_S, on_retry=on_discard
            )

        return await with_fallbacks(self.llm, ask, on_failure=on_discard)

    @property
    def _till(self) -> Till:
        ask, ledger = self.ask, self.ledger
        caps = (
            Cap("ask.max_cost_usd_per_question", ask.max_cost_usd_per_question, ledger.spent),
            Cap("ask.max_cost_usd_per_day", ask.max_cost_usd_per_day, ledger.spent_today, not self.is_one_of_many),
        )
        return Till(ledger, self.llm, LEVEL, self.turn, caps, CostCapReached, "ask a cheaper model")


# A cut message may still be the answer.
_USABLE = (AnswerEnd.STOP, AnswerEnd.LENGTH)


def _settled(response: ChatResponse, latency_s: float) -> AttemptResult:
    return AttemptResult(
        AttemptOutcome.GOOD if response.ended in _USABLE else AttemptOutcome.INVALID,
        response.cost_usd,
        latency_s,
        usage=response.usage,
        failure=FAILURES_BY_END.get(response.ended),
        has_tool_call=bool(response.calls),
        model_echoed=response.model_name_echoed,
    )
