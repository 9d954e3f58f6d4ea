"""One attempt, paid for: caps and ledger before the call, ledger after it.

The worst price is reserved in the same transaction that checks the caps, so
that two calls at once cannot pass a cap together.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.attempts import describe_uncounted, result_of_error
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.ledger import AttemptResult, CallAttempt, Ledger, open_ledger
from codesum_pipeline.texts.llm.pins import ChatRequest, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.texts.llm.retrying import with_retries
from codesum_pipeline.texts.llm.sent_requests import watch_sending

Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


class Cap(Struct, frozen=True):
    """A cap in US dollars by its setting, and what is spent of it; a refusal names the amounts only with
    `names_amounts`."""

    setting: str
    most_usd: float
    spent: Callable[[], float]
    names_amounts: bool = True


class Till(Struct, frozen=True):
    """Pays for the attempts of one job; `level` and `about` are recorded in the ledger.

    `refusal` makes an error from a message about a cap that a call could pass; `way_out` is what can be done instead of
    raising the cap.
    """

    ledger: Ledger
    llm: LlmSettings
    level: str
    about: str
    caps: tuple[Cap, ...]
    refusal: Callable[[str], CodesumError]
    way_out: str

    async def pay(
        self,
        request: SummaryRequest | ChatRequest,
        number: int,
        sent: Sequence[str],
        call: Callable[[], Awaitable[Answer]],
        settled: Callable[[Answer, float], AttemptResult],
    ) -> Answer:
        """The answer of `call`, the attempt with this number; raises what it does, and `refusal`.

        `sent` are all texts that go out. `settled` gives the attempt's result from an answer and the seconds that it
        took.
        """
        worst = worst_case_usd(price_of(request.model_name, self.llm), tokens_upper(*sent), request.max_tokens)
        attempt = CallAttempt(self.about, self.level, request.request_hash, request.model_name, number, worst)
        with self.ledger.together():
            for cap in self.caps:
                self._check(cap, worst)
            sequence = self.ledger.reserve(attempt)
        started = time.monotonic()
        with watch_sending() as sending:
            try:
                answer = await call()
            except BaseException as error:
                result = result_of_error(error, time.monotonic() - started, was_sent=sending.was_sent)
                self.ledger.settle(sequence, result)
                raise
        result = settled(answer, time.monotonic() - started)
        if result.usage is None and worst and not self.ledger.has_uncounted():
            _log.warning(describe_uncounted(request.model_name))
        self.ledger.settle(sequence, result)
        return answer

    def _check(self, cap: Cap, worst: float) -> None:
        so_far = cap.spent()
        if so_far + worst <= cap.most_usd:
            return
        if not cap.names_amounts:
            raise self.refusal(f"{cap.setting} = {cap.most_usd:g}: the next call could pass it")
        raise self.refusal(
            f"{cap.setting} = {cap.most_usd:g}: ${so_far:.4f} are spent, and the next call could cost "
            f"up to ${worst:.4f}: raise {cap.setting}, or {self.way_out}"
        )


def run_job(
    work: Callable[[Ledger], Coroutine[Any, Any, Answer]],
    backend: SummaryBackend,
    books: Path,
    *,
    job_id: str,
    now: Callable[[], datetime],
) -> Answer:
    """The result of `work`, with the ledger of a job in the file `books`; then the backend is closed."""

    async def run() -> Answer:
        with open_ledger(books, run_id=job_id, now=now) as ledger:
            # A job has one process at a time: what is open is that of a dead one.
            ledger.recover(run_id=job_id)
            try:
                return await work(ledger)
            finally:
                await backend.aclose()

    return asyncio.run(run())


async def pay_once(
    request: SummaryRequest,
    till: Till,
    *,
    sent: Sequence[str],
    ask: Callable[[], Awaitable[Answer]],
    read: Callable[[SummaryResponse], Answer],
    settled: Callable[[Answer, float], AttemptResult],
    retries: int,
    longest_provider_wait_s: float,
) -> Answer:
    """The answer to a request. One that a killed process paid for is taken from the ledger, and `read`.

    `sent` are the texts that go out beside the request's sources. A recording costs nothing and has no books. Raises
    what `ask` does, and the till's refusal.
    """
    if till.llm.asks_nobody:
        return await ask()
    if known := till.ledger.good_answer(request.request_hash):
        return read(known)
    return await with_retries(
        lambda number: till.pay(request, number, (*sent, *request.sources), ask, settled),
        attempts=1 + retries,
        longest_provider_wait_s=longest_provider_wait_s,
    )
