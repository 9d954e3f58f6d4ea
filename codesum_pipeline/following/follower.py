"""Watches work trees from the first question about them, and prepares the next answer after each edit."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from codesum_pipeline.following.watch import MOST_FOLDERS, NotFollowed, TreeWatch
from codesum_pipeline.model.errors import CodesumError

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
        self._listeners: list[Callable[[str, frozenset[str]], None]] = []
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

    def listen(self, tell: Callable[[str, frozenset[str]], None]) -> None:
        """Call `tell` after each prepared change, with its name and the changed paths as far as they are known."""
        self._listeners.append(tell)

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
        self._stop.set()
        if self._thread:
            self._thread.join()
        for followed in self._trees.values():
            if followed.watch:
                followed.watch.close()

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
            elif (changed := watch.take_change()) is not None:
                self._prepare(followed, changed)
        except (CodesumError, OSError) as error:
            self._drop(followed, watch, error)
        except Exception:
            with self._lock:
                followed.is_given_up, followed.watch = True, None
            if watch:
                watch.close()
            _log.exception("%s is not followed any more", followed.root)

    def _prepare(self, followed: _FollowedTree, changed: frozenset[str]) -> None:
        for name, prepare in list(followed.prepare.items()):
            try:
                prepare()
            except (CodesumError, OSError) as error:
                # The next call tells its caller.
                _log.info("%s: %s was not prepared: %s", name, followed.root, error)
            for tell in self._listeners:
                tell(name, changed)

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
