"""A commit of which a local repository lacks objects: git serves no part of it, so what is there is copied.

A mirror has no ref of such a commit, which git would take for a whole one: so each build asks for all of it again.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ObjectsMissing, RepositoryUnavailable
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.source.git.git import find_object_id, last_line, start_git, stop_git, try_git
from codesum_pipeline.source.git.remote import shallow_commits
from codesum_pipeline.source.git.trees import SUBMODULE_MODE, tree_entries

_PART = 1024 * 1024
# So many requests fit into the smallest pipe buffer, so neither side can block.
_AT_A_TIME = 200
# Git ends at an object whose content is damaged. A repository with more of them is not read.
MOST_DAMAGED = 1_000
# Packed fast: it is read once.
_PACK = ("-c", "pack.window=0", "-c", "pack.compression=1", "pack-objects", "--stdout", "-q")


class IncompleteCommit(Struct, frozen=True):
    """The objects of one commit, without those of its parents: those that can be read, and those that cannot.

    `has_files` if its topmost folder and a file in it can be read.
    """

    commit: str
    present: tuple[str, ...]
    lacking: tuple[str, ...]
    has_files: bool


def survey_commit(commit: str, *, git_dir: Path, timeout_s: float) -> IncompleteCommit | None:
    """What a repository has of a commit; None if it does not have the commit itself.

    Raises `ObjectsMissing` for more than `MOST_DAMAGED` objects whose content is damaged.
    """
    arguments = ["rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk"]
    listed = try_git([*arguments, commit], git_dir=git_dir, timeout_s=timeout_s)
    if listed.status == 0:
        objects = listed.output.decode("ascii").split()
        kinds = {line[1:]: b"" for line in objects if line.startswith("?")}
        present = [line for line in objects if not line.startswith("?")]
        kinds |= {found.id: found.kind for found in _read(present, git_dir)}
    else:
        # It ends at a damaged folder.
        kinds = _walk(commit, git_dir)
    if not kinds.get(commit):
        return None
    top = find_object_id(commit, git_dir=git_dir, timeout_s=timeout_s, kind="tree")
    return IncompleteCommit(
        commit=commit,
        present=tuple(each for each, kind in kinds.items() if kind),
        lacking=tuple(sorted(each for each, kind in kinds.items() if not kind)),
        has_files=bool(kinds.get(top or "")) and b"blob" in kinds.values(),
    )


def copy_what_is_there(found: IncompleteCommit, source: Path, git_dir: Path) -> None:
    """Write the objects of a commit that can be read into a mirror, as one pack; raises `RepositoryUnavailable`."""
    copy_objects(found.present, source, git_dir)
    # Its parents are not here.
    cut = shallow_commits(git_dir) | {found.commit}
    write_text_atomically(git_dir / "shallow", "".join(f"{commit}\n" for commit in sorted(cut)))


def copy_objects(ids: Sequence[str], source: Path, git_dir: Path) -> None:
    """Write objects of a repository into another, as one pack; raises `RepositoryUnavailable`."""
    with tempfile.TemporaryFile(dir=git_dir) as pack:
        for part in _run(_PACK, (f"{each}\n".encode() for each in ids), git_dir=source):
            pack.write(part)
        pack.seek(0)
        for _ in _run(("index-pack", "--stdin"), _parts(pack), git_dir=git_dir):
            pass


class _Object(Struct, frozen=True):
    """An object of a repository. `kind` is empty if its content cannot be read or is another one than its id says;
    `content` is kept of commits and folders alone."""

    id: str
    kind: bytes
    content: bytes = b""


def _walk(commit: str, git_dir: Path) -> dict[str, bytes]:
    """The kinds of all objects of a commit, without its parents."""
    kinds: dict[str, bytes] = {}
    wanted = [commit]
    while wanted:
        below: list[str] = []
        for found in _read(wanted, git_dir):
            kinds[found.id] = found.kind
            if found.kind == b"commit":
                below.append(found.content.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace"))
            elif found.kind == b"tree":
                entries = tree_entries(found.content, id_bytes=len(commit) // 2) or ()
                below += [entry.blob for entry in entries if entry.mode != SUBMODULE_MODE]
        wanted = [each for each in dict.fromkeys(below) if each not in kinds and each.isalnum()]
    return kinds


def _read(objects: Sequence[str], git_dir: Path) -> Iterator[_Object]:
    """Each of some objects."""
    at = damaged = 0
    while at < len(objects):
        with tempfile.TemporaryFile() as complaints:
            process = start_git(["cat-file", "--batch"], git_dir=git_dir, stderr=complaints)
            assert process.stdin is not None and process.stdout is not None
            try:
                while at < len(objects):
                    batch = objects[at : at + _AT_A_TIME]
                    process.stdin.write("".join(f"{each}\n" for each in batch).encode())
                    process.stdin.flush()
                    for each in batch:
                        yield _answer(each, process.stdout)
                        at += 1
            except (EOFError, BrokenPipeError):
                yield _Object(objects[at], b"")
                at += 1
                damaged += 1
            finally:
                stop_git(process)
        if damaged > MOST_DAMAGED:
            raise ObjectsMissing(
                f"{git_dir}: more than {MOST_DAMAGED:,} objects of the commit are damaged: run `git fsck` there, or "
                "index another clone"
            )


def _answer(id_: str, answers: IO[bytes]) -> _Object:
    """The next object that git shows; raises `EOFError` if git ended."""
    header = answers.readline().split()
    if header[1:] == [b"missing"]:
        return _Object(id_, b"")
    if len(header) != 3:
        raise EOFError
    digest = hashlib.new("sha1" if len(id_) == 40 else "sha256", b"%b %b\0" % (header[1], header[2]))
    kept = []
    left = int(header[2])
    while left:
        part = answers.read(min(left, _PART))
        if not part:
            raise EOFError
        digest.update(part)
        left -= len(part)
        if header[1] != b"blob":
            kept.append(part)
    if answers.read(1) != b"\n":
        raise EOFError
    return _Object(id_, header[1], b"".join(kept)) if digest.hexdigest() == id_ else _Object(id_, b"")


def _run(arguments: Sequence[str], data: Iterator[bytes], *, git_dir: Path) -> Iterator[bytes]:
    """What git writes once it has read all that it is given."""
    with tempfile.TemporaryFile() as complaints:
        process = start_git(arguments, git_dir=git_dir, stderr=complaints)
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.writelines(data)
            process.stdin.close()
            yield from _parts(process.stdout)
            status = process.wait()
        except BrokenPipeError:
            status = -1
        finally:
            stop_git(process)
        if status != 0:
            complaints.seek(0)
            raise RepositoryUnavailable(f"{git_dir} cannot be read: {last_line(complaints.read())}")


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    while part := file.read(_PART):
        yield part
