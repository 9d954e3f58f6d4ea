"""Plain folders and work trees as commits made from their content alone.

The same files give the same commit id, whenever and wherever they are read. Git only lists the names; contents are read
here as they are, so no filter or line-end conversion that the repository configures ever runs.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.source.git.git import last_line, output_of, run_git, start_git, stop_git, try_git
from codesum_pipeline.source.git.user_excludes import joined_excludes, read_user_excludes

# Of a submodule, whose commit is pinned.
_LINK_MODE = "160000"

# What a folder holds beside its sources (data, disk images) is not copied into the mirror.
# A constant and no setting, so that the commit id is a function of the content.
LARGEST_STORED_FILE = 32 * 1024 * 1024

# Never part of a folder: a home inside the folder that it indexes would index itself.
_OWN_FOLDER = b".codesum"
_SIGNATURE = b"codesum <codesum@localhost> 0 +0000"
_MESSAGE = b"the folder as it is\n"

# 34 MB of sources: 1.2 s and 15 MB; with git's own compression 2.2 s and 13 MB, with deltas 4.2 s and 12 MB.
_FAST_IMPORT = ("-c", "core.compression=1", "fast-import", "--quiet", "--force", "--depth=0")


class LeftOut(Struct, frozen=True):
    """A name in a folder that is not part of its commit; a folder's ends with `/`."""

    path: bytes
    reason: SkipReason
    size: int = 0


class StoredFile(Struct, frozen=True):
    """One entry of the commit: git's mode and blob id."""

    mode: str
    blob: str


class FolderScan(Struct, frozen=True):
    """The files of a folder by path relative to it, what was left out, and which lists of what to leave out could not
    be read."""

    root: Path
    files: Mapping[bytes, StoredFile]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Failure, ...] = ()

    def commit_id(self) -> str:
        """The id of the commit that these files make, which is worked out from all of them."""
        lines = (b"tree " + tree_id(self.files).encode(), b"author " + _SIGNATURE, b"committer " + _SIGNATURE)
        return object_id("commit", b"\n".join(lines) + b"\n\n" + _MESSAGE)

    def write(self, git_dir: Path, *, ref: str, timeout_s: float) -> "FolderScan":
        """Store the commit in a repository under `ref`; what changed since the scan is stored as it is now."""
        files = dict(self.files)
        with _fast_import(git_dir) as lines:
            stored: set[str] = set()
            for path in _paths_of_missing_blobs(files, git_dir, timeout_s=timeout_s):
                if files[path].blob in stored:
                    continue
                found = read_stored(self.root, path)
                if isinstance(found, LeftOut | None):
                    del files[path]
                    continue
                mode, content = found
                files[path] = StoredFile(mode, object_id("blob", content))
                stored.add(files[path].blob)
                lines.write(b"blob\ndata %d\n%b\n" % (len(content), content))
            lines.write(b"commit %b\nauthor %b\ncommitter %b\n" % (ref.encode(), _SIGNATURE, _SIGNATURE))
            lines.write(b"data %d\n%b\ndeleteall\n" % (len(_MESSAGE), _MESSAGE))
            for path, file in sorted(files.items()):
                # As fast-import reads a path.
                escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
                lines.write(b'M %b %b "%b"\n' % (file.mode.encode(), file.blob.encode(), escaped))
        return replace(self, files=files)


def scan_folder(root: Path, *, timeout_s: float) -> FolderScan:
    """List and hash a folder: in a git work tree the tracked and the other names, ignored ones left out."""
    with _git_dir_of(root, timeout_s=timeout_s) as git_dir:
        user = read_user_excludes(root, git_dir)
        with joined_excludes(user.patterns) as excludes:
            names, links, left_out = _list_names(root, git_dir, excludes, timeout_s=timeout_s)
    scan = scan_files(root, names, left_out)
    return replace(scan, files={**scan.files, **links}, problems=user.problems)


def scan_files(root: Path, names: Iterable[bytes], left_out: Iterable[LeftOut] = ()) -> FolderScan:
    """Hash only the named files of a folder; a name that is no file any more is left out."""
    files: dict[bytes, StoredFile] = {}
    left_out = [*left_out]
    for path in sorted(names):
        found = read_stored(root, path)
        if isinstance(found, LeftOut):
            left_out.append(found)
        elif found is not None:
            mode, content = found
            files[path] = StoredFile(mode, object_id("blob", content))
    by_path = {left.path: left for left in left_out}
    return FolderScan(root, files, tuple(by_path[path] for path in sorted(by_path)))


def read_small_file(root: Path, path: bytes, *, largest_bytes: int) -> bytes | None:
    """The content of a file that is read as the others of a folder are; None if there is none, or a larger one."""
    found = read_stored(root, path)
    is_file = isinstance(found, tuple) and found[0] != "120000" and len(found[1]) <= largest_bytes
    return found[1] if is_file and isinstance(found, tuple) else None


def tree_id(files: Mapping[bytes, StoredFile]) -> str:
    """The id that git gives to the tree of these files."""
    folders: dict[bytes, dict[bytes, tuple[str, str]]] = {b"": {}}
    for path, file in files.items():
        folder, _, name = path.rpartition(b"/")
        folders.setdefault(folder, {})[name] = (file.mode, file.blob)
        while folder:
            folder = folder.rpartition(b"/")[0]
            folders.setdefault(folder, {})
    ids: dict[bytes, str] = {}
    for folder in sorted(folders, key=lambda path: (-len(path), path)):
        # Git sorts a folder as if its name ended with a slash.
        ordered = sorted(folders[folder].items(), key=lambda each: each[0] + (b"/" if each[1][0] == "40000" else b""))
        lines = (b"%b %b\0%b" % (mode.encode(), name, bytes.fromhex(id_)) for name, (mode, id_) in ordered)
        ids[folder] = object_id("tree", b"".join(lines))
        if folder:
            parent, _, name = folder.rpartition(b"/")
            folders[parent][name] = ("40000", ids[folder])
    return ids[b""]


def object_id(kind: str, content: bytes) -> str:
    """The id that git gives to an object."""
    return hashlib.sha1(b"%b %d\0%b" % (kind.encode(), len(content), content), usedforsecurity=False).hexdigest()


def _list_names(
    root: Path, git_dir: Path, excludes: Path, *, timeout_s: float
) -> tuple[set[bytes], dict[bytes, StoredFile], list[LeftOut]]:
    """The names that make up a folder, the commits of its submodules, and the names that stay outside."""

    def listed(*switches: str) -> list[bytes]:
        arguments = ["ls-files", "-z", *switches]
        found = try_git(arguments, git_dir=git_dir, timeout_s=timeout_s, work_tree=root, excludes=excludes)
        names = output_of(found, arguments).split(b"\0")
        return [name for name in names if name and _OWN_FOLDER not in name.split(b"/")]

    names: set[bytes] = set()
    left_out: list[LeftOut] = []
    links: dict[bytes, StoredFile] = {}
    for entry in listed("--stage"):
        facts, _, path = entry.partition(b"\t")
        if facts.startswith(_LINK_MODE.encode()):
            links[path] = StoredFile(_LINK_MODE, facts.split()[1].decode("ascii"))
        else:
            names.add(path)
    for path in listed("--others", "--exclude-standard"):
        if path.endswith(b"/"):
            left_out.append(LeftOut(path, SkipReason.NESTED_REPOSITORY))
        else:
            names.add(path)
    ignored = listed("--others", "--ignored", "--exclude-standard", "--directory")
    left_out.extend(LeftOut(path, SkipReason.IGNORED) for path in ignored)
    return names, links, left_out


@contextmanager
def _git_dir_of(root: Path, *, timeout_s: float) -> Iterator[Path]:
    """The folder's own git directory, or an empty one outside it."""
    if (root / ".git").exists():
        yield root / ".git"
        return
    with tempfile.TemporaryDirectory(prefix="codesum-") as aside:
        git_dir = Path(aside) / "empty.git"
        run_git(["init", "--quiet", "--bare", "--template="], git_dir=git_dir, timeout_s=timeout_s)
        yield git_dir


def read_stored(root: Path, path: bytes) -> tuple[str, bytes] | LeftOut | None:
    """Mode and content of one name; None if there is no file any more.

    Nothing is read through a link, so a work tree cannot point out of itself.
    """
    if any(part.lower() == b".git" for part in path.split(b"/")):
        return LeftOut(path, SkipReason.INVALID_PATH)
    full = os.path.join(os.fsencode(root), path)  # noqa: PTH118 - names are bytes
    if folder := path.rpartition(b"/")[0]:
        real = os.path.join(os.path.realpath(os.fsencode(root)), folder)  # noqa: PTH118
        if os.path.realpath(real) != real:
            return None
    try:
        found = os.lstat(full)
        if stat.S_ISLNK(found.st_mode):
            return "120000", os.readlink(full)  # noqa: PTH115 - names are bytes
        if stat.S_ISDIR(found.st_mode):
            return None
        if not stat.S_ISREG(found.st_mode):
            return LeftOut(path, SkipReason.UNREADABLE)
        if found.st_size > LARGEST_STORED_FILE:
            return LeftOut(path, SkipReason.TOO_LARGE, found.st_size)
        with os.fdopen(os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(LARGEST_STORED_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return LeftOut(path, SkipReason.UNREADABLE)
    return ("100755" if found.st_mode & stat.S_IXUSR else "100644"), content


def _paths_of_missing_blobs(files: Mapping[bytes, StoredFile], git_dir: Path, *, timeout_s: float) -> list[bytes]:
    """Every path whose blob a repository does not have yet: one of two with the same content may change meanwhile."""
    if not any(path.is_file() for path in (git_dir / "objects").rglob("*")):
        return sorted(path for path, file in files.items() if file.mode != _LINK_MODE)
    blob_lines = "".join(f"{blob}\n" for blob in sorted({file.blob for file in files.values()})).encode()
    answers = run_git(["cat-file", "--batch-check"], git_dir=git_dir, timeout_s=timeout_s, data=blob_lines)
    lines = (line.split() for line in answers.decode().splitlines())
    missing = {line[0] for line in lines if line[1] == "missing"}
    return sorted(path for path, file in files.items() if file.blob in missing and file.mode != _LINK_MODE)


@contextmanager
def _fast_import(git_dir: Path) -> Iterator[IO[bytes]]:
    """The input of a `git fast-import` into a repository; nothing is there before it ends."""
    with tempfile.TemporaryFile() as complaints:
        process = start_git(_FAST_IMPORT, git_dir=git_dir, stderr=complaints)
        assert process.stdin is not None
        try:
            yield process.stdin
            process.stdin.close()
            status = process.wait()
        except BrokenPipeError:
            status = -1
        finally:
            stop_git(process)
        if status != 0:
            complaints.seek(0)
            raise RepositoryUnavailable(f"{git_dir} cannot be written: {last_line(complaints.read())}")
