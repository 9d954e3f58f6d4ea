"""Make a compiler's index of a commit by the command of its entry.

A command is run for a tree once, whatever came of it: what it wrote stays in use until another one is made. Only a
regular file is taken, without following a link, after all that the command started has ended.
"""

import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CannotWrite, ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.atomic import read_json, replace_durably, write_json_atomically
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.git.git_addresses import with_shown_locations
from codesum_pipeline.source.git.mirror import Mirror, check_out
from codesum_pipeline.symbols.scip.sandbox import INDEX_NAME, OUTPUT, Ran, Room, Sandbox, is_of_checkout, run_bounded

MADE_BY = "made by "
_INDEX_FILE, _RECORD_FILE = "made.scip", "made.json"
_ROOM_PREFIX = "codesum-scip-"
_LONGEST_COMMAND = 80
# How much of a command's output is kept to find the cause of a failure.
_PRINTED_LINES, _LONGEST_PRINTED = 4, 400
# Shorter ones may be in any text.
_SHORTEST_SECRET = 6
_MB = 1024 * 1024
_AGAIN = "`codesum index --force` tries it again"
_RUNNING, _MADE, _FAILED = "running", "made", "failed"


class MadeIndex(Struct, frozen=True):
    """The result of an entry's command: the file that it wrote, or why there is none.

    `path` is kept until the next index is made, and may be of an earlier commit. `problem` is one line: what went
    wrong and the way out; empty if nothing did.
    """

    path: Path | None
    origin: str
    problem: str


class _Attempt(Struct, frozen=True):
    """The last run of a command: for which tree and by which settings; `origin` made the current index.

    `room` is where it ran: left over where codesum was killed meanwhile.
    """

    tree: str
    command: str
    settings: str
    outcome: str
    problem: str
    room: str
    origin: str


class _NotMade(Exception):
    """There is no new index, for a reason that another try does not change."""


def make_index(ws: Workspace, mirror: Mirror, commit: str, *, progress: Progress = no_progress) -> MadeIndex | None:
    """The index that the entry's command makes of a commit, made now if it was not; None if there is no command.

    Whatever goes wrong is its `problem`.
    """
    if not ws.entry.scip_command:
        return None
    making = _IndexMaker(ws, mirror, ws.layout.scip(ws.key))
    try:
        problem = making.brought_up(commit, progress=progress)
    except (ConfigurationError, RepositoryUnavailable, CannotWrite, OSError) as error:
        problem = f"the compiler's index was not made: {error}"
    last = making.last()
    path = making.folder / _INDEX_FILE
    return MadeIndex(
        path=path if path.is_file() else None,
        origin=f"{MADE_BY}{last.origin if last and last.origin else making.shown}",
        problem=one_line(problem),
    )


def drop_made(folder: Path) -> None:
    """Delete what is kept of a command that the entry has no more."""
    for name in (_INDEX_FILE, _RECORD_FILE):
        (folder / name).unlink(missing_ok=True)


class _IndexMaker:
    """The command of one entry, and the folder in which its index is kept; `shown` is the command as people read it."""

    def __init__(self, ws: Workspace, mirror: Mirror, folder: Path) -> None:
        self.ws, self.mirror, self.folder = ws, mirror, folder
        self.shown = shorten_text(one_line(with_shown_locations(ws.entry.scip_command)), _LONGEST_COMMAND)

    def last(self) -> _Attempt | None:
        """None if nothing is known of an earlier attempt."""
        return read_json(self.folder / _RECORD_FILE, _Attempt)

    def brought_up(self, commit: str, *, progress: Progress) -> str:
        """Run the command if it was not for this tree; the problem that it had, now or then."""
        entry, last = self.ws.entry, self.last()
        tree = self.mirror.resolve(commit, kind="tree") or ""
        settings = hash_of([self.ws.settings.scip.model_dump(), entry.subdir])
        now = _Attempt(tree, entry.scip_command, settings, _RUNNING, "", "", "")
        if last and not self.ws.force:
            is_same = (last.tree, last.command, last.settings) == (now.tree, now.command, now.settings)
            has_index = last.outcome == _MADE and (self.folder / _INDEX_FILE).is_file()
            if is_same and (has_index or last.outcome == _FAILED):
                return last.problem
        if last:
            _remove_room(Path(last.room))
        progress(f"making a compiler's index by {self.shown}", 0, 1)
        problem = self._run(commit, replace(now, origin=last.origin if last else ""))
        progress(f"making a compiler's index by {self.shown}", 1, 1)
        return problem

    def _run(self, commit: str, attempt: _Attempt) -> str:
        """Run the command in a room of its own; what came of it is recorded, a refusal to run it is not."""
        with _room(self.ws.entry.subdir) as room:
            sandbox = Sandbox(room, self.ws.settings.scip, self.ws.layout.home)
            words = shlex.split(self.ws.entry.scip_command)
            # Before a checkout is made in vain.
            if not is_of_checkout(words[0]) and (problem := sandbox.problem(words[0])):
                return f"{self.shown} was not run: {problem}"
            check_out(self.mirror, commit, room.checkout, aside=room.root / "git")
            folder = room.checkout.resolve() / room.subdir
            # A folder of the tree, and not a link that leads somewhere else.
            if folder.resolve() != folder or not folder.is_dir():
                raise ConfigurationError(f"subdir {room.subdir!r} is not a folder of the commit: correct it")
            if is_of_checkout(words[0]) and (problem := sandbox.problem(words[0])):
                return f"{self.shown} was not run: {problem}"
            attempt = replace(attempt, room=str(room.root))
            self._record(attempt)
            try:
                self._make(sandbox, words)
                attempt = replace(attempt, outcome=_MADE, origin=self.shown)
            except _NotMade as error:
                attempt = replace(attempt, outcome=_FAILED, problem=f"{error}; {_AGAIN}")
        self._record(replace(attempt, room=""))
        return attempt.problem

    def _make(self, sandbox: Sandbox, words: list[str]) -> None:
        room, settings = sandbox.room, sandbox.settings
        root, below = room.checkout, PurePosixPath(room.subdir) / INDEX_NAME
        if any(OUTPUT in word for word in words):
            root, below = room.output, PurePosixPath(INDEX_NAME)
        (root / below).unlink(missing_ok=True)
        values = (os.environ.get(name, "") for name in settings.environment)
        secrets = [value for value in values if len(value) >= _SHORTEST_SECRET]
        ran = run_bounded(sandbox.command(words), settings)
        why = f"it ended with status {ran.status}" if ran.status else ""
        if ran.over:
            why = f"it was ended: {ran.over}"
        elif ran.signal == signal.SIGXFSZ:
            why = f"it wrote a file of more than {settings.max_index_mb} MB: raise scip.max_index_mb"
        elif ran.signal:
            why = f"it was ended by signal {ran.signal}"
        if why:
            raise _NotMade(f"{self.shown}: {why}{_printed_lines(ran, secrets)}")
        try:
            with _opened(root, below) as file, replace_durably(self.folder / _INDEX_FILE) as kept:
                copied = 0
                while part := file.read(_MB):
                    copied += len(part)
                    if copied > settings.max_index_mb * _MB:
                        raise _NotMade(f"its index is larger than {settings.max_index_mb} MB: raise scip.max_index_mb")
                    kept.write(part)
                if not copied:
                    raise _NotMade("its index is empty")
        except _NotMade as error:
            raise _NotMade(f"{self.shown}: {error}{_printed_lines(ran, secrets)}") from error

    def _record(self, attempt: _Attempt) -> None:
        write_json_atomically(self.folder / _RECORD_FILE, attempt)


@contextmanager
def _opened(root: Path, below: PurePosixPath) -> Iterator[BinaryIO]:
    """The file at a path below a folder, if it is regular: a link is not followed, and a pipe or device not read."""
    not_regular = _NotMade(f"it wrote {below} as a link or something else that is no regular file")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in below.parts[:-1]:
            deeper = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = deeper
        handle = os.open(below.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError as error:
        raise _NotMade(
            f"it ended well and wrote no {below}: name {OUTPUT} in the command where it says what to write"
        ) from error
    except OSError as error:
        raise not_regular from error
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise not_regular
    with os.fdopen(handle, "rb") as file:
        yield file


def _printed_lines(ran: Ran, secrets: list[str]) -> str:
    """The last lines that a command printed, without those of a stack trace."""
    text = ran.tail.decode("utf-8", "replace")
    for secret in secrets:
        text = text.replace(secret, "***")
    lines = [one_line(with_shown_locations(line)) for line in text.replace("\r", "\n").split("\n")]
    telling = [line for line in lines if line and not line.startswith(("at ", "Node.js v"))]
    printed = " / ".join(telling[-_PRINTED_LINES:])
    shortened = printed if len(printed) <= _LONGEST_PRINTED else f"…{printed[1 - _LONGEST_PRINTED :]}"
    return f"; it said: {shortened}" if printed else ""


@contextmanager
def _room(subdir: str) -> Iterator[Room]:
    root = Path(tempfile.mkdtemp(prefix=_ROOM_PREFIX))
    try:
        yield Room.made(root, subdir)
    finally:
        _remove_room(root)


def _remove_room(root: Path) -> None:
    """Whatever a command left there: folders that may not be entered, or deeper than Python can follow."""
    if not root.name.startswith(_ROOM_PREFIX) or not root.is_dir() or root.is_symlink():
        return
    with suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
    for program in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if root.is_dir():
            with suppress(FileNotFoundError):
                subprocess.run([*program, "--", str(root)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
