"""How large the package is, and how its names and functions are spread.

    python -m benchmarks.size [REVISION ...]

For the working tree, or for each revision: lines, lines of code (without empty lines, comments and docstrings), files,
and files under 30 lines by room; how long functions are; class names that stand for more than one thing; and functions
that do nothing but hand their own arguments on.
"""

import argparse
import ast
import io
import tempfile
import tokenize
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.revisions import PROJECT, tree_at

PACKAGE = "codesum_pipeline"
SMALL = 30
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


@dataclass(slots=True)
class Room:
    """Sums over the files of one folder of the package."""

    lines: int = 0
    code: int = 0
    files: int = 0
    small_files: int = 0


@dataclass(slots=True)
class House:
    """The rooms, the lengths of all functions, the places of class names, and functions that only hand on."""

    rooms: defaultdict[str, Room] = field(default_factory=lambda: defaultdict(Room))
    lengths: list[int] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)
    handing_on: int = 0


def _docstring_lines(tree: ast.AST) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            found.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return found


def _code_lines(source: str, tree: ast.AST) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(tree))


def _hands_on(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is one call that is given the function's own arguments as they are, and nothing else."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr) or not isinstance(body[0].value, ast.Call):
        return False
    call = body[0].value
    own = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)} - {"self"}
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(own) and len(values) == len(own) and {each.id for each in values if isinstance(each, ast.Name)} == own


def measure_package(package: Path) -> House:
    """All files of a package."""
    house = House()
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        parts = path.relative_to(package).parts
        room = house.rooms[parts[0] if len(parts) > 1 else "."]
        lines = source.count("\n")
        room.lines += lines
        room.code += _code_lines(source, tree)
        room.files += 1
        room.small_files += lines < SMALL and path.name != "__init__.py"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                house.lengths.append((node.end_lineno or node.lineno) - node.lineno + 1)
                house.handing_on += _hands_on(node)
            elif isinstance(node, ast.ClassDef):
                house.classes[node.name] += 1
    return house


def print_house(house: House) -> None:
    """A table of the rooms, the largest first, and the figures of all."""
    print("| room | lines | of code | files | under 30 lines |\n|---|---|---|---|---|")
    rooms = sorted(house.rooms.items(), key=lambda each: -each[1].lines)
    for name, room in rooms:
        print(f"| {name} | {room.lines:,} | {room.code:,} | {room.files} | {room.small_files} |")
    sums = [sum(getattr(room, each) for _, room in rooms) for each in ("lines", "code", "files", "small_files")]
    print(f"| all | {sums[0]:,} | {sums[1]:,} | {sums[2]} | {sums[3]} |")
    lengths = sorted(house.lengths)
    at = [lengths[int(len(lengths) * share)] for share in (0.5, 0.95, 0.99)]
    print(
        f"\n{len(lengths):,} functions: half in {at[0]} lines, 95 % in {at[1]}, 99 % in {at[2]}, all in {lengths[-1]}"
    )
    shared = [name for name, count in house.classes.items() if count > 1]
    print(f"{len(house.classes):,} class names, {len(shared)} of them for more than one class")
    print(f"{house.handing_on} functions only hand their arguments on\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    revisions = parser.parse_args().revisions
    for revision in revisions:
        print(f"{revision}:\n")
        with tempfile.TemporaryDirectory() as folder:
            print_house(measure_package(tree_at(revision, Path(folder) / "tree") / PACKAGE))
    if not revisions:
        print_house(measure_package(PROJECT / PACKAGE))


if __name__ == "__main__":
    main()
