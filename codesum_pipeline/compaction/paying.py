"""The one answer of a compaction, paid for once: caps and ledger before the call, ledger and checks after it.

An answer that was paid for by a run that was killed is taken from the ledger.
"""

from msgspec import Struct

from codesum_pipeline.llm.attempts import settled_good
from codesum_pipeline.llm.backend import SummaryBackend, checked
from codesum_pipeline.llm.ledger import CallAttempt, Ledger
from codesum_pipeline.llm.paying import Cap, Till
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.llm.retrying import with_retries
from codesum_pipeline.model.errors import CompactionCapReached
from codesum_pipeline.settings.llm import CompactionSettings, LlmSettings

# Where a level stands of a text.
LEVEL = "compaction"


class JobPayer(Struct):
    """Asks for the answer of one job; `system` is sent with the request. A recording costs nothing and has no books."""

    backend: SummaryBackend
    ledger: Ledger
    llm: LlmSettings
    caps: CompactionSettings
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
        async def call() -> SummaryResponse:
            return checked(request, await self.backend.summarize(request), self.llm)

        worst = worst_case_usd(
            price_of(request.model_name, self.llm),
            tokens_upper(self.system, *request.sources),
            request.parameters.max_tokens,
        )
        attempt = CallAttempt(
            request.job_id or "", LEVEL, request.request_hash, request.model_name, self._attempt, worst
        )
        return await self._till().pay(attempt, call, settled_good)

    def _till(self) -> Till:
        caps = (
            Cap("compaction.max_cost_usd_per_job", self.caps.max_cost_usd_per_job, self.ledger.spent),
            Cap("compaction.max_cost_usd_per_day", self.caps.max_cost_usd_per_day, self.ledger.spent_today),
        )
        return Till(self.ledger, caps, CompactionCapReached, "attest fewer rows or a cheaper model")
