"""Which home a command uses in a folder that has none upward."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.cli.invocation import make_home, usual_home
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

FIRST_USERS = ("search", "mcp", "web")
OTHERS = ("status", "show", "ask", "overview", "index", "plan", "explain")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The home in the user's data folder, which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data" / "codesum"


def knowing(home: Path, *repos: GitRepo) -> Path:
    """A home of the user's own that has registered these."""
    opened = open_home(home)
    make_home(opened.settings)
    for repo in repos:
        opened.registry.add(RepositoryEntry(repo.path.name, str(repo.path)))
    return home


def homes_in(folder: Path, monkeypatch, *commands):
    monkeypatch.chdir(folder)
    return {usual_home(command, {}) for command in commands}


def test_search_mcp_and_web_use_the_data_folder_and_other_commands_the_current_one(data, git_repo, monkeypatch):
    repo = git_repo({"src/a.py": "A = 1\n"})

    assert homes_in(repo.path / "src", monkeypatch, *FIRST_USERS) == {data}
    assert homes_in(repo.path / "src", monkeypatch, *OTHERS) == {None}


@pytest.mark.parametrize("chosen", ["", "relative/folder"])
def test_without_a_usable_xdg_data_home_it_is_local_share(data, git_repo, tmp_path, monkeypatch, chosen):
    monkeypatch.setenv("XDG_DATA_HOME", chosen)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))

    found = homes_in(git_repo({}).path, monkeypatch, "search")

    assert found == {tmp_path / "me" / ".local" / "share" / "codesum"}


def test_a_checkout_that_the_data_folder_knows_is_found_by_every_command_there_and_in_linked_work_trees(
    data, git_repo, tmp_path, monkeypatch
):
    repo = git_repo({"src/a.py": "A = 1\n"})
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    knowing(data, repo)

    for folder in (repo.path, repo.path / "src", tmp_path / "linked", tmp_path / "linked" / "src"):
        assert homes_in(folder, monkeypatch, *FIRST_USERS, *OTHERS) == {data}


def test_a_home_upward_or_in_the_environment_wins_over_the_data_folder(data, git_repo, tmp_path, monkeypatch):
    repo = git_repo({})
    knowing(data, repo)
    monkeypatch.setenv("CODESUM_HOME", str(tmp_path / "named"))
    assert homes_in(repo.path, monkeypatch, "search") == {None}

    monkeypatch.delenv("CODESUM_HOME")
    above = knowing(repo.path.parent / ".codesum")
    assert homes_in(repo.path, monkeypatch, "search", "index") == {above}


def test_the_home_in_a_main_work_tree_is_found_from_its_linked_ones(data, git_repo, tmp_path, monkeypatch):
    repo = git_repo({})
    knowing(repo.path / ".codesum", repo)
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))

    assert homes_in(tmp_path / "linked", monkeypatch, *FIRST_USERS, *OTHERS) == {repo.path / ".codesum"}


def test_outside_of_checkouts_what_reads_uses_the_data_folder_where_it_is_there(data, git_repo, tmp_path, monkeypatch):
    assert homes_in(tmp_path, monkeypatch, "status", "index") == {None}

    knowing(data, git_repo({}))
    assert homes_in(tmp_path, monkeypatch, "status", "show", "search", "web") == {data}
    assert homes_in(tmp_path, monkeypatch, "index", "add", "plan", "dev") == {None}


def test_in_a_checkout_that_it_does_not_know_the_data_folder_answers_nothing(data, git_repo, monkeypatch):
    knowing(data, git_repo({}, name="known"))

    assert homes_in(git_repo({}, name="other").path, monkeypatch, "show", "ask", "overview", "status") == {None}


def test_a_data_folder_that_is_not_the_users_own_is_refused_where_it_would_be_used(data, git_repo, monkeypatch):
    repo = git_repo({})
    data.mkdir(parents=True)
    (data / "codesum.toml").write_text("offline = true")

    assert homes_in(repo.path, monkeypatch, "index", "show") == {None}
    with pytest.raises(ConfigurationError, match="doctor --trust"):
        usual_home("search", {})
