"""The rooms of the package and their parts, as the import contracts of `pyproject.toml` order them."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import codesum_pipeline

PACKAGE = Path(codesum_pipeline.__file__).parent
PROJECT = PACKAGE.parent
_HEAD = """# Rooms

*Reference, written from the code.* The folders of `codesum_pipeline/` stand in the order of the pipeline. A room
imports only rooms above it, and a part only parts above it in its room. `lint-imports` enforces both: a new folder must
be given a place in the contracts of `pyproject.toml`.

"""


def layers() -> dict[str, list[list[str]]]:
    """By container, what stands in it in the order of the data: each step of it lists names that do not know each
    other."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        contract["containers"][0]: [re.split(r" *[|:] *", layer) for layer in reversed(contract["layers"])]
        for contract in contracts
        if contract["type"] == "layers"
    }


def rooms() -> list[str]:
    """The folders of the package in the order of the data."""
    return [name for step in layers()[PACKAGE.name] for name in step if (PACKAGE / name).is_dir()]


def parts(room: str) -> list[str]:
    """The folders and modules of a room in the order of the data."""
    return [name for step in layers()[f"{PACKAGE.name}.{room}"] for name in step]


def idea(*names: str) -> str:
    """The first paragraph of a folder's or a module's docstring."""
    place = PACKAGE.joinpath(*names)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def rooms_page() -> str:
    """What docs/rooms.md must be."""
    return _HEAD + "\n".join(map("".join, map(_lines, rooms())))


def _lines(room: str) -> Iterator[str]:
    yield f"## `{room}`\n\n{idea(room)}\n\n"
    for part in parts(room):
        yield f"- `{part}{'/' if (PACKAGE / room / part).is_dir() else '.py'}`: {idea(room, part)}\n"
