"""Hooks of small packages that are really installed: each in a folder of its own on the path."""

import os
import re
import sys
import time
from pathlib import Path

import pytest

from codesum_pipeline.notifications.delivery.digest_hooks import HookFailed, ask_before_push, tell_after
from codesum_pipeline_tests.support.delivery_desk import RESULT
from codesum_pipeline_tests.support.hooks import Install, install

__all__ = ["install"]


def test_without_hooks_a_digest_may_go_and_nobody_is_told() -> None:
    assert ask_before_push(RESULT) == ""
    assert tell_after(RESULT) == []


def test_a_hook_sees_the_whole_digest_and_its_true_lets_it_go(install: Install) -> None:
    install(
        "looks",
        "pre_push",
        "def hook(result):\n    return result.primary.name == 'Login.sign' and len(result.other_sources) == 1 "
        "and '[1]' in result.summary and result.citations[0].score == 0.83\n",
    )

    assert ask_before_push(RESULT) == ""


@pytest.mark.parametrize("place", ["model.digests", "foundation.data_model.digest_record"])
def test_a_hook_imports_the_class_of_its_argument_from_where_the_docs_have_had_it(install: Install, place: str) -> None:
    install(
        "typed",
        "pre_push",
        f"from codesum_pipeline.{place} import SummaryResult\n\n"
        "def hook(result: SummaryResult) -> bool:\n    return isinstance(result, SummaryResult)\n",
    )

    assert ask_before_push(RESULT) == ""


def test_a_hook_may_be_a_coroutine(install: Install) -> None:
    install("waits", "pre_push", "async def hook(result):\n    return False\n")

    assert ask_before_push(RESULT) == "hook waits (waits:hook): it returned False"


def test_false_drops_the_digest_and_says_who_said_it(install: Install) -> None:
    install("calm", "pre_push", "def hook(result):\n    return False\n")

    assert ask_before_push(RESULT) == "hook calm (calm:hook): it returned False"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def hook(result):\n    raise KeyError('list')\n", "KeyError: 'list'"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def hook(result):\n    return None\n", "it returned None, neither True nor False"),
        ("def hook(result):\n    return 'yes'\n", "it returned a str, neither True nor False"),
        ("import os\ndef hook(result):\n    os._exit(0)\n", "its process ended with 0 and no answer"),
        ("import os\ndef hook(result):\n    os.kill(os.getpid(), 11)\n", "its process ended with -11 and no answer"),
    ],
    ids=["raises", "cannot be imported", "forgets to answer", "answers nonsense", "exits", "crashes"],
)
def test_a_hook_that_fails_holds_the_digest(install: Install, body: str, reason: str) -> None:
    install("broken", "pre_push", body)

    with pytest.raises(HookFailed, match=re.escape(f"hook broken (broken:hook): {reason}")):
        ask_before_push(RESULT)


def test_a_hook_that_hangs_holds_the_digest_and_leaves_no_process(install: Install, tmp_path: Path) -> None:
    install(
        "hangs",
        "pre_push",
        "import os, pathlib, subprocess, sys, time\ndef hook(result):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"    pathlib.Path({str(tmp_path / 'pids')!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "    time.sleep(600)\n",
    )

    with pytest.raises(HookFailed, match="it took longer than 3 s and was ended"):
        ask_before_push(RESULT, timeout_s=3)
    for pid in (tmp_path / "pids").read_text().split():
        assert not is_running(int(pid))


def is_running(pid: int) -> bool:
    """A child of a killed process may wait a moment for whoever takes it in."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


@pytest.mark.slow
def test_one_that_hangs_and_one_that_raises_stop_no_other_on_summary(
    install: Install, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install("a_hangs", "on_summary", "import time\ndef hook(result):\n    time.sleep(600)\n")
    install("b_raises", "on_summary", "def hook(result):\n    raise RuntimeError('no')\n")
    install(
        "c_works",
        "on_summary",
        f"def hook(result):\n    open({str(tmp_path / 'told')!r}, 'w').write(result.intent_name)\n",
    )
    answers = tell_after(RESULT, timeout_s=4)

    assert [each.problem for each in answers] == ["it took longer than 4 s and was ended", "RuntimeError: no", ""]
    assert (tmp_path / "told").read_text() == RESULT.intent_name
    assert "b_raises" in caplog.text and "a_hangs" in caplog.text


def test_what_a_hook_prints_is_in_the_log_and_not_on_the_terminal(
    install: Install, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    install("talks", "on_summary", "def hook(result):\n    print('to the \\x1b[2Jterminal')\n")
    with caplog.at_level("INFO"):
        tell_after(RESULT)

    assert capfd.readouterr().out == ""
    assert "said: to the terminal" in caplog.text


def test_a_hook_is_loaded_when_it_is_called_and_not_in_this_process(install: Install) -> None:
    install("late", "on_summary", "import os\ndef hook(result):\n    assert os.getpid() != " + str(os.getpid()) + "\n")

    assert [each.problem for each in tell_after(RESULT)] == [""]
    assert "late" not in sys.modules
