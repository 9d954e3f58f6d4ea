"""A mirror begins as one commit; what was before it is fetched when it is asked for, as much as is asked for."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.git.commit_history import commits_with_changes, history_of
from codesum_pipeline.source.git.mirror import Mirror, make_scratch
from codesum_pipeline_tests.source.conftest import MakeWorkspace, git_output
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import changed

MakeRepo = Callable[..., GitRepo]
SshBy = Callable[[str], Path]
LENGTH = 12


@pytest.fixture
def long_repo(git_repo: MakeRepo) -> GitRepo:
    """Twelve commits of two files, each object a file of its own."""
    repo = git_repo({"a.py": "x = 0\n", "lib/b.py": "y = 0\n"})
    for number in range(1, LENGTH - 1):
        repo.commit({"a.py": f"x = {number}\n", "lib/b.py": f"y = {number}\n"})
    return repo


@pytest.fixture
def ssh_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SshBy:
    """`ssh_by(program)`: what every connection by ssh is made with."""

    def write(program: str) -> Path:
        ssh = tmp_path / "ssh"
        ssh.write_text(program)
        ssh.chmod(0o755)
        monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
        return ssh

    return write


def lose(repo: GitRepo, name: str) -> str:
    """Delete one object; its id."""
    object_id = repo.git("rev-parse", name).strip()
    (repo.path / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    return object_id


def commits_in(git_dir: Path, commit: str) -> int:
    return len(git_output(git_dir, "rev-list", commit).split())


def head_of(repo: GitRepo) -> str:
    return repo.git("rev-parse", "HEAD").strip()


def entry_of(location: object, ref: str | None = None) -> RepositoryEntry:
    return RepositoryEntry(key="project", location=str(location), ref=ref)


@pytest.mark.parametrize("ref", [None, "main", "v1", "full"])
def test_a_fresh_mirror_fetches_the_commit_alone(long_repo: GitRepo, tmp_path: Path, ref: str | None) -> None:
    long_repo.git("tag", "-a", "v1", "-m", "one")
    commit = head_of(long_repo)
    mirror = Mirror(tmp_path / "mirror.git")

    assert mirror.update(entry_of(long_repo.path, commit if ref == "full" else ref)).commit == commit

    assert commits_in(mirror.git_dir, commit) == 1
    assert git_output(mirror.git_dir, "show", f"{commit}:lib/b.py") == f"y = {LENGTH - 2}\n".encode()


def test_the_next_fetch_of_a_shallow_mirror_brings_only_what_the_new_commit_changed(
    git_repo: MakeRepo, tmp_path: Path
) -> None:
    repo = git_repo({f"f{number}.py": f"x = {number}\n" for number in range(50)})
    mirror = Mirror(tmp_path / "mirror.git")
    mirror.update(entry_of(repo.path))
    packs = mirror.git_dir / "objects" / "pack"
    before = set(packs.glob("*.pack"))
    for number in range(3):
        repo.commit({"f1.py": f"x = 'new {number}'\n"})

    commit = mirror.update(entry_of(repo.path)).commit

    (new,) = set(packs.glob("*.pack")) - before
    listed = git_output(mirror.git_dir, "verify-pack", "-v", str(new.with_suffix(".idx"))).splitlines()
    assert sum(line[40:41] == b" " for line in listed) <= 4
    assert commits_in(mirror.git_dir, commit) == 1


def test_history_is_deepened_as_far_as_is_asked(long_repo: GitRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(long_repo.path)
    commit = take_snapshot(ws).commit
    line = long_repo.git("rev-list", "HEAD").split()

    assert history_of(ws, commit, commits=4).commits == tuple(line[:4])
    # The parent of the last one, to compare it with.
    assert commits_in(ws.layout.mirror("project"), commit) == 5
    assert history_of(ws, commit, commits=3).commits == tuple(line[:3])
    assert commits_in(ws.layout.mirror("project"), commit) == 5
    assert history_of(ws, commit, commits=300).commits == tuple(line)
    assert history_of(ws, commit, commits=300).short_because == ""


def test_a_mirror_that_was_deepened_goes_on_growing(long_repo: GitRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(long_repo.path)
    history_of(ws, take_snapshot(ws).commit, commits=4)
    for number in range(2):
        long_repo.commit({"a.py": f"x = 'new {number}'\n"})

    commit = take_snapshot(ws).commit

    assert commits_in(ws.layout.mirror("project"), commit) == 7


def test_a_mirror_of_a_whole_history_stays_whole(long_repo: GitRepo, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror.git")
    mirror.create("sha1")
    git_output(
        mirror.git_dir, "-c", "fetch.unpackLimit=1", "fetch", "-q", str(long_repo.path), "+HEAD:refs/codesum/old"
    )
    long_repo.commit({"a.py": "x = 'new'\n"})

    commit = mirror.update(entry_of(long_repo.path)).commit

    assert commits_in(mirror.git_dir, commit) == LENGTH + 1
    assert not (mirror.git_dir / "shallow").exists()


def test_a_scratch_of_a_shallow_mirror_is_shallow(long_repo: GitRepo, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror.git")
    mirror.update(entry_of(long_repo.path))
    commit = long_repo.commit({"a.py": "x = 'new'\n"})

    scratch = make_scratch(mirror.git_dir, tmp_path / "scratch.git")

    assert scratch.update(entry_of(long_repo.path)).commit == commit
    assert git_output(scratch.git_dir, "show", f"{commit}:lib/b.py") == f"y = {LENGTH - 2}\n".encode()
    assert commits_in(scratch.git_dir, commit) == 1


def test_history_that_cannot_be_had_is_said_and_what_there_is_is_used(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, ssh_by: SshBy
) -> None:
    ssh = ssh_by('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    ws = make_source_workspace(f"ssh://example.org{long_repo.path}")
    commit = take_snapshot(ws).commit
    deepened = history_of(ws, commit, commits=2)
    offline = replace(ws, settings=changed(ws.settings, offline=True))

    short = history_of(offline, commit, commits=6)

    assert short.commits == deepened.commits
    assert short.short_because == "offline = true: no more of it is fetched"
    with hold_lease(ws.layout.state("project"), key="project", run_id="another"):
        assert "is being built by" in history_of(ws, commit, commits=6).short_because
    ssh.unlink()
    assert history_of(ws, commit, commits=6).commits == deepened.commits


def test_the_run_that_holds_the_lease_deepens(long_repo: GitRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(long_repo.path)
    commit = take_snapshot(ws).commit

    with hold_lease(ws.layout.state("project"), key="project", run_id=ws.run_id):
        assert len(history_of(ws, commit, commits=4).commits) == 4


@pytest.mark.parametrize("what", ["HEAD~3", "HEAD~3^{tree}", "HEAD~3:a.py", "HEAD~3:lib"])
def test_a_clone_whose_history_lacks_an_object_is_indexed(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, what: str
) -> None:
    lose(long_repo, what)
    ws = make_source_workspace(long_repo.path)

    report = take_snapshot(ws)

    assert (report.commit, report.files_indexed) == (head_of(long_repo), 2)
    assert len(history_of(ws, report.commit, commits=1).commits) == 1
    history = history_of(ws, report.commit, commits=300)
    assert len(history.commits) == 1
    assert history.short_because
    commit = long_repo.commit({"a.py": "x = 'new'\n"})
    assert take_snapshot(ws).commit == commit


@pytest.mark.parametrize("short", [False, True])
def test_a_commit_named_by_its_id_is_indexed_where_the_history_lacks_an_object(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, short: bool
) -> None:
    lose(long_repo, "HEAD~4:a.py")
    commit = long_repo.git("rev-parse", "HEAD~1").strip()

    report = take_snapshot(make_source_workspace(long_repo.path, ref=commit[:10] if short else commit))

    assert (report.commit, report.files_indexed) == (commit, 2)


@pytest.mark.slow
@pytest.mark.parametrize("switch", ["--depth=1", "--filter=blob:none", "--filter=tree:0"])
def test_a_shallow_or_partial_clone_whose_origin_is_gone_is_indexed(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, tmp_path: Path, switch: str
) -> None:
    long_repo.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", switch, f"file://{long_repo.path}", str(clone)], check=True)
    commit = head_of(long_repo)
    shutil.rmtree(long_repo.path)

    report = take_snapshot(make_source_workspace(clone))

    assert (report.commit, report.files_indexed) == (commit, 2)


def test_what_a_partial_clone_lacks_is_not_fetched_by_its_own_commands(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    long_repo.git("config", "uploadpack.allowFilter", "true")
    subprocess.run(
        ["git", "clone", "-q", "-n", "--filter=blob:none", f"file://{long_repo.path}", str(tmp_path / "clone")],
        check=True,
    )
    clone, marker, trap = GitRepo(tmp_path / "clone"), tmp_path / "marker", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    trap.chmod(0o755)
    clone.git("config", "remote.origin.uploadpack", str(trap))
    clone.git("config", "core.sshCommand", str(trap))
    clone.git("config", "protocol.ext.allow", "always")
    lacking = [long_repo.git("rev-parse", f"HEAD:{name}").strip() for name in ("a.py", "lib/b.py")]

    for url in (str(tmp_path), f"ext::{trap}", "ssh://example.org/a"):
        clone.git("config", "remote.origin.url", url)
        with pytest.raises(RepositoryUnavailable) as error:
            take_snapshot(make_source_workspace(clone.path))

        assert not marker.exists()
        assert f"commit {head_of(long_repo)[:12]} needs object " in str(error.value)
        assert any(f"object {blob} and 1 more, which it does not have" in str(error.value) for blob in lacking)
        assert f"run `git -C {clone.path} fetch --refetch --no-filter origin`" in str(error.value)


def test_the_way_out_of_a_clone_that_lacks_objects_leads_out(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    clone = GitRepo(tmp_path / "clone")
    subprocess.run(["git", "clone", "-q", "--no-local", str(long_repo.path), str(clone.path)], check=True)
    blob = clone.git("rev-parse", "HEAD:a.py").strip()
    (pack,) = (clone.path / ".git" / "objects" / "pack").glob("*.pack")
    aside = pack.rename(tmp_path / "all.pack")
    for left in pack.parent.iterdir():
        left.unlink()
    with aside.open("rb") as content:
        subprocess.run(["git", "unpack-objects", "-q"], cwd=clone.path, stdin=content, check=True)
    (clone.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (failure,) = take_snapshot(make_source_workspace(clone.path)).failures
    way_out = failure.reason.partition("run `git -C ")[2].partition("`")[0].split()[1:]

    clone.git(*way_out)

    assert take_snapshot(make_source_workspace(clone.path)).files_indexed == 2


def test_a_server_that_knows_no_shallow_clones_gives_all(long_repo: GitRepo, tmp_path: Path, ssh_by: SshBy) -> None:
    # Takes what the server can do with shallow clones out of its first words.
    ssh_by(
        f"#!{sys.executable} -IS\n"
        "import os, subprocess, sys\n"
        "os.environ.pop('GIT_PROTOCOL', None)\n"
        "server = subprocess.Popen(['sh', '-c', sys.argv[-1]], stdout=subprocess.PIPE)\n"
        "while part := os.read(server.stdout.fileno(), 65536):\n"
        "    os.write(1, part.replace(b' shallow ', b' sh_llow '))\n"
    )
    mirror = Mirror(tmp_path / "mirror.git", timeout_s=60)

    commit = mirror.update(entry_of(f"ssh://example.org{long_repo.path}")).commit

    assert commits_in(mirror.git_dir, commit) == LENGTH


def test_a_commit_that_a_server_does_not_give_out_by_its_id_is_found_in_the_whole_history(
    long_repo: GitRepo, tmp_path: Path, ssh_by: SshBy
) -> None:
    # Without the second version of the protocol a server gives out only what its refs name.
    ssh_by('#!/bin/sh\nfor last; do :; done\nunset GIT_PROTOCOL\nexec sh -c "$last"\n')
    url = entry_of(f"ssh://example.org{long_repo.path}")
    mirror = Mirror(tmp_path / "mirror.git", timeout_s=60)
    mirror.update(url)
    old = long_repo.git("rev-parse", "HEAD~5").strip()

    assert mirror.update(replace(url, ref=old)).commit == old
    assert git_output(mirror.git_dir, "show", f"{old}:a.py") == f"x = {LENGTH - 2 - 5}\n".encode()


def test_the_same_commit_gives_the_same_tables_whatever_the_depth(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    shallow, deep = (make_source_workspace(long_repo.path, home=home) for home in ("shallow", "deep"))
    report = take_snapshot(shallow)
    take_snapshot(deep)
    history_of(deep, report.commit, commits=300)

    assert take_snapshot(deep).table_hash == report.table_hash


LACKS = "objects of it are missing there, or cannot be read"


@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:a.py", "HEAD:lib"])
def test_a_remote_that_lacks_objects_is_named_with_the_way_out(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace, ssh_by: SshBy, what: str
) -> None:
    ssh_by('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    lost = lose(long_repo, what)
    url = f"ssh://example.org{long_repo.path}"

    with pytest.raises(RepositoryUnavailable) as error:
        take_snapshot(make_source_workspace(url))

    assert str(error.value).startswith(f"repos.yaml: 'project': {url} cannot be fetched: commit ")
    assert f"commit {head_of(long_repo)[:12]}: {LACKS} ({lost} is the first)" in str(error.value)
    assert str(error.value).endswith(": run `git fsck` there, or index another clone")


def test_a_clone_that_lacks_the_commit_itself_is_named_with_the_way_out(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    commit = lose(long_repo, "HEAD")

    with pytest.raises(RepositoryUnavailable) as error:
        take_snapshot(make_source_workspace(long_repo.path))

    assert f"path {long_repo.path} cannot be fetched: it does not have commit {commit[:12]}" in str(error.value)
    assert f"run `git -C {long_repo.path} fetch --refetch --no-filter origin`" in str(error.value)


def test_a_history_that_lacks_objects_says_whose_and_what_to_do(
    long_repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    lose(long_repo, "HEAD~3:a.py")
    ws = make_source_workspace(long_repo.path)
    commit = take_snapshot(ws).commit

    reason = history_of(ws, commit, commits=300).short_because

    assert reason.startswith(
        f"repos.yaml: 'project': path {long_repo.path} cannot be fetched: commits before {commit[:12]}"
    )
    assert LACKS in reason
    assert f"run `git -C {long_repo.path} fetch --refetch --no-filter origin`" in reason


def test_no_message_and_no_path_is_taken_for_a_commit(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    repo = git_repo({"a.py": "x = 0\n"})
    first = repo.git("rev-parse", "HEAD").strip()
    paths = [" ", "a.py", first, ":100644", "\nb.py"]
    repo.write({path: f"x = {number + 1}\n" for number, path in enumerate(paths)})
    repo.git("add", "--all")
    forged = f"Begin\x01{'a' * 40} {'9' * 5000} 2b\x02Release signed by the security team"
    repo.git("commit", "--quiet", "-m", forged)
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)

    commit, before = commits_with_changes(ws, LENGTH)

    assert (commit.id, commit.parent, commit.subject) == (repo.git("rev-parse", "HEAD").strip(), first, forged)
    assert sorted(change.path for change in commit.changes) == sorted(paths)
    assert (before.id, [change.path for change in before.changes]) == (first, ["a.py"])
