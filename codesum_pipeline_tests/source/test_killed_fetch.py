"""A fetch ends with the process that started it, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline_tests.support.repositories import GitRepo

FETCH = """
    import sys
    from pathlib import Path
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline.source.git.mirror import Mirror
    Mirror(Path(sys.argv[1])).update(RepositoryEntry(key="project", location=sys.argv[2]))
"""


def with_mark(mark: str) -> list[psutil.Process]:
    """The processes whose environment holds a mark: a command's own and all that it started."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.environ().values() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def wait_until(is_so: Callable[[], bool], *, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


@pytest.fixture
def silent_ssh(tmp_path: Path) -> Path:
    """An `ssh` whose server takes the connection and never says a word."""
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/connected\nexec sleep 600\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def silent_server(tmp_path: Path) -> Iterator[str]:
    """An https address at which somebody listens and never says a word."""

    class Silent(BaseHTTPRequestHandler):
        def handle(self) -> None:
            (tmp_path / "connected").touch()
            is_over.wait(120)

    is_over = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/a/b.git"
    is_over.set()
    server.shutdown()
    server.server_close()


def started(tmp_path: Path, location: str, **environment: str) -> subprocess.Popen[bytes]:
    """A process in the middle of a fetch."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(FETCH), str(tmp_path / "mirror.git"), location],
        env={**os.environ, "CODESUM_TEST_MARK": str(tmp_path), **environment},
        stderr=subprocess.DEVNULL,
    )
    assert wait_until((tmp_path / "connected").exists)
    return process


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_fetch_leaves_no_git_and_no_ssh_behind(tmp_path: Path, silent_ssh: Path, number: int) -> None:
    process = started(tmp_path, "ssh://example.org/a/b", GIT_SSH_COMMAND=str(silent_ssh))
    assert len(with_mark(str(tmp_path))) >= 3

    process.send_signal(number)
    process.wait()

    assert wait_until(lambda: not with_mark(str(tmp_path)), seconds=20), with_mark(str(tmp_path))


def test_a_killed_fetch_leaves_no_helper_that_waits_for_a_silent_server(tmp_path: Path, silent_server: str) -> None:
    process = started(tmp_path, silent_server)
    assert any("remote-https" in " ".join(found.cmdline()) for found in with_mark(str(tmp_path)))

    process.kill()
    process.wait()

    assert wait_until(lambda: not with_mark(str(tmp_path)), seconds=20), with_mark(str(tmp_path))


@pytest.fixture
def breaking_ssh(tmp_path: Path) -> Path:
    """An `ssh` that reaches this machine, and breaks off in the middle of a pack where `breaks` is there."""
    program = tmp_path / "ssh"
    program.write_text(
        "#!/bin/sh\nfor last; do :; done\n"
        f'[ -e {tmp_path}/breaks ] || exec sh -c "$last"\n'
        'sh -c "$last" | dd bs=1 count=40000 2>/dev/null\n'
    )
    program.chmod(0o755)
    return program


def test_the_unfinished_pack_of_a_failed_fetch_goes_at_once(
    git_repo: Callable[..., GitRepo], tmp_path: Path, breaking_ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", str(breaking_ssh))
    (tmp_path / "breaks").touch()
    repo = git_repo({f"f{number}.bin": os.urandom(5000) for number in range(60)})
    mirror = Mirror(tmp_path / "mirror.git", timeout_s=60)
    url = RepositoryEntry(key="project", location=f"ssh://example.org{repo.path}")

    with pytest.raises(RepositoryUnavailable, match="cannot be fetched"):
        mirror.update(url)
    assert list((mirror.git_dir / "objects" / "pack").iterdir()) == []

    left = [mirror.git_dir / name for name in ("objects/pack/tmp_pack_x", "objects/pack/tmp_idx_y", "shallow.lock")]
    for path in left:
        path.write_bytes(b"of a fetch that was killed just now")
    (tmp_path / "breaks").unlink()

    assert mirror.update(url).commit == repo.git("rev-parse", "HEAD").strip()
    assert not [path for path in left if path.exists()]


def test_git_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigurationError, match="the program `git` is not on the PATH: install it"):
        Mirror(tmp_path / "mirror.git").update(RepositoryEntry(key="project", location="ssh://example.org/a/b"))
