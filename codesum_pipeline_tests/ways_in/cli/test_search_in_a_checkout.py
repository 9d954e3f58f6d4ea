"""In a checkout `codesum search` looks at its repository first."""

import json
import subprocess

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

SAYS = "searching shop, the repository of this folder; --all searches the other one too\n"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A folder with the repositories `shop` and `bank`, and `home`, which has both."""
    folder = tmp_path_factory.mktemp("two")
    home = open_home(folder / "home")
    for key in ("shop", "bank"):
        source = f'def open_{key}():\n    """Unlock the door of the {key}."""\n    door.unlock()\n    return door\n'
        repo = GitRepo.create(folder / key, {f"src/{key}.py": source})
        build(workspace_of(home, RepositoryEntry(key, str(repo.path))))
    return folder


def searched(folder, *arguments, cwd):
    done = fork_codesum("--home", folder / "home", "search", "unlock the door", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {hit["repo"] for hit in answer["hits"]} <= set(answer["repositories"])
    return answer["repositories"], done.stderr


def test_the_repository_of_the_folder_is_searched_and_that_is_said(two):
    assert searched(two, cwd=two / "shop" / "src") == (["shop"], SAYS)


def test_all_searches_everything(two):
    assert searched(two, "--all", cwd=two / "shop") == (["bank", "shop"], "")


def test_a_repository_that_is_named_wins(two):
    assert searched(two, "--repo", "bank", cwd=two / "shop") == (["bank"], "")


def answered(folder, *rows, options=(), cwd):
    """What a batch of these questions looks into, and what is said about it."""
    lines = "".join(
        json.dumps({"id": number, "query": "unlock the door", **row}) + "\n" for number, row in enumerate(rows)
    )
    done = fork_codesum("--home", folder / "home", "search", "--batch", "-", *options, cwd=cwd, stdin=lines)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["repositories"] for line in done.stdout.splitlines()], done.stderr


def test_the_questions_of_a_batch_ask_the_repository_of_the_folder_too_unless_they_name_another(two):
    questions = ({}, {"repo": "bank"})

    assert answered(two, *questions, cwd=two / "shop") == ([["shop"], ["bank"]], SAYS)
    assert answered(two, *questions, options=["--all"], cwd=two / "shop") == ([["bank", "shop"], ["bank"]], "")
    assert answered(two, {}, options=["--repo", "bank"], cwd=two / "shop") == ([["bank"]], "")


def shown(folder, *arguments, cwd):
    done = fork_codesum("--home", folder / "home", "show", "src", "--json", *arguments, cwd=cwd)
    return json.loads(done.stdout)["repo"] if done.stdout else None, done.returncode, done.stderr


def test_of_several_documents_of_one_id_that_of_the_folders_repository_is_shown_and_that_is_said(two, tmp_path):
    remark = "'src' of shop, the repository of this folder; also in bank: choose with --repo\n"

    assert shown(two, cwd=two / "shop" / "src") == ("shop", 0, remark)
    assert shown(two, "--repo", "bank", cwd=two / "shop") == ("bank", 0, "")
    assert shown(two, cwd=tmp_path)[:2] == (None, 2)


def test_a_document_that_the_folders_repository_has_not_is_shown_from_the_one_that_has_it(two):
    done = fork_codesum("--home", two / "home", "show", "src/bank.py", "--json", cwd=two / "shop")

    assert (json.loads(done.stdout)["repo"], done.stderr) == ("bank", "")


def test_outside_of_a_checkout_everything_is_searched(two, tmp_path):
    assert searched(two, cwd=tmp_path) == (["bank", "shop"], "")


def test_a_linked_work_tree_and_its_main_one_are_one_repository(two, tmp_path):
    GitRepo(two / "shop").git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))

    assert searched(two, cwd=tmp_path / "linked") == (["shop"], SAYS)


def test_a_checkout_that_is_not_indexed_says_how_to_index_it(two, tmp_path):
    other = GitRepo.create(tmp_path / "other", {"a.py": "A = 1\n"})

    repositories, remark = searched(two, cwd=other.path)

    assert repositories == ["bank", "shop"]
    assert remark == (
        f"the repository of this folder is not indexed (`codesum index {other.path}`): "
        "searching the 2 repositories that are\n"
    )


@pytest.mark.parametrize(
    "remote",
    ["https://example.org/acme/shop.git", "git@example.org:acme/shop.git", "ssh://git@example.org:22/acme/shop"],
)
def test_a_clone_is_known_by_the_address_of_a_remote(two, tmp_path, remote):
    """The registered address and the remote's name the same repository in other words."""
    clone = GitRepo.create(tmp_path / "clone", {"a.py": "A = 1\n"})
    clone.git("remote", "add", "upstream", remote)
    registry = Registry(two / "home" / "repos.yaml")
    before = registry.file.read_text(encoding="utf-8")
    registry.file.write_text(before.replace(f"path: {two / 'shop'}", "url: https://example.org/acme/shop"))
    try:
        keys, remark = searched(two, cwd=clone.path)
        assert keys == ["shop"]
        assert remark.startswith(SAYS)
    finally:
        registry.file.write_text(before, encoding="utf-8")


def test_nothing_that_a_checkout_configures_is_run(two, tmp_path):
    ran = tmp_path / "ran"
    clone = GitRepo.create(tmp_path / "clone", {"a.py": "A = 1\n"})
    for name in ("core.fsmonitor", "core.sshCommand", "credential.helper", "core.pager"):
        clone.git("config", name, f"touch {ran}")
    registry = Registry(two / "home" / "repos.yaml")
    before = registry.file.read_text(encoding="utf-8")
    registry.file.write_text(before.replace(f"path: {two / 'shop'}", "url: https://example.org/acme/shop"))
    try:
        searched(two, cwd=clone.path)
    finally:
        registry.file.write_text(before, encoding="utf-8")
    assert not ran.exists()


@pytest.mark.slow
def test_several_folders_of_one_repository_are_searched_together(tmp_path):
    repo = GitRepo.create(
        tmp_path / "mono", {"a/x.py": "def ring():\n    bell()\n", "b/y.py": "def rung():\n    bell()\n"}
    )
    elsewhere = GitRepo.create(tmp_path / "elsewhere", {"z.py": "def rang():\n    bell()\n"})
    home = open_home(tmp_path / "home")
    build(workspace_of(home, RepositoryEntry("mono-a", str(repo.path), subdir="a")))
    build(workspace_of(home, RepositoryEntry("mono-b", str(repo.path), subdir="b")))
    build(workspace_of(home, RepositoryEntry("elsewhere", str(elsewhere.path))))

    done = fork_codesum("--home", tmp_path / "home", "search", "bell", "--json", cwd=repo.path / "b")

    assert json.loads(done.stdout)["repositories"] == ["mono-a", "mono-b"]
    assert done.stderr.startswith("searching mono-a, mono-b, the repositories of this folder; --all")


def test_an_only_repository_needs_no_remark(tmp_path):
    repo = GitRepo.create(tmp_path / "only", {"a.py": "def ring():\n    bell()\n"})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("only", str(repo.path))))

    done = fork_codesum("--home", tmp_path / "home", "search", "bell", cwd=repo.path)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_broken_git_file_is_no_checkout(two, tmp_path):
    (tmp_path / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")

    assert searched(two, cwd=tmp_path) == (["bank", "shop"], "")
    assert subprocess.run(["git", "status"], cwd=tmp_path, capture_output=True, check=False).returncode != 0
