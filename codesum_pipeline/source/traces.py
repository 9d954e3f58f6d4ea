"""What the refs of a repository on this machine look like from outside: equal traces, equal heads.

Asking git takes milliseconds of processor time for each repository; a trace
takes microseconds. It only ever says whether git has to be asked again.
"""

from collections.abc import Sequence
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.mirror import our_ref
from codesum_pipeline.source.remote import is_commit_id, is_git_repository

_SYMBOLIC = "ref: "
_LONGEST = 4096


def trace_of(entry: RepositoryEntry, *, mirror: Path, offline: bool) -> str | None:
    """The trace of what the entry's head depends on; None where only a look tells: a folder's files, another machine.

    With `offline`, the head of a repository elsewhere is what its mirror holds.
    """
    if is_url(entry.location):
        return _trace(mirror, mirror, [our_ref(entry)]) if offline else None
    folder = Path(entry.location)
    if not folder.is_dir():
        return "no folder"
    if entry.worktree or not is_git_repository(folder):
        return None
    try:
        git_dir, common = _git_dirs(folder)
        return _trace(git_dir, common, _names(entry, git_dir))
    except (OSError, ValueError):
        return None


def _names(entry: RepositoryEntry, git_dir: Path) -> list[str]:
    ref = entry.ref or "HEAD"
    if ref != "HEAD":
        if is_commit_id(ref, full=True):
            return []
        return [ref] if ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}"]
    head = _content(git_dir / "HEAD")
    return [head.removeprefix(_SYMBOLIC).strip()] if head.startswith(_SYMBOLIC) else []


def _trace(git_dir: Path, common: Path, names: Sequence[str]) -> str | None:
    contents = [_content(common / name) for name in names]
    if any(content.startswith(_SYMBOLIC) for content in contents):
        return None
    files = [state_of(common / "packed-refs"), state_of(common / "reftable" / "tables.list")]
    return "|".join([_content(git_dir / "HEAD"), *names, *contents, *files])


def _git_dirs(folder: Path) -> tuple[Path, Path]:
    """Where a repository has its HEAD, and where its other refs: elsewhere for a linked work tree."""
    git_dir = folder / ".git"
    if not git_dir.exists():
        return folder, folder
    if git_dir.is_file():
        git_dir = folder / _content(git_dir).removeprefix("gitdir: ").strip()
        if common := _content(git_dir / "commondir").strip():
            return git_dir, git_dir / common
    return git_dir, git_dir


def _content(path: Path) -> str:
    """The first of a small file; empty where there is none."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""


def state_of(path: Path) -> str:
    """What tells a file from one that was put in its place."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"
