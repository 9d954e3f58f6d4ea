"""`codesum index` in two processes: this one builds, and its child, which has imported Dagster meanwhile, records.

The job in the child is the one of the UI: its assets ask this process for what
came of their steps. This process works ahead in the order of the steps.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codesum_pipeline.defs.building.exchange import (
    BUILT_FROM,
    CHECK,
    HOLD,
    PERFORM,
    SHOW,
    BuilderRequest,
    FailureMessage,
    InterruptMessage,
    NothingAhead,
    OpeningMessage,
    Reply,
    RunRequest,
    Stop,
)
from codesum_pipeline.defs.building.values import BLOCKING, BuildOptions, RunOutcome, progress_about
from codesum_pipeline.defs.instance_file import apply_engine
from codesum_pipeline.defs.recorder_process import Recorder, has_dagster, taken_recorder
from codesum_pipeline.model.errors import CannotWrite, CodesumError, RetryLater
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.holding import hold_repository
from codesum_pipeline.store.lease import this_process
from codesum_pipeline.store.views import connect

if TYPE_CHECKING:
    from codesum_pipeline.defs.building.build import Build
    from codesum_pipeline.wiring import Home

# How long an interrupted run may take to write that it was canceled.
CANCEL_S = 10.0
# After which step each check of the job may look.
_CHECKED_AFTER = {"summary_documents": "documents_are_whole", "dense_index": "vectors_are_whole"}


def index_repositories(
    home: "Home",
    keys: Sequence[str],
    *,
    force: bool = False,
    confirm_llm: bool = False,
    progress: Progress | None = None,
    on_outcome: Callable[[RunOutcome], None] | None = None,
) -> list[RunOutcome]:
    """As `control.index_repositories`, which does it all in a process that has Dagster anyway."""
    if has_dagster():
        from codesum_pipeline.defs import control

        return control.index_repositories(
            home, keys, force=force, confirm_llm=confirm_llm, progress=progress, on_outcome=on_outcome
        )
    from codesum_pipeline.defs.building.build import Build
    from codesum_pipeline.defs.building.facts import stage_facts

    options = BuildOptions(force=force, confirm_llm=confirm_llm)
    outcomes = []
    apply_engine(home.layout, home.settings.engine)
    with taken_recorder() as recorder:
        recorder.send(OpeningMessage(home.settings.home, tuple(keys), stage_facts()))
        for key in keys:
            told = progress_about(key, among=keys, progress=progress) or no_progress
            build = Build(home, key, str(uuid.uuid4()), options, progress=told)
            outcomes.append(_build_one(build, recorder))
            if on_outcome:
                on_outcome(outcomes[-1])
    return outcomes


@dataclass
class _RunServer:
    """Answers what the assets and checks of one run ask, most of it before they do."""

    build: "Build"
    recorder: Recorder
    until_end: ExitStack

    def serve(self) -> RunOutcome:
        """Until the run has ended; raises `KeyboardInterrupt` where it was canceled."""
        last = self._work_ahead()
        self.recorder.send(NothingAhead())
        while True:
            is_tried_again = isinstance(last, FailureMessage) and isinstance(last.error, RetryLater)
            self.build.progress("waiting to try again" if is_tried_again else "recording the run", 0, 0)
            match self.recorder.receive():
                case RunOutcome() as outcome:
                    return outcome
                case InterruptMessage():
                    raise KeyboardInterrupt
                case FailureMessage() as failed:
                    failed.raise_again()
                case question:
                    last = self._answer(question)
                    self.recorder.send(last)

    def cancel(self) -> None:
        """Let the child cancel its run, for at most `CANCEL_S` seconds."""
        self.recorder.send(Stop())
        deadline = time.monotonic() + CANCEL_S
        with suppress(CodesumError):
            while self.recorder.connection.poll(max(0.0, deadline - time.monotonic())):
                if not isinstance(self.recorder.receive(), BuilderRequest):
                    return

    def _work_ahead(self) -> Reply | FailureMessage | None:
        """Answer in the order of the steps, while the child says nothing: it speaks first where it cannot go on.

        Nothing is built upon what failed, or upon what a check found wrong. Returns the last answer.
        """
        answer: Reply | FailureMessage | None = None
        for question in _in_order():
            # What an unchanged table showed last time holds, and Dagster has it.
            if question.what == SHOW and isinstance(answer, Reply) and answer.value.is_reused:
                continue
            answer = self._answer(question)
            self.recorder.send(answer)
            if isinstance(answer, FailureMessage) or self.recorder.connection.poll():
                break
            if question.what == CHECK and not all(finding.passed for finding in answer.value):
                break
            if question.what == PERFORM and any(
                finding.name in BLOCKING and not finding.passed for finding in answer.value.findings
            ):
                break
        return answer

    def _answer(self, question: BuilderRequest) -> Reply | FailureMessage:
        try:
            return Reply(question, self._value(question))
        except Exception as error:
            return FailureMessage.of(error, question)

    def _value(self, question: BuilderRequest) -> Any:
        build = self.build
        answers: dict[str, Callable[[str], Any]] = {
            HOLD: lambda _: self._hold(),
            BUILT_FROM: lambda _: build.built_from(),
            PERFORM: build.perform,
            SHOW: build.show,
            CHECK: build.check,
        }
        return answers[question.what](question.about)

    def _hold(self) -> None:
        home, key = self.build.home, self.build.key
        lease = hold_repository(home.layout, key, run_id=self.build.run_id, wait_s=home.settings.lease_wait_s)
        self.until_end.enter_context(lease)


def _in_order() -> Iterator[BuilderRequest]:
    from codesum_pipeline.defs.building.facts import stage_facts

    yield BuilderRequest(HOLD)
    for step in stage_facts().assets:
        yield BuilderRequest(PERFORM, step)
        yield BuilderRequest(SHOW, step)
        if check := _CHECKED_AFTER.get(step):
            yield BuilderRequest(CHECK, check)


def _build_one(build: "Build", recorder: Recorder) -> RunOutcome:
    """One repository's run; its lease is held from the first step to the last."""
    recorder.send(RunRequest(build.key, build.run_id, build.options, this_process(build.run_id)))
    until_end = ExitStack()
    try:
        database = until_end.enter_context(connect())
        serving = _RunServer(replace(build, new_connection=database.cursor), recorder, until_end)
        try:
            return serving.serve()
        except KeyboardInterrupt:
            serving.cancel()
            raise
    finally:
        # A lease that cannot be given back for want of room is known to be free all the same.
        with suppress(CannotWrite):
            until_end.close()
