"""What of a work tree is not committed, asked of repositories that would run code if they could."""

from contextlib import suppress
from subprocess import CalledProcessError

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.files.work_trees import uncommitted_files, work_tree_state


@pytest.fixture
def repo(git_repo):
    return git_repo({"src/a.py": "x = 1\n", "src/b.py": "y = 1\n", "docs/c.md": "# c\n", ".gitignore": "built/\n"})


def uncommitted(repo, tmp_path, **fields):
    entry = RepositoryEntry("project", str(repo.path), **fields)
    return uncommitted_files(entry, PathRules.of(entry, ScanSettings()), home=tmp_path / "home")


def test_modified_staged_deleted_and_new_files_are_uncommitted_and_ignored_ones_are_not(repo):
    repo.write({"src/a.py": "x = 2\n", "src/ö b.py": "z = 1\n", "src/staged.py": "s = 1\n", "built/out.py": "o = 1\n"})
    repo.git("add", "src/staged.py")
    repo.git("rm", "-q", "src/b.py")

    state = work_tree_state(repo.path)

    assert sorted(state.paths) == ["src/a.py", "src/b.py", "src/staged.py", "src/ö b.py"]
    assert state.branch == "main"


def test_a_conflict_of_a_merge_is_uncommitted(repo):
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"src/a.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"src/a.py": "x = 3\n"})
    with pytest.raises(CalledProcessError, match="merge"):
        repo.git("merge", "other")

    assert work_tree_state(repo.path).paths == ("src/a.py",)


def test_a_clean_tree_has_nothing_uncommitted(repo, tmp_path):
    assert uncommitted(repo, tmp_path) == 0


def test_only_what_the_index_would_hold_is_counted(repo, tmp_path):
    repo.write({"src/a.py": "x = 2\n", "docs/c.md": "# d\n", "node_modules/x.js": "1\n", "home/own.py": "1\n"})
    repo.write({"src/generated.min.js": "1\n"})
    entry = RepositoryEntry("project", str(repo.path))

    assert uncommitted_files(entry, PathRules.of(entry, ScanSettings()), home=repo.path / "home") == 2
    assert uncommitted(repo, tmp_path, subdir="docs") == 1
    assert uncommitted(repo, tmp_path, exclude=("docs/", "home/")) == 1


def test_what_is_read_as_it_is_and_what_is_not_checked_out_has_no_uncommitted_files(repo, tmp_path):
    repo.git("tag", "v1")
    repo.write({"src/a.py": "x = 2\n"})

    assert uncommitted(repo, tmp_path, worktree=True) is None
    assert uncommitted(repo, tmp_path, ref="v1") is None
    assert uncommitted(repo, tmp_path, ref="main") == 1


def test_a_repository_of_its_own_inside_is_not_counted(repo, tmp_path):
    inner = type(repo).create(repo.path / "inner", {"a.py": "x = 1\n"})
    inner.write({"a.py": "x = 2\n"})

    assert uncommitted(repo, tmp_path) == 0


@pytest.mark.parametrize("where", ["config", "included", "other work tree"])
def test_no_filter_monitor_or_hook_of_the_repository_runs(repo, tmp_path, where):
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$@" >> {ran}\ncat\n')
    script.chmod(0o755)
    root = repo.path
    if where == "other work tree":
        root = tmp_path / "linked"
        repo.git("worktree", "add", "-q", str(root), "-b", "linked")
    target = ["--local"] if where != "included" else ["--file", str(tmp_path / "more.config")]
    for name in ('filter.a=b "c.clean', "filter.plain.clean", "filter.plain.process", "core.fsmonitor"):
        repo.git("config", *target, name, str(script))
    repo.git("config", *target, "filter.plain.required", "true")
    if where == "included":
        repo.git("config", "include.path", str(tmp_path / "more.config"))
    hook = repo.path / ".git/hooks/post-index-change"
    hook.write_text(script.read_text())
    hook.chmod(0o755)
    (root / ".gitattributes").write_text('*.py filter=plain\n*.md filter="a=b \\"c"\n')
    (root / "src/a.py").write_text("x = 2\n")
    (root / "docs/c.md").write_text("# d\n")

    assert set(work_tree_state(root).paths) == {".gitattributes", "src/a.py", "docs/c.md"}
    assert not ran.exists()
    with suppress(CalledProcessError):
        type(repo)(root).git("-c", "core.fsmonitor=false", "diff", "--stat")
    assert ran.exists(), "git itself would have run it"
