"""The tests that interrupt something pass however they were started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
INTERRUPTING = (
    "builds/dagster/test_leases.py::test_an_interrupt_gives_the_lease_back_and_cancels_the_run",
    "texts/llm/test_scheduling.py::test_an_interrupt_leaves_no_attempt_open_and_loses_nothing",
    "texts/llm/test_kills.py::test_a_run_that_is_told_to_end_pays_only_for_what_was_in_flight",
    "foundation/worker_processes/test_pool.py::test_no_worker_outlives_the_process_that_started_it",
)
# What a background job of a script inherits, and what `nohup` adds.
AS_IN_THE_BACKGROUND = """
import os, signal, sys
for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(ignored, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])
"""


@pytest.mark.slow
def test_what_interrupts_passes_in_the_background_of_a_script_and_under_nohup() -> None:
    tests = [str(ROOT / test) for test in INTERRUPTING]

    ended = subprocess.run(
        [sys.executable, "-c", AS_IN_THE_BACKGROUND, "-q", "-n", "0", *tests],
        cwd=ROOT.parent, env=os.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == 0, ended.stdout[-3000:]
