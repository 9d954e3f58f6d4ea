"""Repositories in a state that git seldom leaves: an index of what is there, or an error that says what is not."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError, RepositoryUnavailable
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built, fast_import, git_bytes
from codesum_pipeline_tests.support.repositories import GitRepo

Index = Callable[..., Built]
ONLY_SOUND = {".", "a.py", "a.py::order_total"}
MISSING = "1" * 40


def objects_of(repo: GitRepo) -> list[Path]:
    return sorted(path for path in (repo.path / ".git/objects").glob("??/*") if path.is_file())


def test_a_repository_without_files_has_an_index_of_its_own(git_repo, index: Index) -> None:
    made = index(git_repo({}).path)

    assert made.documents() == {}
    assert made.rebuilt().findings() == []


def test_a_repository_without_code_has_an_index_of_its_texts(git_repo, index: Index) -> None:
    made = index(git_repo({"README.md": "# Nothing\n\nNo code at all.\n", "a.bin": b"\0"}).path)

    assert set(made.documents()) == {".", "README.md"}


def test_a_repository_without_commits_says_how_to_go_on(tmp_path: Path, index: Index) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)

    with pytest.raises(ConfigurationError, match="has no commits yet: commit something"):
        index(tmp_path / "empty")


def test_a_shallow_clone_is_indexed(git_repo, index: Index, tmp_path: Path) -> None:
    repo = git_repo({"old.py": "x = 1\n"})
    repo.commit_exactly({"a.py": SOUND})
    git_bytes(tmp_path, "clone", "-q", "--depth=1", f"file://{repo.path}", "shallow")

    assert set(index(tmp_path / "shallow").documents()) == ONLY_SOUND


def test_a_detached_head_is_indexed(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    repo.commit({"b.py": SOUND})
    repo.git("checkout", "-q", "HEAD~1")

    assert set(index(repo.path).documents()) == ONLY_SOUND


@pytest.mark.parametrize("ref", ["nowhere", "refs/heads/nowhere", MISSING, "0" * 40, "1111111"])
def test_a_ref_that_is_missing_is_named(git_repo, index: Index, ref: str) -> None:
    with pytest.raises(ConfigurationError, match=f"has no branch, tag or commit '{ref}'.*change its ref"):
        index(git_repo({"a.py": SOUND}).path, ref=ref)


@pytest.mark.parametrize("ref", ["--upload-pack=touch x", "-f", "a..b", "a:b", "@{-1}", "a b", "*", "HEAD~1", "a\nb"])
def test_a_ref_that_reads_like_something_else_is_refused(git_repo, codesum, tmp_path: Path, ref: str) -> None:
    refused = codesum(tmp_path / "home", "add", git_repo({"a.py": SOUND}).path, f"--ref={ref}")

    assert refused.exit_code == 2
    assert "cannot be the name of a branch or tag" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_branch_with_an_odd_name_is_indexed(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    branch = "fe/<b>'$(x)`;{{1}}\u202e"
    repo.git("checkout", "-q", "-b", branch)

    made = index(repo.path, ref=branch)

    assert made.home.tables.read("snapshot", "project").column("ref").to_pylist() == [branch]


@pytest.mark.slow
def test_rewritten_history_is_followed(git_repo, index: Index) -> None:
    repo = git_repo({"gone.py": SOUND})
    first = index(repo.path)
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit_exactly({"a.py": SOUND})
    repo.git("branch", "-q", "-M", "other", "main")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")

    again = first.rebuilt()

    assert set(again.documents()) == ONLY_SOUND
    assert again.findings() == []


@pytest.mark.parametrize("lost", ["tree", pytest.param("commit", marks=pytest.mark.slow)])
def test_a_lost_object_is_an_error_and_the_old_index_stays(git_repo, index: Index, lost: str) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    repo.commit({"b.py": "y = 3\n"})
    name = {"tree": "HEAD^{tree}", "commit": "HEAD"}[lost]
    oid = repo.git("rev-parse", name).strip()
    (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()

    with pytest.raises(CodesumError, match="project"):
        made.rebuilt()

    assert made.findings() == []
    assert set(made.documents()) == ONLY_SOUND


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x78\x01\x00"], ids=["emptied", "garbage", "cut off"])
def test_a_broken_object_is_an_error_that_names_the_repository(git_repo, index: Index, damage: bytes) -> None:
    repo = git_repo({"a.py": SOUND})
    oid = repo.git("rev-parse", "HEAD:a.py").strip()
    path = repo.path / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(damage)

    with pytest.raises(RepositoryUnavailable, match="repos.yaml: 'project': path .* cannot be fetched"):
        index(repo.path)


def test_a_corrupt_pack_is_an_error_that_names_the_repository(git_repo, index: Index) -> None:
    repo = git_repo({f"m{n}.py": SOUND + b"# %d\n" % n for n in range(30)})
    repo.git("gc", "-q")
    (pack,) = (repo.path / ".git/objects/pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    content[40:-20] = bytes(byte ^ 0x55 for byte in content[40:-20])
    pack.chmod(0o644)
    pack.write_bytes(content)

    with pytest.raises(CodesumError, match="repos.yaml: 'project': path"):
        index(repo.path)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"ref: refs/heads/../../../etc/passwd\n", b"ref: loop\n", b"x" * 5_000]
)
def test_a_head_that_is_none_is_an_error_that_names_the_repository(git_repo, index: Index, content: bytes) -> None:
    repo = git_repo({"a.py": SOUND})
    (repo.path / ".git/HEAD").write_bytes(content)

    with pytest.raises(CodesumError, match="repos.yaml: 'project': path"):
        index(repo.path)


@pytest.mark.slow
def test_a_mirror_that_is_deleted_between_runs_is_made_anew(git_repo, index: Index) -> None:
    made = index(git_repo({"a.py": SOUND}).path)
    shutil.rmtree(made.home.layout.mirror("project"))

    again = made.rebuilt()

    assert set(again.documents()) == ONLY_SOUND
    assert again.findings() == []


def test_a_mirror_that_is_deleted_under_a_run_is_an_error_and_the_next_run_succeeds(git_repo, tmp_path: Path) -> None:
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

    home = open_home(tmp_path / "home")
    workspace = workspace_of(home, RepositoryEntry("project", str(git_repo({"a.py": SOUND}).path)))
    build(workspace, until="repo_snapshot")
    shutil.rmtree(home.layout.mirror("project"))

    with pytest.raises(RepositoryUnavailable, match="project.git"):
        _steps_after_the_snapshot(workspace)
    build(workspace)

    assert home.tables.read("documents", "project").num_rows == 3


def _steps_after_the_snapshot(workspace) -> None:
    from codesum_pipeline.symbols.parsing.symbols_step import parse_symbols

    parse_symbols(workspace)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        pytest.param("HEAD", "not a git repository: '{mirror}'", id="HEAD"),
        pytest.param("config", "bad config line 1 in file {mirror}/config", id="config", marks=pytest.mark.slow),
        pytest.param(
            "packed-refs", "unexpected line in {mirror}/packed-refs:", id="packed-refs", marks=pytest.mark.slow
        ),
    ],
)
def test_a_damaged_mirror_is_named_and_made_anew_once_it_is_deleted(
    git_repo, index: Index, name: str, complaint: str
) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    mirror = made.home.layout.mirror("project")
    (mirror / name).write_bytes(b"\0garbage\n")
    repo.commit({"b.py": SOUND})

    with pytest.raises(RepositoryUnavailable) as caught:
        made.rebuilt()

    assert str(caught.value) == (
        f"repos.yaml: 'project': path {repo.path} cannot be fetched: {complaint.format(mirror=mirror)}"
        f"; delete {mirror} to fetch it anew"
    )
    assert made.findings() == []
    shutil.rmtree(mirror)
    assert "b.py" in made.rebuilt().documents()


def test_replaced_objects_are_not_looked_at(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    real = repo.git("rev-parse", "HEAD").strip()
    false = repo.commit({"false.py": SOUND})
    repo.git("reset", "-q", "--hard", real)
    repo.git("replace", real, false)

    made = index(repo.path)

    assert set(made.documents()) == ONLY_SOUND
    assert made.home.tables.read("snapshot", "project").column("commit").to_pylist() == [real]


@pytest.mark.slow
def test_a_graft_changes_nothing(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    head = repo.git("rev-parse", "HEAD").strip()
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{head} {MISSING}\n")

    made = index(repo.path)

    assert made.home.tables.read("snapshot", "project").column("commit").to_pylist() == [head]


def test_alternates_that_lead_nowhere_are_an_error_only_where_something_is_missing(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    (repo.path / ".git/objects/info").mkdir(exist_ok=True)
    (repo.path / ".git/objects/info/alternates").write_text("/nowhere/objects\n../../../../etc\n/etc/passwd\n")

    assert set(index(repo.path).documents()) == ONLY_SOUND


@pytest.mark.slow
def test_the_mirror_of_a_clone_that_borrows_objects_has_them_all(git_repo, index: Index, tmp_path: Path) -> None:
    repo = git_repo({"a.py": SOUND})
    git_bytes(tmp_path, "clone", "-q", "--shared", str(repo.path), "borrowing")
    made = index(tmp_path / "borrowing")

    assert not (made.home.layout.mirror("project") / "objects/info/alternates").exists()
    shutil.rmtree(repo.path)
    assert git_bytes(made.home.layout.mirror("project"), "fsck", "--connectivity-only") == b""


@pytest.mark.parametrize(
    "location",
    [
        "ext::sh -c touch% {marker}",
        "fd::0",
        "--upload-pack=touch {marker}",
        "-oProxyCommand=touch {marker}",
        "ssh://-oProxyCommand=touch%20{marker}/x",
        "http://example.invalid/a/b",
        "git://example.invalid/a/b",
        "ftp://example.invalid/a/b",
        "file://elsewhere/etc",
        "file:///etc/passwd",
        "https:///a/b",
        "https://exa mple.invalid/\x1b[31m",
    ],
)
def test_a_location_that_git_must_not_be_given_is_refused(codesum, tmp_path: Path, location: str) -> None:
    refused = codesum(tmp_path / "home", "add", "--", location.format(marker=tmp_path / "marker"))

    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.strip().isprintable()
    assert not (tmp_path / "marker").exists()


def test_a_clone_that_lacks_an_object_is_indexed_without_its_file_and_mended_by_the_next_build(
    git_repo, codesum, tmp_path: Path
) -> None:
    repo, home = git_repo({"a.py": SOUND, "lib/b.py": SOUND + b"# b\n"}, name="shop"), tmp_path / "home"
    id_ = repo.git("rev-parse", "HEAD:lib/b.py").strip()
    file = repo.path / ".git/objects" / id_[:2] / id_[2:]
    content = file.read_bytes()
    file.unlink()

    built, status = codesum(home, "index", repo.path), codesum(home, "status", "shop")
    file.write_bytes(content)
    mended, after = codesum(home, "index", "shop"), codesum(home, "status", "shop")

    problem = f"lib/b.py (unreadable: object {id_} is missing, or cannot be read: run `git -C {repo.path} fetch"
    assert (built.exit_code, mended.exit_code) == (0, 0), built.stderr + mended.stderr
    assert problem in built.stderr and problem in status.stdout
    assert "1 file indexed" in built.stdout and "2 files indexed" in mended.stdout
    assert "lib/b.py" not in mended.stderr + after.stdout


def test_a_clone_that_lacks_its_commit_is_refused_without_another_try(git_repo, codesum, tmp_path: Path) -> None:
    repo, home = git_repo({"a.py": SOUND}, name="shop"), tmp_path / "home"
    id_ = repo.git("rev-parse", "HEAD^{tree}").strip()
    (repo.path / ".git/objects" / id_[:2] / id_[2:]).unlink()

    refused = codesum(home, "index", repo.path)

    assert refused.exit_code == 3
    assert "waiting to try again" not in refused.stderr
    assert f"run `git -C {repo.path} fetch --refetch --no-filter origin`" in refused.stderr


@pytest.mark.slow
def test_one_broken_repository_does_not_stop_the_others(git_repo, codesum, tmp_path: Path) -> None:
    sound, broken = git_repo({"a.py": SOUND}, name="sound"), git_repo({"a.py": SOUND}, name="broken")
    for path in objects_of(broken):
        path.chmod(0o644)
        path.write_bytes(b"\x1b[31mgarbage")

    done = codesum(tmp_path / "home", "index", sound.path, broken.path)

    assert done.exit_code == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["sound", "built"], ["broken", "failed"]]
    assert "\x1b" not in done.stdout + done.stderr
    assert "broken failed: repos.yaml: 'broken': path" in done.stderr


@pytest.mark.slow
def test_a_hundred_thousand_files_are_indexed(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repository")
    fast_import(
        repo, ((b"d%d/e%d/f%d.txt" % (n % 100, n % 1_000, n), b"Note %d about orders.\n" % n) for n in range(100_000))
    )

    made = built(repo.path, tmp_path / "home")

    assert made.reports["repo_snapshot"].files_indexed == 100_000
