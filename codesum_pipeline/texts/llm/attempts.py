"""One attempt of a call: its worst price is reserved and written down, then the answer is read and the cost settled.

A call is let through while the most that it can cost fits the cap in dollars.

A thread writes the ledger's entries. A transaction takes milliseconds to reach the disk, in which the event loop could
not read answers; all entries that wait when one transaction ends share the next one.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby
from operator import itemgetter
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate, WrittenText
from codesum_pipeline.foundation.data_model.errors import (
    CallFailure,
    SummaryCallFailed,
    SummaryError,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.answer_forms import AnswerForms, FormIgnored
from codesum_pipeline.texts.llm.backend import AnotherModel, RefusedAnswer, SummaryBackend
from codesum_pipeline.texts.llm.checking import AnswerProblem, read_answer
from codesum_pipeline.texts.llm.conversation import (
    AnswerReading,
    UnexpectedFailure,
    WritingTask,
    mark_ignored,
    reading_of_problem,
)
from codesum_pipeline.texts.llm.ledger import AttemptResult, CallAttempt, Ledger
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.prices import Price, turns_upper, worst_case_usd
from codesum_pipeline.texts.llm.retrying import with_retries
from codesum_pipeline.texts.llm.sent_requests import watch_sending
from codesum_pipeline.texts.llm.text_cache import KeptText

Result = TypeVar("Result")
PriceOf = Callable[[str], Price]
_log = logging.getLogger(__name__)


class _PendingWrite(Struct, frozen=True):
    write: Callable[[], object]
    written: asyncio.Future[object]
    is_alone: bool


class Books:
    """A ledger that only this thread uses while the books are open."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: SimpleQueue[_PendingWrite | None] = SimpleQueue()

    @contextmanager
    def open(self) -> Iterator[None]:
        """For the time of a block inside a running loop, which must have waited for all its entries at the end."""
        writer = Thread(target=self._serve, args=(asyncio.get_running_loop(),), name="ledger", daemon=True)
        writer.start()
        try:
            yield
        finally:
            self._waiting.put(None)
            writer.join()

    async def enter(self, write: Callable[[Ledger], Result], *, is_alone: bool = False) -> Result:
        """What `write` returns, once it is on disk. An entry is finished even if its task is cancelled, which is then
        cancelled at its next wait. With `is_alone` it shares no transaction: what it reads is on disk."""
        task = asyncio.current_task()
        entry: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting.put(_PendingWrite(lambda: write(self._ledger), entry, is_alone))
        was_cancelled = False
        while not entry.done():
            try:
                await asyncio.wait([entry])
            except asyncio.CancelledError:
                was_cancelled = True
        if was_cancelled and task is not None:
            task.cancel()
        return entry.result()  # type: ignore[return-value]

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        is_last = False
        while not is_last:
            waiting = [self._waiting.get()]
            while not self._waiting.empty():
                waiting.append(self._waiting.get())
            is_last = waiting[-1] is None
            # Entries that share a transaction have no number of their own.
            keys = ((place if entry.is_alone else -1, entry) for place, entry in enumerate(waiting) if entry)
            for _, found in groupby(keys, key=itemgetter(0)):
                together = [entry for _, entry in found]
                loop.call_soon_threadsafe(_settle, together, *self._written(together))

    def _written(self, together: Sequence[_PendingWrite]) -> tuple[list[object], BaseException | None]:
        """The results of some entries, of one transaction; or why none of them is written."""
        try:
            with nullcontext() if together[0].is_alone else self._ledger.together():
                return [entry.write() for entry in together], None
        except Exception as error:
            # Each task that waits for one of these raises it.
            return [], error


def _settle(together: Sequence[_PendingWrite], results: list[object], error: BaseException | None) -> None:
    for place, entry in enumerate(together):
        if error is not None:
            entry.written.set_exception(error)
        else:
            entry.written.set_result(results[place])


class CapReached(Exception):
    """The next call could pass the cap; it is not made. A cheaper one may still fit."""


class Admission:
    """What is left to spend, given out to calls in the order in which they come.

    A call that does not fit waits for those in flight, which mostly cost less
    than the most that was put aside for them. Only when nothing is in flight and
    it still does not fit is the cap reached for it.

    Some servers bill more tokens than a request allows. So many times as much as one such call cost is put aside for
    all later ones.
    """

    def __init__(self, usd_left: float | None, dearest: float = 1.0) -> None:
        """`dearest`: so many times as much as its request allows has a call of the run cost."""
        self._left = usd_left
        self._dearest = dearest
        self._reserved = 0.0
        self._in_flight = 0
        self._door = asyncio.Lock()
        self._freed = asyncio.Event()

    async def enter(self, worst_usd: float) -> float:
        """Put money aside for a call that may cost `worst_usd`; how much. Raises `CapReached`."""
        async with self._door:
            while not self._fits(worst_usd * self._dearest) and self._in_flight:
                self._freed.clear()
                await self._freed.wait()
            put_aside = worst_usd * self._dearest
            if not self._fits(put_aside):
                raise CapReached
            self._reserved += put_aside
            self._in_flight += 1
            return put_aside

    def leave(self, put_aside: float, cost_usd: float, worst_usd: float) -> None:
        """The call is over and cost so much; by its request it could cost `worst_usd`."""
        if worst_usd > 0:
            # Calls at the same time are each compared with their own request, or each would add to the other's factor.
            self._dearest = max(self._dearest, cost_usd / worst_usd)
        self._reserved -= put_aside
        self._in_flight -= 1
        if self._left is not None:
            self._left -= cost_usd
        self._freed.set()

    def _fits(self, worst_usd: float) -> bool:
        return self._left is None or self._reserved + worst_usd <= self._left


_MAX_ERROR_CHARS = 1000
# Complaints about an answer that was not accepted.
_MAX_COMPLAINT_CHARS = 4000
# A provider that refuses a request bills nothing; after a broken connection it may have answered and billed.
_UNBILLED = (
    CallFailure.CREDENTIALS,
    CallFailure.RATE_LIMIT,
    CallFailure.SERVER,
    CallFailure.REFUSED,
    CallFailure.FILTERED,
    CallFailure.FORM,
)


class CallsStopped(Exception):
    """No more calls are made."""


class Desk:
    """What the calls of one run share.

    Where it `is_free`, the backend makes no calls: nothing is reserved, and nothing is written down. `is_heard` is set
    once a call shows that others may be made, `stopped_by` where no more shall be made: by which gate, and why.
    """

    def __init__(
        self, backend: SummaryBackend, ledger: Ledger, settings: LlmSettings, usd_left: float | None, price_of: PriceOf
    ) -> None:
        self.backend = backend
        self.settings = settings
        self.price_of = price_of
        self.books = Books(ledger)
        self.now = ledger.moment
        self.is_free = settings.asks_nobody
        self.is_heard = asyncio.Event()
        self.stopped_by: tuple[Gate, str | None] | None = None
        self.forms = AnswerForms(settings, ledger.forms_of_run())
        self.admission = Admission(usd_left, ledger.dearest_call())
        # A recording has to hold every answer of a conversation.
        is_recorded = settings.backend is BackendName.RECORD
        self.refused_answers = {} if is_recorded else ledger.refused_answers()
        self._has_uncounted = ledger.has_uncounted()

    def check_open(self) -> None:
        """Raise `CallsStopped` where no more calls shall be made."""
        if self.stopped_by:
            raise CallsStopped

    def note_uncounted(self, model: str) -> None:
        """Say once that a server counts no tokens."""
        if not self._has_uncounted:
            self._has_uncounted = True
            _log.warning(describe_uncounted(model))

    def wants_longer_wait(self, error: BaseException) -> bool:
        """Whether a provider wants to be called later than the run waits."""
        wait_s = error.retry_after_s if isinstance(error, SummaryCallFailed) else None
        return wait_s is not None and wait_s > self.settings.longest_wait_s

    def ends_calls(self, error: BaseException, model: str) -> bool:
        """Whether the next call would fail the same way: the key is missing or refused, the quota is used up, the
        server refuses the form of answers, the provider wants to be called later than the run waits, a recording cannot
        be read, or another model answers."""
        if isinstance(error, SummaryCallFailed):
            is_other_form = error.failure is CallFailure.FORM and not self.forms.has_followed(model)
            is_recording = error.failure is CallFailure.UNREADABLE and not error.was_sent
            return (
                self.wants_longer_wait(error)
                or is_other_form
                or is_recording
                or error.failure is CallFailure.CREDENTIALS
            )
        return isinstance(error, AnotherModel)


class TextRequester:
    """Makes the calls for one document, and counts them: how many, at what cost, and which text is kept."""

    def __init__(self, desk: Desk, task: WritingTask) -> None:
        self._desk = desk
        self._task = task
        self.attempts = 0
        self.calls = 0
        self.cost_usd = 0.0
        self.kept: KeptText | None = None

    async def __call__(self, request: SummaryRequest) -> AnswerReading[WrittenText]:
        """The answer to a request. Where the same request lately got an unusable answer, that one is read again."""
        if self._desk.is_free:
            return self._read(request, await self._summarize(request))
        if before := self._desk.refused_answers.get(request.request_hash):
            response, ignores_form = before
            return replace(self._read(request, response), ignores_form=ignores_form)
        return await with_retries(
            lambda _: self._attempt(request),
            attempts=self._desk.settings.max_retries + 1,
            longest_provider_wait_s=self._desk.settings.longest_wait_s,
        )

    async def _attempt(self, request: SummaryRequest) -> AnswerReading[WrittenText]:
        desk, model = self._desk, request.model_name
        desk.check_open()
        tokens = self._task.prompt_tokens_upper + turns_upper(request.sources[1:])
        of_request = worst_case_usd(desk.price_of(model), tokens, request.max_tokens)
        worst = await desk.admission.enter(of_request)
        try:
            # It may have waited for others.
            desk.check_open()
        except BaseException:
            desk.admission.leave(worst, 0.0, of_request)
            raise
        self.attempts += 1
        settled, is_heard = AttemptResult(AttemptOutcome.NOT_SENT, 0.0, 0.0), False
        try:
            form = request.parameters.form.value
            attempt = CallAttempt(self._task.id, request.level, request.request_hash, model, self.attempts, worst, form)
            sequence = await desk.books.enter(lambda ledger: ledger.reserve(attempt))
            started = time.monotonic()
            with watch_sending() as sending:
                try:
                    response = await self._summarize(request)
                except BaseException as error:
                    settled = result_of_error(error, time.monotonic() - started, was_sent=sending.was_sent)
                    is_heard = not (isinstance(error, UnexpectedFailure) or desk.ends_calls(error, model))
                    await self._settle(sequence, settled, worst)
                    raise
            answered = mark_ignored(desk.forms, request, self._read(request, response))
            is_heard = not answered.ignores_form
            if response.usage is None and worst:
                desk.note_uncounted(model)
            settled = result_of_reading(answered, time.monotonic() - started)
            await self._settle(sequence, settled, worst, answered.content, model)
            return answered
        finally:
            desk.admission.leave(worst, worst if settled.cost_usd is None else settled.cost_usd, of_request)
            if is_heard:
                # Others begin once it is known what a call costs.
                desk.is_heard.set()

    async def _settle(
        self, sequence: int, settled: AttemptResult, worst: float, text: WrittenText | None = None, model: str = ""
    ) -> None:
        self.calls += settled.outcome is not AttemptOutcome.NOT_SENT
        self.cost_usd += worst if settled.cost_usd is None else settled.cost_usd
        kept = None
        if text:
            task = self._task
            kept = KeptText(
                exact_key=task.exact_key,
                body_key=task.body_key,
                text=text,
                context=task.context,
                model=model,
                prompt_version=task.template_blake3,
                cost_usd=self.cost_usd,
                created_at=self._desk.now(),
            )
        await self._desk.books.enter(lambda ledger: ledger.settle(sequence, settled, kept))
        self.kept = kept

    async def _summarize(self, request: SummaryRequest) -> SummaryResponse:
        """The backend's answer; raises what the backend does, and `UnexpectedFailure`."""
        guard = FailureGuard()
        with guard.item(self._task.id):
            return await self._desk.backend.summarize(request)
        raise UnexpectedFailure(guard.failures[0])

    def _read(self, request: SummaryRequest, response: SummaryResponse) -> AnswerReading[WrittenText]:
        guard = FailureGuard()
        with guard.item(self._task.id):
            try:
                return AnswerReading(response, read_answer(response, request.parameters.form, self._task.bounds))
            except AnswerProblem as problem:
                return reading_of_problem(request, response, problem, setting="llm.max_tokens")
        return AnswerReading(response, None, failure=guard.failures[0])


def describe_uncounted(model: str) -> str:
    """A message about a server that counts no tokens."""
    return f"{model} does not say how many tokens it counted: its calls are booked at the most they can cost"


def result_of_good(response: SummaryResponse, latency_s: float) -> AttemptResult:
    """The result of an attempt whose answer was accepted."""
    return AttemptResult(
        AttemptOutcome.GOOD,
        response.cost_usd,
        latency_s,
        usage=response.usage,
        answer=response.claim,
        has_tool_call=response.has_tool_call,
        model_echoed=response.model_name_echoed,
    )


def result_of_reading(answered: AnswerReading[Any], latency_s: float) -> AttemptResult:
    """The result of an attempt whose answer was read. Where that failed or found it unusable, the answer is kept: the
    next run reads it again, and does not pay again."""
    good = result_of_good(answered.response, latency_s)
    if answered.content:
        return good
    failure, error = FAILURES_BY_END.get(answered.response.ended), answered.complaint
    if failure is None and answered.ignores_form:
        failure = FormIgnored.kind
    elif failure is None:
        why = UnexpectedFailure(answered.failure) if answered.failure else SummaryOutputInvalid(answered.complaint)
        failure, error = SummaryOutputInvalid.kind, str(why)[:_MAX_COMPLAINT_CHARS]
    return replace(good, outcome=AttemptOutcome.INVALID, failure=failure, error=error)


def result_of_error(error: BaseException, latency_s: float, *, was_sent: bool) -> AttemptResult:
    """The result of an attempt without a readable answer. `was_sent`: its request may have left; of our own errors and
    of one that was stopped that decides what it can have cost."""
    message = str(error)[:_MAX_ERROR_CHARS] or None
    if isinstance(error, RefusedAnswer):
        good = result_of_good(error.response, latency_s)
        return replace(good, outcome=AttemptOutcome.INVALID, failure=error.kind, error=message)
    outcome, cost_usd = AttemptOutcome.INTERRUPTED, None
    if not was_sent and (isinstance(error, UnexpectedFailure) or not isinstance(error, SummaryError)):
        outcome, cost_usd = AttemptOutcome.NOT_SENT, 0.0
    elif isinstance(error, SummaryCallFailed) and error.was_sent:
        outcome, cost_usd = AttemptOutcome.FAILED, 0.0 if error.failure in _UNBILLED else None
    elif isinstance(error, SummaryError) and not isinstance(error, UnexpectedFailure):
        outcome, cost_usd = AttemptOutcome.NOT_SENT, 0.0
    stopped = "stopped" if isinstance(error, asyncio.CancelledError) else type(error).__name__
    failure = error.kind if isinstance(error, SummaryError) else stopped
    return AttemptResult(outcome, cost_usd, latency_s, failure=failure, error=message)
