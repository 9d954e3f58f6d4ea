"""One work tree that the system tells changes of."""

import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from watchfiles._rust_notify import RustNotify

from codesum_pipeline.following.folders import TreeFolders
from codesum_pipeline.model.errors import CodesumError

# The system drops what comes too fast, and says nothing: a tree counts as changed now and then.
_TRUSTED_S = 10.0
# Folders come in bursts, as when a branch is switched.
_MOST_LISTINGS = 5
# How long a look waits for something to arrive, and how long a burst is collected.
_ARRIVES_MS = 5
_BURST_MS = 50
# Beyond this nobody waits for the system to tell what happened before: the tree counts as changed.
_CAUGHT_UP_S = 1.0
# A watch costs the kernel a kilobyte, and a user may have as many in all of the programs.
MOST_FOLDERS = 50_000


class NotFollowed(CodesumError):
    """A work tree that cannot be watched: it is compared at each call."""


class TreeWatch:
    """Raises `NotFollowed`, or `RepositoryUnavailable`, where a tree cannot be watched. Several threads may look.

    The system tells changes in their order, so whoever has to know of all until now changes a file in a folder beside,
    and waits until that is told (Watchman's *cookies*).
    """

    def __init__(self, root: Path, home: Path, *, most_folders: int = MOST_FOLDERS) -> None:
        self._tree = TreeFolders(root, home)
        self._most_folders = most_folders
        self._lock = threading.Lock()
        self._generation = 0
        self._news: set[str] | None = None
        self._is_closed = False
        if self._tree.is_on_a_network:
            raise NotFollowed("it lies on another machine's disk")
        self._folders: frozenset[str] = frozenset()
        self._notify: RustNotify | None = None
        self._beside = tempfile.TemporaryDirectory(prefix="codesum-")
        self._cookie = Path(self._beside.name).resolve() / "cookie"
        self._watch_anew()
        self._counted_at = time.monotonic()

    def generation(self) -> int:
        """Another number after each change, and some seconds later in any case. Raises as the constructor."""
        with self._lock:
            self._catch_up()
            if time.monotonic() - self._counted_at > _TRUSTED_S:
                self._count()
            return self._generation

    def take_change(self) -> frozenset[str] | None:
        """The paths below the root that changed since this was asked last; None where nothing did.

        A change of git's own files has no paths. Raises as the constructor.
        """
        with self._lock:
            self._look()
            found, self._news = self._news, None
            return None if found is None else frozenset(found)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._forget()
            self._beside.cleanup()

    def _forget(self) -> None:
        if self._notify:
            self._notify.close()
        self._notify = None

    def _catch_up(self) -> None:
        """Hear of all that happened until now."""
        if not self._is_closed:
            self._cookie.write_bytes(b"")
        deadline = time.monotonic() + _CAUGHT_UP_S
        while not self._look():
            if time.monotonic() > deadline:
                self._count()
                return

    def _look(self) -> bool:
        """Take in what the system tells; whether that was all until the file beside was changed last."""
        if self._is_closed:
            raise NotFollowed("it is followed no more")
        told = self._notify.watch(_BURST_MS, _ARRIVES_MS, _ARRIVES_MS, None) if self._notify else set()
        if not self._tree.root.is_dir():
            raise NotFollowed("it is gone")
        if isinstance(told, str):
            return False
        paths = {path for _, path in told}
        changed = self._tree.changed(paths - {str(self._cookie)})
        is_anew = self._notify is None or any(map(self._is_of_folders, changed))
        if is_anew:
            self._watch_anew()
        if changed or self._notify is None:
            self._news = (self._news or set()) | self._tree.named(changed)
            self._count()
        return is_anew or str(self._cookie) in paths

    def _is_of_folders(self, path: str) -> bool:
        """Whether a change may be one of what is to be watched; a folder of an old name may be another one."""
        return path.endswith("/.gitignore") or path in self._folders or Path(path).is_dir()

    def _count(self) -> None:
        self._generation += 1
        self._counted_at = time.monotonic()

    def _watch_anew(self) -> None:
        """Watch the folders that there are, and those that came while they were listed; else the next look does."""
        folders = self._tree.watched()
        for _ in range(_MOST_LISTINGS):
            self._forget()
            self._folders = folders
            with suppress(FileNotFoundError):
                self._notify = self._watch(folders)
            folders = self._tree.watched()
            if self._notify and folders == self._folders:
                return

    def _watch(self, folders: frozenset[str]) -> RustNotify:
        """Raises `FileNotFoundError` where one of them is gone again."""
        if len(folders) > self._most_folders:
            raise NotFollowed(f"it has {len(folders):,} folders, more than {self._most_folders:,}")
        try:
            # The last one would have it pass over folders that it cannot watch for whatever reason, and say nothing.
            return RustNotify([self._beside.name, *sorted(folders)], False, False, 0, False, False)
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError) as error:
            raise NotFollowed(f"the system does not watch it: {error}") from error
