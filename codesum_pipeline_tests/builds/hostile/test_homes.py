"""A home that is found by looking upward counts only where it is the user's own."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.definitions import defs
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.builds.hostile.building import SOUND
from codesum_pipeline_tests.builds.hostile.test_nothing_runs import SETTINGS, check_unmarked, trap  # noqa: F401
from codesum_pipeline_tests.support.commands import PROJECT, environment, fork_codesum, run_codesum
from codesum_pipeline_tests.support.repositories import GitRepo

REFUSED = 2
# What a home of somebody else would do: run code when Dagster's configuration is read, and index what its owner wants.
HOSTILE = {
    "evil.py": "from pathlib import Path\nPath(__file__).with_name('evil ran').touch()\n",
    ".codesum/dagster/dagster.yaml": "run_storage:\n  module: evil\n  class: Storage\n  config: {}\n",
    ".codesum/codesum.toml": 'embedder = "litellm/openai/x"\nembedder_api_base = "http://127.0.0.1:9/"\n',
    ".codesum/repos.yaml": "repositories: {theirs: {path: /etc}}\n",
}
HOMES = {
    "at the root": "",
    "in a sub-folder": "docs/examples/",
    "in a folder with an odd name": "a\n'b' $(x) ;*/",
}

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's record of homes, of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "codesum" / "homes"


@pytest.fixture
def codesum_in(monkeypatch: pytest.MonkeyPatch) -> Call:
    """`codesum_in(folder, *arguments)`: call there in this process, naming no home."""

    def call(folder: Path, *arguments: object) -> Any:
        monkeypatch.chdir(folder)
        result = CliRunner().invoke(app, [*map(str, arguments)], prog_name="codesum")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def project(git_repo: Callable[..., GitRepo], codesum_in: Call) -> Path:
    """A repository in which codesum made a home."""
    path = git_repo({"a.py": SOUND}).path
    assert codesum_in(path, "add", ".", "--key", "mine").exit_code == 0
    return path


def hostile(folder: str) -> dict[str, str | bytes]:
    return {f"{folder}{name}": text for name, text in HOSTILE.items()}


def unpacked(folder: Path) -> Path:
    """An archive with a home in it, unpacked by the user."""
    for name, text in HOSTILE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def importing_from(folder: Path) -> dict[str, str]:
    """As where PYTHONPATH names the current folder, or the home's Dagster is started."""
    return {"PYTHONPATH": f"{PROJECT}{os.pathsep}{folder}"}


def error_lines(stderr: str) -> list[str]:
    """The lines of a command, without the news of a start that takes long on a busy machine."""
    return [line for line in stderr.splitlines() if not line.startswith("starting")]


def command_of(line: str) -> list[str]:
    """The arguments of the command that a line says between backquotes."""
    return shlex.split(line.rsplit("`", 2)[1])


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(folder, id=name, marks=[] if "odd name" in name else pytest.mark.slow)
        for name, folder in HOMES.items()
    ],
)
def test_a_home_that_a_clone_brings_along_is_not_used(
    git_repo: Callable[..., GitRepo], tmp_path: Path, folder: str
) -> None:
    origin = git_repo({"a.py": SOUND})
    origin.write(hostile(folder))
    origin.git("add", "-f", ".")
    origin.commit({})
    origin.git("clone", "-q", str(origin.path), str(tmp_path / "clone"))
    below = tmp_path / "clone" / folder / "below"
    below.mkdir()

    done = run_codesum("index", tmp_path / "clone", cwd=below, env=importing_from(below.parent))

    assert (done.returncode, len(error_lines(done.stderr))) == (REFUSED, 1)
    assert "is part of the repository" in done.stderr
    assert "codesum --home" in done.stderr
    assert not (below.parent / "evil ran").exists()


def test_a_home_in_a_submodule_is_not_used(git_repo: Callable[..., GitRepo], codesum_in: Call) -> None:
    theirs = git_repo({}, name="theirs")
    theirs.write(hostile("docs/"))
    theirs.git("add", "-f", ".")
    theirs.commit({})
    ours = git_repo({"a.py": SOUND}, name="ours")
    ours.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs.path), "lib")

    done = codesum_in(ours.path / "lib" / "docs", "repos")

    assert done.exit_code == REFUSED
    assert f"is part of the repository {ours.path}/lib" in done.stderr


def test_a_clone_under_the_name_of_a_home_is_not_used(
    git_repo: Callable[..., GitRepo], codesum_in: Call, tmp_path: Path
) -> None:
    theirs = git_repo({"codesum.toml": "keep_versions = 9\n"})
    theirs.git("clone", "-q", str(theirs.path), str(tmp_path / "here" / ".codesum"))

    assert codesum_in(tmp_path / "here", "repos").exit_code == REFUSED


def test_a_link_to_a_home_that_is_tracked_is_not_used(
    git_repo: Callable[..., GitRepo], codesum_in: Call, tmp_path: Path
) -> None:
    theirs = git_repo({})
    theirs.write(hostile("docs/"))
    theirs.git("add", "-f", ".")
    theirs.commit({})
    here = tmp_path / "here"
    here.mkdir()
    (here / ".codesum").symlink_to(theirs.path / "docs" / ".codesum")

    done = codesum_in(here, "repos")

    assert (done.exit_code, "is part of the repository" in done.stderr) == (REFUSED, True)


def test_asking_whether_a_home_is_tracked_runs_nothing(
    project: Path,
    codesum_in: Call,
    trap: Path,  # noqa: F811
) -> None:
    repo = GitRepo(project)
    for setting in SETTINGS:
        repo.git("config", setting, str(trap))
    repo.git("config", "core.worktree", "/")

    done = codesum_in(project, "repos", "--json")

    assert done.exit_code == 0, done.stderr
    check_unmarked(trap)


def test_a_work_tree_that_cannot_be_asked_is_named(project: Path, codesum_in: Call) -> None:
    (project / ".git" / "index").write_bytes(b"DIRC rubbish")

    done = codesum_in(project, "repos")

    assert done.exit_code == REFUSED
    assert f"whether {project}/.codesum is part of the repository {project} is not known" in done.stderr


def test_a_home_that_git_began_to_track_is_not_used_any_more(project: Path, codesum_in: Call) -> None:
    GitRepo(project).git("add", "-f", ".codesum/repos.yaml")

    assert codesum_in(project, "repos").exit_code == REFUSED


@pytest.mark.slow
def test_a_home_in_an_archive_is_not_used_until_it_is_allowed(tmp_path: Path, codesum_in: Call) -> None:
    folder = unpacked(tmp_path / "down\nload 'x' $(y)")

    refused = run_codesum("index", ".", cwd=folder, env=importing_from(folder))

    assert (refused.returncode, len(error_lines(refused.stderr))) == (REFUSED, 1)
    assert "was not made here by codesum" in refused.stderr
    assert not (folder / "evil ran").exists()

    plain = unpacked(tmp_path / "plain 'x' $(y)")
    command = command_of(codesum_in(plain, "repos").stderr)
    assert command == ["codesum", "--home", str(plain / ".codesum"), "doctor", "--trust"]
    assert codesum_in(plain, *command[1:]).exit_code == 0
    assert [json.loads(line)["key"] for line in codesum_in(plain, "repos", "--json").stdout.splitlines()] == ["theirs"]


@pytest.mark.slow
def test_what_a_home_brings_along_would_run(tmp_path: Path) -> None:
    """Else the tests above could not fail: a home that is named is used as it is."""
    folder = unpacked(tmp_path / "here")

    run_codesum("--home", folder / ".codesum", "index", ".", cwd=folder, env=importing_from(folder))

    assert (folder / "evil ran").exists()


def test_a_named_home_is_used_whoever_made_it(tmp_path: Path, codesum_in: Call, monkeypatch) -> None:
    home = unpacked(tmp_path / "here") / ".codesum"

    assert "theirs" in codesum_in(tmp_path, "--home", home, "repos").stdout
    monkeypatch.setenv("CODESUM_HOME", str(home))
    assert "theirs" in codesum_in(home.parent, "repos").stdout


def test_a_home_that_codesum_made_is_found_from_below(project: Path, codesum_in: Call) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)

    assert "mine" in codesum_in(below, "repos").stdout


def test_an_archive_over_a_deleted_home_is_not_taken_for_it(project: Path, codesum_in: Call) -> None:
    (project / ".codesum").rename(project / "gone")
    unpacked(project)

    assert codesum_in(project, "repos").exit_code == REFUSED


def test_a_copy_of_a_home_elsewhere_is_not_used(project: Path, codesum_in: Call, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".codesum").rename(tmp_path / "elsewhere" / ".codesum")

    assert codesum_in(tmp_path / "elsewhere", "repos").exit_code == REFUSED


@pytest.mark.parametrize("kind", ["pipe", "link to a device", "folder", "not hexadecimal"])
def test_whatever_lies_in_the_place_of_a_token_is_no_token(tmp_path: Path, codesum_in: Call, kind: str) -> None:
    token = unpacked(tmp_path / "here") / ".codesum" / ".token"
    match kind:
        case "pipe":
            os.mkfifo(token)
        case "link to a device":
            token.symlink_to("/dev/zero")
        case "folder":
            token.mkdir()
        case _:
            token.write_text("../" * 22)

    assert codesum_in(tmp_path / "here", "repos").exit_code == REFUSED


def test_a_home_of_another_user_is_not_used(project: Path, codesum_in: Call, monkeypatch) -> None:
    """As under sudo, in a user's folder."""
    monkeypatch.setattr(os, "geteuid", lambda: (project / ".codesum").stat().st_uid + 1)

    done = codesum_in(project, "repos")

    assert done.exit_code == REFUSED
    assert "belongs to another user" in done.stderr
    assert command_of(done.stderr) == ["export", f"CODESUM_HOME={project}/.codesum"]


def test_a_home_that_does_not_count_cannot_be_allowed(project: Path, codesum_in: Call) -> None:
    GitRepo(project).git("add", "-f", ".codesum/repos.yaml")

    done = codesum_in(project, "--home", project / ".codesum", "doctor", "--trust")

    assert (done.exit_code, "is part of the repository" in done.stderr) == (REFUSED, True)


def test_allowing_a_home_that_is_not_there_says_how_one_is_made(codesum_in: Call, tmp_path: Path) -> None:
    done = codesum_in(tmp_path, "--home", tmp_path / "none", "doctor", "--trust")

    assert (done.exit_code, "codesum index" in done.stderr) == (REFUSED, True)


def test_a_record_that_cannot_be_written_is_told_and_the_home_is_made(
    git_repo: Callable[..., GitRepo], codesum_in: Call, record: Path
) -> None:
    record.parent.mkdir(parents=True)
    record.write_text("a file in the place of the folder")
    path = git_repo({"a.py": SOUND}).path

    made = codesum_in(path, "add", ".", "--key", "mine")
    found = codesum_in(path, "repos")
    named = codesum_in(path, "--home", path / ".codesum", "repos")

    assert made.exit_code == 0
    assert "cannot be recorded" in made.stderr
    assert (found.exit_code, "was not made here by codesum" in found.stderr) == (REFUSED, True)
    assert "mine" in named.stdout


def test_a_record_that_cannot_be_read_is_named(project: Path, codesum_in: Call, record: Path) -> None:
    for file in record.iterdir():
        file.unlink()
        file.mkdir()

    done = codesum_in(project, "repos")

    assert done.exit_code == REFUSED
    assert str(record) in done.stderr
    assert "export CODESUM_HOME=" in done.stderr


def test_a_user_without_a_home_directory_is_told(project: Path) -> None:
    """As in a container whose user is not in its list of users."""
    code = (
        "import os, sys, pwd\n"
        "def none(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = none\n"
        "from codesum_pipeline.ways_in.cli.cli_app import main\n"
        "sys.argv = ['codesum', 'repos']\n"
        "main()\n"
    )
    bare = {name: value for name, value in environment().items() if name not in ("HOME", "XDG_STATE_HOME")}

    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=bare, capture_output=True, text=True)

    assert (done.returncode, len(done.stderr.splitlines())) == (REFUSED, 1)
    assert "set HOME or XDG_STATE_HOME" in done.stderr


def test_homes_that_are_made_at_one_time_are_all_recorded(git_repo: Callable[..., GitRepo], record: Path) -> None:
    paths = [git_repo({"a.py": SOUND}, name=f"p{number}").path for number in range(3)]

    code = (
        "from codesum_pipeline.ways_in.cli.invocation import make_home\n"
        "from codesum_pipeline.builds.codesum_home.settings_loading import load_settings\n"
        "make_home(load_settings())\n"
    )
    making = [sys.executable, "-c", code]

    with ThreadPoolExecutor(6) as pool:
        started = [pool.submit(subprocess.run, making, cwd=path, env=environment(), check=True) for path in paths * 2]
        assert [each.result().returncode for each in started] == [0] * 6
    for path in paths:
        assert fork_codesum("repos", cwd=path).returncode == 0
    assert sorted(os.fsdecode(file.read_bytes()) for file in record.iterdir()) == [f"{path}/.codesum" for path in paths]


@pytest.mark.slow
def test_dagster_in_a_folder_with_a_home_of_somebody_else_says_why_it_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(unpacked(tmp_path / "here"))

    with pytest.raises(ConfigurationError, match="was not made here by codesum"):
        defs()


def test_dagster_finds_the_home_of_a_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)

    resources = defs().resources
    assert resources is not None
    assert resources["codesum"].open_home().registry.get("mine").key == "mine"
