"""What every room's tests share: git repositories, homes, and no network."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from sqlalchemy import Engine, event

from codesum_pipeline_tests.repositories import GitRepo

_LOOPBACK = ("127.", "::1", "localhost")

# A change is judged by what it breaks, not by what chance finds in that hour; elsewhere chance may find more.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(autouse=True, scope="session")
def no_network_but_loopback() -> Iterator[None]:
    """Any connection that leaves the machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise RuntimeError(f"a test tried to reach {address!r}: only loopback is allowed")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign, assignment]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk() -> Iterator[None]:
    """Only a power cut could tell, and it takes a third of a run's time: `store/test_atomic.py` asks what is kept when.

    Of Dagster's databases the same holds. Processes that a test starts wait as ever.
    """

    def keep_in_memory(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    fsync = os.fsync
    os.fsync = lambda _handle: None
    event.listen(Engine, "connect", keep_in_memory)
    yield
    event.remove(Engine, "connect", keep_in_memory)
    os.fsync = fsync


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person who runs the tests do not reach them."""
    for name in list(os.environ):
        if name.startswith(("CODESUM_", "DAGSTER_")):
            monkeypatch.delenv(name)


@pytest.fixture
def git_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """`git_repo(files, name="project")`: a repository with one commit of `files`."""

    def create(files: Mapping[str, str | bytes] | None = None, *, name: str = "project") -> GitRepo:
        return GitRepo.create(tmp_path / "repositories" / name, files)

    return create


@pytest.fixture
def make_workspace(tmp_path: Path) -> Callable[..., Any]:
    """`make_workspace(repo_path, key="project", **entry_fields)`: a workspace in this test's home."""
    # Imported here so that tests of single modules do not need the whole package.
    from codesum_pipeline.model.repository import RepositoryEntry
    from codesum_pipeline_tests.building import open_home, workspace_of

    def make(path: Path, *, key: str = "project", settings: Mapping[str, Any] | None = None, **fields: Any) -> Any:
        home = open_home(tmp_path / "home", **(settings or {}))
        return workspace_of(home, RepositoryEntry(key=key, location=str(path), **fields))

    return make
