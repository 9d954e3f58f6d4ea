"""Ways to build and to ask that all of these tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.builds.hostile.building import Built, built

Codesum = Callable[..., Any]


@pytest.fixture
def index(tmp_path: Path) -> Callable[..., Built]:
    """`index(location, settings=None, **entry_fields)`: build it in this test's home."""
    return lambda location, **options: built(location, tmp_path / "home", **options)


@pytest.fixture
def codesum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Codesum]:
    """`codesum(home, *arguments)`: call in this process; the result has `stdout`, `stderr` and `exit_code`."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def call(home: Path, *arguments: object) -> Any:
        result = runner.invoke(app, ["--home", str(home), *map(str, arguments)], prog_name="codesum")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    yield call
