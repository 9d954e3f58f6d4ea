"""Private modules of Dagster: each place that uses one is listed here, and says there why no public name serves."""

import ast
from collections.abc import Iterator
from pathlib import Path

import codesum_pipeline

PACKAGE = Path(codesum_pipeline.__file__).parent
# How many such modules each file imports. A new one is a decision: public names are looked for first.
IMPORTS = {
    "build/dagster/celery_runs.py": 3,
    "ways_in/dagster_ui/guarded_ui.py": 3,
    "build/dagster/observing.py": 2,
    "build/dagster/postgres.py": 2,
    "build/dagster/recorder.py": 2,
    "build/dagster/runs.py": 3,
    "build/dagster/sqlite_records.py": 8,
    "build/dagster/dagster_records.py": 8,
    "build/dagster/maintenance_job.py": 5,
}


def private_imports(file: Path) -> Iterator[ast.ImportFrom]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dagster._"):
            yield node


def has_reason(lines: list[str], line: int) -> bool:
    """Whether a comment stands above the private imports that this line belongs to."""
    above = line - 2
    while lines[above].lstrip().startswith("from dagster._"):
        above -= 1
    return lines[above].lstrip().startswith("# Private: ")


def test_private_modules_of_dagster_are_those_that_are_known_and_each_has_a_reason() -> None:
    found, without_reason = {}, []
    for file in sorted(PACKAGE.rglob("*.py")):
        name, imports = file.relative_to(PACKAGE).as_posix(), list(private_imports(file))
        if imports:
            found[name] = len(imports)
        lines = file.read_text().splitlines()
        without_reason += [f"{name}:{node.lineno}" for node in imports if not has_reason(lines, node.lineno)]

    assert (found, without_reason) == (IMPORTS, [])
