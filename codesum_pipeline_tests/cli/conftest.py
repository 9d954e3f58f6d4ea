"""A home with one indexed repository, built once, and two ways to call `codesum`."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.cli.app import app
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline_tests.building import build, open_home, workspace_of
from codesum_pipeline_tests.cli.shop import FILES
from codesum_pipeline_tests.repositories import GitRepo


@pytest.fixture(scope="session")
def shop_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `repository` and, indexed from it, `home`."""
    folder = tmp_path_factory.mktemp("shop")
    repository = GitRepo.create(folder / "repository", FILES)
    home = open_home(folder / "home")
    build(workspace_of(home, RepositoryEntry(key="shop", location=str(repository.path))))
    return folder


@pytest.fixture(scope="session")
def shop(shop_template: Path) -> Path:
    """The indexed home, for tests that only read."""
    return shop_template / "home"


@pytest.fixture
def own_shop(shop_template: Path, tmp_path: Path) -> Path:
    """A copy of the indexed home, for tests that change it; its repository is shared."""
    return Path(shutil.copytree(shop_template / "home", tmp_path / "own", symlinks=True))


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
