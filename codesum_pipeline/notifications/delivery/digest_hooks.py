"""Hooks of other packages that run before and after a digest is sent, found by their entry points.

A `codesum.pre_push` hook says whether a digest may be sent: True or False. If it raises, takes too long or answers
anything else, the digest is held and tried again, since it was not checked. A `codesum.on_summary` hook is notified of
a digest; its failure does not affect other hooks.

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
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct, to_builtins

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line

PRE_PUSH = "codesum.pre_push"
ON_SUMMARY = "codesum.on_summary"
DEFAULT_TIMEOUT_S = 30.0
_THREADS = 8
_KEPT_CHARS = 2_000
_READ_BYTES = 64 * 1024
_log = logging.getLogger(__name__)


class HookFailed(CodesumError):
    """A hook before a push raised, hung or answered nonsense: whether the digest may be sent is not known."""


class HookAnswer(Struct, frozen=True):
    """The result of one call. `value` is what the hook returned; `problem` is empty if it went well."""

    hook: str
    value: object = None
    problem: str = ""


def ask_before_push(result: SummaryResult, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
    """Ask the hooks in order of name until one vetoes the digest; returns which one, or an empty text.

    Raises `HookFailed`.
    """
    for hook in _hooks(PRE_PUSH):
        answer = _call(hook, result, timeout_s=timeout_s)
        is_answer = isinstance(answer.value, bool)
        problem = answer.problem or ("" if is_answer else f"it returned {answer.value}, neither True nor False")
        if problem:
            _log.error("hook %s: %s; the digest is not sent", answer.hook, problem)
            raise HookFailed(f"hook {answer.hook}: {problem}")
        if answer.value is False:
            _log.info("hook %s vetoed the digest of %s", answer.hook, one_line(result.intent_name))
            return f"hook {answer.hook}: it returned False"
    return ""


def tell_after(result: SummaryResult, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[HookAnswer]:
    """Call every hook, all at once; returns their answers by name. A failing hook raises nothing."""
    hooks = _hooks(ON_SUMMARY)
    if not hooks:
        return []
    with ThreadPoolExecutor(min(_THREADS, len(hooks))) as pool:
        answers = list(pool.map(lambda hook: _call(hook, result, timeout_s=timeout_s), hooks))
    for answer in answers:
        if answer.problem:
            _log.error("hook %s: %s; the others are not affected", answer.hook, answer.problem)
    return answers


def _hooks(group: str) -> Sequence[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda each: (each.name, each.value))


def _call(hook: EntryPoint, result: SummaryResult, *, timeout_s: float) -> HookAnswer:
    """Load and call a hook in a process of its own, with this one's import path."""
    name = f"{hook.name} ({hook.value})"
    request = {"hook": hook.value, "path": sys.path, "result": to_builtins(result)}
    # Answers go through a file: a grandchild that keeps a pipe open would keep this process waiting.
    with (
        tempfile.TemporaryFile() as answers,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as request_file,
    ):
        request_file.write(json.dumps(request).encode())
        request_file.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "codesum_pipeline.notifications.delivery.hook_process", str(answers.fileno())],
            stdin=request_file,
            stdout=output,
            stderr=output,
            pass_fds=(answers.fileno(),),
            start_new_session=True,
        )
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return HookAnswer(name, problem=f"it took longer than {timeout_s:g} s and was ended")
        finally:
            # All of its session that is left ends with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _READ_BYTES))
        printed = output.read().decode("utf-8", "replace")
        if printed.strip():
            _log.info("hook %s said: %s", name, clean_text(printed)[-_KEPT_CHARS:])
        answers.seek(0)
        try:
            return HookAnswer(name, **json.loads(answers.read()))
        except (ValueError, TypeError):
            return HookAnswer(name, problem=f"its process ended with {process.returncode} and no answer")
