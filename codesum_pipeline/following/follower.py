"""Work trees that somebody asked about are watched from then on, and what an edit needs is prepared at once."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codesum_pipeline.following.watch import MOST_FOLDERS, NotFollowed, TreeWatch
from codesum_pipeline.model.errors import CodesumError

_log = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.1


@dataclass
class _FollowedTree:
    """`watch` is None until it is set up, and where it cannot be."""

    root: Path
    prepare: dict[str, Callable[[], None]] = field(default_factory=dict)
    watch: TreeWatch | None = None
    is_given_up: bool = False


class Follower:
    """What lies in `home` is no change of a tree. One thread looks; `prepare` runs in it, one after the other."""

    def __init__(self, home: Path, *, most_folders: int = MOST_FOLDERS) -> None:
        self._home = home.resolve()
        self._most_folders = most_folders
        self._trees: dict[Path, _FollowedTree] = {}
        self._listeners: list[Callable[[str, frozenset[str]], None]] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, root: Path, name: str, prepare: Callable[[], None]) -> None:
        """Watch a tree from now on, and after each change call what was given last under each name; returns at once."""
        with self._lock:
            self._trees.setdefault(root, _FollowedTree(root)).prepare[name] = prepare
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
                self._thread.start()

    def listen(self, tell: Callable[[str, frozenset[str]], None]) -> None:
        """Tell of each change, once it is prepared: under which name, and the paths in the tree as far as known."""
        self._listeners.append(tell)

    def generation(self, root: Path) -> int | None:
        """A number that is another one after each change of a tree; None for one that is not watched: compare it.

        It waits some milliseconds for what the system has to tell. A change that the system lost counts 10 s later.
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
        """Watch nothing any more."""
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
                # The next call says it to who asks.
                _log.info("%s: %s was not prepared: %s", name, followed.root, error)
            for tell in self._listeners:
                tell(name, changed)

    def _drop(self, followed: _FollowedTree, watch: TreeWatch | None, error: Exception) -> None:
        """One that is gone or cannot be read may come back: whoever asks has it followed. Of others it is said once."""
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
