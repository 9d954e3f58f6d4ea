"""Runs a command that makes an index and is not trusted: what it sees of this machine, and its bounds.

In bubblewrap it sees the system's programs and libraries, folders that the settings name, and its own room; no home of
a person, nothing of codesum's, no network unless the settings allow it. Without: everything, with the same room and the
same clean environment. It is bounded in time, memory, processes, disk, and what it prints.
"""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct, field, json

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.stage_settings import ScipSettings
from codesum_pipeline.symbols.scip.supervisor import BY_SIGNAL, Task

if TYPE_CHECKING:
    import psutil

# Not from a folder that may be anybody's.
_CODE = "import sys; sys.path[:] = {path!r}; from codesum_pipeline.symbols.scip.supervisor import main; main()"
_MB = 1024 * 1024
# How often bounds are looked at. One look costs about 10 ms of processor time.
_LOOK_EVERY_S = 0.25
# How much of a command's output is kept.
_TAIL_BYTES = 16 * 1024
_PART = 1024 * 1024
# scip-typescript and scip-python are one process of 11 threads; builds of the JVM have some hundreds of tasks.
_MOST_PROCESSES = 1000
# Left free on the disk, where so much was.
_LEAST_FREE = 512 * _MB
# The supervisor kills within five seconds, or it is stuck itself.
_LONGEST_END_S = 10.0
# Between two looks at the sum, one process can have so many times the bound and no more.
_DATA_FACTOR = 2


class IndexerCommand(Struct, frozen=True):
    """Words that are run in a folder with exactly this environment."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]


class Ran(Struct, frozen=True):
    """How a command ended: its status (of a shell), the last that it printed, and which bound it went over."""

    status: int
    tail: bytes
    over: str = ""

    @property
    def signal(self) -> int:
        """The signal that ended it; 0: none did."""
        return self.status - BY_SIGNAL if self.status > BY_SIGNAL else 0


def run_bounded(command: IndexerCommand, settings: ScipSettings) -> Ran:
    """Run a command to its end, or until it goes over a bound; nothing that it started is left.

    Where the work is not wanted any more, or is interrupted, the command ends with it.
    """
    import psutil

    uid = os.getuid()
    found = (one.info for one in psutil.process_iter(["uids", "num_threads"]))
    task = Task(
        words=command.words,
        folder=str(command.folder),
        environment=command.environment,
        most_file_bytes=settings.max_index_mb * _MB,
        most_data_bytes=settings.max_memory_mb * _MB * _DATA_FACTOR,
        # Processes and threads that count against the user's limit, and those of the command.
        most_tasks=sum(one["num_threads"] or 1 for one in found if one["uids"] and one["uids"].real == uid)
        + _MOST_PROCESSES,
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE.format(path=sys.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", process_group=0,
    )  # fmt: skip
    run = _Run(process, settings, command.folder)
    try:
        assert process.stdin is not None
        process.stdin.write(json.encode(task) + b"\n")
        process.stdin.flush()
        over = run.until_end()
    finally:
        _end(process)
    return Ran(process.returncode, bytes(run.tail), over)


class _Run(Struct):
    """A supervised command under way."""

    process: "subprocess.Popen[bytes]"
    settings: ScipSettings
    folder: Path
    tail: bytearray = field(default_factory=bytearray)
    free_at_first: int = 0

    def until_end(self) -> str:
        """Wait for the end, or say which bound was passed."""
        until = time.monotonic() + self.settings.timeout_s
        self.free_at_first = shutil.disk_usage(self.folder).free
        look_at = 0.0
        while self._goes_on(min(_LOOK_EVERY_S, max(until - time.monotonic(), 0.0))):
            stop_if_cancelled()
            now = time.monotonic()
            if now > until:
                return f"it took longer than {self.settings.timeout_s:g} s: raise scip.timeout_s, or have it do less"
            if now > look_at:
                if over := self._over():
                    return over
                look_at = now + _LOOK_EVERY_S
        return ""

    def _goes_on(self, wait_s: float) -> bool:
        """Read what was printed meanwhile; False once the command has ended."""
        stdout = self.process.stdout
        assert stdout is not None
        if not stdout.closed:
            if not select.select([stdout], [], [], wait_s)[0]:
                return self.process.poll() is None
            if part := os.read(stdout.fileno(), _PART):
                self.tail += part
                del self.tail[:-_TAIL_BYTES]
                return True
            stdout.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=wait_s)
        return self.process.returncode is None

    def _over(self) -> str:
        import psutil

        processes, memory = _descendants(self.process.pid), 0
        for process in processes:
            with suppress(psutil.Error):
                memory += process.memory_info().rss
        if len(processes) > _MOST_PROCESSES:
            return f"it started more than {_MOST_PROCESSES} processes: have it do less at a time"
        if memory > self.settings.max_memory_mb * _MB:
            most = self.settings.max_memory_mb
            return f"it took more than {most} MB of memory: raise scip.max_memory_mb, or have it do less"
        if shutil.disk_usage(self.folder).free < min(_LEAST_FREE, self.free_at_first // 2):
            return f"it filled the disk of {self.folder.parent}: free space there, or set TMPDIR to another disk"
        return ""


def _descendants(pid: int) -> "list[psutil.Process]":
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the supervisor, which ends what it supervises; what is left after a while is killed one by one."""
    import psutil

    left = _descendants(process.pid) if process.poll() is None else []
    for stream in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            stream.close() if stream else None
    try:
        process.wait(timeout=_LONGEST_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        for each in (*left, *_descendants(process.pid)):
            with suppress(psutil.Error):
                each.kill()
        process.wait()


BUBBLEWRAP = "bubblewrap"
OUTPUT = "{output}"
INDEX_NAME = "index.scip"

# Where the parts of a room are inside.
_CHECKOUT, _OUTPUT, _HOME = Path("/repository"), Path("/output"), Path("/home/indexer")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
# Certificates, never private keys.
_NETWORK_FILES = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ca-certificates", "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
)  # fmt: skip
_PROGRAMS_IN = ("", "bin", "node_modules/.bin")
_PROBE_S = 30.0
# A status that neither a shell nor bubblewrap ends with by itself.
_NOT_THERE = 99
_LOOK_UP = f'command -v -- "$1" >/dev/null || exit {_NOT_THERE}'


def is_of_checkout(program: str) -> bool:
    """Whether a program is named by a path that starts in the checkout."""
    return "/" in program and not program.startswith("/")


class Room(Struct, frozen=True):
    """The folders of one command, below `root`: its checkout and what else it may write."""

    root: Path
    subdir: str
    checkout: Path
    output: Path
    home: Path
    temporary: Path
    shared_memory: Path
    accounts: Path

    @classmethod
    def made(cls, root: Path, subdir: str = "") -> Self:
        """Make the folders, and the files that name the user of the sandbox."""
        folders = [root / name for name in ("repository", "output", "home", "tmp", "shm", "etc")]
        for folder in folders:
            folder.mkdir()
        uid, gid = os.getuid(), os.getgid()
        name = "indexer" if uid else "root"
        (root / "etc/passwd").write_text(f"{name}:x:{uid}:{gid}::{_HOME}:/bin/sh\n", encoding="ascii")
        (root / "etc/group").write_text(f"{name}:x:{gid}:\n", encoding="ascii")
        return cls(root, subdir, *folders)


class Sandbox(Struct, frozen=True):
    """How commands are run in a room; `hidden` is seen through no folder that they may read."""

    room: Room
    settings: ScipSettings
    hidden: Path

    @property
    def is_confined(self) -> bool:
        return self.settings.sandbox == BUBBLEWRAP

    def command(self, words: Sequence[str]) -> IndexerCommand:
        """The words as they are run, where each `{output}` is the path to write."""
        output = (_OUTPUT if self.is_confined else self.room.output) / INDEX_NAME
        return self._run([word.replace(OUTPUT, str(output)) for word in words], folder=self.room.subdir)

    def problem(self, program: str) -> str:
        """Why nothing can be run here, or `program` cannot; empty: it can. Only for one of the checkout it is read."""
        for folder in self.settings.read_only:
            if not Path(folder).is_dir():
                return f"scip.read_only: {folder} is not a folder: correct it, or take it out"
        if not self.is_confined:
            path = str(self._folder / program) if "/" in program else program
            return "" if shutil.which(path, path=self._path) else self._not_found(program)
        if not shutil.which("bwrap"):
            return f"the program `bwrap` is not on the PATH: {_WAYS_OUT}"
        probe = self._run(
            ["sh", "-c", _LOOK_UP, "sh", program], folder=self.room.subdir if is_of_checkout(program) else ""
        )
        try:
            done = subprocess.run(
                probe.words, env=probe.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not work here: {error}: {_WAYS_OUT}"
        if done.returncode == _NOT_THERE:
            return self._not_found(program)
        printed = one_line(done.stderr.decode("utf-8", "replace"))[:200]
        return f"bubblewrap does not work here: {printed or done.returncode}: {_WAYS_OUT}" if done.returncode else ""

    def _not_found(self, program: str) -> str:
        looked = self._path
        if "/" in program:
            looked = "the checkout" if is_of_checkout(program) else "what it may read"
        way_out = "install it there, or name its folder in scip.read_only" if self.is_confined else "install it there"
        return f"no program {program!r} in {looked}: {way_out}"

    def _run(self, words: Sequence[str], *, folder: str) -> IndexerCommand:
        if not self.is_confined:
            return IndexerCommand(words, self._folder, self._environment())
        return IndexerCommand([*self._bwrap(folder), "--", *words], self.room.root, self._environment())

    @property
    def _folder(self) -> Path:
        return self.room.checkout / self.room.subdir

    def _environment(self) -> Mapping[str, str]:
        """The caller's variables that a command sees: those that the settings name."""
        inside = self.is_confined
        return {
            **{name: os.environ[name] for name in self.settings.environment if name in os.environ},
            "PATH": self._path,
            "HOME": str(_HOME if inside else self.room.home),
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp" if inside else str(self.room.temporary),
        }

    @property
    def _path(self) -> str:
        own = [Path(folder) / part for folder in self.settings.read_only for part in _PROGRAMS_IN]
        system = os.pathsep.join(_SYSTEM_PATH)
        others = system if self.is_confined else os.environ.get("PATH", system)
        return os.pathsep.join([*(str(folder) for folder in own if folder.is_dir()), others])

    def _bwrap(self, folder: str) -> list[str]:
        """Variables are inherited from a clean environment: on a command line, anybody could read them."""
        settings = self.settings
        return [
            shutil.which("bwrap") or "bwrap",
            *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--share-net"] if settings.network else []),
            *_system(),
            *_read_only((*_FILES, *(_NETWORK_FILES if settings.network else ()))),
            *("--ro-bind", str(self.room.accounts / "passwd"), "/etc/passwd"),
            *("--ro-bind", str(self.room.accounts / "group"), "/etc/group"),
            *("--proc", "/proc", "--dev", "/dev"),
            # On the disk, whose room is watched, and not in memory.
            *_bind(self.room.shared_memory, Path("/dev/shm")),
            *_bind(self.room.temporary, Path("/tmp")),
            *_bind(self.room.home, _HOME),
            *_bind(self.room.output, _OUTPUT),
            *_bind(self.room.checkout, _CHECKOUT),
            *self._further_folders(),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
            *("--chdir", str(_CHECKOUT / folder)),
        ]

    def _further_folders(self) -> list[str]:
        """A home of codesum inside one of them is covered; a folder that is named inside the home is seen."""
        hidden = self.hidden.resolve()
        named = [Path(folder) for folder in self.settings.read_only]
        inside = [folder for folder in named if folder.resolve().is_relative_to(hidden)]
        around = [folder for folder in named if folder not in inside]
        parts = [part for folder in around for part in ("--ro-bind", str(folder), str(folder))]
        for folder in (*around, Path("/usr")):
            if hidden.is_relative_to(folder.resolve()):
                covered = folder / hidden.relative_to(folder.resolve())
                parts += ["--tmpfs", str(covered), "--remount-ro", str(covered)]
        return parts + [part for folder in inside for part in ("--ro-bind", str(folder), str(folder))]


_WAYS_OUT = (
    'install bubblewrap and allow user namespaces, or set scip.sandbox = "none", which lets the command do whatever '
    "you may do"
)


def _system() -> list[str]:
    """The system's folders; on most systems all but /usr are links into it."""
    parts = []
    for folder in map(Path, _SYSTEM):
        if folder.is_symlink():
            parts += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            parts += ["--ro-bind", str(folder), str(folder)]
    return parts


def _read_only(names: Iterable[str]) -> list[str]:
    """Those of these that exist, mounted read-only; a link is replaced by its target."""
    there = [(os.path.realpath(name), name) for name in names if Path(name).exists()]
    return [part for source, name in there for part in ("--ro-bind", source, name)]


def _bind(source: Path, target: Path) -> list[str]:
    return ["--bind", str(source), str(target)]
