"""The browser of the browser tests: found, else installed. Run as a module it says where none can be had."""

import shutil
import subprocess
import sys
from functools import partial
from typing import Any

from codesum_pipeline_tests.support.programs import install_packages

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]
_QUIET += ["--disable-sync", "--no-first-run"]
_PATIENCE_S = 150


def launch(playwright: Any, *switches: str) -> Any:
    """That of the system where there is one, else Playwright's own; raises its `Error` where none starts."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return playwright.chromium.launch(executable_path=found, args=[*_QUIET, *switches])


def why_not() -> str | None:
    """Why no browser starts; None where one does."""
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            launch(playwright).close()
    except Error as error:
        return next(filter(None, str(error).splitlines()), "it says nothing")
    return None


def install() -> str | None:
    """Debian's package where this user may install packages, else Playwright's build; why no browser starts then."""
    for install_one in (partial(install_packages, ["chromium"]), _install_build):
        if reason := install_one():
            sys.stderr.write(f"{reason}\n")
        if why_not() is None:
            return None
    return why_not()


def _install_build() -> str | None:
    try:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S)
    except (subprocess.SubprocessError, OSError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    if why_not() is not None and (reason := install()) is not None:
        sys.exit(f"no Chromium for the browser tests: {reason}: install Debian's package `chromium`, or Playwright's")
