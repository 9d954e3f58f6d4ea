"""Packages that not every installation has: those of the extras in `pyproject.toml`, and torch."""

import sys
from importlib.util import find_spec
from pathlib import Path


def way_to_install(*extras: str, with_torch: bool = False) -> str:
    """The end of a message about missing packages: the command that installs them, by uv or by pip, as this
    installation was made. A uv command leaves torch out if it was left out before, unless it must come `with_torch`."""
    project = f"'.[{','.join(extras)}]'" if extras else "."
    if (Path(sys.prefix) / "uv-receipt.toml").is_file():
        torch = "--torch-backend cpu" if with_torch or find_spec("torch") else "--excludes without-torch.txt"
        command = f"uv tool install -c constraints.txt {torch} {project}"
    else:
        command = f"pip install -c constraints.txt {project}"
    return f"in a checkout, `{command}` installs what is missing"
