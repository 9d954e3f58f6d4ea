"""Running git: nothing of a repository runs, nothing hangs, nothing leaks."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.source.git.git import BlobReader, last_line, run_git, try_git
from codesum_pipeline_tests.support.repositories import GitRepo

MISSING = "0" * 40


@pytest.fixture
def many_blobs(git_repo: Callable[..., GitRepo]) -> tuple[Path, list[str], list[bytes]]:
    """A repository, the ids of its blobs and their contents: more and larger ones than pipes hold."""
    contents = [f"file {number}\n".encode() * (1 + number % 700) for number in range(1500)]
    repo = git_repo({f"f{number:04}": content for number, content in enumerate(contents)})
    listed = repo.git("ls-tree", "-r", "HEAD").splitlines()
    return repo.path / ".git", [line.split()[2] for line in listed], contents


def test_many_blobs_are_read_in_order(many_blobs: tuple[Path, list[str], list[bytes]]) -> None:
    git_dir, ids, contents = many_blobs

    with BlobReader(git_dir) as blobs:
        assert list(blobs.read_many(ids)) == contents


def test_a_reader_can_be_left_in_the_middle_and_used_again(many_blobs: tuple[Path, list[str], list[bytes]]) -> None:
    git_dir, ids, contents = many_blobs

    with BlobReader(git_dir) as blobs:
        under_way = blobs.read_many(ids)
        assert next(under_way) == contents[0]
        under_way.close()
        assert blobs.read(ids[7]) == contents[7]
        assert list(blobs.read_many([])) == []


def test_an_interrupt_between_the_head_of_a_blob_and_its_content_is_told_as_one(
    many_blobs: tuple[Path, list[str], list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir, ids, contents = many_blobs

    def interrupted(_: int) -> bytes:
        monkeypatch.undo()
        raise KeyboardInterrupt

    with BlobReader(git_dir) as blobs:
        under_way = blobs.read_many(ids)
        assert next(under_way) == contents[0]
        stdout = blobs._process.stdout
        assert stdout is not None
        monkeypatch.setattr(blobs._process, "stdout", Mock(wraps=stdout, read=interrupted))
        with pytest.raises(KeyboardInterrupt):
            next(under_way)


def test_a_missing_blob_is_skipped(many_blobs: tuple[Path, list[str], list[bytes]]) -> None:
    git_dir, ids, contents = many_blobs

    with BlobReader(git_dir) as blobs:
        with pytest.raises(SkippedFile) as error:
            blobs.read(MISSING)
        assert error.value.reason == "unreadable"
        assert list(blobs.read_many([ids[0], MISSING, ids[1]])) == [contents[0], None, contents[1]]
        with pytest.raises(SkippedFile):
            blobs.read("HEAD^{tree}")


def test_a_reader_of_no_repository_says_so(tmp_path: Path) -> None:
    with BlobReader(tmp_path) as blobs, pytest.raises(RepositoryUnavailable, match="cannot be read"):
        blobs.read(MISSING)


def is_running(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.slow
def test_a_hanging_git_is_ended_with_its_helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = tmp_path / "hang"
    helper.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    helper.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(helper))

    with pytest.raises(RepositoryUnavailable, match=r"git ls-remote took longer than 5 s"):
        run_git(["ls-remote", "--", "ssh://example.org/a/b"], timeout_s=5)

    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(pid)


def test_variables_that_redirect_git_are_not_handed_on(
    git_repo: Callable[..., GitRepo], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.x")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "!echo no")

    seen = run_git(["rev-parse", "--git-dir"], git_dir=repo.path / ".git", timeout_s=10)
    configured = try_git(["config", "--get-regexp", "alias"], git_dir=repo.path / ".git", timeout_s=10)

    assert seen.decode().strip() == str(repo.path / ".git")
    assert configured.output == b""


@pytest.mark.parametrize(
    ("complaint", "shown"),
    [
        (
            b"hint: a\nfatal: unable to access 'https://u:s3cret@h/a/': 403\n",
            "unable to access 'https://h/a/': 403",
        ),
        (b"fatal: not here\nsee the manual\n\n", "not here"),
        (
            b"git@h: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\n"
            b"Please make sure you have the correct access rights\nand the repository exists.\n",
            "git@h: Permission denied (publickey).",
        ),
        (b"remote: no such repository\n", "remote: no such repository"),
        (b"", ""),
    ],
)
def test_the_last_complaint_is_shown_without_credentials(complaint: bytes, shown: str) -> None:
    assert last_line(complaint) == shown


def test_who_reads_no_blob_starts_no_git(tmp_path: Path) -> None:
    with BlobReader(tmp_path / "nowhere") as blobs:
        assert list(blobs.read_many([])) == []
