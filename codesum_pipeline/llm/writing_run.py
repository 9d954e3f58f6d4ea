"""The tasks of one run, worked through by as many workers as calls may be made at once.

Tasks are begun in their order; the first call of a run goes alone, so that what
is wrong with all of them costs one. A call that does not fit what is left of the
cap in dollars is skipped for a cheaper one. What stops one for a reason that
holds for all (the cap, lost credentials, another model's answer, one failure
after the other) stops all that were not begun; calls that are under way are heard
to their end.
"""

import asyncio
import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from codesum_pipeline.llm.admission import Admission, CapReached
from codesum_pipeline.llm.attempts import Desk, FreeCaller, TextRequester, ends_run, failure_kind
from codesum_pipeline.llm.backend import AnotherModel, SummaryBackend
from codesum_pipeline.llm.books import Books
from codesum_pipeline.llm.cache import AnswerCache
from codesum_pipeline.llm.conversation import Unforeseen, WritingTask, converse
from codesum_pipeline.llm.factory import form_of
from codesum_pipeline.llm.kept_texts import KeptText
from codesum_pipeline.llm.ledger import Ledger
from codesum_pipeline.llm.outcomes import Accepts, Caps, TaskOutcome, found_text
from codesum_pipeline.llm.pins import Parameters
from codesum_pipeline.llm.prices import Price
from codesum_pipeline.model.documents import Gate, WrittenText
from codesum_pipeline.model.errors import BackendNotConfigured, SummaryCallFailed, SummaryError
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.settings.llm import BackendName, LlmSettings

# So many documents one after the other for which calls gave nothing, and the others are not asked for: whatever is
# wrong, it is not these documents.
GIVE_UP_AFTER = 10
GAVE_UP = "gave-up"
# Texts that wait in the ledger before the cache is given them.
_DELIVER_AT = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Done:
    """A task that is over, for others with the same body."""

    prompt: str
    outcome: TaskOutcome
    kept: KeptText | None


class WritingRun:
    """`all` fills `outcomes`, by id. `was_terminated`: it was ended by SIGTERM."""

    def __init__(
        self,
        tasks: Sequence[WritingTask],
        backend: SummaryBackend,
        ledger: Ledger,
        cache: AnswerCache,
        caps: Caps,
        price_of: Callable[[str], Price],
        settings: LlmSettings,
        accepts: Accepts,
        progress: Progress,
    ) -> None:
        self.outcomes: dict[str, TaskOutcome] = {}
        self.was_terminated = False
        self._queue = deque(tasks)
        self._count = len(tasks)
        self._books = Books(ledger)
        self._cache = cache
        self._settings = settings
        self._accepts = accepts
        self._progress = progress
        self._is_free = settings.asks_nobody
        self._is_heard = asyncio.Event()
        if self._is_free or ledger.has_answers():
            self._is_heard.set()
        self._documents_left = len(tasks) if self._is_free else caps.documents_left
        self._desk = Desk(
            backend=backend,
            books=self._books,
            # A recording has to hold every answer of a conversation.
            refused_answers={} if settings.backend is BackendName.RECORD else ledger.refused_answers(),
            now=ledger.moment,
            admission=Admission(caps.usd_left),
            price_of=price_of,
            max_retries=settings.max_retries,
            on_heard=self._is_heard.set,
        )
        self._models = (settings.model, *settings.fallback_models)
        self._stopped_by: tuple[Gate, str | None] | None = None
        self._failed_in_a_row = 0
        self._undelivered = 0
        self._first_of_body: dict[str, asyncio.Future[_Done]] = {}

    async def all(self) -> None:
        """Work through the queue; however it ends, no attempt is left open."""
        try:
            for model in () if self._is_free else self._models:
                self._desk.price_of(model)
            with self._books.open(), self._cancelled_by_sigterm():
                await self._work_at_once(min(self._settings.concurrency, self._count))
        finally:
            await self._desk.backend.aclose()

    async def _work_at_once(self, count: int) -> None:
        workers = [asyncio.create_task(self._work())]
        heard = asyncio.create_task(self._is_heard.wait())
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
            task = self._queue.popleft()
            self.outcomes[task.id] = await self._write(task)
            self._progress("summaries by the model", len(self.outcomes), self._count)

    async def _write(self, task: WritingTask) -> TaskOutcome:
        """A document's text: of the same body in this run if there is one, else asked for."""
        if task.body_key is None or self._is_free:
            return (await self._ask_within_caps(task)).outcome
        first = self._first_of_body.get(task.body_key)
        if first is None:
            first = self._first_of_body[task.body_key] = asyncio.get_running_loop().create_future()
            first.set_result(await self._ask_within_caps(task))
            return first.result().outcome
        known = await first
        if known.kept and self._accepts(task, known.kept):
            return found_text(task, known.kept)
        if not known.kept and known.prompt == task.prompt:
            told = known.outcome
            unforeseen = told.unforeseen and replace(told.unforeseen, item=task.id)
            return TaskOutcome(task.id, None, gate=told.gate, failure=told.failure, unforeseen=unforeseen)
        return (await self._ask_within_caps(task)).outcome

    async def _ask_within_caps(self, task: WritingTask) -> _Done:
        stopped = self._stopped_by or ((Gate.CAP, None) if self._documents_left <= 0 else None)
        if stopped:
            gate, failure = stopped
            return _Done(task.prompt, TaskOutcome(task.id, None, gate=gate, failure=failure), None)
        self._documents_left -= 1
        caller = FreeCaller(self._desk.backend, task) if self._is_free else TextRequester(self._desk, task)
        outcome = await self._ask(task, caller)
        if not caller.attempts:
            # It was known without a call: what fails day after day must not take the place of others.
            self._documents_left += 1
        self._look_at_failures(outcome, caller)
        await self._hand_over(caller)
        return _Done(task.prompt, outcome, caller.kept)

    async def _ask(self, task: WritingTask, caller: TextRequester | FreeCaller) -> TaskOutcome:
        """Ask the model, and where its calls fail the next one."""
        gate, failure, unforeseen = Gate.FAILED, "", None
        for model in self._models:
            try:
                text = await self._converse(task, caller, model)
            except CapReached:
                _log.info("%s: not asked for, its call could pass the cap in dollars", task.id)
                gate, failure = Gate.CAP, ""
                break
            except SummaryError as error:
                failure = failure_kind(error)
                if ends_run(error):
                    gate = Gate.FAILED if isinstance(error, AnotherModel) else Gate.NO_CREDENTIALS
                    # A missing key is said at the end, once for all repositories.
                    level = logging.WARNING if isinstance(error, AnotherModel) else logging.INFO
                    self._stop(gate, failure, f"no more calls: {error}", level)
                    break
                _log.warning("%s: no text by %s: %s", task.id, model, error)
                unforeseen = error.failure if isinstance(error, Unforeseen) else None
                if not isinstance(error, (SummaryCallFailed, BackendNotConfigured)):
                    break
            else:
                return TaskOutcome(
                    task.id, text, model, cost_usd=caller.cost_usd, calls=caller.calls,
                    from_cache=self._is_free, written_with=task.context,
                )  # fmt: skip
        return TaskOutcome(
            task.id, None, gate=gate, failure=failure or None, cost_usd=caller.cost_usd, calls=caller.calls,
            unforeseen=unforeseen,
        )  # fmt: skip

    async def _converse(self, task: WritingTask, caller: TextRequester | FreeCaller, model: str) -> WrittenText:
        parameters = Parameters(max_tokens=self._settings.max_tokens, form=form_of(self._settings, model))
        return await converse(
            task, caller, model=model, parameters=parameters, max_attempts=self._settings.max_attempts
        )

    def _look_at_failures(self, outcome: TaskOutcome, caller: TextRequester | FreeCaller) -> None:
        """Count documents in a row for which calls were made in vain."""
        if outcome.text:
            self._failed_in_a_row = 0
        elif caller.attempts and outcome.gate is Gate.FAILED:
            self._failed_in_a_row += 1
        if self._failed_in_a_row == GIVE_UP_AFTER:
            self._stop(Gate.FAILED, GAVE_UP, f"no more calls: {GIVE_UP_AFTER} documents in a row got no text")

    def _stop(self, gate: Gate, failure: str | None, why: str, level: int = logging.WARNING) -> None:
        if self._stopped_by is None:
            self._stopped_by = (gate, failure)
            _log.log(level, "%s", why)

    async def _hand_over(self, caller: TextRequester | FreeCaller) -> None:
        """Give the cache what waits, now and then: other processes can use it, and a kill leaves less to do."""
        self._undelivered += caller.kept is not None
        if self._undelivered >= _DELIVER_AT:
            self._undelivered = 0
            # Alone: a text must not be in the cache before the ledger has its call.
            await self._books.enter(lambda ledger: ledger.deliver(self._cache.put_many), is_alone=True)

    @contextmanager
    def _cancelled_by_sigterm(self) -> Iterator[None]:
        """Where SIGTERM would end the process at once, let it first settle what is under way."""
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
