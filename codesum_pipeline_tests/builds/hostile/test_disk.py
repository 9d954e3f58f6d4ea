"""Work trees, disks and clocks that do not do what is expected of them."""

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built, complaints, many_functions
from codesum_pipeline_tests.support.commands import PROJECT, environment
from codesum_pipeline_tests.support.homes import build, workspace_of
from codesum_pipeline_tests.support.programs import as_who_may_not_open_all

Index = Callable[..., Built]
ONLY_SOUND = {".", "a.py", "a.py::order_total"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plain folder with one sound file."""
    path = tmp_path / "folder"
    path.mkdir()
    (path / "a.py").write_bytes(SOUND)
    return path


def test_pipes_sockets_and_devices_of_a_folder_are_not_opened(folder: Path, index: Index, monkeypatch) -> None:
    os.mkfifo(folder / "fifo.py")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
        made = index(folder)

    assert made.reasons() == {"a.py": None}
    assert set(made.documents()) == ONLY_SOUND


def test_a_folder_named_like_a_pattern_is_one_folder(folder: Path, index: Index) -> None:
    for name in ("[a-z]*", "**", "!a", "#x"):
        (folder / name).mkdir()
        (folder / name / "b.py").write_bytes(SOUND)

    made = index(folder)

    assert set(made.reasons()) == {"a.py", "[a-z]*/b.py", "**/b.py", "!a/b.py", "#x/b.py"}
    assert set(made.reasons().values()) == {None}


def test_a_gitignore_of_a_hundred_thousand_lines_is_obeyed(folder: Path, index: Index) -> None:
    (folder / ".gitignore").write_text("".join(f"x{n}*y[{n % 10}]\n" for n in range(100_000)) + "b.py\n")
    (folder / "b.py").write_bytes(SOUND)

    made = index(folder)

    assert made.reasons()["b.py"] == "ignored"
    assert "a.py::order_total" in made.documents()


def test_a_folder_that_became_a_link_is_not_read_through(folder: Path, index: Index, tmp_path: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "b.py").write_bytes(SOUND)
    made = index(folder)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.py").write_text("outside_secret = 1\n")
    (folder / "sub" / "b.py").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(tmp_path / "outside")

    again = made.rebuilt()

    assert again.reasons() == {"a.py": None, "sub": "symlink"}
    assert again.findings() == []


def test_a_folder_that_changes_while_it_is_read_gives_one_state_of_each_file(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    from codesum_pipeline.source.git import folder_commits

    (folder / "gone.py").write_bytes(SOUND)
    real = folder_commits.FolderScan.write

    def changed_before_the_write(self, git_dir, **options):
        (folder / "gone.py").unlink(missing_ok=True)
        (folder / "a.py").write_bytes(SOUND.replace(b"order_total", b"sum_of_orders"))
        return real(self, git_dir, **options)

    monkeypatch.setattr(folder_commits.FolderScan, "write", changed_before_the_write)
    made = index(folder)

    assert set(made.documents()) == {".", "a.py", "a.py::sum_of_orders"}


BUILD = """
import sys
from pathlib import Path
from codesum_pipeline_tests.builds.hostile.building import built
print(sorted(built(Path(sys.argv[1]), Path(sys.argv[2])).reasons().items()))
"""


def test_a_file_that_cannot_be_read_is_skipped(folder: Path, tmp_path: Path) -> None:
    (folder / "locked.py").write_bytes(SOUND)
    (folder / "locked.py").chmod(0)

    done = subprocess.run(
        [*as_who_may_not_open_all(), sys.executable, "-c", BUILD, str(folder), str(tmp_path / "home")],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=280,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, "[('a.py', None), ('locked.py', 'unreadable')]\n"), done.stderr


LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[:2] = ["codesum"]
runpy.run_module("codesum_pipeline.cli", run_name="__main__")
"""
# Python keeps a compiled module that a limit cut short, and everything that imports it fails from then on.
UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1"}
OVER_LIMIT = (
    "cannot be written: it would grow over the file size limit of this process; "
    "raise the limit (`ulimit -f`), then run the same command again"
)
NO_SPACE = "cannot be written: no space left on device; free space there, then run the same command again"
READ_ONLY = "cannot be written: it is read-only; make it writable, then run the same command again"


@pytest.mark.slow
# Each limit stops another part: what is fetched, Dagster's records, a table that the others of its build do not reach.
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        pytest.param(200, ["{home}/dagster/dagster.yaml"], id="200 bytes: the first file", marks=pytest.mark.slow),
        pytest.param(20_000, ["Dagster's records in {home}/dagster"], id="20 KB: the records", marks=pytest.mark.slow),
        pytest.param(
            200_000,
            [
                "project failed: Dagster's records in {home}/dagster",
                "other failed: Dagster's records in {home}/dagster",
            ],
            id="200 KB: the records of a run",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            700_000, ["project failed: {home}/warehouse/vectors/repo=project/part-0.parquet"], id="700 KB: a table"
        ),
    ],
)
def test_a_file_size_limit_is_one_line_and_the_other_repositories_go_on(
    git_repo, index: Index, tmp_path: Path, limit: int, words: list[str]
) -> None:
    repo, beside = git_repo({"a.py": SOUND}), git_repo({"b.py": SOUND}, name="other")
    made = index(repo.path)
    layout = made.home.layout
    other = workspace_of(made.home, RepositoryEntry("other", str(beside.path)))
    build(other)
    before = layout.published("project").readlink()
    repo.commit(many_functions(320))
    beside.commit({"c.py": SOUND})

    command = [sys.executable, "-c", LIMITED, str(limit), "--home", str(layout.home), "index", "project", "other"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(UNCOMPILED), capture_output=True, text=True, timeout=280
    )

    assert done.returncode == 1
    assert complaints(done.stderr) == [f"codesum: {what.format(home=layout.home)} {OVER_LIMIT}" for what in words]
    assert layout.published("project").readlink() == before
    assert verify_index(layout, "project") == verify_index(layout, "other") == []
    is_built = "c.py" in made.home.tables.read("documents", "other").column("id").to_pylist()
    assert is_built == all("other" not in what and "dagster" not in what for what in words)


@pytest.mark.slow
def test_a_full_or_closed_disk_is_one_line_and_the_old_index_answers(tmp_path: Path) -> None:
    namespaces = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*namespaces, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody but root make a file system of their own (user namespaces)")
    command = [*namespaces, sys.executable, "-m", "codesum_pipeline_tests.builds.hostile.full_disk", str(tmp_path)]
    records = f"codesum: Dagster's records in {tmp_path}/disk/home/dagster"

    done = subprocess.run(command, cwd=PROJECT, env=environment(), capture_output=True, text=True, timeout=280)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "full": [1, [f"{records} {NO_SPACE}"]],
        "search": [0, []],
        "closed": [1, [f"{records} {READ_ONLY}"]],
        "kept": [True, []],
        "again": [0, []],
    }


FULL = """
import resource, sys
from pathlib import Path
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline_tests.support.homes import build, open_home
workspace = open_home(Path(sys.argv[1])).workspace("project", run_id="full")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    build(workspace)
except CodesumError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


# Each limit stops another step: the fetch, the snapshot, the symbols, the vectors.
@pytest.mark.parametrize(
    ("limit", "count", "table"),
    [
        pytest.param(200, 40, "mirrors/project.git", id="200", marks=pytest.mark.slow),
        pytest.param(3_000, 5, "warehouse/snapshot/repo=project/part-0.parquet", id="3,000"),
        pytest.param(12_000, 40, "warehouse/symbols/repo=project/part-0.parquet", id="12,000", marks=pytest.mark.slow),
        pytest.param(40_000, 40, "warehouse/vectors/repo=project/part-0.parquet", id="40,000", marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_leaves_the_old_index_and_the_next_build_succeeds(
    git_repo, index: Index, limit: int, count: int, table: str
) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    layout = made.home.layout
    other = workspace_of(made.home, RepositoryEntry("other", str(git_repo({"b.py": SOUND}, name="other").path)))
    build(other)
    before = [layout.published(key).readlink() for key in ("project", "other")]
    files = {f"m{n}.py": SOUND + b"\n\ndef other_%d():\n    return order_total([])\n" % n for n in range(count)}
    repo.commit(files)  # type: ignore[arg-type]

    done = subprocess.run(
        [sys.executable, "-c", FULL, str(layout.home), str(limit)],
        env=environment(UNCOMPILED), capture_output=True, text=True, timeout=200,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"CannotWrite: {layout.home / table} {OVER_LIMIT}\n"
    assert [layout.published(key).readlink() for key in ("project", "other")] == before
    assert verify_index(layout, "project") == verify_index(layout, "other", tables=made.home.tables) == []
    build(other)
    again = made.rebuilt()
    assert again.findings() == []
    assert f"m{count - 1}.py::other_{count - 1}" in again.documents()


def test_a_home_that_cannot_be_written_is_named(folder: Path, codesum, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    home = tmp_path / "file" / "home"
    refused = codesum(home, "index", folder)

    assert (refused.exit_code, refused.stdout) == (2, "")
    way_out = "name a folder with --home or CODESUM_HOME"
    assert refused.stderr == f"codesum: home '{home}' lies below the file {home.parent}: {way_out}\n"


@pytest.fixture
def other_file_system(tmp_path: Path) -> Iterator[Path]:
    """A folder on another device than the test's own: Linux has one in memory, CI among them."""
    here = tmp_path.stat().st_dev
    for folder in (Path("/dev/shm"), Path("/var/tmp"), Path.home()):
        if os.access(folder, os.W_OK) and folder.stat().st_dev != here:
            with tempfile.TemporaryDirectory(dir=folder) as made:
                yield Path(made)
            return
    pytest.skip("/dev/shm, /var/tmp, the home folder and the test's folder are one file system; in CI they are not")


def test_a_home_may_be_on_another_file_system(folder: Path, other_file_system: Path) -> None:
    made = built(folder, other_file_system / "home")

    assert set(made.documents()) == ONLY_SOUND
    assert made.rebuilt().findings() == []


@pytest.mark.slow
def test_locks_from_before_the_clock_was_set_back_do_not_stop_a_fetch(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    lock = made.home.layout.mirror("project") / "packed-refs.lock"
    for ahead_s in (3_600, 10 * 365 * 86_400):
        lock.write_text("")
        os.utime(lock, (time.time() + ahead_s,) * 2)
        repo.commit({f"b{ahead_s}.py": SOUND})

        assert f"b{ahead_s}.py" in made.rebuilt().documents()


@pytest.mark.parametrize("year", [9000, *(pytest.param(year, marks=pytest.mark.slow) for year in (1971, 2100))])
def test_a_build_with_another_clock_is_whole(git_repo, index: Index, year: int) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    repo.commit({"b.py": SOUND})

    build(made.home.workspace("project", run_id="other clock", now=lambda: datetime(year, 1, 1, tzinfo=UTC)))

    assert made.findings() == []
    assert "b.py" in made.documents()
    assert made.rebuilt().findings() == []


def test_files_of_a_folder_with_impossible_times_are_read_by_content(folder: Path, index: Index) -> None:
    made = index(folder)
    for seconds in (0, 2**33):
        os.utime(folder / "a.py", (seconds, seconds))

        assert made.rebuilt().reports["repo_snapshot"].commit == made.reports["repo_snapshot"].commit


def test_a_mirror_asks_nothing_of_the_clock(folder: Path, tmp_path: Path) -> None:
    entry = RepositoryEntry("project", str(folder))

    assert Mirror(tmp_path / "one.git").update(entry).commit == Mirror(tmp_path / "two.git").update(entry).commit
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
