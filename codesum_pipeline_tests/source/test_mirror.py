"""Fetching: only what is asked for, only what is missing, and only as long as it is there."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.git import start_git, stop_git
from codesum_pipeline.source.git.mirror import Mirror, make_scratch
from codesum_pipeline_tests.source.conftest import git_output
from codesum_pipeline_tests.support.repositories import GitRepo

MakeRepo = Callable[..., GitRepo]


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "home" / "mirrors" / "project.git", timeout_s=60)


def entry_of(repo: GitRepo, ref: str | None = None) -> RepositoryEntry:
    return RepositoryEntry(key="project", location=str(repo.path), ref=ref)


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_without_a_ref_the_head_of_the_remote_is_taken(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("checkout", "-q", "-b", "work")
    commit = repo.commit({"a.py": "x = 2\n"})

    head = mirror.update(entry_of(repo))

    assert (head.commit, head.ref, head.left_out) == (commit, "HEAD", ())
    assert git_output(mirror.git_dir, "show", f"{commit}:a.py") == b"x = 2\n"


def test_a_second_fetch_brings_only_what_is_new(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({f"f{number}.py": f"x = {number}\n" for number in range(50)})
    mirror.update(entry_of(repo))
    packs = mirror.git_dir / "objects" / "pack"
    before = set(packs.glob("*.pack"))
    commit = repo.commit({"f1.py": "x = 'new'\n"})

    assert mirror.update(entry_of(repo)).commit == commit

    (new,) = set(packs.glob("*.pack")) - before
    listed = git_output(mirror.git_dir, "verify-pack", "-v", str(new.with_suffix(".idx"))).splitlines()
    # Commit, tree and blob, and the old tree that the new one is stored as a difference from.
    assert sum(line[40:41] == b" " for line in listed) <= 4


def test_an_unchanged_repository_is_not_fetched_again(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    first = mirror.update(entry_of(repo))
    before = tree_of(mirror.git_dir)

    assert mirror.update(entry_of(repo)) == first
    assert tree_of(mirror.git_dir) == before


def test_rewritten_history_is_followed(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    mirror.update(entry_of(repo, "main"))
    repo.git("commit", "-q", "--amend", "-m", "other")
    commit = repo.git("rev-parse", "HEAD").strip()

    assert mirror.update(entry_of(repo, "main")).commit == commit


@pytest.mark.parametrize("ref", ["main", "refs/heads/main", "v1", "v1-annotated", "refs/tags/v1", "full", "short"])
def test_a_branch_tag_or_commit_can_be_asked_for(ref: str, git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    commit = repo.git("rev-parse", "HEAD").strip()
    repo.git("tag", "v1")
    repo.git("tag", "-a", "v1-annotated", "-m", "one")
    if "main" not in ref:
        repo.commit({"a.py": "x = 2\n"})
    wanted = {"full": commit, "short": commit[:9]}.get(ref, ref)

    head = mirror.update(entry_of(repo, wanted))

    assert (head.commit, head.ref) == (commit, wanted)
    assert mirror.head_commit(entry_of(repo, wanted)) == commit


def test_a_branch_stands_before_a_tag_of_its_name(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("tag", "release")
    repo.git("checkout", "-q", "-b", "release")
    commit = repo.commit({"a.py": "x = 2\n"})

    assert mirror.update(entry_of(repo, "release")).commit == commit


def test_a_branch_can_become_a_folder_of_branches(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("branch", "dev")
    mirror.update(entry_of(repo, "dev"))
    repo.git("branch", "-D", "dev")
    repo.git("branch", "dev/one")

    assert mirror.update(entry_of(repo, "dev/one")).commit == repo.git("rev-parse", "HEAD").strip()


def test_a_deleted_ref_is_an_error_that_names_the_nearest(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("branch", "feature")
    mirror.update(entry_of(repo, "feature"))
    repo.git("branch", "-m", "feature", "features")

    with pytest.raises(ConfigurationError) as error:
        mirror.update(entry_of(repo, "feature"))

    assert str(error.value) == (
        f"repos.yaml: 'project': path {repo.path} has no branch, tag or commit 'feature' "
        "(the nearest is 'features'): change its ref"
    )


@pytest.mark.parametrize("ref", ["deadbeef", "d" * 40])
def test_a_commit_that_is_nowhere_is_an_error(ref: str, git_repo: MakeRepo, mirror: Mirror) -> None:
    with pytest.raises(ConfigurationError, match="has no branch, tag or commit"):
        mirror.update(entry_of(git_repo({"a.py": "x = 1\n"}), ref))


@pytest.mark.parametrize("ref", ["-x", "a b", "a..b", "a:b", "*", "x.lock", "a~1", "HEAD^"])
def test_a_ref_that_is_none_is_refused_before_git_sees_it(ref: str, git_repo: MakeRepo, mirror: Mirror) -> None:
    with pytest.raises(ConfigurationError, match="cannot be the name of a branch or tag"):
        mirror.update(entry_of(git_repo({"a.py": "x = 1\n"}), ref))


def test_a_tag_of_something_else_is_an_error(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("tag", "blob", repo.git("rev-parse", "HEAD:a.py").strip())

    with pytest.raises(ConfigurationError, match="ref 'blob' leads to no commit"):
        mirror.update(entry_of(repo, "blob"))


def test_a_repository_without_commits_says_how_to_go_on(tmp_path: Path, mirror: Mirror) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    entry = RepositoryEntry(key="project", location=str(tmp_path / "empty"))

    with pytest.raises(ConfigurationError, match="has no commits yet: commit something, or index the folder as it is"):
        mirror.update(entry)


def test_a_head_without_commits_names_the_branches_there_are(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("symbolic-ref", "HEAD", "refs/heads/master")

    with pytest.raises(ConfigurationError, match="set a ref, one of main"):
        mirror.update(entry_of(repo))


def test_a_path_that_is_gone_is_named(tmp_path: Path, mirror: Mirror) -> None:
    with pytest.raises(ConfigurationError) as error:
        mirror.update(RepositoryEntry(key="flask", location=str(tmp_path / "flsk")))

    assert str(error.value) == (
        f"repos.yaml: 'flask': path {tmp_path}/flsk does not exist: correct it, or `codesum remove flask`"
    )


def test_a_broken_repository_can_be_retried(tmp_path: Path, mirror: Mirror) -> None:
    (tmp_path / "broken" / ".git").mkdir(parents=True)

    with pytest.raises(RepositoryUnavailable, match=r"'project': path .*broken cannot be read: git ls-remote failed"):
        mirror.update(RepositoryEntry(key="project", location=str(tmp_path / "broken")))


def test_a_url_that_fails_is_shown_without_its_credentials(mirror: Mirror) -> None:
    entry = RepositoryEntry(key="project", location="https://user:s3cret@127.0.0.1:9/a/b.git")

    for attempt in (mirror.update, mirror.head_commit):
        with pytest.raises(RepositoryUnavailable) as error:
            attempt(entry)
        shown = f"{error.value} {error.value.__cause__}"
        assert "https://127.0.0.1:9/a/b.git" in shown
        assert "s3cret" not in shown


@pytest.fixture
def ssh_to_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `ssh` that runs what it is asked to on this machine; without the file, no host can be reached."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    return program


def test_offline_a_url_is_taken_from_the_mirror(git_repo: MakeRepo, mirror: Mirror, ssh_to_here: Path) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("branch", "dev")
    url = RepositoryEntry(key="project", location=f"ssh://example.org{repo.path}", ref="main")
    fetched = mirror.update(url)
    repo.commit({"a.py": "x = 2\n"})
    ssh_to_here.unlink()

    assert mirror.update(url, offline=True) == fetched
    assert mirror.head_commit(url, offline=True) == fetched.commit
    for other in (replace(url, ref="dev"), replace(url, location=f"{url.location}2")):
        with pytest.raises(RepositoryUnavailable, match="was never fetched: run `codesum index .*` without offline"):
            mirror.update(other, offline=True)
    with pytest.raises(RepositoryUnavailable, match=r"'project': ssh://example.org"):
        mirror.update(url)


def test_offline_a_path_is_still_fetched(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})

    assert mirror.update(entry_of(repo), offline=True).commit == repo.git("rev-parse", "HEAD").strip()


def test_a_shallow_clone_can_be_mirrored(git_repo: MakeRepo, mirror: Mirror, tmp_path: Path) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    commit = repo.commit({"a.py": "x = 2\n"})
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow")], check=True)

    head = mirror.update(RepositoryEntry(key="project", location=str(tmp_path / "shallow")))

    assert head.commit == commit


def test_a_repository_with_sha256_ids_can_be_mirrored(tmp_path: Path, mirror: Mirror) -> None:
    path = tmp_path / "long"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(path)], check=True)
    repo = GitRepo(path)
    commit = repo.commit({"a.py": "x = 1\n"})

    assert len(commit) == 64
    assert mirror.update(entry_of(repo)).commit == commit
    assert mirror.update(entry_of(repo, commit[:8])).commit == commit


def test_a_mirror_that_lost_its_content_is_made_anew(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    mirror.git_dir.mkdir(parents=True)

    assert mirror.update(entry_of(repo)).commit == repo.git("rev-parse", "HEAD").strip()


def test_a_repository_of_another_user_can_be_read(git_repo: MakeRepo, mirror: Mirror) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, who can give files away")
    repo = git_repo({"a.py": "x = 1\n"})
    commit = repo.git("rev-parse", "HEAD").strip()
    for path in (repo.path, *repo.path.rglob("*")):
        os.chown(path, 12345, 12345)

    assert mirror.update(entry_of(repo)).commit == commit


def test_the_locks_and_packs_of_a_killed_fetch_do_not_stop_the_next(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    mirror.update(entry_of(repo))
    (ref,) = (mirror.git_dir / "refs" / "codesum" / "wanted").iterdir()
    lock, unfinished = ref.with_suffix(".lock"), mirror.git_dir / "objects" / "pack" / "tmp_pack_x"
    for left in (lock, unfinished):
        left.write_bytes(b"")
        os.utime(left, (0, 0))
    commit = repo.commit({"a.py": "x = 2\n"})

    assert mirror.update(entry_of(repo)).commit == commit
    assert not lock.exists()
    assert not unfinished.exists()


def test_a_fetch_killed_at_any_time_leaves_a_usable_mirror(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({f"f{number}.py": f"x = {number}\n" * 1000 for number in range(60)})
    mirror.update(entry_of(repo))
    for round_number in range(6):
        commit = repo.commit({f"f{number}.py": f"y = {round_number}, {number}\n" * 1000 for number in range(60)})
        arguments = ["fetch", "--quiet", "--", str(repo.path), "+HEAD:refs/codesum/other"]
        process = start_git(arguments, git_dir=mirror.git_dir, stderr=subprocess.DEVNULL)
        time.sleep(0.004 * round_number)
        os.killpg(process.pid, signal.SIGKILL)
        stop_git(process)

        assert mirror.update(entry_of(repo)).commit == commit
        git_output(mirror.git_dir, "fsck", "--connectivity-only", commit)


def test_many_packs_are_merged(git_repo: MakeRepo, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codesum_pipeline.source.git.mirror.MAX_PACKS", 3)
    repo = git_repo({"a.py": "x = 0\n"})
    first = mirror.update(entry_of(repo)).commit
    for number in range(8):
        repo.commit({"a.py": f"x = {number}\n" * 5})
        mirror.update(entry_of(repo))

    assert len(list((mirror.git_dir / "objects" / "pack").glob("*.pack"))) <= 4
    assert git_output(mirror.git_dir, "show", f"{first}:a.py") == b"x = 0\n"


def test_asking_for_the_newest_commit_changes_nothing(git_repo: MakeRepo, mirror: Mirror) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    commit = repo.git("rev-parse", "HEAD").strip()

    assert mirror.head_commit(entry_of(repo)) == commit
    assert not mirror.git_dir.exists()


def test_a_scratch_sees_new_commits_and_leaves_the_mirror_as_it_was(
    git_repo: MakeRepo, mirror: Mirror, tmp_path: Path
) -> None:
    repo = git_repo({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    mirror.update(entry_of(repo))
    before = tree_of(mirror.git_dir)
    commit = repo.commit({"a.py": "x = 2\n"})

    scratch = make_scratch(mirror.git_dir, tmp_path / "scratch" / "project.git")

    assert scratch.update(entry_of(repo)).commit == commit
    assert git_output(scratch.git_dir, "show", f"{commit}:b.py") == b"y = 1\n"
    assert tree_of(mirror.git_dir) == before


def test_a_scratch_of_no_mirror_is_a_mirror_of_its_own(git_repo: MakeRepo, mirror: Mirror, tmp_path: Path) -> None:
    repo = git_repo({"a.py": "x = 1\n"})

    scratch = make_scratch(mirror.git_dir, tmp_path / "scratch.git")

    assert scratch.update(entry_of(repo)).commit == repo.git("rev-parse", "HEAD").strip()
    assert not mirror.git_dir.exists()
