"""The options before the command: which home is used, with which settings.

A command that names no home takes the nearest one upward. In a folder that has none, a checkout that `search`, `mcp` or
another one sees for the first time is indexed in the user's data folder, so that it gets no folder that it did not ask
for.
What is indexed there, or in the main work tree of a linked one, is found again by every command.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codesum_pipeline.builds.codesum_home.home_folders import (
    check_is_own,
    for_reading,
    layout_of,
    record_home,
    user_home,
)
from codesum_pipeline.builds.codesum_home.settings_loading import (
    HOME_FOLDER,
    SETTINGS_FILE,
    load_settings,
    nearest_home,
)
from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.repositories.checkouts import Checkout, checkout_of, entries_of
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.ways_in.cli.render import complain

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home

# With a home in a bucket these see the published version, not the one being built here.
_READING = frozenset({
    "search", "grep", "impact", "show", "explain", "ask", "overview", "mcp", "web", "status", "repos", "plan", "sql",
    "doctor", "eval", "cost",
})  # fmt: skip
# These would go on without the bucket for as long as they run.
_SERVING = frozenset({"mcp", "web"})
# These index a checkout by themselves if it is not indexed yet.
_INDEX_ON_FIRST_USE = frozenset({"search", "grep", "impact", "mcp", "web"})
# The homes that these make belong to the folder that they are called in.
_MAKE_A_HOME = frozenset({"add", "index", "plan", "dev"})
_IGNORE_ALL = "# Made by codesum: what is built here can be built again.\n*\n"


class Invocation:
    """One call of `codesum`: the options before the command, and what they lead to.

    Settings, layout, home and registry are made when they are first asked for, and kept until the call ends. Whoever
    asks for the settings gives the process the home's umask; `umask` is that of the caller.
    """

    def __init__(
        self, flags: Mapping[str, Any], command: str = "", *, umask: int | None = None, debug: bool = False
    ) -> None:
        self.flags = flags
        self.command = command
        self._umask = umask
        self.debug = debug

    @cached_property
    def settings(self) -> Settings:
        flags = {**self.flags, "home": self.flags.get("home") or usual_home(self.command, self.flags)}
        try:
            return self._load(flags)
        except BucketUnavailable as error:
            if self.command not in _READING - _SERVING:
                raise
            # Without a copy there is nothing to show.
            with suppress(ConfigurationError):
                found = self._load({**flags, "offline": True})
                complain(f"{error}. What follows is what this machine copied from the bucket before")
                return found
            raise

    def _load(self, flags: Mapping[str, Any]) -> Settings:
        found = load_settings(flags)
        found.apply_mode()
        return for_reading(found) if self.command in _READING else found

    @cached_property
    def layout(self) -> HomeLayout:
        return layout_of(self.settings)

    @cached_property
    def home(self) -> "Home":
        # It imports what builds; many commands only read.
        from codesum_pipeline.builds.codesum_home.wiring import Home

        return Home(self.settings)

    @cached_property
    def registry(self) -> Registry:
        return Registry.of(self.settings, self.layout.files)

    @contextmanager
    def with_modes_of_the_caller(self) -> Iterator[None]:
        """Files that the block creates are no part of the home: they get the modes that the caller's umask gives."""
        if self._umask is None:
            raise LookupError("the umask of the caller is noted where a command starts")
        of_the_home = os.umask(self._umask)
        try:
            yield
        finally:
            os.umask(of_the_home)

    def entries(self) -> list[RepositoryEntry]:
        """The registry's entries, without malformed ones, each of which is reported on stderr."""
        survey = self.registry.survey()
        for problem in survey.problems.values():
            complain(f"left out: {problem}")
        return list(survey.entries)


def read_umask() -> int:
    """The umask of this process, which the system gives only to whoever sets another one."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def usual_home(command: str, flags: Mapping[str, Any]) -> Path | None:
    """The home of a command that names none; None: that of the environment, else a new one in the current folder.

    Raises `ConfigurationError` for a home that is not the user's own.
    """
    folder, users = Path.cwd(), user_home()
    if os.environ.get("CODESUM_HOME"):
        return None
    if nearest := nearest_home(folder):
        return nearest
    checkout = checkout_of(folder)
    for home in _homes_elsewhere(checkout) if checkout else ():
        registry = Registry.of(load_settings({**flags, "home": home}))
        if checkout and entries_of(checkout, registry.survey().entries):
            return home
    is_there = users.is_dir()
    is_meant = command in _INDEX_ON_FIRST_USE if checkout else is_there and command not in _MAKE_A_HOME
    if is_meant and is_there:
        check_is_own(users)
    return users if is_meant else None


def _homes_elsewhere(checkout: Checkout) -> Iterator[Path]:
    """The homes of this user that may know a checkout, though they do not lie above it.

    One that is not the user's own is refused where it would be used.
    """
    main = main_work_tree(checkout)
    with suppress(ConfigurationError):
        if main and (home := nearest_home(main)):
            yield home
    with suppress(ConfigurationError):
        if user_home().is_dir():
            check_is_own(user_home())
            yield user_home()


def main_work_tree(checkout: Checkout) -> Path | None:
    """The work tree that a linked one belongs to; None for the main one itself, and where there is none."""
    main = checkout.git_dir.parent
    is_linked = checkout.git_dir.name == ".git" and main != checkout.root
    return main if is_linked and checkout_of(main) == Checkout(main, checkout.git_dir) else None


def make_home(settings: Settings) -> None:
    """Create the home if it is not there, and record it as the user's own.

    It is made aside and moved into place, so that another process finds no home or one that is recorded. One inside a
    project is no part of that project's repository.
    """
    home = settings.home
    if home.exists():
        return
    with explain_refused_writes(home):
        aside = _folder_beside(home)
        try:
            aside.chmod(settings.folder_mode)
            if home.name == HOME_FOLDER:
                (aside / ".gitignore").write_text(_IGNORE_ALL, encoding="utf-8")
            if settings.home_mode != Settings.model_fields["home_mode"].default:
                (aside / SETTINGS_FILE).write_text(f'home_mode = "{settings.home_mode}"\n', encoding="utf-8")
            record = None
            try:
                record = record_home(aside, at=home)
            except ConfigurationError as error:
                # It is made all the same: it can be named.
                complain(str(error))
            try:
                aside.rename(home)
            except OSError:
                if record:
                    record.unlink(missing_ok=True)
                # Another process was first.
                if not home.is_dir():
                    raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _folder_beside(home: Path) -> Path:
    try:
        if not home.parent.is_file():
            home.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{home.name}.new-", dir=home.parent))
    except OSError as error:
        # The message names the home, and not the folder beside it.
        raise OSError(error.errno, error.strerror, str(home)) from error
