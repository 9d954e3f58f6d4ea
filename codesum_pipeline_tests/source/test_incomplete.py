"""A commit that lacks objects is indexed without the files concerned, which are counted as failed and tried again."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ObjectsMissing
from codesum_pipeline.foundation.data_model.file import FileStatus, SkipReason, SourceFile
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline.source.git import incomplete
from codesum_pipeline.source.git.commit_history import history_of
from codesum_pipeline.source.git.trees import FOLDER_MODE, read_tree
from codesum_pipeline_tests.source.conftest import MakeWorkspace
from codesum_pipeline_tests.support.repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
FILES = {
    "a.py": "x = 1\n",
    "lib/b.py": "y = 1\n",
    "lib/deep/c.py": "z = 1\n",
    "lib/deep/d.py": "z = 2\n",
    "tail.py": "t = 1\n",
}


@pytest.fixture
def repo(git_repo: MakeRepo) -> GitRepo:
    """Two commits, each object a file of its own."""
    made = git_repo({"a.py": "x = 0\n", "lib/b.py": "y = 0\n"})
    made.commit(FILES)
    return made


def object_file(repo: GitRepo, name: str) -> Path:
    id_ = repo.git("rev-parse", name).strip()
    return repo.path / ".git" / "objects" / id_[:2] / id_[2:]


def lose(repo: GitRepo, name: str) -> str:
    """Delete one object; its id."""
    file = object_file(repo, name)
    file.unlink()
    return file.parent.name + file.name


def spoil(repo: GitRepo, name: str, *, content: bytes | None = None) -> str:
    """Overwrite one object with what is no object, or with `content`; its id."""
    file = object_file(repo, name)
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-4] if content is None else content)
    return file.parent.name + file.name


def rows_of(ws: Workspace) -> dict[str, SourceFile]:
    return {row.path: row for row in ws.tables.read_rows("files", ws.key, SourceFile)}


def indexed(ws: Workspace) -> set[str]:
    return {path for path, row in rows_of(ws).items() if row.status is FileStatus.INDEXED}


def failures_of(report: SnapshotReport) -> Mapping[str, str]:
    return {failure.item: failure.reason for failure in report.failures}


def unreadable(repo: GitRepo, id_: str, *, what: str = "object") -> str:
    return (
        f"unreadable: {what} {id_} is missing, or cannot be read: run `git -C {repo.path} fetch --refetch --no-filter "
        "origin`, or index its URL instead"
    )


@pytest.mark.parametrize("damage", [lose, spoil], ids=["lost", "cut off"])
@pytest.mark.parametrize("ref", [None, "main", "v1", "by id"])
def test_all_but_the_file_of_an_object_that_cannot_be_read_is_indexed(
    repo: GitRepo, make_source_workspace: MakeWorkspace, damage: Callable[..., str], ref: str | None
) -> None:
    repo.git("tag", "-a", "v1", "-m", "one")
    commit = repo.git("rev-parse", "HEAD").strip()
    id_ = damage(repo, "HEAD:lib/b.py")
    ws = make_source_workspace(repo.path, ref=commit if ref == "by id" else ref)

    report = take_snapshot(ws)

    assert (report.commit, report.failed) == (commit, 1)
    assert indexed(ws) == FILES.keys() - {"lib/b.py"}
    assert rows_of(ws)["lib/b.py"].reason is SkipReason.FAILED
    assert failures_of(report) == {"lib/b.py": unreadable(repo, id_)}


def test_an_object_with_another_content_than_its_id_says_is_as_good_as_none(
    repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    other = object_file(repo, "HEAD:a.py").read_bytes()
    id_ = spoil(repo, "HEAD:lib/b.py", content=other)

    report = take_snapshot(make_source_workspace(repo.path))

    assert failures_of(report) == {"lib/b.py": unreadable(repo, id_)}


@pytest.mark.parametrize("damage", [lose, spoil], ids=["lost", "cut off"])
def test_a_folder_that_cannot_be_read_is_one_failed_path(
    repo: GitRepo, make_source_workspace: MakeWorkspace, damage: Callable[..., str]
) -> None:
    id_ = damage(repo, "HEAD:lib/deep")
    ws = make_source_workspace(repo.path)

    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", "lib/b.py", "tail.py"}
    assert failures_of(report) == {"lib/deep": unreadable(repo, id_, what="folder")}


def test_the_files_around_a_folder_that_cannot_be_read_are_listed_with_their_sizes(
    repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    id_ = lose(repo, "HEAD:lib/deep")
    ws = make_source_workspace(repo.path)
    commit = take_snapshot(ws).commit
    mirror = ws.layout.mirror(ws.key)

    listed = list(read_tree(commit, git_dir=mirror, timeout_s=60, with_sizes=True))
    below = [file.path for file in read_tree(commit, "lib", git_dir=mirror, timeout_s=60)]

    assert [(file.path, file.size) for file in listed] == [
        (b"a.py", 6), (b"lib/b.py", 6), (b"lib/deep", 0), (b"tail.py", 6),
    ]  # fmt: skip
    assert (listed[2].mode, listed[2].blob) == (FOLDER_MODE, id_)
    assert below == [b"lib/b.py", b"lib/deep"]


def test_what_is_there_again_is_indexed_by_the_next_build(repo: GitRepo, make_source_workspace: MakeWorkspace) -> None:
    aside = {name: object_file(repo, name).read_bytes() for name in ("HEAD:lib/b.py", "HEAD:lib/deep")}
    files = {name: object_file(repo, name) for name in aside}
    for name in aside:
        lose(repo, name)
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)

    for name, content in aside.items():
        files[name].write_bytes(content)
    report = take_snapshot(ws)

    assert report.failures == ()
    assert indexed(ws) == set(FILES)


def test_a_later_commit_of_a_repository_that_lacks_objects_is_indexed(
    repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    ws = make_source_workspace(repo.path)
    lost = lose(repo, "HEAD:lib/b.py")
    take_snapshot(ws)

    lacking = repo.commit({"new.py": "n = 1\n"})
    lose(repo, "HEAD:lib/b.py")
    while_lacking = take_snapshot(ws)
    whole = repo.commit({"lib/b.py": "y = 2\n"})
    after = take_snapshot(ws)

    assert (while_lacking.commit, failures_of(while_lacking)) == (lacking, {"lib/b.py": unreadable(repo, lost)})
    assert (after.commit, after.failures) == (whole, ())
    assert indexed(ws) == {*FILES, "new.py"}


def test_a_file_that_an_earlier_build_brought_is_read_from_the_mirror(
    repo: GitRepo, make_source_workspace: MakeWorkspace
) -> None:
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)
    lose(repo, "HEAD:lib/b.py")
    commit = repo.commit({"new.py": "n = 1\n"})

    report = take_snapshot(ws)

    assert (report.commit, report.failures) == (commit, ())


def test_a_clone_that_borrows_from_one_that_lacks_an_object_is_indexed(
    repo: GitRepo, make_source_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", str(repo.path), str(clone)], check=True)
    lose(repo, "HEAD:lib/b.py")
    ws = make_source_workspace(clone)

    assert failures_of(take_snapshot(ws)).keys() == {"lib/b.py"}
    assert indexed(ws) == FILES.keys() - {"lib/b.py"}


def test_a_damaged_pack_is_read_as_far_as_it_goes(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git itself ends at the first damaged object of a pack."""
    repo = git_repo({f"{name}.py": f"{name} = '{name * 500}'\n" for name in "abcdef"})
    repo.git("-c", "pack.compression=0", "gc", "-q")
    (pack,) = (repo.path / ".git/objects/pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    for name in b"bd":
        at = content.index(bytes([name]) * 400)
        content[at : at + 4] = b"????"
    pack.chmod(0o644)
    pack.write_bytes(content)
    ws = make_source_workspace(repo.path)

    report = take_snapshot(ws)

    assert failures_of(report).keys() == {"b.py", "d.py"}
    assert indexed(ws) == {"a.py", "c.py", "e.py", "f.py"}
    assert history_of(ws, report.commit, commits=5).commits == ()
    monkeypatch.setattr(incomplete, "MOST_DAMAGED", 1)
    with pytest.raises(ObjectsMissing, match="more than 1 objects of the commit are damaged"):
        take_snapshot(make_source_workspace(repo.path, home="another"))


@pytest.mark.parametrize("what", ["HEAD", "HEAD^{tree}"])
def test_without_the_commit_or_its_topmost_folder_there_is_nothing_to_index(
    repo: GitRepo, make_source_workspace: MakeWorkspace, what: str
) -> None:
    lose(repo, what)

    with pytest.raises(ObjectsMissing, match=r"run `git -C .* fetch --refetch --no-filter origin`"):
        take_snapshot(make_source_workspace(repo.path))


def test_a_whole_clone_is_not_read_object_by_object(
    repo: GitRepo, make_source_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incomplete, "_read", None)

    assert take_snapshot(make_source_workspace(repo.path)).failures == ()
    shutil.rmtree(repo.path)
