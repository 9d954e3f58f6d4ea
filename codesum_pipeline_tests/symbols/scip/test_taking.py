"""Which indexes a build takes in, in which order, and what becomes of those that it cannot."""

import gzip
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import preview_of
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import RefusedIndex
from codesum_pipeline.foundation.data_model.file import Snapshot, SourceFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline.symbols.scip import taking
from codesum_pipeline.symbols.scip.taking import FoundIndex, copy_index, index_state, opened_file, snapshot_with_indexes
from codesum_pipeline.texts.summaries.rewrite_plan import preview_plan
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol

SOURCES = {"cart.py": "def total():\n    return 1\n", "web/page.py": "def show():\n    return 2\n"}
MB = 1 << 20


def an_index(name: str = "total") -> bytes:
    """A small index, another one for each name."""
    return HandMadeIndex(SOURCES).define("cart.py", "total", python_symbol("cart", f"{name}().")).content()


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A repository that ignores indexes."""
    found = GitRepo.create(tmp_path / "shop", SOURCES)
    (found.path / ".git" / "info" / "exclude").write_text("index.scip\nindex.scip.gz\n")
    return found


@pytest.fixture
def make(repo: GitRepo, tmp_path: Path) -> Callable[..., Workspace]:
    """`make(most_mb=4096, force=False, **entry_fields)`: a workspace of the repository in this test's home."""

    def workspace(*, most_mb: int = 4096, force: bool = False, **fields: object) -> Workspace:
        home = open_home(tmp_path / "home", scip={"max_index_mb": most_mb})
        entry = RepositoryEntry("shop", str(repo.path), **fields)  # type: ignore[arg-type]
        home.registry.add(entry)
        return home.workspace("shop", run_id="run", force=force)

    return workspace


def commit_ignored(repo: GitRepo, files: Mapping[str, str | bytes]) -> None:
    repo.write(files)
    repo.git("add", "-f", "-A")
    repo.git("commit", "-q", "-m", "indexes")


def rows(ws: Workspace) -> list[IndexFile]:
    return ws.tables.read_rows("scip_indexes", ws.key, IndexFile)


def copies(ws: Workspace) -> set[str]:
    folder = ws.layout.scip(ws.key)
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def only_problem(ws: Workspace) -> str:
    """Take in the one index, which cannot be: what is said about it."""
    report = snapshot_with_indexes(ws)
    (row,) = rows(ws)
    assert (report.scip_indexes, report.scip_problems) == (0, (f"{row.origin}: {row.problem}",))
    assert (row.sha256, row.size, copies(ws)) == ("", 0, set())
    return row.problem


def test_they_are_taken_in_by_precedence_each_under_its_content(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    contents = {name: an_index(name) for name in ("named", "beside", "root", "web", "folder", "subdir")}
    (tmp_path / "flask.scip").write_bytes(contents["named"])
    commit_ignored(repo, {"web/index.scip": contents["web"], "docs/index.scip.gz": gzip.compress(contents["root"])})
    repo.write({"index.scip": contents["folder"], "web/index.scip.gz": gzip.compress(contents["subdir"])})
    ws = make(subdir="web", scip=(f"{tmp_path}/flask.scip@web",))
    ws.layout.mirrors.mkdir(parents=True)
    (ws.layout.mirrors / "shop.scip").write_bytes(contents["beside"])

    report = snapshot_with_indexes(ws)

    found = [
        (f"scip {tmp_path}/flask.scip", "web", "named"),
        ("mirrors/shop.scip", "web", "beside"),
        ("tree docs/index.scip.gz", "docs", "root"),
        ("tree web/index.scip", "web", "web"),
        ("folder index.scip", "", "folder"),
        ("folder web/index.scip.gz", "web", "subdir"),
    ]
    expected = [
        IndexFile(at, origin, root, "", sha256_of(contents[name]), len(contents[name]), "")
        for at, (origin, root, name) in enumerate(found)
    ]
    assert [replace(row, signature="") for row in rows(ws)] == expected
    assert (report.scip_indexes, report.scip_problems) == (6, ())
    assert copies(ws) == {sha256_of(content) for content in contents.values()}
    assert (ws.layout.scip("shop") / sha256_of(contents["root"])).read_bytes() == contents["root"]


def test_where_there_is_none_nothing_is_kept(make: Callable[..., Workspace]) -> None:
    ws = make()

    report = snapshot_with_indexes(ws)

    assert (report.scip_indexes, rows(ws), copies(ws)) == (0, [], set())
    assert not ws.layout.scip("shop").exists()
    assert index_state(ws.entry, ws.layout, ws.settings.scip) == ""


def test_what_is_unchanged_is_not_copied_again(make: Callable[..., Workspace], repo: GitRepo) -> None:
    commit_ignored(repo, {"tree/index.scip": an_index("tree")})
    repo.write({"index.scip": an_index("folder")})
    ws = make()
    numbers = []
    for _ in range(2):
        snapshot_with_indexes(ws)
        numbers.append({path.name: path.stat().st_ino for path in ws.layout.scip("shop").iterdir()})

    (repo.path / "index.scip").touch()
    snapshot_with_indexes(ws)

    again = {path.name: path.stat().st_ino for path in ws.layout.scip("shop").iterdir()}
    assert numbers[0] == numbers[1]
    assert {name for name in again if again[name] != numbers[1][name]} == {sha256_of(an_index("folder"))}


def test_a_copy_that_is_cut_off_is_made_again(make: Callable[..., Workspace], repo: GitRepo) -> None:
    repo.write({"index.scip": an_index()})
    ws = make()
    snapshot_with_indexes(ws)
    copy = ws.layout.scip("shop") / sha256_of(an_index())
    copy.write_bytes(b"x")

    snapshot_with_indexes(ws)

    assert copy.read_bytes() == an_index()


def test_copies_that_no_row_names_are_deleted(make: Callable[..., Workspace], repo: GitRepo) -> None:
    repo.write({"index.scip": an_index("old")})
    snapshot_with_indexes(make())
    repo.write({"index.scip": an_index("new")})
    (make().layout.scip("shop") / ".taken-0").write_bytes(b"of a killed build")

    snapshot_with_indexes(make())

    assert copies(make()) == {sha256_of(an_index("new"))}
    (repo.path / "index.scip").unlink()
    snapshot_with_indexes(make())
    assert (rows(make()), copies(make())) == ([], set())


def test_one_that_is_committed_counts_as_it_is_in_the_commit(make: Callable[..., Workspace], repo: GitRepo) -> None:
    commit_ignored(repo, {"index.scip": an_index("committed")})
    repo.write({"index.scip": an_index("edited")})
    ws = make()

    snapshot_with_indexes(ws)

    assert [(row.origin, row.sha256) for row in rows(ws)] == [("tree index.scip", sha256_of(an_index("committed")))]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is empty"),
        (gzip.compress(an_index() * 99)[:-20], "it is compressed, and cut off"),
        (gzip.compress(an_index()) + b"more", "it is compressed, and damaged: "),
        (b"\x1f\x8bno gzip at all", "it is compressed, and damaged: "),
        (gzip.compress(bytes(9 * MB)), "more than 2 MB of it, uncompressed, is not taken in: raise scip.max_index_mb"),
        (bytes(3 * MB), "more than 2 MB of it, uncompressed, is not taken in: raise scip.max_index_mb"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "it is a pointer of Git LFS"),
    ],
    ids=["empty", "truncated gzip", "gzip and more", "damaged gzip", "gzip bomb", "too large", "LFS pointer"],
)
@pytest.mark.parametrize("is_committed", [False, True], ids=["folder", "tree"])
def test_what_cannot_be_taken_in_is_named_and_stops_nobody(
    make: Callable[..., Workspace], repo: GitRepo, content: bytes, problem: str, is_committed: bool
) -> None:
    (commit_ignored if is_committed else GitRepo.write)(repo, {"index.scip": content})

    assert only_problem(make(most_mb=2)).startswith(problem)


def a_link_out(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (a_link_out, "leads out of .*: such links are not followed"),
        (os.mkfifo, "is no regular file"),
        (a_folder, "is no regular file"),
    ],
    ids=["link to /etc/passwd", "pipe", "folder"],
)
def test_what_is_no_file_of_the_folder_is_refused(
    make: Callable[..., Workspace], repo: GitRepo, place: Callable[[Path], None], problem: str
) -> None:
    place(repo.path / "index.scip")

    assert re.search(problem, only_problem(make()))


def test_a_subdir_that_is_a_link_out_of_the_folder_is_not_followed(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    shutil.move(repo.path / "web", tmp_path / "elsewhere")
    (repo.path / "web").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "index.scip").write_bytes(an_index())

    assert "leads out of" in only_problem(make(subdir="web"))


def test_a_link_within_the_folder_is_followed(make: Callable[..., Workspace], repo: GitRepo) -> None:
    repo.write({"build/out.scip": an_index()})
    (repo.path / "index.scip").symlink_to("build/out.scip")
    ws = make()

    snapshot_with_indexes(ws)

    assert [row.sha256 for row in rows(ws)] == [sha256_of(an_index())]


def test_a_link_of_the_tree_is_refused(make: Callable[..., Workspace], repo: GitRepo) -> None:
    (repo.path / "web" / "index.scip").symlink_to("/etc/passwd")
    commit_ignored(repo, {})

    assert only_problem(make()) == "it is a symbolic link, which is not followed"


def test_a_link_that_the_registry_names_is_followed(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    (tmp_path / "real.scip").write_bytes(an_index())
    (tmp_path / "link.scip").symlink_to("real.scip")
    ws = make(scip=(f"{tmp_path}/link.scip",))

    snapshot_with_indexes(ws)

    assert [(row.root, row.sha256) for row in rows(ws)] == [("", sha256_of(an_index()))]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/nowhere/a.scip", "/nowhere/a.scip cannot be read: No such file"),
        ("/dev/zero", "/dev/zero is no regular file"),
    ],
    ids=["missing", "device"],
)
def test_a_path_of_the_registry_that_is_no_file_is_named(
    make: Callable[..., Workspace], path: str, problem: str
) -> None:
    assert only_problem(make(scip=(path,))).startswith(problem)


def test_the_others_are_taken_in_beside_one_that_cannot_be(make: Callable[..., Workspace], repo: GitRepo) -> None:
    repo.write({"index.scip": an_index()})
    ws = make(scip=("/nowhere/a.scip",))

    report = snapshot_with_indexes(ws)

    assert [(row.origin, bool(row.sha256)) for row in rows(ws)] == [
        ("scip /nowhere/a.scip", False),
        ("folder index.scip", True),
    ]
    assert (report.scip_indexes, len(report.scip_problems)) == (1, 1)


def test_all_indexes_of_a_repository_share_one_bound(make: Callable[..., Workspace], repo: GitRepo) -> None:
    packed = {f"{name}/index.scip.gz": gzip.compress(bytes(MB) + name.encode()) for name in "abc"}
    commit_ignored(repo, packed)
    ws = make(most_mb=3)

    for _ in range(2):
        report = snapshot_with_indexes(ws)
        assert [bool(row.sha256) for row in rows(ws)] == [True, True, False]
        assert len(report.scip_problems) == 1


def test_of_a_tree_full_of_indexes_the_first_count(
    make: Callable[..., Workspace], repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "MOST_IN_TREE", 2)
    commit_ignored(repo, {f"{folder}/index.scip": an_index(folder) for folder in ("a", "b", "c", "d", "b/deep")})
    ws = make()

    report = snapshot_with_indexes(ws)

    assert report.scip_indexes == 2
    assert report.scip_problems == ("tree: 3 more index files are left out: name those that count",)


def test_a_file_that_changes_while_it_is_copied_is_taken_in_by_the_next_build(tmp_path: Path) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(an_index())

    @contextmanager
    def while_written() -> Iterator[BufferedReader]:
        with opened_file(path, path) as parts:
            path.write_bytes(an_index() * 2)
            yield parts

    with pytest.raises(RefusedIndex, match="was written while it was read: the next build takes it in"):
        copy_index(FoundIndex("folder index.scip", "", "1", while_written), tmp_path / "copies", most_bytes=MB)

    assert list((tmp_path / "copies").iterdir()) == []


def test_gzip_of_several_members_and_padding_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(gzip.compress(an_index("a")) + gzip.compress(an_index("b")) + bytes(512))

    sha256, _ = copy_index(
        FoundIndex("x", "", "1", lambda: opened_file(path, path)), tmp_path / "copies", most_bytes=MB
    )

    assert (tmp_path / "copies" / sha256).read_bytes() == an_index("a") + an_index("b")


@pytest.mark.parametrize("name", ["index.scip", "other.scip", "index.scip.gz"])
def test_an_index_that_looks_like_text_is_no_document(make: Callable[..., Workspace], repo: GitRepo, name: str) -> None:
    commit_ignored(repo, {f"web/{name}": "plain text\n"})
    ws = make()

    snapshot_with_indexes(ws)

    (row,) = [row for row in ws.tables.read_rows("files", "shop", SourceFile) if row.path == f"web/{name}"]
    assert str(row.reason) == "skip_pattern"


def test_an_ignored_index_does_not_change_the_commit_of_a_work_tree(
    make: Callable[..., Workspace], repo: GitRepo
) -> None:
    def taken() -> SnapshotReport:
        return snapshot_with_indexes(make(worktree=True))

    before = taken()
    repo.write({"index.scip": an_index()})
    after = taken()

    assert (after.commit, after.tree, after.scip_indexes) == (before.commit, before.tree, 1)


def test_an_index_that_came_changed_or_went_makes_another_state(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    def state(**fields: object) -> str:
        ws = make(**fields)  # type: ignore[arg-type]
        return index_state(ws.entry, ws.layout, ws.settings.scip)

    states = [state()]
    repo.write({"index.scip": an_index()})
    states.append(state())
    repo.write({"index.scip": an_index("longer")})
    states.append(state())
    (tmp_path / "home" / "mirrors").mkdir(parents=True)
    (tmp_path / "home" / "mirrors" / "shop.scip.gz").write_bytes(b"x")
    states += [state(), state(scip=("/nowhere/a.scip",)), state(scip_command="make it")]
    states.append(state(scip_command="make it", most_mb=5))

    assert len(set(states)) == len(states)
    assert states[0] == ""


def test_a_preview_reads_indexes_and_changes_nothing(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    repo.write({"index.scip": an_index()})
    ws = make()
    ws.layout.mirrors.mkdir(parents=True)
    (ws.layout.mirrors / "shop.scip").write_bytes(an_index("beside"))
    build(ws)
    (repo.path / "index.scip").unlink()
    before = {path: path.stat().st_mtime_ns for path in sorted((tmp_path / "home").rglob("*"))}

    preview = preview_plan(ws, preview_of(ws, tmp_path / "scratch"))

    assert preview.snapshot.scip_indexes == 1
    assert {path: path.stat().st_mtime_ns for path in sorted((tmp_path / "home").rglob("*"))} == before


def test_what_is_forgotten_leaves_no_index(tmp_path: Path, repo: GitRepo) -> None:
    repo.write({"index.scip": an_index()})
    home = open_home(tmp_path / "home")
    ws = workspace_of(home, RepositoryEntry("shop", str(repo.path)))
    home.layout.mirrors.mkdir(parents=True)
    for path in home.layout.indexes_beside_mirror("shop"):
        path.write_bytes(an_index("beside"))
    build(ws)
    home.registry.purge("shop")

    home.purge("shop")

    assert [path for path in (tmp_path / "home").rglob("*") if "shop" in path.name and "scip" in path.name] == []
    assert (repo.path / "index.scip").exists()


def test_a_snapshot_from_before_there_were_indexes_is_read_as_one_without(make: Callable[..., Workspace]) -> None:
    ws = make()
    snapshot_with_indexes(ws)
    path = ws.tables.path("snapshot", "shop")
    pq.write_table(pq.read_table(path).drop_columns(["index_state"]), path)

    (snapshot,) = ws.tables.read_rows("snapshot", "shop", Snapshot)

    assert snapshot.index_state is None
    assert ws.fingerprint(snapshot.commit, snapshot.index_state) == ws.fingerprint(snapshot.commit, "")


def test_a_snapshot_alone_looks_for_no_index(make: Callable[..., Workspace], repo: GitRepo) -> None:
    repo.write({"index.scip": an_index()})
    ws = make()

    take_snapshot(ws)

    assert copies(ws) == set()
