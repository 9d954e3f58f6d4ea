"""Watches work trees by the system's notifications, and prepares the next answer after each edit."""

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field
from watchfiles._rust_notify import RustNotify

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.source.git.git import output_of, run_git
from codesum_pipeline.source.git.user_excludes import run_in_tree

_TIMEOUT_S = 30.0
_OF_GIT = frozenset({"HEAD", "index", "packed-refs"})
# File systems on which the system does not notice changes by another machine.
_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)


class TreeFolders(Struct, eq=False, dict=True):
    """The folders of the work tree at `root`, without `home`. It remembers git's folders, and what git ignores."""

    root: Path
    home: Path
    # Ignored files that changed before, as logs do all the time: git is asked once about each.
    _noise: set[str] = field(default_factory=set)

    def watched(self) -> frozenset[str]:
        """The folders to watch; raises `RepositoryUnavailable` if git cannot read the tree."""
        folders = {self.root}
        for name in self._listed("--cached", "--others"):
            folders.update((self.root / name).parents)
        for name in self._listed("--others", "--directory"):
            # A folder without files, or one that git knows nothing in.
            if name.endswith("/"):
                folders.update(_below(self.root / name))
        own = {folder for folder in folders if folder.is_relative_to(self.root) and not self._is_of_home(folder)}
        return frozenset(str(each) for each in own.union(self._of_git) if each.is_dir() and os.access(each, os.R_OK))

    def changed(self, paths: Iterable[str]) -> set[str]:
        """The paths whose change may change the tree."""
        of_git = set(map(str, self._of_git))
        found, candidates = set(), set()
        for path in paths:
            folder, name = os.path.split(path)
            if folder in of_git:
                is_branch = folder.startswith(str(self._common / "refs")) and not name.endswith(".lock")
                if is_branch or name in _OF_GIT:
                    found.add(path)
            elif path not in self._noise and not self._is_of_home(Path(path)):
                candidates.add(path)
        if any(path.endswith("/.gitignore") for path in candidates):
            self._noise.clear()
        ignored = self._ignored(candidates)
        self._noise.update(ignored)
        return found | (candidates - ignored)

    def _is_of_home(self, path: Path) -> bool:
        return path.is_relative_to(self.home)

    @property
    def is_on_a_network(self) -> bool:
        """Whether another machine has the file system."""
        # Importing takes 20 ms, for which the first answer of a server would wait.
        import psutil

        mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
        above = (str(folder) for folder in (self.root, *self.root.parents))
        return next((mounts[folder] for folder in above if folder in mounts), "") in _NETWORK

    @cached_property
    def _common(self) -> Path:
        """The git folder that all work trees of the repository share."""
        return Path(os.fsdecode(self._git("rev-parse", "--path-format=absolute", "--git-common-dir").rstrip(b"\n")))

    @cached_property
    def _own(self) -> Path:
        """The git folder of this work tree alone."""
        return Path(os.fsdecode(self._git("rev-parse", "--absolute-git-dir").rstrip(b"\n")))

    @property
    def _of_git(self) -> list[Path]:
        return [self._own, self._common, *_below(self._common / "refs" / "heads")]

    def _listed(self, *options: str) -> list[str]:
        arguments = ["ls-files", "-z", "--exclude-standard", *options]
        output = output_of(run_in_tree(arguments, self.root, timeout_s=_TIMEOUT_S), arguments)
        return [os.fsdecode(name) for name in output.split(b"\0") if name]

    def _ignored(self, paths: set[str]) -> set[str]:
        """The paths that git ignores, deleted ones too."""
        if not paths:
            return set()
        done = run_in_tree(
            ["check-ignore", "-z", "--stdin"],
            self.root,
            data=b"\0".join(map(os.fsencode, sorted(paths))) + b"\0",
            timeout_s=_TIMEOUT_S,
        )
        return {os.fsdecode(name) for name in done.output.split(b"\0") if name}

    def _git(self, *arguments: str) -> bytes:
        return run_git(arguments, work_tree=self.root, timeout_s=_TIMEOUT_S)


def _below(folder: Path) -> Iterator[Path]:
    """A folder and its subfolders, without nested repositories."""
    for here, folders, files in os.walk(folder):
        if ".git" in (*folders, *files):
            folders.clear()
        yield Path(here)


# The system silently drops events that come too fast, so a tree counts as changed now and then.
_TRUSTED_S = 10.0
# Folders come in bursts, as when a branch is switched.
_MOST_LISTINGS = 5
# How long to wait for events, and how long to collect a burst.
_ARRIVES_MS = 5
_BURST_MS = 50
# After waiting so long for pending events, the tree counts as changed.
_CAUGHT_UP_S = 1.0
# Each watch costs the kernel a kilobyte, and the programs of a user may have this many together.
MOST_FOLDERS = 50_000


class NotFollowed(CodesumError):
    """A work tree cannot be watched, and is compared at each call instead."""


class TreeWatch:
    """The watch of a tree, for several threads; raises `NotFollowed` or `RepositoryUnavailable` if it is impossible.

    The system reports changes in their order. To know of all changes until now, a file in another watched folder is
    changed, and its event is awaited (Watchman's *cookies*).
    """

    def __init__(self, root: Path, home: Path, *, most_folders: int = MOST_FOLDERS) -> None:
        self._tree = TreeFolders(root, home)
        self._most_folders = most_folders
        self._lock = threading.Lock()
        self._generation = 0
        self._has_news = False
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
        """A number that differs after each change, and after some seconds in any case. Raises as the constructor."""
        with self._lock:
            self._catch_up()
            if time.monotonic() - self._counted_at > _TRUSTED_S:
                self._count()
            return self._generation

    def has_changed(self) -> bool:
        """Whether the tree changed since the last call. Raises as the constructor."""
        with self._lock:
            self._look()
            found, self._has_news = self._has_news, False
            return found

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
        """Take in all events until now."""
        if not self._is_closed:
            self._cookie.write_bytes(b"")
        deadline = time.monotonic() + _CAUGHT_UP_S
        while not self._look():
            if time.monotonic() > deadline:
                self._count()
                return

    def _look(self) -> bool:
        """Take in pending events; returns whether the cookie's last event is among them."""
        if self._is_closed:
            raise NotFollowed("it is no longer watched")
        events = self._notify.watch(_BURST_MS, _ARRIVES_MS, _ARRIVES_MS, None) if self._notify else set()
        if not self._tree.root.is_dir():
            raise NotFollowed("it is gone")
        if isinstance(events, str):
            return False
        paths = {path for _, path in events}
        changed = self._tree.changed(paths - {str(self._cookie)})
        is_anew = self._notify is None or any(map(self._is_of_folders, changed))
        if is_anew:
            self._watch_anew()
        if changed or self._notify is None:
            self._has_news = True
            self._count()
        return is_anew or str(self._cookie) in paths

    def _is_of_folders(self, path: str) -> bool:
        """Whether a change may change the folders to watch; a folder may have been replaced under its name."""
        return path.endswith("/.gitignore") or path in self._folders or Path(path).is_dir()

    def _count(self) -> None:
        self._generation += 1
        self._counted_at = time.monotonic()

    def _watch_anew(self) -> None:
        """Watch the present folders; folders that come meanwhile are listed again, or found by the next look."""
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
        """Watch some folders; raises `FileNotFoundError` if one of them is gone."""
        if len(folders) > self._most_folders:
            raise NotFollowed(f"it has {len(folders):,} folders, more than {self._most_folders:,}")
        try:
            # The last argument would silently skip folders that cannot be watched.
            return RustNotify([self._beside.name, *sorted(folders)], False, False, 0, False, False)
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError) as error:
            raise NotFollowed(f"the system does not watch it: {error}") from error


_log = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.1


class _FollowedTree(Struct):
    """A followed tree; `watch` is None before it is set up, and where it cannot be."""

    root: Path
    prepare: dict[str, Callable[[], None]] = field(default_factory=dict)
    watch: TreeWatch | None = None
    is_given_up: bool = False


class Follower:
    """Files in `home` are no changes of a tree. One thread watches, and runs each `prepare`, one after the other."""

    def __init__(self, home: Path, *, most_folders: int = MOST_FOLDERS) -> None:
        self._home = home.resolve()
        self._most_folders = most_folders
        self._trees: dict[Path, _FollowedTree] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, root: Path, name: str, prepare: Callable[[], None]) -> None:
        """Watch a tree, and after each change call the last `prepare` under each name; returns at once."""
        with self._lock:
            self._trees.setdefault(root, _FollowedTree(root)).prepare[name] = prepare
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
                self._thread.start()

    def generation(self, root: Path) -> int | None:
        """A number that differs after each change of a tree; None for a tree without a watch, which must be compared.

        It waits some milliseconds for pending events. A change whose event was lost counts 10 s later.
        """
        with self._lock:
            followed = self._trees.get(root)
        watch = followed.watch if followed else None
        if followed is None or watch is None:
            return None
        try:
            return watch.generation()
        except (CodesumError, OSError) as error:
            self._drop(followed, watch, error)
            return None

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            # From now on `follow` starts no thread.
            self._stop.set()
            thread = self._thread
        if thread:
            thread.join()
        with self._lock:
            watches = [followed.watch for followed in self._trees.values() if followed.watch]
        for watch in watches:
            watch.close()

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_EVERY_S):
            with self._lock:
                trees = list(self._trees.values())
            for followed in trees:
                self._look(followed)

    def _look(self, followed: _FollowedTree) -> None:
        watch = followed.watch
        try:
            if watch is None:
                if not followed.is_given_up:
                    followed.watch = TreeWatch(followed.root, self._home, most_folders=self._most_folders)
            elif watch.has_changed():
                self._prepare(followed)
        except (CodesumError, OSError) as error:
            self._drop(followed, watch, error)
        except Exception:
            with self._lock:
                followed.is_given_up, followed.watch = True, None
            if watch:
                watch.close()
            _log.exception("%s is not followed any more", followed.root)

    def _prepare(self, followed: _FollowedTree) -> None:
        for name, prepare in list(followed.prepare.items()):
            try:
                prepare()
            except (CodesumError, OSError) as error:
                # The next call reports it to its caller.
                _log.info("%s: %s was not prepared: %s", name, followed.root, error)

    def _drop(self, followed: _FollowedTree, watch: TreeWatch | None, error: Exception) -> None:
        """End a watch. A tree that is gone may come back, and is followed again with the next question; for another
        one, a warning is logged once."""
        with self._lock:
            if followed.watch is not watch:
                return
            followed.watch = None
            if not isinstance(error, NotFollowed) or not followed.root.is_dir():
                self._trees.pop(followed.root, None)
            elif not followed.is_given_up:
                followed.is_given_up = True
                _log.warning("changes of %s are looked for at each call: %s", followed.root, error)
        if watch:
            watch.close()
