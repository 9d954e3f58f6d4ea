"""What a command that makes an index sees of this machine.

In bubblewrap: the system's programs and libraries, folders that the settings name, and its own room; no home of a
person, nothing of codesum's, no network unless the settings allow it. Without: everything, with the same room and the
same clean environment.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct

from codesum_pipeline.model.printable import one_line
from codesum_pipeline.scip.running import IndexerCommand
from codesum_pipeline.settings.stages import ScipSettings

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
    def below(cls, root: Path, subdir: str = "") -> Self:
        return cls(root, subdir, *(root / name for name in ("repository", "output", "home", "tmp", "shm", "etc")))

    def make(self) -> None:
        """Make the folders, and the files that name the user of the sandbox."""
        for folder in (self.checkout, self.output, self.home, self.temporary, self.shared_memory, self.accounts):
            folder.mkdir()
        uid, gid = os.getuid(), os.getgid()
        name = "indexer" if uid else "root"
        (self.accounts / "passwd").write_text(f"{name}:x:{uid}:{gid}::{_HOME}:/bin/sh\n", encoding="ascii")
        (self.accounts / "group").write_text(f"{name}:x:{gid}:\n", encoding="ascii")


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
        said = one_line(done.stderr.decode("utf-8", "replace"))[:200]
        return f"bubblewrap does not work here: {said or done.returncode}: {_WAYS_OUT}" if done.returncode else ""

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
        """What a command sees of the caller's: what the settings name."""
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
    """What is there of these; what a link leads to stands in its place."""
    there = [(os.path.realpath(name), name) for name in names if Path(name).exists()]
    return [part for source, name in there for part in ("--ro-bind", source, name)]


def _bind(source: Path, target: Path) -> list[str]:
    return ["--bind", str(source), str(target)]
