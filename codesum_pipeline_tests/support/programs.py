"""Programs that some tests need and PyPI does not have. Run as a module, it installs those that are missing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

# The program, and Debian's package that has it.
PACKAGES = {"bwrap": "bubblewrap", "rg": "ripgrep", "ssh-keygen": "openssh-client"}
_PATIENCE_S = 150


def install_packages(packages: Sequence[str]) -> str | None:
    """Install packages of Debian where this user may; why they are not, else None."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return f"only root on a Debian may install {', '.join(packages)}"
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        try:
            subprocess.run(["apt-get", *command], check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S)
        except (subprocess.SubprocessError, OSError) as error:
            return str(error)
    return None


def as_who_may_not_open_all() -> list[str]:
    """What a command is started with: root gives up the right to open what is closed, others do not have it."""
    if os.geteuid() != 0:
        return []
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]


if __name__ == "__main__":
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing and (reason := install_packages(missing)):
        sys.stderr.write(f"the tests that need {', '.join(missing)} will be skipped: {reason}\n")
