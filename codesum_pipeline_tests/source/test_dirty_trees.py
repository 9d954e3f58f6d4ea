"""A work tree is called dirty exactly when `git status` lists something: git itself is asked about each case."""

import os
import subprocess
from contextlib import suppress

import pytest

from codesum_pipeline.source.files.work_trees import TreeState, state_of_tree
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {"a.py": "x = 1\n", "src/b.py": "y = 1\n", ".gitignore": "built/\n"}


@pytest.fixture
def user(tmp_path, monkeypatch):
    """The user's own folder."""
    home = tmp_path / "user"
    (home / ".config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    return home


@pytest.fixture
def repo(git_repo):
    return git_repo(FILES)


def submodule(repo, name="lib"):
    """A submodule of its own repository, checked out and committed."""
    theirs = GitRepo.create(repo.path.parent / f"{name}.origin", {"l.py": "l = 1\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs.path), name)
    repo.commit({})
    return GitRepo(repo.path / name)


def nothing(repo, user):
    pass


def an_edit(repo, user):
    repo.write({"a.py": "x = 2\n"})


def an_edit_of_the_same_size_in_the_same_second(repo, user):
    repo.write({"a.py": "x = 3\n"})


def a_touched_file(repo, user):
    os.utime(repo.path / "a.py", (1, 1))


def a_new_file(repo, user):
    repo.write({"new.py": "n = 1\n"})


def a_new_file_that_the_tree_ignores(repo, user):
    repo.write({"built/x.py": "n = 1\n"})


def a_new_file_that_the_user_ignores(repo, user):
    (user / ".config/git/ignore").write_text("*.mine\n")
    repo.write({"x.mine": "n = 1\n"})


def a_new_file_that_only_this_clone_ignores(repo, user):
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/exclude").write_text("*.mine\n")
    repo.write({"x.mine": "n = 1\n"})


def a_new_folder_of_packages(repo, user):
    repo.write({"node_modules/x.js": "1\n"})


def an_empty_folder(repo, user):
    (repo.path / "empty/deep").mkdir(parents=True)


def a_staged_file(repo, user):
    repo.write({"new.py": "n = 1\n"})
    repo.git("add", "new.py")


def a_file_that_is_only_meant_to_be_added(repo, user):
    repo.write({"new.py": "n = 1\n"})
    repo.git("add", "-N", "new.py")


def a_staged_edit_that_was_taken_back(repo, user):
    repo.write({"a.py": "x = 2\n"})
    repo.git("add", "a.py")
    repo.write({"a.py": "x = 1\n"})


def a_deleted_file(repo, user):
    (repo.path / "a.py").unlink()


def a_mode(repo, user):
    (repo.path / "a.py").chmod(0o755)


def a_mode_where_modes_do_not_count(repo, user):
    repo.git("config", "core.fileMode", "false")
    (repo.path / "a.py").chmod(0o755)


def a_file_that_became_a_link(repo, user):
    (repo.path / "a.py").unlink()
    (repo.path / "a.py").symlink_to("src/b.py")


def a_renamed_file(repo, user):
    repo.git("mv", "a.py", "c.py")


def a_nested_clone(repo, user):
    GitRepo.create(repo.path / "inner", {"i.py": "i = 1\n"})


def an_edit_in_a_committed_nested_clone(repo, user):
    inner = GitRepo.create(repo.path / "inner", {"i.py": "i = 1\n"})
    repo.commit({})
    inner.write({"i.py": "i = 2\n"})


def a_clean_submodule(repo, user):
    submodule(repo)


def an_edit_in_a_submodule(repo, user):
    submodule(repo).write({"l.py": "l = 2\n"})


def a_new_file_in_a_submodule(repo, user):
    submodule(repo).write({"new.py": "l = 2\n"})


def a_new_commit_in_a_submodule(repo, user):
    submodule(repo).commit({"l.py": "l = 2\n"})


def an_edit_in_a_submodule_of_which_edits_do_not_count(repo, user):
    inner = submodule(repo)
    repo.git("config", "--file", ".gitmodules", "submodule.lib.ignore", "dirty")
    repo.commit({})
    inner.write({"l.py": "l = 2\n"})


def a_new_commit_in_a_submodule_that_does_not_count(repo, user):
    inner = submodule(repo)
    repo.git("config", "submodule.lib.ignore", "all")
    inner.commit({"l.py": "l = 2\n"})


def a_submodule_that_is_not_checked_out(repo, user):
    submodule(repo)
    repo.git("submodule", "deinit", "-q", "-f", "lib")


def a_submodule_whose_folder_is_gone(repo, user):
    submodule(repo)
    subprocess.run(["rm", "-rf", str(repo.path / "lib")], check=True)


def an_edit_in_a_submodule_of_a_submodule(repo, user):
    inner = submodule(repo)
    deep = submodule(inner, "deep")
    repo.commit({})
    deep.write({"l.py": "l = 2\n"})


def a_sparse_checkout(repo, user):
    repo.git("sparse-checkout", "set", "--no-cone", "/a.py")


def an_edit_that_is_assumed_away(repo, user):
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.write({"a.py": "x = 2\n"})


def an_edit_of_a_file_that_is_skipped(repo, user):
    repo.git("update-index", "--skip-worktree", "a.py")
    repo.write({"a.py": "x = 2\n"})


def a_merge_with_a_conflict(repo, user):
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"a.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.py": "x = 3\n"})
    with suppress(subprocess.CalledProcessError):
        repo.git("merge", "other")


def a_merge_that_is_not_committed_and_changes_nothing(repo, user):
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({})
    repo.git("checkout", "-q", "main")
    repo.commit({})
    repo.git("merge", "--no-commit", "--no-ff", "other")


def a_detached_head(repo, user):
    repo.git("checkout", "-q", "--detach")


def new_files_that_the_clone_does_not_list(repo, user):
    repo.git("config", "status.showUntrackedFiles", "no")
    repo.write({"new.py": "n = 1\n"})


def line_ends_of_windows_that_git_converts(repo, user):
    repo.commit({".gitattributes": "*.txt text eol=crlf\n", "t.txt": "a\n"})
    (repo.path / "t.txt").write_bytes(b"a\r\n")


def line_ends_of_windows_that_git_keeps(repo, user):
    (repo.path / "a.py").write_bytes(b"x = 1\r\n")


def a_name_in_another_script(repo, user):
    repo.write({"src/ключ \n.py": "n = 1\n"})


def a_fresh_repository_without_a_commit(repo, user):
    repo.git("update-ref", "-d", "HEAD")


CASES = [each for each in list(globals().values()) if getattr(each, "__code__", None) and each.__module__ == __name__]
CASES = [each for each in CASES if each.__code__.co_varnames[:2] == ("repo", "user") and each.__name__ != "repo"]


@pytest.mark.parametrize("arrange", CASES, ids=lambda case: case.__name__.replace("_", " "))
def test_the_tree_is_dirty_exactly_when_git_status_lists_something(repo, user, arrange):
    arrange(repo, user)
    command = ["git", "-C", str(repo.path), "status", "--porcelain"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert state_of_tree(repo.path) == (TreeState.DIRTY if listed else TreeState.CLEAN), listed


def test_a_linked_work_tree_has_a_state_of_its_own(repo, user, tmp_path):
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    (tmp_path / "linked/a.py").write_text("x = 2\n")

    assert (state_of_tree(repo.path), state_of_tree(tmp_path / "linked")) == (TreeState.CLEAN, TreeState.DIRTY)


def filtered(repo, user, *, attribute, stored, shown):
    """A file that is stored in another form than it is checked out in, and whose times changed."""
    script = user / "filter.sh"
    script.write_text("#!/bin/sh\ntouch " + str(user / "ran") + "\ncat >/dev/null\nprintf '%s' '" + stored + "'\n")
    script.chmod(0o755)
    repo.commit({".gitattributes": f"*.bin {attribute}\n", "p.bin": stored})
    repo.git("config", "filter.lfs.clean", str(script))
    repo.git("config", "filter.own.clean", str(script))
    (repo.path / "p.bin").write_text(shown)


@pytest.mark.parametrize("name", ["lfs", "own"])
def test_what_only_a_filter_could_tell_is_unknown_and_a_second_edit_is_not(repo, user, name):
    filtered(repo, user, attribute=f"filter={name}", stored="stored", shown="shown")

    assert state_of_tree(repo.path) is TreeState.UNKNOWN
    repo.write({"a.py": "x = 2\n"})
    assert state_of_tree(repo.path) is TreeState.DIRTY
    assert not (user / "ran").exists()


def test_nothing_of_a_submodule_runs(repo, user):
    inner = submodule(repo)
    script = user / "script"
    script.write_text(f"#!/bin/sh\ntouch {user}/ran\ncat\n")
    script.chmod(0o755)
    inner.commit({".gitattributes": "*.py filter=evil\n"})
    repo.commit({})
    for name in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor"):
        inner.git("config", name, str(script))
    (inner.path / "l.py").write_text("l = 9\n")

    assert state_of_tree(repo.path) is TreeState.DIRTY
    assert not (user / "ran").exists()
    subprocess.run(["git", "-C", str(repo.path), "status"], check=False, capture_output=True)
    assert (user / "ran").exists(), "git itself would have run it"
