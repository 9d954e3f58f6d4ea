"""Indexing a checkout on its first use: the command for it, and the place of its index.

`codesum search` asks a person, and else names the command. A server that was started in such a checkout indexes it
while it answers: by `codesum index` in a process of its own, with its lease and checks, which ends with the server. Of
several servers in one checkout the first one starts it: it holds a file locked as long as that process lives. What the
process says goes into a file beside, so that all of them know how far it is, and why it failed.
"""

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import typer
from msgspec import Struct, field

from codesum_pipeline.builds.codesum_home.home_folders import user_home
from codesum_pipeline.foundation.data_model.errors import BeingIndexed, CodesumError, MissingTable
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import bytes_of_text
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.git.git import find_object_id, try_git
from codesum_pipeline.source.git.trees import read_tree
from codesum_pipeline.source.repositories.checkouts import Checkout, checkout_of, entries_of
from codesum_pipeline.ways_in.cli.document_views import open_published
from codesum_pipeline.ways_in.cli.invocation import Invocation, main_work_tree, make_home
from codesum_pipeline.ways_in.cli.render import write_note

_TIMEOUT_S = 60.0
# A build on two cores: the seconds to start it, and the bytes of source a second (benchmarks/results/growth.md).
_START_S = 4.0
_BYTES_A_SECOND = 250_000
# Not by `-m`, which would look for modules in the current folder.
_CODE = "import sys; sys.path[:] = {path!r}; from codesum_pipeline.cli import main; main()"
# The cause of a failed build may be gone by the next request.
_AGAIN_AFTER_S = 30.0
# Nothing is ready sooner.
_LEAST_WAIT_S = 2.0
# How much of the end of a build's output is read.
_TAIL_BYTES = 4000
_COMPLAINT = "codesum: "


class UnindexedCheckout(Struct, frozen=True):
    """A checkout without an index, and what is to be indexed for it: `targets` are keys, or where it lies."""

    invocation: Invocation
    checkout: Checkout
    targets: tuple[str, ...]
    problem: str = ""

    @classmethod
    def find(cls, invocation: Invocation, checkout: Checkout) -> "UnindexedCheckout | None":
        """None where one of the entries of the checkout is published."""
        entries = entries_of(checkout, invocation.registry.survey().entries)
        enabled = [entry.key for entry in entries if entry.enabled]
        if any(os.path.lexists(invocation.layout.published(key)) for key in enabled):
            return None
        # The main work tree is registered, or the repository itself if it has none.
        location = checkout.root if (checkout.root / ".git").is_dir() else main_work_tree(checkout)
        if location is None:
            reply = try_git(["rev-parse", "--is-bare-repository"], git_dir=checkout.git_dir, timeout_s=_TIMEOUT_S)
            location = checkout.git_dir if reply.output.strip() == b"true" else checkout.root
        return cls(invocation, checkout, tuple(enabled) or (str(location),), _problem(location, entries))

    @property
    def name(self) -> str:
        """The name that a person knows it by."""
        return self.checkout.root.name

    @property
    def command(self) -> str:
        """The command that indexes it."""
        home = self.invocation.settings.home
        is_named = self.invocation.flags.get("home") or (home == user_home() and not os.environ.get("CODESUM_HOME"))
        named = ["--home", self.invocation.settings.address] if is_named else []
        return shlex.join(["codesum", *named, "index", *self.targets])

    def size(self) -> tuple[int, float]:
        """How many files of the last commit would be indexed, and about how many seconds the first build takes.

        Raises `RepositoryUnavailable` where git cannot read the repository.
        """
        rules = PathRules.of(RepositoryEntry("any", "/"), self.invocation.settings)
        commit = find_object_id("HEAD", git_dir=self.checkout.git_dir, timeout_s=_TIMEOUT_S)
        every = (
            read_tree(commit, git_dir=self.checkout.git_dir, timeout_s=_TIMEOUT_S, with_sizes=True) if commit else ()
        )
        sizes = [
            bytes_of_text(path, file.size)
            for file in every
            if not rules.why_skipped(path := file.path.decode("utf-8", "replace"), mode=file.mode, size=file.size)
        ]
        return len(sizes), _START_S + sum(sizes) / _BYTES_A_SECOND

    def build_command(self) -> list[str]:
        """The same command, for a process that this one starts."""
        flags = [
            *("--home", self.invocation.settings.address),
            *(("--settings-file", str(named)) if (named := self.invocation.flags.get("settings_file")) else ()),
            *(("--offline",) if self.invocation.flags.get("offline") else ()),
        ]
        return [sys.executable, "-P", "-c", _CODE.format(path=sys.path), *flags, "index", *self.targets]


def index_on_first_use(invocation: Invocation, checkout: Checkout, *, may_ask: bool) -> bool:
    """Index a checkout that the home does not know, if the person at the terminal wants that.

    False where it is not indexed and other indexes are meant. Raises `MissingTable`, which names the command, where
    there are none.
    """
    found = UnindexedCheckout.find(invocation, checkout)
    if found is None:
        return True
    # Whether somebody chose the home, and it holds other indexes: in that of all checkouts they are of no use here.
    is_chosen = (
        invocation.flags.get("home") or os.environ.get("CODESUM_HOME") or invocation.settings.home != user_home()
    )
    others = bool(is_chosen and published_entries(invocation))
    if found.problem and not others:
        raise MissingTable(found.problem)
    if not found.problem and may_ask and sys.stdin.isatty() and sys.stderr.isatty():
        files, seconds = found.size()
        write_note(
            f"{checkout.root} is not indexed yet: {count_noun(files, 'file')}, about {in_time(seconds)}; "
            f"the index will lie in {invocation.settings.home}"
        )
        if typer.confirm("Index it now?", default=True, err=True):
            _build(found)
            return True
    if not others:
        raise MissingTable(f"{checkout.root} is not indexed yet: run `{found.command}`")
    return False


def published_entries(invocation: Invocation) -> list[RepositoryEntry]:
    """The enabled repositories that have an index."""
    entries = invocation.registry.survey().entries
    return [entry for entry in entries if entry.enabled and os.path.lexists(invocation.layout.published(entry.key))]


def _build(found: UnindexedCheckout) -> None:
    """Build on this terminal. What the build prints goes to stderr, since it is no part of the answer."""
    process = subprocess.Popen(found.build_command(), stdin=subprocess.DEVNULL, stdout=sys.stderr)
    while True:
        try:
            status = process.wait()
            break
        except KeyboardInterrupt:
            # The terminal has interrupted the build, too, which ends by itself.
            continue
    if status != 0:
        raise typer.Exit(status if status > 0 else 128 - status)


def _problem(location: Path, entries: Sequence[RepositoryEntry]) -> str:
    """Why it cannot be indexed now; empty if it can."""
    if entries and not any(entry.enabled for entry in entries):
        return f"{entries[0].key} is disabled: `codesum add {entries[0].key}` enables it"
    git_dir = location / ".git" if (location / ".git").exists() else location
    try:
        head = find_object_id("HEAD", git_dir=git_dir, timeout_s=_TIMEOUT_S)
    except CodesumError as error:
        return f"{location} cannot be read: {error}"
    if head is None and not entries:
        return f"{location} has no commit yet, and nothing to index: commit something first"
    return ""


def in_time(seconds: float) -> str:
    """`8 s`, `3 min`."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


class SearchScope(Struct, frozen=True):
    """The indexes to search; `remark` says why it is these where nobody named them.

    It `leaves_out` others that a question of a batch may name.
    """

    indexes: list[PublishedIndex]
    remark: str | None = None
    leaves_out: bool = False


def open_scope(invocation: Invocation, names: Sequence[str], *, everything: bool, may_ask: bool = False) -> SearchScope:
    """Open the indexes that a search is about; in a checkout, those of its repository.

    One that is not indexed is, if somebody at the terminal may be asked and wants it.
    """
    checkout = None if names or everything else checkout_of(Path.cwd())
    if checkout is None:
        return SearchScope(open_published(invocation, names))
    published = published_entries(invocation)
    ours = entries_of(checkout, published)
    if not ours and index_on_first_use(invocation, checkout, may_ask=may_ask):
        return open_scope(invocation, names, everything=everything)
    others = len(published) - len(ours)
    if not ours:
        these = "the one that is" if others == 1 else f"the {count_noun(others, 'repository', 'repositories')} that are"
        remark = f"the repository of this folder is not indexed (`codesum index {checkout.root}`): searching {these}"
        return SearchScope(open_published(invocation), remark if published else None)
    if not others:
        return SearchScope(open_published(invocation))
    keys = [entry.key for entry in ours]
    remark = f"searching {', '.join(keys)}, the {'repository' if len(keys) == 1 else 'repositories'} of this folder"
    rest = "the other one" if others == 1 else f"the other {others:,}"
    return SearchScope(open_published(invocation, keys), f"{remark}; --all searches {rest} too", leaves_out=True)


class FirstIndex(Struct):
    """Answers why there is no index yet, and sees to it that there will be one. Several threads may ask."""

    invocation: Invocation
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: "subprocess.Popen[bytes] | None" = None
    _seconds: float = 0.0
    _failed_at: float | None = None
    _failure: str = ""
    _has_ended: bool = False

    @contextmanager
    def running(self) -> Iterator["FirstIndex"]:
        """Begin at once, if the current folder is a checkout without an index; what is not done at the end is given up.

        Finished steps are kept: the next server goes on from there.
        """

        def begin() -> None:
            with suppress(CodesumError):
                if checkout := checkout_of(Path.cwd()):
                    self.state(checkout)

        threading.Thread(target=begin, name="first index", daemon=True).start()
        is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if is_default:
            signal.signal(signal.SIGTERM, self._end_by_signal)
        try:
            yield self
        finally:
            with self._lock:
                self._end()
            if is_default:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def state(self, checkout: Checkout) -> CodesumError | None:
        """None where the checkout has an index; else how far it is, or why there will be none, and the way out."""
        with self._lock:
            try:
                found = UnindexedCheckout.find(self.invocation, checkout)
                return None if found is None else self._advance(found)
            except CodesumError as error:
                return error
            except OSError as error:
                return MissingTable(
                    f"{checkout.root} cannot be indexed in {self.invocation.settings.home}: "
                    f"{error.filename or 'a file'}: {error.strerror}; name another folder with --home or CODESUM_HOME"
                )

    def _end(self) -> None:
        self._has_ended = True
        if self._process and self._process.poll() is None:
            # As Ctrl-C in its terminal.
            os.killpg(self._process.pid, signal.SIGINT)

    def _end_by_signal(self, number: int, _frame: FrameType | None) -> None:
        """End the build, then let the signal end this process at once."""
        self._end()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    def _advance(self, found: UnindexedCheckout) -> CodesumError:
        """Start the build where none runs, and say how far it is."""
        lock = build_lock(found)
        log = lock.with_suffix(".txt")
        if self._process and self._process.poll() is not None:
            self._failure = _failure(_last_lines(log), self._process.returncode)
            self._process, self._failed_at = None, time.monotonic()
        if found.problem:
            return MissingTable(found.problem)
        if self._failed_at is not None and time.monotonic() - self._failed_at < _AGAIN_AFTER_S:
            return MissingTable(
                f"{found.name} could not be indexed: {self._failure}; it is tried again {_AGAIN_AFTER_S:.0f} s later, "
                f"or at once by `{found.command}`"
            )
        if self._process is None and not self._has_ended:
            self._start(found, lock)
        passed = max(0.0, time.time() - lock.stat().st_mtime)
        # Beside other work it takes longer than estimated, by an unknown time.
        left = max(self._seconds - passed, passed / 2, _LEAST_WAIT_S)
        doing = next(reversed(_last_lines(log)), "starting")
        return BeingIndexed(
            f"{found.name} is being indexed for the first time ({in_time(passed)} so far): {doing}; ask "
            f"again in about {in_time(left)}"
        )

    def _start(self, found: UnindexedCheckout, file: Path) -> None:
        """Start the build, unless another server holds its lock."""
        make_home(self.invocation.settings)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._seconds = self._seconds or found.size()[1]
        with file.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            os.utime(file)
            with file.with_suffix(".txt").open("wb") as log:
                self._process = subprocess.Popen(
                    found.build_command(),
                    # Nobody was asked whether a model may be paid.
                    env={**os.environ, "CODESUM_LLM__ENABLED": "false"},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    # Held by the process from now on, and free when it has ended.
                    pass_fds=[lock.fileno()],
                    # An interrupt from a terminal is for the server, which passes it on.
                    start_new_session=True,
                )


def build_lock(found: UnindexedCheckout) -> Path:
    """The file that the process of a first build keeps locked; the process's output is beside it, in `.txt`."""
    return found.invocation.layout.first_uses / f"{hash_of([str(found.checkout.git_dir)])}.lock"


def _failure(lines: Sequence[str], status: int) -> str:
    """Why a build failed."""
    complaints = [line.removeprefix(_COMPLAINT) for line in lines if line.startswith(_COMPLAINT)]
    return next(reversed(complaints or lines), f"its process ended with status {status}")


def _last_lines(log: Path) -> list[str]:
    """The whole lines at the end of what a build said."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read().decode("utf-8", "replace").split("\n")[:-1]
    except FileNotFoundError:
        return []
