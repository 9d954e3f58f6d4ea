"""`.ci/run`: which failures of the tests are its own."""

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("failing", "targets", "fails"),
    [
        ("none", ["test", "test-distributed", "browser", "test-browser"], False),
        ("test", ["test"], True),
        ("test-distributed", ["test", "test-distributed"], True),
        ("browser", ["test", "test-distributed", "browser"], False),
        ("test-browser", ["test", "test-distributed", "browser", "test-browser"], True),
    ],
    ids=["all pass", "a test fails", "a fleet fails", "no browser can be had", "a browser test fails"],
)
def test_a_failed_test_fails_it_and_a_missing_browser_does_not(tmp_path, failing, targets, fails):
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/made\n[ "$1" != {failing} ]\n')
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run([PROJECT / ".ci" / "run"], env={**os.environ, "PATH": path}, capture_output=True, text=True)

    assert (tmp_path / "made").read_text().split() == targets
    assert (done.returncode != 0) is fails
    assert ("The browser tests were not run" in done.stdout) is (failing == "browser")
