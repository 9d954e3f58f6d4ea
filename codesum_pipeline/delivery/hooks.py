"""What other packages do before and after a digest is sent, found by their entry points.

`codesum.pre_push` says whether a digest may go: True or False. One that raises,
takes too long or answers anything else vetoes it: what should have looked did
not. `codesum.on_summary` hears of a digest; what it does changes nothing for
the others.

Each call is a process of its own: a thread that hangs could not be ended, and
a crash of one hook must not be a crash of the build. The process is killed, with
all that it started, when its time is over.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct, to_builtins

from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.printable import clean, one_line

PRE_PUSH = "codesum.pre_push"
ON_SUMMARY = "codesum.on_summary"
DEFAULT_TIMEOUT_S = 30.0
_THREADS = 8
_KEPT_CHARS = 2_000
_READ_BYTES = 64 * 1024
_log = logging.getLogger(__name__)


class PushOutcome(StrEnum):
    """What the hooks before a push decided."""

    ALLOWED = "allowed"
    VETOED = "vetoed"
    FAILED = "failed"


class PushDecision(Struct, frozen=True):
    """Whether a digest may be sent, and who says that it may not.

    `VETOED`: a hook answered False. `FAILED`: one raised, hung or answered nonsense, and so nobody knows.
    """

    outcome: PushOutcome
    hook: str = ""
    reason: str = ""


class HookAnswer(Struct, frozen=True):
    """What came of one call. `problem` is empty where it went well; `value` is what the hook returned."""

    hook: str
    value: object = None
    problem: str = ""


def ask_before_push(result: SummaryResult, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> PushDecision:
    """Ask every hook, by name, until one does not allow it."""
    for hook in _found(PRE_PUSH):
        answer = _call(hook, result, timeout_s=timeout_s)
        if answer.problem:
            _log.error("hook %s: %s; the digest is not sent", answer.hook, answer.problem)
            return PushDecision(PushOutcome.FAILED, answer.hook, answer.problem)
        if answer.value is False:
            _log.info("hook %s vetoed the digest of %s", answer.hook, one_line(result.intent_name))
            return PushDecision(PushOutcome.VETOED, answer.hook, "it returned False")
        if answer.value is not True:
            reason = f"it returned {answer.value}, neither True nor False"
            _log.error("hook %s: %s; the digest is not sent", answer.hook, reason)
            return PushDecision(PushOutcome.FAILED, answer.hook, reason)
    return PushDecision(PushOutcome.ALLOWED)


def tell_after(result: SummaryResult, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[HookAnswer]:
    """Tell every hook, all at once; their answers by name. Raises nothing for what a hook does."""
    hooks = _found(ON_SUMMARY)
    if not hooks:
        return []
    with ThreadPoolExecutor(min(_THREADS, len(hooks))) as pool:
        answers = list(pool.map(lambda hook: _call(hook, result, timeout_s=timeout_s), hooks))
    for answer in answers:
        if answer.problem:
            _log.error("hook %s: %s; the others are not affected", answer.hook, answer.problem)
    return answers


def _found(group: str) -> Sequence[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda each: (each.name, each.value))


def _call(hook: EntryPoint, result: SummaryResult, *, timeout_s: float) -> HookAnswer:
    """Load and call a hook in a process, which imports what this one could."""
    name = f"{hook.name} ({hook.value})"
    request = {"hook": hook.value, "path": sys.path, "result": to_builtins(result)}
    # Answers go through a file: a grandchild that keeps a pipe open would keep this process waiting.
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as asked:
        asked.write(json.dumps(request).encode())
        asked.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "codesum_pipeline.delivery.hook_process", str(answers.fileno())],
            stdin=asked,
            stdout=said,
            stderr=said,
            pass_fds=(answers.fileno(),),
            start_new_session=True,
        )
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return HookAnswer(name, problem=f"it took longer than {timeout_s:g} s and was ended")
        finally:
            _end_group(process)
        said.seek(max(0, said.seek(0, os.SEEK_END) - _READ_BYTES))
        told = said.read().decode("utf-8", "replace")
        if told.strip():
            _log.info("hook %s said: %s", name, clean(told)[-_KEPT_CHARS:])
        answers.seek(0)
        try:
            return HookAnswer(name, **json.loads(answers.read()))
        except (ValueError, TypeError):
            return HookAnswer(name, problem=f"its process ended with {process.returncode} and no answer")


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and all of its session that is left."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        process.wait()
