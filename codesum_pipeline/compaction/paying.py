"""The one answer of a compaction, paid for once: caps and ledger before the call, ledger and checks after it.

An answer that was paid for by a run that was killed is taken from the ledger.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from codesum_pipeline.llm.attempts import settled_by
from codesum_pipeline.llm.backend import SummaryBackend, checked
from codesum_pipeline.llm.ledger import Attempt, Ledger, Settled
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.prices import price_of, worst_case_usd
from codesum_pipeline.llm.retrying import with_retries
from codesum_pipeline.llm.tokens import tokens_upper
from codesum_pipeline.model.errors import CompactionCapReached
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.model.options import CompactionOptions, LlmOptions

# Where a level stands of a text.
LEVEL = "compaction"


@dataclass(slots=True)
class JobPayer:
    """Asks for the answer of one job; `system` is sent with the request. A recording costs nothing and has no books."""

    backend: SummaryBackend
    ledger: Ledger
    llm: LlmOptions
    caps: CompactionOptions
    system: str
    _attempt: int = 0

    async def answer(self, request: SummaryRequest) -> SummaryResponse:
        """Raises what the backend does, and `CompactionCapReached`."""
        if self.llm.asks_nobody:
            return checked(request, await self.backend.summarize(request), self.llm)
        known = self.ledger.good_answer(request.request_hash)
        if known:
            return checked(request, known, self.llm)
        return await with_retries(
            lambda: self._attempt_once(request), attempts=1 + self.llm.max_retries, on_attempt=self._count
        )

    def _count(self, number: int) -> None:
        self._attempt = number

    async def _attempt_once(self, request: SummaryRequest) -> SummaryResponse:
        sequence = self._reserve(request)
        started = time.monotonic()
        try:
            response = checked(request, await self.backend.summarize(request), self.llm)
        except BaseException as error:
            self.ledger.settle(sequence, settled_by(error, time.monotonic() - started))
            raise
        self.ledger.settle(sequence, _settled(response, time.monotonic() - started))
        return response

    def _reserve(self, request: SummaryRequest) -> int:
        price = price_of(request.model_name, self.llm)
        worst = worst_case_usd(price, tokens_upper(self.system, *request.sources), request.parameters.max_tokens)
        attempt = Attempt(request.job_id or "", LEVEL, request.request_hash, request.model_name, self._attempt, worst)
        with self.ledger.together():
            for name, most, spent in (
                ("compaction.max_cost_usd_per_job", self.caps.max_cost_usd_per_job, self.ledger.spent),
                ("compaction.max_cost_usd_per_day", self.caps.max_cost_usd_per_day, self.ledger.spent_today),
            ):
                _check_cap(name, most, worst, spent)
            return self.ledger.reserve(attempt)


def _check_cap(name: str, most: float, worst: float, spent: Callable[[], float]) -> None:
    so_far = spent()
    if so_far + worst > most:
        raise CompactionCapReached(
            f"{name} = {most:g}: ${so_far:.4f} are spent, and the call could cost ${worst:.4f}: "
            f"raise {name}, or attest fewer rows or a cheaper model"
        )


def _settled(response: SummaryResponse, latency_s: float) -> Settled:
    return Settled(
        AttemptOutcome.GOOD,
        response.cost_usd,
        latency_s,
        usage=response.usage,
        answer=response.claim,
        model_echoed=response.model_name_echoed,
    )
