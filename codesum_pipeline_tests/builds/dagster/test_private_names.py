"""Private modules of Dagster: one module of this package imports them all, and says why no public name serves."""

import ast
from collections.abc import Iterator
from pathlib import Path

import codesum_pipeline

PACKAGE = Path(codesum_pipeline.__file__).parent
OURS = "builds/dagster/private_names.py"


def private_imports(file: Path) -> Iterator[ast.ImportFrom | ast.Import]:
    for node in ast.walk(ast.parse(file.read_text())):
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        named = [each.name for each in node.names] if isinstance(node, ast.Import) else named
        if any(name.startswith("dagster._") for name in named):
            yield node


def has_reason(lines: list[str], line: int) -> bool:
    """Whether a comment, or a function's docstring, stands above the imports that this line belongs to."""
    above = line - 2
    while lines[above].startswith((" ", ")", "from ")) and not lines[above].lstrip().startswith('"""'):
        above -= 1
    return lines[above].lstrip().startswith(("#", '"""'))


def test_one_module_imports_the_private_modules_of_dagster() -> None:
    names = {file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*.py") if any(private_imports(file))}

    assert names == {OURS}


def test_each_private_name_has_a_reason_and_is_used() -> None:
    lines = (PACKAGE / OURS).read_text().splitlines()
    imports = list(private_imports(PACKAGE / OURS))
    elsewhere = "".join(file.read_text() for file in PACKAGE.rglob("*.py") if file != PACKAGE / OURS)

    assert [node.lineno for node in imports if not has_reason(lines, node.lineno)] == []
    assert [each.name for node in imports for each in node.names if each.name not in elsewhere] == []
