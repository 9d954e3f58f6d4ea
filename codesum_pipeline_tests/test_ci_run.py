"""`.ci/run`: which failures of the tests are its own, and what it says of skipped tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("failing", "targets", "fails"),
    [
        ("none", ["programs", "test", "test-distributed", "browser", "test-browser"], False),
        ("test", ["programs", "test"], True),
        ("test-distributed", ["programs", "test", "test-distributed"], True),
        ("browser", ["programs", "test", "test-distributed", "browser"], False),
        ("test-browser", ["programs", "test", "test-distributed", "browser", "test-browser"], True),
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


def test_it_ends_with_the_number_of_skipped_tests_and_their_reasons(tmp_path):
    make = tmp_path / "make"
    reasons = "needs bubblewrap\nneeds bubblewrap\nneeds ripgrep\n"
    make.write_text(f'#!/bin/sh\n[ "$1" != test ] || printf "{reasons}" >> "$CODESUM_TESTS_SKIPPED"\n')
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run([PROJECT / ".ci" / "run"], env={**os.environ, "PATH": path}, capture_output=True, text=True)

    assert [line.split() for line in done.stdout.splitlines()[-3:]] == [
        ["3", "tests", "were", "skipped", "in", "all,", "for", "these", "reasons:"],
        ["2", "needs", "bubblewrap"],
        ["1", "needs", "ripgrep"],
    ]


def test_the_reason_of_each_skipped_test_is_kept(tmp_path):
    (tmp_path / "test_odd.py").write_text(
        "import pytest\n\n\n@pytest.mark.skip(reason='needs a moon')\ndef test_one():\n    assert False\n"
    )
    env = {**os.environ, "CODESUM_TESTS_SKIPPED": str(tmp_path / "skipped")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "codesum_pipeline_tests.conftest", str(tmp_path)]
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout
    assert (tmp_path / "skipped").read_text() == "needs a moon\n"
