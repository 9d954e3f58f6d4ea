"""The signs in code that run Python's operators: `with` runs `__enter__`, `!=` runs `__ne__`.

Operators whose signs are everywhere, as an index, a call, or what a loop runs over, have none here.
"""

import re
import tomllib
from pathlib import Path

_SIGNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_BY_NAME = {f"__{name}__": re.compile(sign) for names, sign in _SIGNS.items() for name in names.split()}


def sign_of_operator(name: str) -> re.Pattern[str] | None:
    """What finds the sign that runs a special method; None for a method without one."""
    return _BY_NAME.get(name)
