"""The browser tests without a browser. Run by `make test-browser`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
PROJECT = Path(__file__).parents[3]


def test_where_no_browser_can_be_had_it_is_said(tmp_path):
    env = {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-m", "codesum_pipeline_tests.support.chromium"]
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True, timeout=280)

    assert done.returncode == 1
    assert "no Chromium for the browser tests: " in done.stderr and "install Debian's package `chromium`" in done.stderr
