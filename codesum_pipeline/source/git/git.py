"""The one place that runs git.

A repository is data: its hooks, file monitors, filters and helpers never run, no prompt appears, and no setting of the
machine or of the user leaks in, so that the same repository gives the same snapshot everywhere.
"""

import errno
import os
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Self

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import (
    ConfigurationError,
    RepositoryUnavailable,
    SkippedFile,
    TookTooLong,
)
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.store.atomic import cannot_write, refusal_in_words
from codesum_pipeline.source.git.git_addresses import GIT_HOST, GIT_PASSWORD, GIT_USER, with_shown_locations

# Without a repository of its own, git would look for one upward of the current folder and read its configuration.
NO_REPOSITORY = Path(os.devnull)
# What no folder needs, whoever it belongs to: `user_excludes.py` joins the user's own patterns.
PACKAGED_EXCLUDES = Path(__file__).with_name("folder.gitignore")

_OVERRIDES = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.protectNTFS=false", "core.protectHFS=false", "core.quotePath=false", "core.filesRefLockTimeout=2000",
    "credential.helper=", "diff.external=", "gc.auto=0", "maintenance.auto=false",
    # Packs arrive whole or not at all; loose objects of a killed fetch could lack what they point to.
    "fetch.unpackLimit=1", "fastimport.unpackLimit=0",
    "fetch.recurseSubmodules=false", "http.followRedirects=initial", "log.showSignature=false", "protocol.version=2",
)  # fmt: skip
_FIXED_ENVIRONMENT = {
    "LC_ALL": "C", "LANGUAGE": "C",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("git.config")),
    "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false",
    # Nothing is fetched but by what is there to fetch.
    "GIT_ALLOW_PROTOCOL": "", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
}  # fmt: skip
# These two of the caller's git variables say how to reach a server; the others could redirect what is read.
_KEPT_VARIABLES = ("GIT_SSH_COMMAND", "GIT_SSL_CAINFO")
# A path such as `:(top)x` is that path, and no pattern.
LITERAL_PATHS = {"GIT_LITERAL_PATHSPECS": "1"}

# Answers for one host alone, also where that host sends git to another one.
_CREDENTIALS = (
    f'credential.helper=!f() {{ test "$1" = get && grep -qxF "host=${GIT_HOST}" && '
    f'printf \'username=%s\\npassword=%s\\n\' "${GIT_USER}" "${GIT_PASSWORD}"; }}; f'
)

# Commands that ask another side, which may never answer.
_ASKS_ELSEWHERE = frozenset({"fetch", "ls-remote"})
_PROTOCOLS = {"GIT_ALLOW_PROTOCOL": "https:ssh:file"}
# These may run long. A killed process closes its end of a pipe whatever killed it; then git and its helpers, which are
# one process group with the shell that waits for them, are killed: git itself would wait for a silent server for ever.
_MAY_RUN_LONG = _ASKS_ELSEWHERE | {"repack"}
_SUPERVISOR = """exec 3<&0 </dev/null
"$@" 3<&- & git=$!
{ read -r nothing <&3; kill -KILL 0; } >/dev/null 2>&1 & watcher=$!
wait "$git"; status=$?
{ kill -KILL "$watcher"; wait "$watcher"; } 2>/dev/null
exit "$status"
"""
_NO_GIT = "the program `git` is not on the PATH: install it"
# The status of a shell's command that was not found, and the one that those ended by a signal lie above.
_NOT_FOUND = 127
_BY_SIGNAL = 129

# Advice to git's own user, and what follows every failure of the other side, whose own words come before it.
_SAYS_NOTHING = (
    "hint:", "warning:", "fatal: Could not read from remote repository",
    "Please make sure you have the correct access rights", "and the repository exists",
)  # fmt: skip

# Requests that may wait unanswered: they fit into the smallest pipe buffer (16 KiB), so neither side can block.
_WINDOW = 200
# How much of a long list is read at a time.
_PART = 1024 * 1024


class GitResult(Struct, frozen=True):
    """How a git process ended: its exit status, its output, the last line of its complaints, and all of these."""

    status: int
    output: bytes
    complaint: str
    complaints: bytes = b""


def try_git(
    arguments: Sequence[str | Path],
    *,
    timeout_s: float,
    git_dir: Path | None = None,
    data: bytes | None = None,
    work_tree: Path | None = None,
    environment: Mapping[str, str] | None = None,
    excludes: Path = PACKAGED_EXCLUDES,
) -> GitResult:
    """Run git to its end, in a `work_tree` if there is one; raises `RepositoryUnavailable` after `timeout_s`."""
    if work_tree:
        environment = {"GIT_WORK_TREE": str(work_tree), **(environment or {})}
    git_dir = git_dir or (work_tree / ".git" if work_tree else NO_REPOSITORY)
    process = start_git(
        arguments,
        git_dir=git_dir,
        cwd=work_tree,
        stderr=subprocess.PIPE,
        environment=environment,
        excludes=excludes,
    )
    with _lifeline(process, arguments):
        try:
            output, complaint = process.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise _too_slow(arguments, timeout_s) from error
        finally:
            stop_git(process)
    status = process.returncode
    if arguments[0] in _MAY_RUN_LONG:
        # The exit status of the shell that waited for git.
        if status == _NOT_FOUND:
            raise ConfigurationError(_NO_GIT)
        status = _BY_SIGNAL - 1 - status if status > _BY_SIGNAL else status
    if status != 0:
        _check_room(complaint, status, git_dir)
    return GitResult(status, output, last_line(complaint), complaint)


def run_git(
    arguments: Sequence[str | Path],
    *,
    timeout_s: float,
    git_dir: Path | None = None,
    data: bytes | None = None,
    work_tree: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What git writes to its standard output; raises `RepositoryUnavailable` with its last complaint."""
    finished = try_git(
        arguments, timeout_s=timeout_s, git_dir=git_dir, data=data, work_tree=work_tree, environment=environment
    )
    return output_of(finished, arguments)


def output_of(finished: GitResult, arguments: Sequence[str | Path]) -> bytes:
    """What a git process wrote; raises `RepositoryUnavailable` if it failed."""
    if finished.status != 0:
        raise RepositoryUnavailable(f"git {arguments[0]} failed: {finished.complaint or finished.status}")
    return finished.output


def find_object_id(name: str, *, git_dir: Path, timeout_s: float, kind: str = "commit") -> str | None:
    """The id of the commit (or `kind` of object) that a ref, or an id that may be shortened, leads to; None where the
    repository does not have it."""
    if not git_dir.exists():
        return None
    arguments = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{{kind}}}"]
    finished = try_git(arguments, git_dir=git_dir, timeout_s=timeout_s)
    return finished.output.decode().strip() if finished.status == 0 else None


def read_records(arguments: Sequence[str], *, timeout_s: float, git_dir: Path) -> Generator[bytes, None, None]:
    """What git writes, ended by NULs, one record after the other.

    A reader may stop early: all of a hostile tree may be too much. Raises `RepositoryUnavailable` as `run_git` does.
    """
    with tempfile.TemporaryFile() as complaints:
        process = start_git(arguments, git_dir=git_dir, stderr=complaints, environment=LITERAL_PATHS)
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            rest = b""
            while part := process.stdout.read(_PART):
                *records, rest = (rest + part).split(b"\0")
                yield from records
            status = process.wait()
            if status == -signal.SIGKILL:
                raise _too_slow(arguments, timeout_s)
            if status != 0:
                complaints.seek(0)
                raise RepositoryUnavailable(f"git {arguments[0]} failed: {last_line(complaints.read()) or status}")
        finally:
            timer.cancel()
            stop_git(process)


@contextmanager
def _lifeline(process: subprocess.Popen[bytes], arguments: Sequence[str | Path]) -> Iterator[None]:
    """Keep the pipe open that a supervised git process lives by: `communicate` would close it at once."""
    if arguments[0] not in _MAY_RUN_LONG:
        yield
        return
    assert process.stdin is not None
    with process.stdin:
        process.stdin = None
        yield


def _check_room(complaint: bytes, status: int, git_dir: Path) -> None:
    """Raise `CannotWrite` if git failed for want of room here; what a server says of its own disk does not count."""
    lines = complaint.decode("utf-8", "replace").splitlines()
    own = "\n".join(line for line in lines if not line.startswith(("remote:", "fatal: remote error")))
    is_cut = status == -signal.SIGXFSZ or f"signal {signal.SIGXFSZ:d}" in own
    number = errno.EFBIG if is_cut else refusal_in_words(own)
    if number is not None:
        raise cannot_write(str(git_dir), number)


def _too_slow(arguments: Sequence[str | Path], timeout_s: float) -> TookTooLong:
    return TookTooLong(f"git {arguments[0]} took longer than {timeout_s:g} s: try again, or raise git_timeout_s")


def start_git(
    arguments: Sequence[str | Path],
    *,
    stderr: int | IO[bytes],
    git_dir: Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    excludes: Path = PACKAGED_EXCLUDES,
) -> subprocess.Popen[bytes]:
    """A running git process in a process group of its own, so that its helpers end with it.

    One that may run long ends when its standard input is closed, and reads nothing from it.
    """
    chosen_overrides = (*_OVERRIDES, _CREDENTIALS) if GIT_HOST in (environment or {}) else _OVERRIDES
    chosen_overrides = (*chosen_overrides, f"core.excludesFile={excludes}")
    overrides = [part for override in chosen_overrides for part in ("-c", override)]
    command = ["git", f"--git-dir={git_dir}", "--no-pager", *overrides, *map(str, arguments)]
    if arguments[0] in _MAY_RUN_LONG:
        command = ["/bin/sh", "-c", _SUPERVISOR, "git", *command]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    chosen = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    protocols = _PROTOCOLS if arguments[0] in _ASKS_ELSEWHERE else {}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=cwd or "/",
            env={**kept, **_FIXED_ENVIRONMENT, **chosen, **protocols, **(environment or {})},
            process_group=0,
            # As Python does, git's helpers ignore SIGXFSZ: one that outgrows the file size limit says so.
            restore_signals=False,
        )
    except FileNotFoundError as error:
        raise ConfigurationError(_NO_GIT) from error


def stop_git(process: subprocess.Popen[bytes]) -> None:
    """End a git process and its helpers, and wait for it."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            with suppress(BrokenPipeError):
                stream.close()
    process.wait()


def last_line(complaint: bytes) -> str:
    """The last thing git complained about, with locations as they may be shown; hints to its own user are left out."""
    lines = [line.strip() for line in complaint.decode("utf-8", "replace").splitlines()]
    telling = [line for line in lines if line and not line.startswith(_SAYS_NOTHING)]
    fatal = [line for line in telling if line.startswith(("fatal:", "error:"))]
    chosen = (fatal or telling or [""])[-1]
    return with_shown_locations(chosen.removeprefix("fatal: ").removeprefix("error: "))


class BlobReader:
    """Reads blobs, or objects of another `kind`, of one repository through one long-lived `git cat-file --batch`, which
    begins with the first of them."""

    def __init__(self, git_dir: Path, *, kind: str = "blob") -> None:
        self._git_dir = git_dir
        self._kind = kind.encode()
        self._waiting: deque[str] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_process" in vars(self):
            stop_git(self._process)
            self._complaints.close()

    @cached_property
    def _complaints(self) -> IO[bytes]:
        return tempfile.TemporaryFile()

    @cached_property
    def _process(self) -> "subprocess.Popen[bytes]":
        return start_git(["cat-file", "--batch"], git_dir=self._git_dir, stderr=self._complaints)

    def read(self, blob: str) -> bytes:
        """The content of one blob; raises `SkippedFile` if the repository does not have it."""
        if self._waiting:
            raise RuntimeError("a blob was asked for while read_many was under way")
        self._ask([blob])
        data = self._answer()
        if data is None:
            raise SkippedFile(SkipReason.UNREADABLE, f"blob {blob} is not in {self._git_dir}")
        return data

    def read_many(self, blobs: Iterable[str]) -> Generator[bytes | None, None, None]:
        """The content of each blob in order, None if the repository does not have it."""
        pending = iter(blobs)
        self._ask(list(islice(pending, _WINDOW)))
        try:
            while self._waiting:
                data = self._answer()
                self._ask(list(islice(pending, 1)))
                yield data
        except KeyboardInterrupt:
            # The rest of an answer that is half read is no answer.
            stop_git(self._process)
            raise
        finally:
            while self._waiting and self._process.poll() is None:
                self._answer()

    def _ask(self, blobs: list[str]) -> None:
        for blob in blobs:
            if not blob.isalnum():
                raise SkippedFile(SkipReason.UNREADABLE, f"{blob!r} is not a blob id")
        if not blobs:
            return
        stdin = self._process.stdin
        assert stdin is not None
        self._waiting.extend(blobs)
        try:
            stdin.write(b"".join(blob.encode() + b"\n" for blob in blobs))
            stdin.flush()
        except BrokenPipeError as error:
            raise self._broken() from error

    def _answer(self) -> bytes | None:
        stdout = self._process.stdout
        assert stdout is not None
        header = stdout.readline().split()
        blob = self._waiting.popleft()
        if len(header) == 2 and header[1] in (b"missing", b"ambiguous"):
            return None
        if len(header) != 3:
            raise self._broken(blob)
        data = stdout.read(int(header[2]))
        if stdout.read(1) != b"\n":
            raise self._broken(blob)
        return data if header[1] == self._kind else None

    def _broken(self, blob: str = "") -> RepositoryUnavailable:
        self._waiting.clear()
        self._complaints.seek(0)
        reason = last_line(self._complaints.read()) or "git stopped"
        return RepositoryUnavailable(
            f"{self._git_dir}: blob {blob} cannot be read: {reason}; delete this mirror to fetch it anew"
        )
