"""`codesum search` and others in a checkout that nobody indexed."""

import json
import os

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.cli.terminal import watch

FILES = {
    "src/door.py": 'def open_door(door):\n    """Unlock the door of the shop."""\n    door.unlock()\n    return door\n',
    "package-lock.json": "{}\n",
}


@pytest.fixture
def checkout(git_repo):
    return git_repo(FILES, name="shop")


@pytest.fixture
def data(tmp_path):
    """How the user's data folder is named."""
    return {"XDG_DATA_HOME": str(tmp_path / "data")}


def there(folder):
    return sorted(path.name for path in folder.iterdir())


def answered(key):
    """Once the question stands on the terminal, this is typed."""
    return {"until": lambda shown: b"[Y/n]: " in shown.raw, "then_press": key}


@pytest.mark.parametrize("command", [("search", "unlock"), ("grep", "unlock"), ("impact",)], ids=lambda words: words[0])
def test_without_a_terminal_it_says_the_command_and_makes_no_folder(checkout, data, tmp_path, command):
    done = fork_codesum(*command, cwd=checkout.path / "src", env=data)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"codesum: {checkout.path} is not indexed yet: "
        f"run `codesum --home {tmp_path}/data/codesum index {checkout.path}`\n"
    )
    assert there(checkout.path) == [".git", "package-lock.json", "src"]
    assert not (tmp_path / "data").exists()


def test_a_chosen_home_is_not_named_in_the_command_where_it_is_found_anyway(checkout, tmp_path):
    done = fork_codesum("search", "unlock", cwd=checkout.path, env={"CODESUM_HOME": str(tmp_path / "mine")})

    assert done.stderr == f"codesum: {checkout.path} is not indexed yet: run `codesum index {checkout.path}`\n"


def test_in_a_linked_work_tree_the_repository_is_named_not_the_tree(checkout, data, tmp_path):
    checkout.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))

    done = fork_codesum("search", "unlock", cwd=tmp_path / "linked", env=data)

    assert f"index {checkout.path}`" in done.stderr


def test_a_work_tree_of_a_bare_repository_is_answered_by_an_index_of_the_repository(checkout, data, tmp_path):
    bare = tmp_path / "shop.git"
    checkout.git("clone", "-q", "--bare", str(checkout.path), str(bare))
    GitRepo(bare).git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))

    done = fork_codesum("search", "unlock", cwd=tmp_path / "linked", env=data)

    assert f"index {bare}`" in done.stderr


def test_a_repository_without_a_commit_is_told_so(tmp_path, data):
    (tmp_path / "empty").mkdir()
    GitRepo(tmp_path / "empty").git("init", "-q")

    done = fork_codesum("search", "unlock", cwd=tmp_path / "empty", env=data)

    assert done.returncode == 2
    assert f"{tmp_path / 'empty'} has no commit yet, and nothing to index" in done.stderr


@pytest.mark.parametrize("kind", ["no checkout", "a bare repository"])
def test_elsewhere_it_says_how_an_index_is_made(checkout, data, tmp_path, kind):
    folder = tmp_path / "elsewhere"
    if kind == "no checkout":
        folder.mkdir()
    else:
        checkout.git("clone", "-q", "--bare", str(checkout.path), str(folder))

    done = fork_codesum("search", "unlock", cwd=folder, env=data)

    assert done.returncode == 2
    assert "holds no index yet: run `codesum index PATH|URL`" in done.stderr


def test_on_a_terminal_it_asks_with_size_and_place_and_a_no_changes_nothing(checkout, data, tmp_path):
    shown = watch(["search", "unlock"], cwd=checkout.path, width=400, env=data, **answered(b"n\n"))

    assert shown.exit_code == 2
    assert shown.lines()[:2] == [
        f"{checkout.path} is not indexed yet: 1 file, about 4 s; the index will lie in {tmp_path}/data/codesum",
        "Index it now? [Y/n]: n",
    ]
    assert "run `codesum --home" in shown.lines()[2]
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_nobody_is_asked_for_the_questions_of_a_batch(checkout, data):
    shown = watch(["search", "--batch", os.devnull], cwd=checkout.path, width=200, env=data)

    assert shown.exit_code == 2
    assert "[Y/n]" not in shown.raw.decode()


@pytest.mark.slow
def test_a_return_indexes_and_answers_and_later_commands_find_it(checkout, data, tmp_path):
    shown = watch(["search", "unlock the door"], cwd=checkout.path, width=200, env=data, **answered(b"\n"))

    assert shown.exit_code == 0
    assert any("open_door" in line for line in shown.lines())
    assert there(checkout.path) == [".git", "package-lock.json", "src"]
    checkout.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    for folder in (checkout.path, tmp_path / "linked"):
        done = fork_codesum("search", "unlock the door", "--json", cwd=folder, env=data)
        assert json.loads(done.stdout)["repositories"] == ["shop"], done.stderr
        assert fork_codesum("status", cwd=folder, env=data).stdout.splitlines()[1].split()[:3] == ["shop", "up", "to"]
    other = GitRepo.create(tmp_path / "other", FILES)
    unknown = fork_codesum("search", "unlock the door", cwd=other.path, env=data)
    assert (unknown.returncode, unknown.stdout) == (2, "")


@pytest.mark.slow
def test_an_interrupted_build_ends_the_search_and_is_taken_up_by_the_next(checkout, data):
    searched = watch(["search", "door"], cwd=checkout.path, width=200, env=data, **answered(b"\n\x03"))
    assert searched.exit_code not in (0, None)

    again = watch(["search", "door"], cwd=checkout.path, width=200, env=data, **answered(b"\n"))
    assert again.exit_code == 0
    assert any("open_door" in line for line in again.lines())
