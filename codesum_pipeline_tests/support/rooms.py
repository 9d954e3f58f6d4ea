"""The rooms of the package and their parts, as the import contracts of `pyproject.toml` order them.

    python -m codesum_pipeline_tests.support.rooms

writes the section "Which rooms are there?" of `docs/architecture.md` anew.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import codesum_pipeline

PACKAGE = Path(codesum_pipeline.__file__).parent
PROJECT = PACKAGE.parent
PAGE = PROJECT / "docs" / "architecture.md"
HEADING = "## Which rooms are there?\n"
_ABOUT = """
The folders of `codesum_pipeline/`, from top to bottom the way of a repository. A room imports only rooms above it, and
a part only parts above it in its room; `lint-imports` enforces both, and a new folder must be given a place in the
contracts of `pyproject.toml`. This section is written from them by `python -m codesum_pipeline_tests.support.rooms`.
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


def section() -> str:
    """The section of the page, up to the next heading."""
    return f"{HEADING}{_ABOUT}\n```mermaid\nflowchart TD\n{_drawing()}```\n\n{''.join(_table())}\n"


def _drawing() -> str:
    # The bare word `graph` means something else in such a drawing.
    ids = {room: f"room_{room}" for room in rooms()}
    boxes = [f'  {ids[room]}["<b>{room}</b><br>{" · ".join(parts(room))}"]\n' for room in rooms()]
    return "".join(boxes) + f"  {' --> '.join(ids.values())}\n"


def _table() -> Iterator[str]:
    yield "| room | part | |\n|---|---|---|\n"
    for room in rooms():
        yield f"| **`{room}`** | | **{idea(room)}** |\n"
        for part in parts(room):
            yield f"| | `{part}{'/' if (PACKAGE / room / part).is_dir() else '.py'}` | {idea(room, part)} |\n"


def with_section(page: str) -> str:
    """The page with the section as it must be."""
    before, _, rest = page.partition(HEADING)
    return before + section() + rest[rest.index("\n## ") + 1 :]


if __name__ == "__main__":
    PAGE.write_text(with_section(PAGE.read_text("utf-8")), encoding="utf-8")
