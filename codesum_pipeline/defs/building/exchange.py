"""What the two processes of a build from the command line say to each other.

The one that the user started imports the stages and builds. The other, its
child, imports Dagster, runs the job and records: each asset and check asks the
first for what came of its step. Both imports take as long as all the rest of a
small build, and so are done side by side.

Messages go over an inherited pair of sockets, pickled: nobody else can write there.
"""

import pickle
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from codesum_pipeline.defs.building.facts import StageFacts
from codesum_pipeline.defs.building.values import BuildOptions, CheckFinding, StepOutcome, Values
from codesum_pipeline.model.errors import ProcessGone
from codesum_pipeline.store.lease import Holder

HOLD, BUILT_FROM, PERFORM, SHOW, CHECK = "hold", "built_from", "perform", "show", "check"


@dataclass(frozen=True, slots=True)
class OpeningMessage:
    """The first message to the recorder: the home, and the repositories that will be built."""

    home: Path
    keys: tuple[str, ...]
    facts: StageFacts


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Run the job for a repository, which `process` builds."""

    key: str
    run_id: str
    options: BuildOptions
    process: Holder


@dataclass(frozen=True, slots=True)
class BuilderRequest:
    """What an asset or a check of the run wants of its builder."""

    what: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question, sent as soon as it is known: most are before they are asked."""

    question: BuilderRequest
    value: Any


@dataclass(frozen=True, slots=True)
class NothingAhead:
    """Every further answer must be asked for."""


@dataclass(frozen=True, slots=True)
class FailureMessage:
    """An error, with where in the code it was raised: instead of an answer, or of all further runs."""

    error: BaseException
    trace: str
    question: BuilderRequest | None = None

    @classmethod
    def of(cls, error: Exception, question: BuilderRequest | None = None) -> "FailureMessage":
        """An error that cannot be sent is sent by its name and message."""
        trace = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return cls(RuntimeError(f"{type(error).__name__}: {error}"), trace, question)
        return cls(error, trace, question)

    def raise_again(self) -> NoReturn:
        """Raise the error, with the other process's traceback as its cause."""
        raise self.error from RemoteTraceback(self.trace)


@dataclass(frozen=True, slots=True)
class Stop:
    """A person interrupted the build."""


@dataclass(frozen=True, slots=True)
class InterruptMessage:
    """Instead of a run's outcome: it was canceled."""


class RemoteTraceback(Exception):
    """The traceback of an error in the other process."""


class RemoteBuilder:
    """The builder of a run that is recorded here and built by the parent process."""

    def __init__(self, connection: "Connection[Any, Any]", process: Holder) -> None:
        self._connection = connection
        self._known: dict[BuilderRequest, Reply | FailureMessage] = {}
        self._must_ask = False
        self.process = process

    def hold(self) -> None:
        """Wait until the builder holds the repository's lease; raises `LeaseHeld`."""
        self._ask(HOLD)

    def built_from(self) -> str:
        """As `Builder` says."""
        found: str = self._ask(BUILT_FROM)
        return found

    def perform(self, step: str) -> StepOutcome:
        """As `Builder` says."""
        done: StepOutcome = self._ask(PERFORM, step)
        return done

    def show(self, step: str) -> Values:
        """As `Builder` says."""
        shown: Values = self._ask(SHOW, step)
        return shown

    def check(self, name: str) -> list[CheckFinding]:
        """As `Builder` says."""
        findings: list[CheckFinding] = self._ask(CHECK, name)
        return findings

    def _ask(self, what: str, about: str = "") -> Any:
        """The answer that was sent or will be; the second time, another one."""
        question = BuilderRequest(what, about)
        try:
            while question not in self._known and not self._must_ask:
                self._receive()
            if question not in self._known:
                self._connection.send(question)
            while question not in self._known:
                self._receive()
        except (EOFError, OSError) as error:
            raise ProcessGone(f"process {self.process.pid}, which built the repository, ended") from error
        answer = self._known.pop(question)
        if isinstance(answer, FailureMessage):
            answer.raise_again()
        return answer.value

    def _receive(self) -> None:
        match self._connection.recv():
            case Stop():
                raise KeyboardInterrupt
            case NothingAhead():
                self._must_ask = True
            case answer:
                self._known[answer.question] = answer
