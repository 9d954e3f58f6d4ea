"""The texts of many documents: as many calls at once as allowed, in order of importance, within the caps.

The first call of a run goes alone, so that what is wrong with all calls costs one; until a document got a text, no
more are begun than may fail in a row. A call that does not fit what is left of the cap in dollars is skipped for a
cheaper one. A failure that holds for all (the cap, lost credentials, another model's answer, many failures in a row)
stops all further calls; those under way are finished.

However a run ends, the next one continues it: paid texts are in the ledger or in the cache.
"""

import asyncio
import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate, TextContext, WrittenText
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CallFailure,
    SummaryCallFailed,
    SummaryError,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_shapes import MAX_OUTPUT_BYTES, answer_tool
from codesum_pipeline.texts.llm.attempts import (
    CallsStopped,
    CapReached,
    Desk,
    PriceOf,
    TextRequester,
)
from codesum_pipeline.texts.llm.backend import EndedEarly, SummaryBackend
from codesum_pipeline.texts.llm.conversation import UnexpectedFailure, WritingTask, converse
from codesum_pipeline.texts.llm.ledger import Caps, Ledger
from codesum_pipeline.texts.llm.pins import Parameters, SummaryRequest
from codesum_pipeline.texts.llm.sent_parameters import changes_of
from codesum_pipeline.texts.llm.text_cache import AnswerCache, KeptText


class TaskOutcome(Struct, frozen=True):
    """The outcome of one task.

    Without a text, `gate` says what stopped it and `failure` in a word why
    calls gave none. `written_with` is the context that the text was written
    with, `cost_usd` what this run paid for it. `from_cache`: no call was made,
    since the cache, a recording, or the same body in this run had the text;
    `is_same_body`: that text was paid for under another id. `unforeseen` is the error of our own that kept the document
    from having one.
    """

    id: str
    text: WrittenText | None
    model: str | None = None
    gate: Gate | None = None
    failure: str | None = None
    cost_usd: float = 0.0
    calls: int = 0
    from_cache: bool = False
    is_same_body: bool = False
    written_with: TextContext | None = None
    unforeseen: Failure | None = None


Accepts = Callable[[WritingTask, KeptText], bool]


def accept_any(_task: WritingTask, _kept: KeptText) -> bool:
    """Accepts every text that the keys find: they hold the context, or it does not matter."""
    return True


def outcome_of_found(task: WritingTask, kept: KeptText) -> TaskOutcome:
    """The outcome of a document whose text was found."""
    return TaskOutcome(
        task.id, kept.text, kept.model, from_cache=True, is_same_body=kept.exact_key != task.exact_key,
        written_with=kept.context,
    )  # fmt: skip


# The failure of documents that are not called for since too many in a row got no text: the fault is not in them.
GAVE_UP = "gave-up"
# Texts that wait in the ledger before the cache is given them.
_DELIVER_AT = 50
_log = logging.getLogger(__name__)


class _FinishedTask(Struct, frozen=True):
    """A finished task, for others with the same body."""

    prompt: str
    outcome: TaskOutcome
    kept: KeptText | None


class WritingRun:
    """`work_through_queue` fills `outcomes`, by id. `was_terminated`: it was ended by SIGTERM."""

    def __init__(
        self,
        tasks: Sequence[WritingTask],
        backend: SummaryBackend,
        ledger: Ledger,
        cache: AnswerCache,
        caps: Caps,
        price_of: PriceOf,
        settings: LlmSettings,
        accepts: Accepts,
        progress: Progress,
    ) -> None:
        self.outcomes: dict[str, TaskOutcome] = {}
        self.was_terminated = False
        self._queue = deque(tasks)
        self._count = len(tasks)
        self._cache = cache
        self._settings = settings
        self._accepts = accepts
        self._progress = progress
        self._desk = Desk(backend, ledger, settings, caps.usd_left, price_of)
        self._has_text = settings.asks_nobody or bool(ledger.forms_of_run())
        if self._has_text:
            self._desk.is_heard.set()
        self._documents_left = len(tasks) if settings.asks_nobody else caps.documents_left
        self._models = (settings.model, *settings.fallback_models)
        self._failed_in_a_row = 0 if settings.asks_nobody else ledger.failed_in_a_row()
        self._begun = 0
        self._ended = asyncio.Event()
        self._last_error: SummaryError | None = None
        # Models whose provider wants to be called later than the run waits, and after which there is another.
        self._resting: set[str] = set()
        self._undelivered = 0
        self._first_of_body: dict[str, asyncio.Future[_FinishedTask]] = {}

    async def work_through_queue(self) -> None:
        """Work through the queue; however it ends, no attempt is left open."""
        try:
            for model in () if self._desk.is_free else self._models:
                self._desk.price_of(model)
            with self._desk.books.open(), self._cancelled_by_sigterm():
                await self._work_at_once(min(self._settings.concurrency, self._count))
        finally:
            await self._desk.backend.aclose()

    async def _work_at_once(self, count: int) -> None:
        workers = [asyncio.create_task(self._work())]
        heard = asyncio.create_task(self._desk.is_heard.wait())
        try:
            await asyncio.wait([heard, *workers], return_when=asyncio.FIRST_COMPLETED)
            if workers[0].done():
                await workers[0]
            workers += [asyncio.create_task(self._work()) for _ in range(count - 1)]
            await asyncio.gather(*workers)
        finally:
            for started in (heard, *workers):
                started.cancel()
            await asyncio.gather(heard, *workers, return_exceptions=True)

    async def _work(self) -> None:
        while self._queue:
            if not await self._may_begin():
                continue
            task = self._queue.popleft()
            self._begun += 1
            try:
                self.outcomes[task.id] = await self._write(task)
            finally:
                self._begun -= 1
                self._ended.set()
            self._progress("summaries by the model", len(self.outcomes), self._count)

    async def _may_begin(self) -> bool:
        """Whether one more document may be begun; else it was waited for one to end."""
        most = self._settings.give_up_after
        if self._has_text or self._desk.stopped_by or self._begun + self._failed_in_a_row < most or not self._begun:
            return True
        self._ended.clear()
        await self._ended.wait()
        return False

    async def _write(self, task: WritingTask) -> TaskOutcome:
        """A document's text: that of the same body in this run if there is one, else a model's answer."""
        if task.body_key is None or self._desk.is_free:
            return (await self._ask_within_caps(task)).outcome
        first = self._first_of_body.get(task.body_key)
        if first is None:
            first = self._first_of_body[task.body_key] = asyncio.get_running_loop().create_future()
            first.set_result(await self._ask_within_caps(task))
            return first.result().outcome
        finished = await first
        if finished.kept and self._accepts(task, finished.kept):
            return outcome_of_found(task, finished.kept)
        if not finished.kept and finished.prompt == task.prompt:
            first_outcome = finished.outcome
            unforeseen = first_outcome.unforeseen and replace(first_outcome.unforeseen, item=task.id)
            return TaskOutcome(
                task.id, None, gate=first_outcome.gate, failure=first_outcome.failure, unforeseen=unforeseen
            )
        return (await self._ask_within_caps(task)).outcome

    async def _ask_within_caps(self, task: WritingTask) -> _FinishedTask:
        stopped = self._desk.stopped_by or ((Gate.CAP, None) if self._documents_left <= 0 else None)
        if stopped:
            gate, failure = stopped
            return _FinishedTask(task.prompt, TaskOutcome(task.id, None, gate=gate, failure=failure), None)
        self._documents_left -= 1
        caller = TextRequester(self._desk, task)
        outcome = await self._ask(task, caller)
        if not caller.attempts:
            # It took no call: a document that fails day after day must not take the place of others.
            self._documents_left += 1
        self._look_at_failures(outcome, caller)
        await self._hand_over(caller)
        return _FinishedTask(task.prompt, outcome, caller.kept)

    async def _ask(self, task: WritingTask, caller: TextRequester) -> TaskOutcome:
        """Call the model; where its calls fail, the next model."""
        settings, gate, failure, unforeseen = self._settings, Gate.FAILED, "", None
        for model in [each for each in self._models if each not in self._resting]:
            try:
                text, _ = await converse(
                    SummaryRequest(
                        level=task.level,
                        model_name=model,
                        prompt_template_blake3=task.template_blake3,
                        schema_blake3=answer_tool(task.level).schema_blake3,
                        parameters=Parameters(max_tokens=settings.max_tokens, changes=changes_of(settings, model)),
                        sources=(task.prompt,),
                        max_output_bytes=MAX_OUTPUT_BYTES,
                    ),
                    caller,
                    about=task.id,
                    max_attempts=settings.max_attempts,
                    forms=self._desk.forms,
                )
            except CallsStopped:
                assert self._desk.stopped_by is not None, "it is why"
                gate, failure = self._desk.stopped_by[0], self._desk.stopped_by[1] or ""
                break
            except CapReached:
                _log.info("%s: not asked for, its call could pass the cap in dollars", task.id)
                gate, failure = Gate.CAP, ""
                break
            except SummaryError as error:
                failure, self._last_error = error.kind, error
                if self._desk.wants_longer_wait(error) and model != self._models[-1]:
                    self._resting.add(model)
                elif self._desk.ends_calls(error, model):
                    is_shut_out = failure == CallFailure.CREDENTIALS
                    gate = Gate.NO_CREDENTIALS if is_shut_out else Gate.FAILED
                    # A missing key is reported at the end, once for all repositories.
                    level = logging.INFO if is_shut_out else logging.WARNING
                    self._stop(gate, failure, describe_end_of_calls(error), level)
                    break
                _log.warning("%s: no text by %s: %s", task.id, model, error)
                unforeseen = error.failure if isinstance(error, UnexpectedFailure) else None
                if not isinstance(error, (SummaryCallFailed, BackendNotConfigured)):
                    break
            else:
                return TaskOutcome(
                    task.id, text, model, cost_usd=caller.cost_usd, calls=caller.calls,
                    from_cache=self._desk.is_free, written_with=task.context,
                )  # fmt: skip
        return TaskOutcome(
            task.id, None, gate=gate, failure=failure or None, cost_usd=caller.cost_usd, calls=caller.calls,
            unforeseen=unforeseen,
        )  # fmt: skip

    def _look_at_failures(self, outcome: TaskOutcome, caller: TextRequester) -> None:
        """Count documents in a row that got no text though calls were made."""
        if outcome.text:
            self._failed_in_a_row, self._has_text = 0, True
        elif caller.attempts and outcome.gate is Gate.FAILED:
            self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._settings.give_up_after:
            self._stop(Gate.FAILED, GAVE_UP, describe_giving_up(self._settings, self._last_error))

    def _stop(self, gate: Gate, failure: str | None, why: str, level: int = logging.WARNING) -> None:
        if self._desk.stopped_by is None:
            self._desk.stopped_by = (gate, failure)
            _log.log(level, "%s", why)

    async def _hand_over(self, caller: TextRequester) -> None:
        """Give the cache the waiting texts, now and then: others can use them, and a kill leaves less to do."""
        self._undelivered += caller.kept is not None
        if self._undelivered >= _DELIVER_AT:
            self._undelivered = 0
            # Alone: a text must not be in the cache before the ledger has its call.
            await self._desk.books.enter(lambda ledger: ledger.deliver(self._cache.put_many), is_alone=True)

    @contextmanager
    def _cancelled_by_sigterm(self) -> Iterator[None]:
        """Where SIGTERM would end the process at once, first settle the calls under way."""
        main = asyncio.current_task()
        is_ours = threading.current_thread() is threading.main_thread()
        if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL or main is None:
            yield
            return

        def terminate() -> None:
            self.was_terminated = True
            main.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, terminate)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGTERM)


def write_all(
    tasks: Sequence[WritingTask],
    *,
    new_backend: Callable[[], SummaryBackend],
    ledger: Ledger,
    cache: AnswerCache,
    caps: Caps,
    price_of: PriceOf,
    settings: LlmSettings,
    accepts: Accepts = accept_any,
    progress: Progress = no_progress,
) -> list[TaskOutcome]:
    """The outcomes of the tasks, in their order, which is that of importance.

    `accepts` judges a text that may have been written with another context.
    `new_backend` is called where a call is needed, and its backend is closed at the
    end. The repository's lease must be held. Raises
    `ConfigurationError` where a model that would be asked has no known price,
    and `CannotWrite`.
    """
    ledger.recover()
    ledger.deliver(cache.put_many)
    kept = cache.find_many((task.exact_key, task.body_key) for task in tasks)
    fitting = {
        task.id: next((text for text in kept.get(task.exact_key, ()) if accepts(task, text)), None) for task in tasks
    }
    found = {id_: text for id_, text in fitting.items() if text}
    if found:
        cache.touch([*found.values()])
    missing = [task for task in tasks if task.id not in found]
    outcomes = {task.id: outcome_of_found(task, found[task.id]) for task in tasks if task.id in found}
    if missing and (settings.asks_nobody or caps.documents_left > 0):
        run = WritingRun(missing, new_backend(), ledger, cache, caps, price_of, settings, accepts, progress)
        try:
            asyncio.run(run.work_through_queue())
        except asyncio.CancelledError:
            # Its calls are settled, so the signal may end the process now.
            if run.was_terminated:
                signal.raise_signal(signal.SIGTERM)
            raise
        outcomes |= run.outcomes
        ledger.deliver(cache.put_many)
    return [outcomes.get(task.id) or TaskOutcome(task.id, None, gate=Gate.CAP) for task in tasks]


# Of the error of the last document.
_MOST_WORDS = 400


def describe_giving_up(llm: LlmSettings, last: SummaryError | None) -> str:
    """Why no more calls are made after too many documents without a text, and what can be set."""
    why = shorten_text(one_line(str(last)), _MOST_WORDS).rstrip(".")
    is_of_answer = isinstance(last, SummaryOutputInvalid) and not isinstance(last, EndedEarly)
    way_out = " Set llm.model to another model, or llm.form to another form of answers." if is_of_answer else ""
    count = f"{llm.give_up_after} documents in a row (llm.give_up_after)"
    return f"no more calls: {count} got no text. The last: {why}.{way_out}"


def describe_end_of_calls(error: SummaryError) -> str:
    if isinstance(error, SummaryCallFailed) and error.retry_after_s is not None:
        return (
            f"no more calls: the provider asks to wait {error.retry_after_s:,.0f} s, longer than llm.longest_wait_s: "
            f"the next run goes on: {error}"
        )
    return f"no more calls: {error}"
