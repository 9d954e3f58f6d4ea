"""Bare mirrors: all that the later steps know of a repository.

A mirror holds the commit that its entry asks for, under a ref named by location and ref, so that an offline build never
takes one branch for another. It begins as that commit alone; `history.py` fetches what was before it, when something
asks. Objects are only ever added, each fetch as whole packs: a killed fetch leaves a mirror as usable as it was.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.folder_commits import LeftOut, scan_folder
from codesum_pipeline.source.git.git import GitResult, find_object_id, run_git
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.source.git.incomplete import copy_what_is_there, survey_commit
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import (
    ONE_COMMIT,
    WHOLE_HISTORY,
    any_object_id,
    cannot_fetch,
    describe_entry,
    drop_unfinished,
    fetch_refs,
    find_ref,
    is_commit_id,
    is_git_repository,
    missing_ref,
    shallow_commits,
    source_git_dir,
)
from codesum_pipeline.source.git.trees import read_tree

# A ref is locked for milliseconds: an older lock belongs to a process that was killed.
DEAD_LOCK_AGE_S = 2.0
# Each fetch adds a pack, and every look-up may try each; git's own limit (gc.autoPackLimit) is 50.
MAX_PACKS = 50

FOLDER_LABEL = "(folder)"


class Head(Struct, frozen=True):
    """The commit that is built, the name of its ref, the files of a folder that are not in the commit, what could not
    be had of it, and the submodules that were joined to it."""

    commit: str
    ref: str
    left_out: tuple[LeftOut, ...] = ()
    problems: tuple[Failure, ...] = ()
    submodules: tuple[Submodule, ...] = ()


class Mirror(Struct, frozen=True):
    """The bare repository at `git_dir`, created by the first `update`."""

    git_dir: Path
    timeout_s: float = 600.0

    def update(self, entry: RepositoryEntry, *, offline: bool = False, progress: Progress = no_progress) -> Head:
        """Make the commit that `entry` asks for available here, fetching only what is missing.

        With `offline` nothing is fetched over the network. Raises `ConfigurationError` for what has to be changed, and
        `RepositoryUnavailable` for what may work at another time.
        """
        progress(f"fetching {shown_location(entry.location)}", 0, 1)
        _check_location(entry)
        if not is_url(entry.location) and _is_read_as_folder(entry):
            scan = scan_folder(Path(entry.location), timeout_s=self.timeout_s)
            commit = scan.commit_id()
            self.create("sha1")
            if self.resolve(commit) is None or self.resolve(our_ref(entry)) != commit:
                self._drop_dead_locks()
                scan = scan.write(self.git_dir, ref=our_ref(entry), timeout_s=self.timeout_s)
                commit = scan.commit_id()
                self._tidy()
            head = Head(commit, _label(entry), scan.left_out, scan.problems)
        elif offline and is_url(entry.location):
            head = self._held(entry)
        else:
            head = self._fetch(entry)
        progress(f"fetching {shown_location(entry.location)}", 1, 1)
        return head

    def head_commit(self, entry: RepositoryEntry, *, offline: bool = False) -> str:
        """The commit that `update` would arrive at, changing nothing.

        A shortened commit id that was never fetched is returned as it is.
        """
        _check_location(entry)
        if not is_url(entry.location) and _is_read_as_folder(entry):
            return scan_folder(Path(entry.location), timeout_s=self.timeout_s).commit_id()
        if offline and is_url(entry.location):
            return self._held(entry).commit
        if remote := find_ref(entry, timeout_s=self.timeout_s):
            return remote.commit
        return self.resolve(entry.ref or "") or entry.ref or ""

    def _fetch(self, entry: RepositoryEntry) -> Head:
        remote = find_ref(entry, timeout_s=self.timeout_s)
        some_id = remote.object_id if remote else any_object_id(entry, timeout_s=self.timeout_s)
        self.create("sha256" if len(some_id) == 64 else "sha1")
        if remote is None:
            return self._fetch_commit(entry)
        ours = our_ref(entry)
        if self.resolve(ours, kind="object") != remote.object_id:
            depth, refspec = self._depth(self.resolve(ours)), [f"+{remote.name}:{ours}"]
            self._drop_dead_locks()
            finished = self._fetch_or_less(entry, refspec, depth=depth)
            if finished.status != 0 and self._drop_dead_locks():
                finished = self._fetch_or_less(entry, refspec, depth=depth)
            if finished.status != 0:
                return self._copy_what_is_there(entry, remote.commit, finished)
            self._tidy()
        commit = self.resolve(ours)
        if commit is None:
            raise ConfigurationError(
                f"{describe_entry(entry)}: ref {_label(entry)!r} leads to no commit: change its ref"
            )
        return Head(commit, _label(entry))

    def _fetch_commit(self, entry: RepositoryEntry) -> Head:
        """A commit that no ref is named after. Some servers give out only what their refs lead to."""
        ref = entry.ref or ""
        if not is_url(entry.location) and not is_commit_id(ref, full=True):
            # The repository at a path can be asked for the full id.
            ref = find_object_id(ref, git_dir=source_git_dir(Path(entry.location)), timeout_s=self.timeout_s) or ref
        commit = self.resolve(ref)
        if commit is None and is_commit_id(ref, full=True):
            self._fetch_or_less(entry, [ref], depth=self._depth(None))
            commit = self.resolve(ref)
        if commit is None:
            every = ["+refs/heads/*:refs/codesum/seen/heads/*", "+refs/tags/*:refs/codesum/seen/tags/*"]
            depth = WHOLE_HISTORY if shallow_commits(self.git_dir) else ()
            finished = self._fetch_or_less(entry, every, depth=depth)
            if finished.status != 0:
                return self._copy_what_is_there(entry, ref, finished)
            commit = self.resolve(ref)
        if commit is None:
            raise missing_ref(entry, timeout_s=self.timeout_s)
        self._drop_dead_locks()
        self.run_git("update-ref", our_ref(entry), commit)
        return Head(commit, _label(entry))

    def _copy_what_is_there(self, entry: RepositoryEntry, commit: str, finished: GitResult) -> Head:
        """A commit of which a local repository lacks objects, without these; raises the error of a fetch that failed
        for another reason."""
        found, source = None, source_git_dir(Path(entry.location))
        if not is_url(entry.location):
            found = survey_commit(commit, git_dir=source, timeout_s=self.timeout_s)
        if found is None or not found.lacking or not found.has_files:
            lacking = found.lacking if found else ()
            raise cannot_fetch(entry, finished, commit=commit, git_dir=self.git_dir, lacking=lacking)
        copy_what_is_there(found, source, self.git_dir)
        self._tidy()
        return Head(commit, _label(entry))

    def _held(self, entry: RepositoryEntry) -> Head:
        """The commit that an earlier fetch brought."""
        commit = self.resolve(our_ref(entry))
        if commit is None:
            raise RepositoryUnavailable(
                f"{describe_entry(entry)}: {entry.ref or 'HEAD'} was never fetched: "
                f"run `codesum index {entry.key}` without offline"
            )
        return Head(commit, _label(entry))

    def create(self, object_format: str) -> None:
        """Create the mirror aside and move it in place; one of another object format is replaced."""
        if self.git_dir.exists():
            if self.object_format() == object_format:
                return
            shutil.rmtree(self.git_dir)
        self.git_dir.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.git_dir.parent) as aside:
            fresh = Path(aside) / "mirror.git"
            kind = f"--object-format={object_format}"
            Mirror(fresh, self.timeout_s).run_git("init", "--quiet", "--bare", "--template=", kind)
            fresh.rename(self.git_dir)

    def object_format(self) -> str:
        """How long its ids are; empty for a folder that is no repository."""
        file = self.git_dir / "config"
        if not file.exists():
            return ""
        config = file.read_text(encoding="utf-8")
        return "sha256" if "objectformat = sha256" in config.lower() else "sha1"

    def _depth(self, held: str | None) -> Sequence[str]:
        """How much to fetch: the commit alone, but where the mirror has history, whatever is new."""
        shallow = shallow_commits(self.git_dir)
        is_new = held is None and (shallow or not any((self.git_dir / "objects" / "pack").glob("*.pack")))
        return ONE_COMMIT if is_new or held in shallow else ()

    def _fetch_or_less(self, entry: RepositoryEntry, wanted: list[str], *, depth: Sequence[str]) -> GitResult:
        """Fetch; again all history where a server gives no part of it, or one commit where a clone lacks others."""
        finished = fetch_refs(self.git_dir, entry, wanted, depth=depth, timeout_s=self.timeout_s)
        if finished.status == 0:
            return finished
        if depth and b"shallow" in finished.complaints:
            return fetch_refs(self.git_dir, entry, wanted, timeout_s=self.timeout_s)
        if not depth and not is_url(entry.location):
            return fetch_refs(self.git_dir, entry, wanted, depth=ONE_COMMIT, timeout_s=self.timeout_s)
        return finished

    def resolve(self, name: str, *, kind: str = "commit") -> str | None:
        """The id of the object that a ref or an id leads to, if it is here."""
        return find_object_id(name, git_dir=self.git_dir, timeout_s=self.timeout_s, kind=kind)

    def _drop_dead_locks(self) -> bool:
        """Remove the locks of killed git processes; returns whether there were any."""
        was_there = False
        for path in [*self.git_dir.glob("*.lock"), *(self.git_dir / "refs").rglob("*.lock")]:
            with suppress(FileNotFoundError):
                # From the future as well: a living process has written now, whatever the clock said before it was set.
                if abs(time.time() - path.stat().st_mtime) > DEAD_LOCK_AGE_S:
                    path.unlink(missing_ok=True)
                    was_there = True
        return was_there

    def _tidy(self) -> None:
        """Merge packs once there are many, and remove unfinished ones."""
        drop_unfinished(self.git_dir)
        if len(list((self.git_dir / "objects" / "pack").glob("*.pack"))) > MAX_PACKS:
            self.run_git("repack", "--geometric=2", "-d", "-l", "-q")

    def run_git(self, *arguments: str, data: bytes | None = None) -> bytes:
        """What a git command about the mirror writes; raises `RepositoryUnavailable`."""
        return run_git(arguments, git_dir=self.git_dir, timeout_s=self.timeout_s, data=data)


def make_scratch(git_dir: Path, path: Path) -> Mirror:
    """A new mirror at `path` that has the refs and borrows the objects of the one at `git_dir`, if there is one.

    What is fetched into it leaves the other as it is.
    """
    if not Mirror(git_dir).object_format():
        return Mirror(path)
    scratch = make_borrowing(git_dir, path)
    refs = Mirror(git_dir).run_git("for-each-ref", "--format=create %(refname) %(objectname)")
    scratch.run_git("update-ref", "--stdin", data=refs)
    return scratch


def make_borrowing(git_dir: Path, path: Path, *, timeout_s: float = 600.0) -> Mirror:
    """A new mirror at `path` without refs that borrows the objects of the one at `git_dir`."""
    scratch = Mirror(path, timeout_s)
    scratch.create(Mirror(git_dir).object_format())
    alternates = path / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(os.fsencode(git_dir.resolve() / "objects") + b"\n")
    if shallow := shallow_commits(git_dir):
        (path / "shallow").write_text("".join(f"{commit}\n" for commit in sorted(shallow)), encoding="ascii")
    return scratch


def our_ref(entry: RepositoryEntry) -> str:
    """The ref in the mirror for one location and ref. Its name is flat: refs `a` and `a/b` cannot exist together."""
    digest = hashlib.sha1(f"{entry.location}\n{_label(entry)}".encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return f"refs/codesum/wanted/{digest.hexdigest()}"


def _label(entry: RepositoryEntry) -> str:
    """The label of the entry's wanted commit."""
    if not is_url(entry.location) and _is_read_as_folder(entry):
        return FOLDER_LABEL
    return entry.ref or "HEAD"


def _check_location(entry: RepositoryEntry) -> None:
    if entry.worktree and entry.ref:
        raise ConfigurationError(f"{describe_entry(entry)}: a work tree has no ref {entry.ref!r}: drop ref or worktree")
    if is_url(entry.location):
        if entry.worktree:
            raise ConfigurationError(f"{describe_entry(entry)}: only a folder has a work tree: drop worktree")
        return
    folder = Path(entry.location)
    if not folder.exists():
        raise ConfigurationError(f"{describe_entry(entry)} does not exist: correct it, or `codesum remove {entry.key}`")
    if not folder.is_dir():
        raise ConfigurationError(f"{describe_entry(entry)} is not a folder: name the folder of the repository")
    if not is_git_repository(folder) and entry.ref:
        raise ConfigurationError(f"{describe_entry(entry)} is not a git repository: drop its ref {entry.ref!r}")
    if entry.worktree and is_git_repository(folder) and not (folder / ".git").exists():
        raise ConfigurationError(f"{describe_entry(entry)} is a bare repository without a work tree: drop worktree")


def _is_read_as_folder(entry: RepositoryEntry) -> bool:
    return entry.worktree or not is_git_repository(Path(entry.location))


# Stronger than any .gitattributes of the tree.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -diff -merge\n"
_MB = 1024 * 1024
# The share of the free disk space that a checkout may take.
_MOST_OF_DISK = 0.5


def check_out(mirror: Mirror, commit: str, folder: Path, *, aside: Path) -> None:
    """Write the files of a commit into `folder`, which is empty; `aside` is a name for what git needs meanwhile.

    Raises `RepositoryUnavailable` for a tree that no folder can hold, and `ConfigurationError` for one that would take
    more than half of the disk's room.
    """
    # A few kilobytes of a repository may say that they are petabytes of files.
    room = shutil.disk_usage(folder).free * _MOST_OF_DISK
    for file in read_tree(commit, git_dir=mirror.git_dir, timeout_s=mirror.timeout_s, with_sizes=True):
        room -= file.size
        if room < 0:
            raise ConfigurationError(
                f"the files of commit {commit[:12]} would take more than half of the "
                f"{shutil.disk_usage(folder).free // _MB} MB that are free in {folder.parent}: free space there, or "
                "set TMPDIR to a folder of another disk"
            )
    scratch = make_borrowing(mirror.git_dir, aside, timeout_s=mirror.timeout_s)
    attributes = scratch.git_dir / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(_ATTRIBUTES, encoding="ascii")
    places = {"GIT_INDEX_FILE": str(scratch.git_dir / "index")}
    for arguments in (["read-tree", commit], ["checkout-index", "--all", "--quiet"]):
        run_git(arguments, git_dir=scratch.git_dir, timeout_s=mirror.timeout_s, work_tree=folder, environment=places)
    shutil.rmtree(scratch.git_dir, ignore_errors=True)
