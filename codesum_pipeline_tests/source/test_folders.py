"""Work trees and plain folders as commits: content decides, and nothing else."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git import folder_commits
from codesum_pipeline.source.git.folder_commits import LeftOut, scan_folder
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline_tests.source.conftest import git_output
from codesum_pipeline_tests.support.repositories import GitRepo

MakeRepo = Callable[..., GitRepo]

WEIRD_NAMES = [
    b"with space.py",
    b'quo"te\\back.py',
    b"new\nline.py",
    b"tab\t.py",
    "ünï/日本.py".encode(),
    b"caf\xe9.py",
    b"-rf.py",
    b"a.b/c",
    b"a/b",
    b"a-b",
    b"$HOME;`id`.py",
    b"git~1",
    b"trailing ",
]


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "home" / "mirrors" / "project.git", timeout_s=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def entry_of(path: Path, *, worktree: bool = False) -> RepositoryEntry:
    return RepositoryEntry(key="project", location=str(path), worktree=worktree)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())


def names_in(mirror: Mirror, commit: str) -> set[bytes]:
    listed = git_output(mirror.git_dir, "ls-tree", "-r", "-z", "--name-only", commit)
    return set(listed.split(b"\0")[:-1])


def test_the_same_content_gives_the_same_commit_wherever_and_whenever(tmp_path: Path) -> None:
    commits: set[str] = set()
    for name in ("one", "two"):
        write(tmp_path / name, {"a.py": "x = 1\n", "sub/b.py": "y = 2\n"})
        os.utime(tmp_path / name / "a.py", (time.time() - len(commits) * 1000,) * 2)
        mirror = Mirror(tmp_path / "mirrors" / name)
        head = mirror.update(entry_of(tmp_path / name))
        assert git_output(mirror.git_dir, "rev-parse", f"{head.commit}^{{commit}}").decode().strip() == head.commit
        assert mirror.head_commit(entry_of(tmp_path / name)) == head.commit
        commits.add(head.commit)

    assert len(commits) == 1


def test_a_change_gives_another_commit_and_its_undoing_the_first(folder: Path, mirror: Mirror) -> None:
    write(folder, {"a.py": "x = 1\n"})
    first = mirror.update(entry_of(folder))
    write(folder, {"a.py": "x = 2\n"})
    second = mirror.update(entry_of(folder))
    write(folder, {"a.py": "x = 1\n"})

    assert first.commit != second.commit
    assert mirror.update(entry_of(folder)) == first
    assert git_output(mirror.git_dir, "show", f"{second.commit}:a.py") == b"x = 2\n"


def test_the_ids_are_those_that_git_gives(folder: Path, mirror: Mirror) -> None:
    for name in WEIRD_NAMES:
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(name)

    scan = scan_folder(folder, timeout_s=60)
    head = mirror.update(entry_of(folder))

    assert set(scan.files) == set(WEIRD_NAMES)
    assert names_in(mirror, head.commit) == set(WEIRD_NAMES)
    assert head.commit == scan.commit_id()
    tree = git_output(mirror.git_dir, "rev-parse", f"{head.commit}^{{tree}}").decode().strip()
    assert tree == folder_commits.tree_id(scan.files)
    git_output(mirror.git_dir, "fsck")


def test_an_empty_folder_is_a_commit_too(folder: Path, mirror: Mirror) -> None:
    head = mirror.update(entry_of(folder))

    assert names_in(mirror, head.commit) == set()


def test_asking_for_the_commit_of_a_folder_writes_nothing(folder: Path, mirror: Mirror) -> None:
    write(folder, {"a.py": "x = 1\n"})

    commit = mirror.head_commit(entry_of(folder))

    assert not mirror.git_dir.exists()
    assert mirror.update(entry_of(folder)).commit == commit


def test_ignored_names_are_left_out_and_named(folder: Path, mirror: Mirror) -> None:
    write(
        folder,
        {
            ".gitignore": "*.log\nbuild/\n!keep.log\n",
            "a.py": "",
            "b.log": "",
            "keep.log": "",
            "build/x/y.py": "",
            "sub/.gitignore": "local.py\n",
            "sub/local.py": "",
            "sub/shared.py": "",
            "node_modules/m/index.js": "",
            ".codesum/repos.yaml": "",
        },
    )

    head = mirror.update(entry_of(folder))

    assert names_in(mirror, head.commit) == {b".gitignore", b"a.py", b"keep.log", b"sub/.gitignore", b"sub/shared.py"}
    assert head.left_out == tuple(
        LeftOut(path, SkipReason.IGNORED) for path in (b"b.log", b"build/", b"node_modules/", b"sub/local.py")
    )


def test_a_gitignore_can_take_back_what_folders_leave_out(folder: Path, mirror: Mirror) -> None:
    write(folder, {".gitignore": "!node_modules/\n", "node_modules/index.js": ""})

    assert b"node_modules/index.js" in names_in(mirror, mirror.update(entry_of(folder)).commit)


def test_a_work_tree_is_read_as_it_is(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n", "gone.py": "", ".gitignore": "*.log\n", "kept.log": ""})
    repo.git("add", "-f", "kept.log")
    repo.commit({})
    (repo.path / "gone.py").unlink()
    repo.write({"a.py": "x = 2\n", "new.py": "", "other.log": ""})
    before = repo.git("status", "--porcelain")

    head = mirror.update(entry_of(repo.path, worktree=True))

    assert names_in(mirror, head.commit) == {b".gitignore", b"a.py", b"kept.log", b"new.py"}
    assert git_output(mirror.git_dir, "show", f"{head.commit}:a.py") == b"x = 2\n"
    assert head.left_out == (LeftOut(b"other.log", SkipReason.IGNORED),)
    assert repo.git("status", "--porcelain") == before


def test_a_linked_work_tree_is_read_too(git_repo: MakeRepo, mirror: Mirror, tmp_path: Path) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    (tmp_path / "linked" / "b.py").write_text("")

    head = mirror.update(entry_of(tmp_path / "linked", worktree=True))

    assert names_in(mirror, head.commit) == {b"a.py", b"b.py"}


def test_line_ends_and_filters_do_not_touch_the_content(git_repo: MakeRepo, mirror: Mirror) -> None:
    content = "a\r\nb\n$Id$\r\n"
    repo = git_repo({"start": ""})
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "filter.x.clean", "tr a-z A-Z")
    attributes = "* text=auto eol=crlf ident filter=x working-tree-encoding=UTF-16\n"
    repo.write({".gitattributes": attributes, "a.txt": content})

    head = mirror.update(entry_of(repo.path, worktree=True))

    assert git_output(mirror.git_dir, "cat-file", "blob", f"{head.commit}:a.txt") == content.encode()


def test_links_are_kept_as_links_and_never_followed(folder: Path, mirror: Mirror, tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.py": "s3cret"})
    write(folder, {"a.py": ""})
    (folder / "file.py").symlink_to(tmp_path / "outside" / "secret.py")
    (folder / "dir").symlink_to(tmp_path / "outside")

    head = mirror.update(entry_of(folder))

    listed = git_output(mirror.git_dir, "ls-tree", "-r", head.commit).decode().splitlines()
    assert [line.split()[0] for line in listed] == ["100644", "120000", "120000"]
    assert b"s3cret" not in git_output(mirror.git_dir, "cat-file", "--batch", "--batch-all-objects")


def test_a_tracked_file_is_not_read_through_a_folder_that_became_a_link(
    git_repo: MakeRepo, mirror: Mirror, tmp_path: Path
) -> None:
    repo = git_repo({"sub/a.py": "x = 1\n"})
    write(tmp_path, {"outside/a.py": "s3cret"})
    (repo.path / "sub" / "a.py").unlink()
    (repo.path / "sub").rmdir()
    (repo.path / "sub").symlink_to(tmp_path / "outside")

    head = mirror.update(entry_of(repo.path, worktree=True))

    assert names_in(mirror, head.commit) == {b"sub"}


def test_nested_repositories_and_submodules_are_left_out_by_name(git_repo: MakeRepo, mirror: Mirror) -> None:
    inner = git_repo({"i.py": ""}, name="inner")
    repo = git_repo({"a.py": ""})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "module")
    GitRepo.create(repo.path / "nested", {"n.py": ""})

    head = mirror.update(entry_of(repo.path, worktree=True))

    # As in any commit, the submodule is a link to a commit that is not here.
    assert names_in(mirror, head.commit) == {b"a.py", b".gitmodules", b"module"}
    assert mirror.run_git("ls-tree", head.commit, "module").startswith(b"160000 commit ")
    assert head.left_out == (LeftOut(b"nested/", SkipReason.NESTED_REPOSITORY),)


def test_files_too_large_to_copy_are_left_out(folder: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_commits, "LARGEST_STORED_FILE", 10)
    write(folder, {"data.bin": "x" * 11, "a.py": "x" * 10})

    head = mirror.update(entry_of(folder))

    assert names_in(mirror, head.commit) == {b"a.py"}
    assert head.left_out == (LeftOut(b"data.bin", SkipReason.TOO_LARGE, 11),)


def test_a_tree_deeper_than_the_call_stack_has_an_id() -> None:
    deep = b"d/" * 1900 + b"a.py"
    blob = folder_commits.object_id("blob", b"")

    assert len(folder_commits.tree_id({deep: folder_commits.StoredFile("100644", blob)})) == 40


def test_executable_files_are_marked(folder: Path, mirror: Mirror) -> None:
    write(folder, {"run.sh": "", "a.sh": ""})
    (folder / "run.sh").chmod(0o755)

    listed = git_output(mirror.git_dir, "ls-tree", mirror.update(entry_of(folder)).commit).decode().splitlines()

    assert [line.split()[0] for line in listed] == ["100644", "100755"]


@pytest.mark.parametrize("worktree", [True, False])
def test_nothing_of_a_repository_is_run(
    worktree: bool, git_repo: MakeRepo, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo({"a.py": "x = 1\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
    marker, trap = tmp_path / "marker", tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\nexit 1\n')
    trap.chmod(0o755)
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / hook).write_text(trap.read_text())
        (hooks / hook).chmod(0o755)
    for name in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.alternateRefsCommand", "core.askPass",
        "uploadpack.packObjectsHook", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.external",
        "diff.x.textconv", "diff.x.command", "credential.helper", "alias.ls-files", "pager.log", "core.gitProxy",
    ):  # fmt: skip
        repo.git("config", name, str(trap))
    repo.git("config", "core.hooksPath", str(hooks))
    repo.write({"b.py": "y = 2\n"})
    marker.unlink(missing_ok=True)

    head = mirror.update(entry_of(repo.path, worktree=worktree))
    mirror.head_commit(entry_of(repo.path, worktree=worktree))

    assert b"a.py" in names_in(mirror, head.commit)
    assert not marker.exists(), marker.read_text()


def test_a_ref_of_a_plain_folder_is_an_error(folder: Path, mirror: Mirror) -> None:
    with pytest.raises(ConfigurationError, match="is not a git repository: drop its ref 'main'"):
        mirror.update(RepositoryEntry(key="project", location=str(folder), ref="main"))


def test_a_bare_repository_has_no_work_tree(git_repo: MakeRepo, mirror: Mirror, tmp_path: Path) -> None:
    repo = git_repo({"a.py": ""})
    subprocess.run(["git", "clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git")], check=True)

    with pytest.raises(ConfigurationError, match="is a bare repository without a work tree"):
        mirror.update(entry_of(tmp_path / "bare.git", worktree=True))
    assert mirror.update(entry_of(tmp_path / "bare.git")).ref == "HEAD"


def test_missing_objects_of_a_repository_are_not_fetched_by_its_own_command(
    git_repo: MakeRepo, mirror: Mirror, tmp_path: Path
) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    marker, trap = tmp_path / "marker", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    trap.chmod(0o755)
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(tmp_path),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(trap),
    }.items():
        repo.git("config", name, value)

    with pytest.raises(RepositoryUnavailable, match="cannot be fetched"):
        mirror.update(entry_of(repo.path))
    assert not marker.exists()
