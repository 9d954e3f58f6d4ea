"""Who may read a home: its owner alone, unless a setting says otherwise, whatever the mask of the shell."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.dagster_dev import LAUNCH, dagster_dev, launch_params
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {"shop/cart.py": 'def total(items):\n    """Add up."""\n    return sum(items)\n', "README.md": "# Shop\n"}


def call(*arguments: object, cwd: Path, mask: int, **env: str) -> None:
    """In a process of its own, whose shell gives new files `mask`."""
    done = fork_codesum(*arguments, cwd=cwd, env=env, mask=mask)
    assert done.returncode == 0, done.stderr


def modes(home: Path) -> dict[Path, int]:
    """Every file and folder of a home, the home itself too, and its mode."""
    found = [home, *home.rglob("*")]
    return {path: stat.S_IMODE(path.stat().st_mode) for path in found if not path.is_symlink()}


def too_open(home: Path, *, folders: int) -> list[str]:
    """What another mode has than it should; git makes its own files read-only."""
    files = folders & 0o666
    return [
        f"{mode:04o} {path}"
        for path, mode in modes(home).items()
        if mode not in ((folders,) if path.is_dir() else (files, files & 0o444))
    ]


@pytest.mark.parametrize("mask", [pytest.param(0o022, marks=pytest.mark.slow, id="022"), pytest.param(0, id="000")])
def test_a_home_is_the_owners_alone_whatever_the_mask(git_repo: Callable[..., GitRepo], mask: int) -> None:
    repo = git_repo(FILES)

    call("index", ".", cwd=repo.path, mask=mask)
    repo.commit({"shop/cart.py": FILES["shop/cart.py"].replace("Add", "Sum")})
    call("index", cwd=repo.path, mask=mask)

    home = repo.path / ".codesum"
    assert too_open(home, folders=0o700) == []
    parts = {path.relative_to(home).parts[0] for path in modes(home) if path != home}
    assert parts >= {".token", "dagster", "index_root", "mirrors", "repos.yaml", "state", "warehouse"}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "folders"), [("0750", 0o750), ("0755", 0o755)])
def test_a_shared_home_is_readable_by_those_that_the_setting_names_from_its_first_command_on(
    git_repo: Callable[..., GitRepo], mode: str, folders: int
) -> None:
    repo = git_repo(FILES)

    call("add", ".", cwd=repo.path, mask=0o077, CODESUM_HOME_MODE=mode)
    call("index", cwd=repo.path, mask=0o077)

    private = [line for line in too_open(repo.path / ".codesum", folders=folders) if not line.endswith(".token")]
    assert private == []


def test_the_token_of_a_shared_home_is_the_owners_alone(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo(FILES)

    call("add", ".", cwd=repo.path, mask=0o022, CODESUM_HOME_MODE="0755")

    assert modes(repo.path / ".codesum")[repo.path / ".codesum" / ".token"] == 0o600


def test_the_record_of_homes_is_the_users_alone(git_repo: Callable[..., GitRepo], tmp_path: Path) -> None:
    call("add", ".", cwd=git_repo(FILES).path, mask=0o000, XDG_STATE_HOME=str(tmp_path / "state"))

    assert too_open(tmp_path / "state" / "codesum", folders=0o700) == []


@pytest.mark.slow
def test_runs_that_dagster_starts_write_with_the_modes_of_the_home(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo(FILES, name="shop")
    call("add", ".", "--key", "shop", cwd=repo.path, mask=0o022)
    home = open_home(repo.path / ".codesum")

    with dagster_dev(home, tmp_path / "dagster.log") as ui:
        ui.ask(LAUNCH, params=launch_params("shop"))
        (run, *_) = ui.finished(1, timeout_s=240, dagster__partition="shop")

    assert run["status"] == "SUCCESS", ui.tail()
    assert too_open(home.layout.home, folders=0o700) == []


@pytest.mark.slow
def test_a_file_outside_of_the_home_gets_the_modes_of_the_callers_shell(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo(FILES)
    call("index", ".", cwd=repo.path, mask=0o022)

    question = {"id": "1", "query": "add up", "relevant": [{"file_path": "shop/cart.py"}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    call("eval", tmp_path / "questions.jsonl", "--report", tmp_path / "report.md", cwd=repo.path, mask=0o022)

    assert stat.S_IMODE((tmp_path / "report.md").stat().st_mode) == 0o644


@pytest.mark.slow
def test_a_registry_that_others_read_stays_readable(git_repo: Callable[..., GitRepo], tmp_path: Path) -> None:
    repo = git_repo(FILES)
    shared = tmp_path / "repos.yaml"
    shared.write_text("repositories: {}\n")
    shared.chmod(0o664)

    call("add", ".", cwd=repo.path, mask=0o022, CODESUM_REPOS_FILE=str(shared))

    assert stat.S_IMODE(shared.stat().st_mode) == 0o664
    assert os.fspath(repo.path) in shared.read_text()


@pytest.mark.parametrize("mode", ["0777", "700", "rwx", "0600"])
def test_a_mode_that_lets_others_write_or_the_owner_not_is_refused(git_repo: Callable[..., GitRepo], mode: str) -> None:
    with pytest.raises(AssertionError, match="setting 'home_mode'"):
        call("repos", cwd=git_repo(FILES).path, mask=0o022, CODESUM_HOME_MODE=mode)
