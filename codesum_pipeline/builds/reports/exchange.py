"""The messages between the two processes of a build from the command line.

The one that the user started imports the stages and builds. The other, its child, imports Dagster, runs the job and
records: each asset and check asks the first for what came of its step. Both imports take as long as all the rest of a
small build, and so are done side by side.

Messages go over an inherited pair of sockets, pickled: no other process can write there.
"""

import pickle
import traceback
from enum import Enum, StrEnum, auto
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, cast

from msgspec import Struct

from codesum_pipeline.builds.reports.build_values import BuildOptions, CheckFinding, StageFacts, StepOutcome, Values
from codesum_pipeline.foundation.data_model.errors import ProcessGone
from codesum_pipeline.foundation.store.lease import LeaseHolder


class BuildSignal(Enum):
    """Messages without content: every further answer must be asked for, a person interrupted the build, and, instead of
    a run's outcome, it was canceled."""

    NOTHING_AHEAD = auto()
    STOP = auto()
    INTERRUPTED = auto()


class OpeningMessage(Struct, frozen=True):
    """The first message to the recorder: the home, and the repositories that will be built."""

    home: Path
    keys: tuple[str, ...]
    facts: StageFacts


class RunRequest(Struct, frozen=True):
    """Run the job for a repository, which `process` builds."""

    key: str
    run_id: str
    options: BuildOptions
    process: LeaseHolder


class BuilderMethod(StrEnum):
    """The requests that a builder answers: it holds the repository, says from what it builds, carries out a step, shows
    a step's table, and makes a check."""

    HOLD = "hold"
    BUILT_FROM = "built_from"
    PERFORM = "perform"
    SHOW = "show"
    CHECK = "check"


class BuilderRequest(Struct, frozen=True):
    """A request of an asset or a check to its builder; `about` is a step's or a check's name, where there is one."""

    method: BuilderMethod
    about: str = ""


class Reply(Struct, frozen=True):
    """The result of a request, sent as soon as it is known, usually before it is asked for."""

    request: BuilderRequest
    value: Any


class FailureMessage(Struct, frozen=True):
    """An error, with where in the code it was raised: instead of a value, or of all further runs."""

    error: BaseException
    trace: str

    @classmethod
    def of(cls, error: Exception) -> "FailureMessage":
        """An error that cannot be sent is sent by its name and message."""
        trace = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return cls(RuntimeError(f"{type(error).__name__}: {error}"), trace)
        return cls(error, trace)

    def raise_again(self) -> NoReturn:
        """Raise the error, with the other process's traceback as its cause."""
        raise self.error from RemoteTraceback(self.trace)


class RemoteTraceback(Exception):
    """The traceback of an error in the other process."""


class RemoteBuilder(Struct, eq=False):
    """The builder of a run that is recorded here and built by the parent process; its methods as those of `Build`."""

    connection: "Connection[Any, Any]"
    process: LeaseHolder
    _known: dict[BuilderRequest, Any] = {}
    _must_ask: bool = False

    def hold(self) -> None:
        """Wait until the builder holds the repository's lease; raises `LeaseHeld`."""
        self._ask(BuilderMethod.HOLD)

    def built_from(self) -> str:
        return cast(str, self._ask(BuilderMethod.BUILT_FROM))

    def perform(self, step: str) -> StepOutcome:
        return cast(StepOutcome, self._ask(BuilderMethod.PERFORM, step))

    def show(self, step: str) -> Values:
        return cast(Values, self._ask(BuilderMethod.SHOW, step))

    def check(self, name: str) -> list[CheckFinding]:
        return cast(list[CheckFinding], self._ask(BuilderMethod.CHECK, name))

    def _ask(self, method: BuilderMethod, about: str = "") -> Any:
        """The answer that was sent or will be; the second time, another one."""
        request = BuilderRequest(method, about)
        try:
            while request not in self._known and not self._must_ask:
                self._receive()
            if request not in self._known:
                self.connection.send(request)
            while request not in self._known:
                self._receive()
        except (EOFError, OSError) as error:
            raise ProcessGone(f"process {self.process.pid}, which built the repository, ended") from error
        value = self._known.pop(request)
        if isinstance(value, FailureMessage):
            value.raise_again()
        return value

    def _receive(self) -> None:
        match self.connection.recv():
            case BuildSignal.STOP:
                raise KeyboardInterrupt
            case BuildSignal.NOTHING_AHEAD:
                self._must_ask = True
            case Reply(request, value):
                self._known[request] = value
