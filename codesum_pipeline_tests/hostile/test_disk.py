"""Work trees, disks and clocks that do not do what is expected of them."""

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

from codesum_pipeline.indexes.verify import verify_index
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline_tests.building import build, workspace_of
from codesum_pipeline_tests.cli.calling import COMMAND, environment
from codesum_pipeline_tests.hostile.building import SOUND, Built, built

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
    from codesum_pipeline.source import folders

    (folder / "gone.py").write_bytes(SOUND)
    real = folders.FolderScan.write

    def changed_before_the_write(self, git_dir, **options):
        (folder / "gone.py").unlink(missing_ok=True)
        (folder / "a.py").write_bytes(SOUND.replace(b"order_total", b"sum_of_orders"))
        return real(self, git_dir, **options)

    monkeypatch.setattr(folders.FolderScan, "write", changed_before_the_write)
    made = index(folder)

    assert set(made.documents()) == {".", "a.py", "a.py::sum_of_orders"}


def as_who_may_not_read_all() -> list[str]:
    """What a command is started with: root gives up the right to read what is closed, others do not have it."""
    if os.geteuid() != 0:
        return []
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]


def test_a_file_that_cannot_be_read_is_skipped(folder: Path, git_repo, codesum, tmp_path: Path) -> None:
    home, other = tmp_path / "home", git_repo({"b.py": SOUND}, name="other").path
    (folder / "locked.py").write_bytes(SOUND)
    (folder / "locked.py").chmod(0)

    done = subprocess.run(
        [*as_who_may_not_read_all(), *COMMAND, "--home", str(home), "index", str(folder), str(other)],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=280,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["folder", "built"], ["other", "built"]]
    files = codesum(home, "sql", "--csv", "SELECT path, reason FROM files ORDER BY path").stdout
    assert files == "path,reason\na.py,\nb.py,\nlocked.py,unreadable\n"


FULL = """
import resource, signal, sys
from pathlib import Path
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline_tests.building import build, open_home
workspace = open_home(Path(sys.argv[1])).workspace("project", run_id="full")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    build(workspace)
except (CodesumError, OSError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


# Each limit stops another step: the fetch, the snapshot, the symbols, the vectors.
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        pytest.param(200, "RepositoryUnavailable: repos.yaml: 'project': path {path} cannot be fetched: ", id="200"),
        pytest.param(3_000, "OSError: [Errno 27] File too large", id="3,000"),
        pytest.param(12_000, "OSError: [Errno 27] File too large", id="12,000"),
        pytest.param(40_000, "OSError: [Errno 27] File too large", id="40,000"),
    ],
)
def test_a_full_disk_leaves_the_old_index_and_the_next_build_succeeds(
    git_repo, index: Index, limit: int, said: str
) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    layout = made.home.layout
    other = workspace_of(made.home, RepositoryEntry("other", str(git_repo({"b.py": SOUND}, name="other").path)))
    build(other)
    before = [layout.published(key).readlink() for key in ("project", "other")]
    files = {f"m{n}.py": SOUND + b"\n\ndef other_%d():\n    return order_total([])\n" % n for n in range(40)}
    repo.commit(files)  # type: ignore[arg-type]

    done = subprocess.run(
        [sys.executable, "-c", FULL, str(layout.home), str(limit)],
        env=environment(), capture_output=True, text=True, timeout=200,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said.format(path=repo.path))
    assert [layout.published(key).readlink() for key in ("project", "other")] == before
    assert verify_index(layout, "project") == verify_index(layout, "other", tables=made.home.tables) == []
    build(other)
    again = made.rebuilt()
    assert again.findings() == []
    assert "m39.py::other_39" in again.documents()


def test_a_home_that_cannot_be_written_is_named(folder: Path, codesum, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    home = tmp_path / "file" / "home"
    refused = codesum(home, "index", folder)

    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"codesum: {home}: Not a directory\n"


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


def test_locks_from_before_the_clock_was_set_back_do_not_stop_a_fetch(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    made = index(repo.path)
    lock = made.home.layout.mirror("project") / "packed-refs.lock"
    for ahead_s in (3_600, 10 * 365 * 86_400):
        lock.write_text("")
        os.utime(lock, (time.time() + ahead_s,) * 2)
        repo.commit({f"b{ahead_s}.py": SOUND})

        assert f"b{ahead_s}.py" in made.rebuilt().documents()


@pytest.mark.parametrize("year", [1971, 2100, 9000])
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
