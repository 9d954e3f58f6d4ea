"""`codesum index` in two processes: this one builds, and its child, which has imported Dagster meanwhile, records.

The job in the child is the one of the UI: its assets ask this process for what came of their steps. This process works
ahead in the order of the steps.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.builds.dagster.instance_file import apply_engine, check_packages
from codesum_pipeline.builds.dagster.recorder import SPARE_RECORDER, Recorder, has_dagster
from codesum_pipeline.builds.reports.build_values import BLOCKING, CHECKED_AFTER, BuildOptions, RunOutcome, StepOutcome
from codesum_pipeline.builds.reports.exchange import (
    BuilderMethod,
    BuilderRequest,
    BuildSignal,
    FailureMessage,
    OpeningMessage,
    Reply,
    RunRequest,
)
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS
from codesum_pipeline.foundation.data_model.errors import CannotWrite, CodesumError, RetryLater
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.lease import hold_repository, this_process
from codesum_pipeline.foundation.store.memory import may_run_beside
from codesum_pipeline.foundation.store.workspace import connect_in_memory

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home
    from codesum_pipeline.builds.steps.one_build import Build

# How long an interrupted run may take to write that it was canceled.
CANCEL_S = 10.0
_TERMS = BuilderRequest(BuilderMethod.PERFORM, "sparse_index")
_CANDIDATE = BuilderRequest(BuilderMethod.PERFORM, "index_candidate")
# Builds one repository in the run with this id, and reports to the progress.
BuildOne = Callable[[str, str, Progress | None], RunOutcome]


def index_repositories(
    home: "Home",
    keys: Sequence[str],
    *,
    force: bool = False,
    confirm_llm: bool = False,
    progress: Progress | None = None,
    on_outcome: Callable[[RunOutcome], None] | None = None,
) -> list[RunOutcome]:
    """Build repositories, one run after another; the outcomes in the order of `keys`.

    A repository that fails does not stop the others, nor does one whose records have no room: theirs may. `confirm_llm`
    lets a model rewrite more of an index than `max_rewrite_fraction`. An interrupt ends the run that is under way,
    gives its lease back and is raised again. A process that has Dagster anyway does all of it itself.
    """
    options = BuildOptions(force=force, confirm_llm=confirm_llm)
    outcomes = []
    check_packages(home.settings.engine)
    apply_engine(home.layout, home.settings.engine)
    with (_builds_here if has_dagster() else _builds_beside)(home, keys, options) as build_one:
        for key in keys:
            shown = _about(key, progress) if progress and len(keys) > 1 else progress
            outcomes.append(build_one(key, str(uuid.uuid4()), shown))
            if on_outcome:
                on_outcome(outcomes[-1])
    return outcomes


def _about(key: str, progress: Progress) -> Progress:
    return lambda doing, done, total: progress(f"{key}: {doing}", done, total)


@contextmanager
def _builds_here(home: "Home", keys: Sequence[str], options: BuildOptions) -> Iterator[BuildOne]:
    from codesum_pipeline.builds.dagster.resource import RunHost
    from codesum_pipeline.builds.dagster.runs import open_runs

    with open_runs(home.layout, keys) as runs:
        yield lambda key, run_id, progress: runs.execute(
            RunHost(home=home, progress=progress), key, run_id=run_id, options=options, process=this_process(run_id)
        )


@contextmanager
def _builds_beside(home: "Home", keys: Sequence[str], options: BuildOptions) -> Iterator[BuildOne]:
    from codesum_pipeline.builds.steps.one_build import Build

    with SPARE_RECORDER.take() as recorder:
        recorder.send(OpeningMessage(home.settings.home, tuple(keys), STAGE_FACTS.get()))
        yield lambda key, run_id, progress: _RunServer.build(
            Build(home, key, run_id, options, progress=progress or no_progress), recorder
        )


class _RunServer(Struct):
    """Answers what the assets and checks of one run ask, most of it before they do."""

    builder: "Build"
    recorder: Recorder
    until_end: ExitStack
    outcomes: dict[str, StepOutcome] = field(default_factory=dict)
    sending: Lock = field(default_factory=Lock)
    is_stopped: Event = field(default_factory=Event)

    @classmethod
    def build(cls, builder: "Build", recorder: Recorder) -> RunOutcome:
        """One repository's run; its lease is held from the first step to the last."""
        recorder.send(RunRequest(builder.key, builder.run_id, builder.options, this_process(builder.run_id)))
        until_end = ExitStack()
        try:
            database = until_end.enter_context(connect_in_memory())
            builder.new_connection = database.cursor
            serving = cls(builder, recorder, until_end)
            try:
                return serving.serve()
            except KeyboardInterrupt:
                serving.cancel()
                raise
        finally:
            # A lease that cannot be released on a full disk still counts as free.
            with suppress(CannotWrite):
                until_end.close()

    def serve(self) -> RunOutcome:
        """Until the run has ended; raises `KeyboardInterrupt` if it was canceled."""
        last = self._work_ahead()
        self.recorder.send(BuildSignal.NOTHING_AHEAD)
        while True:
            is_tried_again = isinstance(last, FailureMessage) and isinstance(last.error, RetryLater)
            self.builder.progress("waiting to try again" if is_tried_again else "recording the run", 0, 0)
            match self.recorder.receive():
                case RunOutcome() as outcome:
                    return outcome
                case BuildSignal.INTERRUPTED:
                    raise KeyboardInterrupt
                case FailureMessage() as failed:
                    failed.raise_again()
                case request:
                    last = self._answer(request, self.builder)

    def cancel(self) -> None:
        """Let the child cancel its run, for at most `CANCEL_S` seconds."""
        # After a second interrupt the other thread may still be sending.
        with self.sending:
            self.recorder.send(BuildSignal.STOP)
        deadline = time.monotonic() + CANCEL_S
        with suppress(CodesumError):
            while self.recorder.connection.poll(max(0.0, deadline - time.monotonic())):
                if not isinstance(self.recorder.receive(), BuilderRequest):
                    return

    def hold(self) -> None:
        """Hold the repository's lease until the run has ended."""
        home, key = self.builder.home, self.builder.key
        lease = hold_repository(home.layout, key, run_id=self.builder.run_id, wait_s=home.settings.lease_wait_s)
        self.builder.record = self.until_end.enter_context(lease)

    def _work_ahead(self) -> Any:
        """Answer in the order of the steps, while the child says nothing: it speaks first where it cannot go on.

        A second thread finds what tables show and checks find, and the terms beside the vectors. The candidate waits
        for it: no index is made of what failed, or of what a check found wrong. Returns an answer that stops the
        build, else the last one.
        """
        beside: list[Future[Any]] = []
        answer: Any = None
        with self._second_thread(beside) as second:
            for request in _in_order():
                if self._may_be_beside(request):
                    beside.append(second.submit(self._answer_beside, request))
                    continue
                if request == _CANDIDATE:
                    answer = next(filter(_stops, [found.result() for found in beside]), answer)
                if _stops(answer) or self.recorder.connection.poll():
                    break
                answer = self._answer(request, self.builder)
        return next(filter(_stops, [found.result() for found in beside]), answer)

    def _may_be_beside(self, request: BuilderRequest) -> bool:
        """Whether a request may run beside a step."""
        if request.method is BuilderMethod.CHECK or request == _TERMS:
            documents = self.outcomes.get("summary_documents")
            return documents is not None and may_run_beside(documents.rows)
        return request.method is BuilderMethod.SHOW

    @contextmanager
    def _second_thread(self, beside: Sequence[Future[Any]]) -> Iterator[ThreadPoolExecutor]:
        """A thread for the work `beside`, which is done at the end of the block. An interrupt of the block, or of the
        wait for that work, also ends what the thread does, at its next report of progress."""
        second = ThreadPoolExecutor(1)
        try:
            yield second
            wait(beside)
        except BaseException:
            second.shutdown(wait=False, cancel_futures=True)
            self.is_stopped.set()
            # A thread is not waited for: after an interrupt of that, Python takes it for ended.
            wait([work for work in beside if not work.cancelled()])
            raise
        finally:
            second.shutdown(wait=False)

    def _answer_beside(self, request: BuilderRequest) -> Any:
        """As `_answer`, in the second thread, whose progress nobody sees."""

        def go_on(doing: str = "", done: int = 0, total: int = 0) -> None:
            if self.is_stopped.is_set():
                raise CancelledError

        go_on()
        done = self.outcomes.get(request.about)
        # The last preview of an unchanged table is still valid, and Dagster has it.
        if request.method is BuilderMethod.SHOW and done and done.is_reused:
            return None
        # With a dict of its own: the first thread may just be telling what it has mended.
        return self._answer(request, replace(self.builder, progress=go_on, mended={}))

    def _answer(self, request: BuilderRequest, builder: "Build") -> Any:
        """Send the result of a request, and return it."""
        try:
            value = self._result(request, builder)
        except Exception as error:
            value = FailureMessage.of(error)
        if isinstance(value, StepOutcome):
            self.outcomes[request.about] = value
        with self.sending:
            self.recorder.send(Reply(request, value))
        return value

    def _result(self, request: BuilderRequest, builder: "Build") -> Any:
        if request.method is BuilderMethod.HOLD:
            return self.hold()
        answer = getattr(builder, request.method)
        return answer(request.about) if request.about else answer()


def _in_order() -> Iterator[BuilderRequest]:
    yield BuilderRequest(BuilderMethod.HOLD)
    steps = list(STAGE_FACTS.get().assets)
    # Begun before the vectors, beside which they are found.
    steps.insert(steps.index("dense_index"), steps.pop(steps.index(_TERMS.about)))
    for step in steps:
        yield BuilderRequest(BuilderMethod.PERFORM, step)
        yield BuilderRequest(BuilderMethod.SHOW, step)
        if check := CHECKED_AFTER.get(step):
            yield BuilderRequest(BuilderMethod.CHECK, check)


def _stops(answer: Any) -> bool:
    """Whether a request failed, or a check that blocks found something wrong: each of those that a run asks for, and
    some of a step's."""
    if isinstance(answer, FailureMessage):
        return True
    if isinstance(answer, StepOutcome):
        return any(finding.name in BLOCKING and not finding.passed for finding in answer.findings)
    return isinstance(answer, list) and not all(finding.passed for finding in answer)
