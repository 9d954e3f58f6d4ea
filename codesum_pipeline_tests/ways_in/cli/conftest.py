"""A way to call `codesum`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.ways_in.cli.cli_app import app

Call = Callable[..., Any]


@pytest.fixture
def codesum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Call]:
    """`codesum(home, *arguments)`: call in this process; the result has `stdout`, `stderr` and `exit_code`."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def call(home: Path, *arguments: object, stdin: str | None = None) -> Any:
        result = runner.invoke(app, ["--home", str(home), *map(str, arguments)], input=stdin, prog_name="codesum")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    yield call
