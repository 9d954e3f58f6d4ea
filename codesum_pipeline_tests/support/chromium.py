"""The browser of the browser tests: found, else installed. Run as a module it says where none can be had."""

import os
import shutil
import subprocess
import sys
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]
_QUIET += ["--disable-sync", "--no-first-run"]
_PATIENCE_S = 150
_WAYS = (
    (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]),
    ([sys.executable, "-m", "playwright", "install", "chromium"],),
)


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
    for commands in _WAYS:
        is_apt = commands[0][0] == "apt-get"
        if is_apt and (shutil.which("apt-get") is None or os.geteuid() != 0):
            continue
        try:
            for command in commands:
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S)
        except (subprocess.SubprocessError, OSError) as error:
            sys.stderr.write(f"{error}\n")
        if why_not() is None:
            return None
    return why_not()


if __name__ == "__main__":
    if why_not() is not None and (reason := install()) is not None:
        sys.exit(f"no Chromium for the browser tests: {reason}: install Debian's package `chromium`, or Playwright's")
