"""What a command writes to the registry, and takes back where nothing could be fetched.

A command that was killed takes nothing back. While it runs it holds a file locked for each new entry: the next command
that finds such a file free does it instead.
"""

import os
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from codesum_pipeline.cli.home_folder import make_home
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.remove import forget
from codesum_pipeline.cli.render import note
from codesum_pipeline.model.errors import CannotWrite, LeaseHeld, UnknownRepository
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.source.locations import redact
from codesum_pipeline.store.locks import is_free, take_own
from codesum_pipeline.wiring import Home


class NewEntries(Struct, frozen=True, weakref=True):
    """The entries that one command registered or changed, with what they were before it."""

    called: Invocation
    _before: dict[str, RepositoryEntry | None] = field(default_factory=dict)

    def register(self, entry: RepositoryEntry) -> None:
        """Write an entry, and say so."""
        registry = self.called.registry
        before = next((known for known in registry.entries() if known.key == entry.key), None)
        make_home(self.called.settings)
        if before is None:
            self._mark(entry.key)
        registry.add(entry)
        self._before.setdefault(entry.key, before)
        place = f"{redact(entry.location)}{f' ({entry.subdir})' if entry.subdir else ''}"
        note(f"{entry.key}: {'registered' if before is None else 'registered anew'}, {place}")

    def _mark(self, key: str) -> None:
        mark = self.called.layout.first_fetches / key
        mark.parent.mkdir(parents=True, exist_ok=True)
        # There already: another command registers the same repository at this moment.
        with suppress(FileExistsError):
            handle = take_own(mark)
            if handle is not None:
                weakref.finalize(self, _unmark, mark, handle)

    def take_back(self, keys: Iterable[str] | None = None) -> None:
        """Leave these of them (default: all) as they were before. One that was fetched at any time stays."""
        home = Home(self.called.settings)
        for key in list(self._before) if keys is None else [key for key in keys if key in self._before]:
            before = self._before.pop(key)
            if before is not None:
                self.called.registry.add(before)
                note(f"{key}: registered as it was before")
            elif not was_fetched(home, key):
                _forget(home, key)

    def take_back_new(self) -> None:
        """As `take_back`, of those that nobody had registered before."""
        self.take_back([key for key, before in self._before.items() if before is None])


def take_back_of_killed(settings: Settings) -> None:
    """Take back what commands registered that were killed in their first fetch.

    Who may only read the home finds it as it is, and so does who comes second of two at one moment.
    """
    home = Home(settings)
    with suppress(CannotWrite, PermissionError, UnknownRepository):
        for mark in sorted(home.layout.first_fetches.iterdir()):
            if not is_free(mark):
                continue
            known = {entry.key for entry in home.registry.survey().entries}
            if mark.name in known and not was_fetched(home, mark.name):
                _forget(home, mark.name)
            mark.unlink(missing_ok=True)


def _unmark(mark: Path, handle: int) -> None:
    mark.unlink(missing_ok=True)
    os.close(handle)


def was_fetched(home: Home, key: str) -> bool:
    """Whether a build ever got hold of a repository."""
    return home.tables.readable_path("snapshot", key) is not None


def _forget(home: Home, key: str) -> None:
    """Where another process builds it, it stays."""
    try:
        forget(home, key, is_registered=True)
    except LeaseHeld:
        return
    note(f"{key}: not registered any more: nothing could be fetched")
