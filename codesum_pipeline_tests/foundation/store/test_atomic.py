import os
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.atomic import temporary_beside, write_bytes_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from codesum_pipeline.foundation.store import atomic
atomic.os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
atomic.write_bytes_atomically(Path(sys.argv[1]), b"half")
"""


def test_a_killed_write_leaves_the_old_content_and_the_next_one_clears_up(tmp_path: Path) -> None:
    target = tmp_path / "part-0.parquet"
    write_bytes_atomically(target, b"old")
    subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert target.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2

    write_bytes_atomically(target, b"new")

    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_living_writer_has_begun_is_left_alone(tmp_path: Path) -> None:
    begun = temporary_beside(tmp_path / "file")
    begun.write_bytes(b"half")

    write_bytes_atomically(tmp_path / "file", b"mine")

    assert begun.read_bytes() == b"half"


def test_content_is_on_the_disk_before_its_name_and_the_name_before_the_write_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What survives a power cut can only be seen in the order in which the disk is asked to keep things."""
    calls: list[tuple[str, str]] = []

    def kept(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").resolve()
        calls.append(("keep", "folder" if path == tmp_path else path.read_text()))

    def renamed(old: Path, new: Path) -> None:
        calls.append(("rename", new.name))
        old.rename(new)

    monkeypatch.setattr(os, "fsync", kept)
    monkeypatch.setattr(os, "replace", renamed)

    write_bytes_atomically(tmp_path / "file", b"new")

    assert calls == [("keep", "new"), ("rename", "file"), ("keep", "folder")]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").write_bytes(b"")

    with pytest.raises(OSError):
        write_bytes_atomically(tmp_path / "folder", b"x")

    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
