"""What every room's tests share: git repositories, homes, and no network."""

import functools
import math
import os
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import sqlalchemy
from alembic.config import Config
from alembic.script import ScriptDirectory
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine, event

from codesum_pipeline_tests.support.loaded_grammars import forget_grammars
from codesum_pipeline_tests.support.quick_cases import leave_further_cases
from codesum_pipeline_tests.support.repositories import GitRepo

_LOOPBACK = ("127.", "::1", "localhost")


def _one_engine_a_database(create_engine: Callable[..., Engine]) -> Callable[..., Engine]:
    """The same function; asked for the same database again, it gives the engine that it gave."""
    made: dict[tuple[str, str], Engine] = {}

    @functools.wraps(create_engine)
    def give(url: Any, **options: Any) -> Engine:
        arguments = (str(url), repr(options))
        if arguments not in made:
            made[arguments] = create_engine(url, **options)
        return made[arguments]

    return give


def _migrations_read_once(from_config: Callable[[Config], ScriptDirectory]) -> Callable[[Config], ScriptDirectory]:
    """The same function, which reads a folder of migrations when it is asked for the first time."""
    read: dict[tuple[str | None, str | None], ScriptDirectory] = {}

    def give(config: Config) -> ScriptDirectory:
        arguments = (config.config_file_name, config.get_main_option("script_location"))
        if arguments not in read:
            read[arguments] = from_config(config)
        return read[arguments]

    return give


# A change is judged by what it breaks, not by what chance finds in that hour: the quick tests draw the same examples
# each time, `make test-slow` new ones. How long an example takes says more of the machine than of the code.
settings.register_profile("new", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.load_profile("same")

# Else each of hundreds of processes would compile the package anew, a second of its time, and each run the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests make and remove a hundred thousand small files: in memory, where there is room, that takes a third of their time
# less.
_IN_MEMORY = Path("/dev/shm")
_ROOM = 3 << 30
if (
    "PYTEST_DEBUG_TEMPROOT" not in os.environ
    and os.access(_IN_MEMORY, os.W_OK)
    # Tests run programs that they write.
    and not os.statvfs(_IN_MEMORY).f_flag & os.ST_NOEXEC
    and min(shutil.disk_usage(_IN_MEMORY).free, psutil.virtual_memory().available // 2) > _ROOM
):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_IN_MEMORY)

# Dagster makes an engine, and compiles its SQL anew, for each statement: a fifth of a run's time. It takes the function
# when it is imported, so this comes before any fixture.
sqlalchemy.create_engine = _one_engine_a_database(sqlalchemy.create_engine)

# Each time that Dagster makes its records, it loads its fifty migrations eight times.
ScriptDirectory.from_config = _migrations_read_once(ScriptDirectory.from_config)  # type: ignore[method-assign]


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
    """Only a power cut could tell, and it takes a third of a run's time.

    What is kept when, `foundation/store/test_atomic.py` asks. Of Dagster's databases the same holds. Processes that a
    test starts wait as ever.
    """

    def keep_in_memory(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA synchronous=OFF")

    fsync = os.fsync
    os.fsync = lambda _handle: None
    event.listen(Engine, "connect", keep_in_memory)
    yield
    event.remove(Engine, "connect", keep_in_memory)
    os.fsync = fsync


@pytest.fixture(autouse=True, scope="session")
def no_news_of_time() -> Iterator[None]:
    """Lines of a command say now and then how long it takes: on a busy machine they would stand in any output."""
    from codesum_pipeline.ways_in.cli import progress_bar

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress_bar, "_NEWS_EVERY_S", math.inf)
        patch.setattr(progress_bar, "_LATER_EVERY_S", math.inf)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of the person who runs the tests do not reach them, nor the homes of the tests that person's record."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("CODESUM_", "DAGSTER_")):
                patch.delenv(name)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        # What that person has git ignore.
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield


@pytest.fixture(autouse=True)
def no_modes_of_another_test() -> Iterator[None]:
    """A command sets the mode of what its process creates, and here that process is that of the tests."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """SIGINT and SIGTERM do here, and in processes that a test starts, what they do in a terminal.

    A background job of a script is started with both ignored, and passes that on to whatever it starts.
    """
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


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
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline_tests.support.homes import open_home, workspace_of

    def make(path: Path, *, key: str = "project", settings: Mapping[str, Any] | None = None, **fields: Any) -> Any:
        home = open_home(tmp_path / "home", **(settings or {}))
        return workspace_of(home, RepositoryEntry(key=key, location=str(path), **fields))

    return make


@pytest.fixture(scope="session")
def shop_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `repository` and, indexed from it, `home`."""
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
    from codesum_pipeline_tests.support.shop_home import FILES

    folder = tmp_path_factory.mktemp("shop")
    repository = GitRepo.create(folder / "repository", FILES)
    home = open_home(folder / "home")
    build(workspace_of(home, RepositoryEntry(key="shop", location=str(repository.path))))
    return folder


@pytest.fixture(scope="session")
def shop(shop_template: Path) -> Path:
    """The indexed home, for tests that only read."""
    return shop_template / "home"


@pytest.fixture
def own_shop(shop_template: Path, tmp_path: Path) -> Path:
    """A copy of the indexed home, for tests that change it; its repository is shared."""
    return Path(shutil.copytree(shop_template / "home", tmp_path / "own", symlinks=True))


@pytest.fixture(scope="session")
def zoo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two indexed repositories, `shop` and `zoo`."""
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
    from codesum_pipeline_tests.support.shop_home import FILES as SHOP
    from codesum_pipeline_tests.support.zoo import FILES as ZOO

    folder = tmp_path_factory.mktemp("zoo")
    home = open_home(folder / "home")
    for key, files in (("shop", SHOP), ("zoo", ZOO)):
        repository = GitRepo.create(folder / key, files)
        build(workspace_of(home, RepositoryEntry(key=key, location=str(repository.path))))
    return folder / "home"


@pytest.fixture(scope="session")
def playwright_driver() -> Iterator[Any]:
    """What starts browsers; a process can have one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_further_cases(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The reason of each skipped test, a line each, in the file that `CODESUM_TESTS_SKIPPED` names."""
    file = os.environ.get("CODESUM_TESTS_SKIPPED")
    # A worker of pytest-xdist has its own summary; that of the process which started it has all tests.
    if not file or hasattr(terminalreporter.config, "workerinput"):
        return
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped")]
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.writelines(f"{reason}\n" for reason in reasons)


@pytest.fixture
def unloaded() -> Iterator[None]:
    """No grammar is loaded before, nor stays so after."""
    forget_grammars()
    yield
    forget_grammars()
