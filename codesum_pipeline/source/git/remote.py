"""Asks a repository for its refs, and fetches from it into a mirror.

The repository's lease is held while a mirror is written to, and a killed fetch ends with its starter (`git.py`). So
unfinished files of a mirror belong to nobody, and are removed at once.
"""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, ObjectsMissing, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.git import GitResult, run_git, try_git
from codesum_pipeline.source.git.git_addresses import shown_location, take_apart
from codesum_pipeline.source.git.locations import is_url

# Of a file `.git` that names another folder.
_LONGEST_POINTER = 4096
_COMMIT_ID = re.compile(r"[0-9a-f]{4,64}")
_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# What git check-ref-format refuses, and whatever could be read as a pattern or an option.
_NOT_IN_A_REF = re.compile(r"^[-/]|\.\.|//|@\{|[\x00-\x20\x7f~^:?*\[\\]|\.lock(/|$)|[/.]$|^@$|^$")


class RemoteRef(Struct, frozen=True):
    """One ref of a remote: its full name, its object, and the commit that it leads to."""

    name: str
    object_id: str
    commit: str


def check_ref(ref: str) -> str:
    """Return `ref` unchanged, or raise `ConfigurationError` if it cannot be a branch, tag or commit."""
    if _NOT_IN_A_REF.search(ref):
        raise ConfigurationError(f"ref {ref!r} cannot be the name of a branch or tag, nor a commit id")
    return ref


def is_commit_id(ref: str, *, full: bool = False) -> bool:
    """Whether `ref` may be a commit id: all of it, or its first four digits at least."""
    return bool((_FULL_ID if full else _COMMIT_ID).fullmatch(ref))


def describe_entry(entry: RepositoryEntry) -> str:
    """How messages name an entry."""
    return f"repos.yaml: {entry.key!r}: {'' if is_url(entry.location) else 'path '}{shown_location(entry.location)}"


def is_git_repository(folder: Path) -> bool:
    """Whether a folder is a git work tree or a bare repository."""
    is_bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    return (folder / ".git").exists() or is_bare


def source_git_dir(folder: Path) -> Path:
    """Where the git data of a local repository are."""
    return folder / ".git" if (folder / ".git").exists() else folder


def git_dirs(pointer: Path) -> tuple[Path, Path]:
    """The git folder behind `.git`, which has its HEAD, and the one that all work trees of the repository share.

    Raises `OSError` or `ValueError` for a file that leads nowhere.
    """
    if pointer.is_dir():
        return pointer, pointer
    own = pointer.parent / _text(pointer).removeprefix("gitdir:").strip()
    common = own / "commondir"
    return own, (own / _text(common).strip() if common.is_file() else own).resolve()


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(_LONGEST_POINTER)


def serving_switches(entry: RepositoryEntry) -> list[str]:
    """What makes git serve a local repository without running anything of it; a server looks after itself."""
    if is_url(entry.location):
        return []
    # Git itself drops the first setting for the other side, whose grafts make packs that cannot be read. Without the
    # next two, a partial clone would fetch what it lacks by the commands of its own configuration; without the last,
    # git would go into the work tree, which may be gone.
    environment = f"GIT_GRAFT_FILE={os.devnull} GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL= GIT_WORK_TREE=/"
    # What is packed anew is packed fast: less than two thirds of the time, for a mirror that is 1 to 16 % larger.
    return [f"--upload-pack={environment} git -c pack.window=0 -c pack.compression=1 upload-pack"]


def _address_for_git(entry: RepositoryEntry) -> tuple[str, Mapping[str, str]]:
    """The location as git is given it, and the variables with its user and password."""
    address = take_apart(entry.location) if is_url(entry.location) else None
    return (address.for_git, address.environment) if address else (entry.location, {})


def find_ref(entry: RepositoryEntry, *, timeout_s: float) -> RemoteRef | None:
    """The branch, tag or HEAD that the entry names, a branch before a tag; None if `ref` can only be a commit id.

    Raises `ConfigurationError` for a ref that the repository does not have.
    """
    if entry.ref in (None, "HEAD"):
        if found := _ls_remote(entry, ["HEAD"], timeout_s=timeout_s):
            return RemoteRef("HEAD", found["HEAD"], found["HEAD"])
        refs = _branches_and_tags(entry, timeout_s=timeout_s)
        if not refs:
            raise _no_commits(entry)
        first = ", ".join(refs[:10])
        raise ConfigurationError(
            f"{describe_entry(entry)} names a branch without commits as its HEAD: set a ref, one of {first}"
        )
    ref = check_ref(entry.ref or "")
    if is_commit_id(ref, full=True):
        return None
    names = [ref] if ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}"]
    found = _ls_remote(entry, [*names, f"{names[-1]}^{{}}"], timeout_s=timeout_s)
    for name in names:
        if name in found:
            return RemoteRef(name, found[name], found.get(f"{name}^{{}}", found[name]))
    if is_commit_id(ref):
        return None
    raise missing_ref(entry, timeout_s=timeout_s)


def any_object_id(entry: RepositoryEntry, *, timeout_s: float) -> str:
    """Some id of the repository's, which shows its object format: a full commit id of the entry needs no asking."""
    if entry.ref and is_commit_id(entry.ref, full=True):
        return entry.ref
    found = _ls_remote(entry, ["refs/heads/*", "refs/tags/*"], timeout_s=timeout_s)
    return next(iter(found.values()), "")


def missing_ref(entry: RepositoryEntry, *, timeout_s: float) -> ConfigurationError:
    """The error for a ref that is gone or never was, naming the nearest one that is there."""
    names = _branches_and_tags(entry, timeout_s=timeout_s)
    if not names:
        return _no_commits(entry)
    near = difflib.get_close_matches(entry.ref or "", names, n=1, cutoff=0.0)[0]
    return ConfigurationError(
        f"{describe_entry(entry)} has no branch, tag or commit {entry.ref!r} (the nearest is {near!r}): change its ref"
    )


def _no_commits(entry: RepositoryEntry) -> ConfigurationError:
    hint = "push a first commit" if is_url(entry.location) else "commit something, or index the folder as it is"
    flag = "" if is_url(entry.location) else " with --worktree"
    return ConfigurationError(f"{describe_entry(entry)} has no commits yet: {hint}{flag}")


def _branches_and_tags(entry: RepositoryEntry, *, timeout_s: float) -> list[str]:
    found = _ls_remote(entry, ["refs/heads/*", "refs/tags/*"], timeout_s=timeout_s)
    return sorted(name.split("/", 2)[2] for name in found if not name.endswith("^{}"))


def _ls_remote(entry: RepositoryEntry, patterns: list[str], *, timeout_s: float) -> dict[str, str]:
    """Object ids by ref name."""
    try:
        place, environment = _address_for_git(entry)
        arguments = ["ls-remote", "--quiet", *serving_switches(entry), "--", place, *patterns]
        output = run_git(arguments, timeout_s=timeout_s, environment=environment)
    except RepositoryUnavailable as error:
        raise RepositoryUnavailable(f"{describe_entry(entry)} cannot be read: {error}") from error
    lines = (line.partition("\t") for line in output.decode("utf-8", "surrogateescape").splitlines())
    return {name: object_id for object_id, _, name in lines if name}


# The object that the other side of a fetch stopped at.
_OBJECT = re.compile(rb"^remote: fatal: [^\n]*?\b([0-9a-f]{40}(?:[0-9a-f]{24})?)\b", re.MULTILINE)
# The commit without those before it.
ONE_COMMIT = ("--depth=1",)
WHOLE_HISTORY = ("--unshallow",)

# Packs, indexes and locks that a process which was killed, or a server that broke off, left unfinished.
_UNFINISHED = ("objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/pack/*.keep", "shallow.lock")


def fetch_refs(
    git_dir: Path, entry: RepositoryEntry, wanted: Sequence[str], *, depth: Sequence[str] = (), timeout_s: float
) -> GitResult:
    """Fetch refs or commits of an entry; nothing unfinished is there before, and nothing after a failure."""
    drop_unfinished(git_dir)
    switches = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--update-shallow"]
    place, environment = _address_for_git(entry)
    arguments = ["fetch", *switches, *serving_switches(entry), *depth, "--prune", "--", place, *wanted]
    finished = None
    try:
        finished = try_git(arguments, git_dir=git_dir, timeout_s=timeout_s, environment=environment)
    finally:
        if finished is None or finished.status != 0:
            drop_unfinished(git_dir)
    return finished


def drop_unfinished(git_dir: Path) -> None:
    """Remove what fetches that failed or were killed left."""
    for pattern in _UNFINISHED:
        for path in git_dir.glob(pattern):
            path.unlink(missing_ok=True)


def shallow_commits(git_dir: Path) -> set[str]:
    """The commits whose parents were not fetched."""
    file = git_dir / "shallow"
    return set(file.read_text(encoding="ascii").split()) if file.exists() else set()


def cannot_fetch(
    entry: RepositoryEntry, finished: GitResult, *, commit: str, git_dir: Path, lacking: Sequence[str] = ()
) -> RepositoryUnavailable:
    """Why a commit of an entry did not come, and the way out. `lacking` are objects that a local repository lacks."""
    if lacking:
        more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
        why = f"commit {commit[:12]} needs object {lacking[0]}{more}, which it does not have: {way_out(entry)}"
        return ObjectsMissing(f"{describe_entry(entry)} cannot be fetched: {why}")
    if not is_url(entry.location) and b"not our ref " + commit.encode() in finished.complaints:
        why = f"it does not have commit {commit[:12]}: {way_out(entry)}"
        return ObjectsMissing(f"{describe_entry(entry)} cannot be fetched: {why}")
    if lacks_objects(finished):
        return objects_missing(entry, finished, f"commit {commit[:12]}")
    why = finished.complaint
    why += f"; delete {git_dir} to fetch it anew" if str(git_dir) in finished.complaint else ""
    return RepositoryUnavailable(f"{describe_entry(entry)} cannot be fetched: {why}")


def lacks_objects(finished: GitResult) -> bool:
    """Whether the other side ended a fetch since objects that it needed were not there."""
    return finished.status != 0 and b"repository corruption on the remote side" in finished.complaints


def objects_missing(entry: RepositoryEntry, finished: GitResult, what: str) -> ObjectsMissing:
    """That a repository lacks objects of what was asked for, and the way out."""
    named = _OBJECT.search(finished.complaints)
    first = f" ({named[1].decode()} is the first)" if named else ""
    return ObjectsMissing(
        f"{describe_entry(entry)} cannot be fetched: {what}: objects of it are missing there, or cannot be read"
        f"{first}: {way_out(entry)}"
    )


def way_out(entry: RepositoryEntry) -> str:
    """What a person can do about a repository that lacks objects."""
    if is_url(entry.location):
        return "run `git fsck` there, or index another clone"
    return f"run `git -C {entry.location} fetch --refetch --no-filter origin`, or index its URL instead"
