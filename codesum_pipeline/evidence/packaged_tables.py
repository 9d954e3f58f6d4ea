"""The closed lists and tables that texts are made from: TOML files beside the code that reads them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def packaged_table(package: str | None, name: str) -> dict[str, Any]:
    """The table in a file of a package, by its name without the ending; it is shared, and not to be changed."""
    return tomllib.loads((files(package or "") / f"{name}.toml").read_text("utf-8"))
