"""Submodules in the tree of a commit: each at its pinned commit, in submodules too.

The pinned commits' folders and files are copied into the mirror, without their history. Where a commit's submodules
were joined, a ref of the mirror leads from the commit to the joined tree, and files are read from that: the commit and
its history stay what they are.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import (
    CannotWrite,
    CodesumError,
    ConfigurationError,
    RepositoryUnavailable,
    TookTooLong,
)
from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.git import run_git, try_git
from codesum_pipeline.source.git.git_addresses import GitAddress, shown_location, take_apart
from codesum_pipeline.source.git.incomplete import copy_objects
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import Mirror, our_ref
from codesum_pipeline.source.git.remote import git_dirs, source_git_dir
from codesum_pipeline.source.git.submodule_addresses import RefusedAddress, submodule_address
from codesum_pipeline.source.git.trees import JOINED_TREES, MOST_ENTRIES, SUBMODULE_MODE, read_tree

_PINNED = "refs/codesum/pinned"
# Of so many commits the joined trees stay known, for readers of earlier versions.
_KEPT = 20
_LIST = ".gitmodules"
_LARGEST_LIST = 1024 * 1024
MOST_SUBMODULES = 200
DEEPEST = 8
_MOST_FOLDERS = 100
# All fetches of one build may take so many times the longest time of one: hundreds of servers that never answer would
# keep a repository from being built for days.
_MOST_TIMEOUTS = 3


class UnfitTree(Exception):
    """A tree with more files than are indexed as one repository, or with names that nothing can be joined to."""


class Surroundings(Struct, frozen=True):
    """The repository around a submodule: its address on a server, and on this disk its git folder and work tree."""

    address: GitAddress | None
    git_dir: Path | None = None
    work_tree: Path | None = None


class _Link(Struct, frozen=True):
    """A submodule as its tree has it: its path there and in the whole tree, its commit, its name and its address."""

    path: bytes
    pin: str
    shown: str
    name: str
    url: str

    def folder_in(self, work_tree: Path | None) -> Path | None:
        try:
            return work_tree / self.path.decode("utf-8") if work_tree else None
        except UnicodeDecodeError:
            return None


class JoinedTree(Struct, frozen=True):
    """The submodules of a commit, and which of them could not be had."""

    submodules: tuple[Submodule, ...]
    problems: tuple[Failure, ...]


class SubmoduleJoin(Struct):
    """Joins the submodules of one commit into a mirror. `named` are locations that the user names
    (`submodule_addresses.py`), `is_wanted` says of a folder whether anything in it would be indexed."""

    mirror: Mirror
    entry: RepositoryEntry
    named: Mapping[str, str] = {}
    offline: bool = False
    is_wanted: Callable[[str], bool] = lambda _: True
    progress: Progress = no_progress
    _found: list[Submodule] = field(default_factory=list)
    _problems: list[Failure] = field(default_factory=list)
    _entries: int = 0
    _fetched_for_s: float = 0.0

    def join(self, commit: str) -> JoinedTree:
        """Fetch what is missing and write the joined tree; one submodule that cannot be had stops no other."""
        tree = self._joined_tree(commit)
        (self.mirror.git_dir / JOINED_TREES / commit).unlink(missing_ok=True)
        if tree != self.mirror.resolve(commit, kind="tree"):
            self.mirror.run_git("update-ref", f"{JOINED_TREES}/{commit}", tree)
        drop_joined(self.mirror, kept=_KEPT)
        return JoinedTree(tuple(self._found), tuple(self._problems))

    def _joined_tree(self, commit: str) -> str:
        try:
            return self._with_submodules(commit, "", self._surroundings(), depth=DEEPEST)
        except UnfitTree as error:
            # The repository itself. Whoever lists its files may refuse it, too.
            self._found = [replace(each, is_indexed=False, problem=str(error)) for each in self._found]
            self._problems.append(Failure(_LIST, f"no submodule is joined: {error}", is_settled=True))
            return self.mirror.resolve(commit, kind="tree") or commit

    def _surroundings(self) -> Surroundings:
        if is_url(self.entry.location):
            return Surroundings(take_apart(self.entry.location))
        folder = Path(self.entry.location)
        pointer = folder / ".git"
        try:
            git_dir = git_dirs(pointer)[1] if pointer.exists() else source_git_dir(folder)
        except (OSError, ValueError):
            return Surroundings(None)
        return Surroundings(self._origin(git_dir), git_dir, folder if pointer.exists() else None)

    def _origin(self, git_dir: Path) -> GitAddress | None:
        """The address on a server that a repository on this disk was cloned from, if it was."""
        arguments = ["config", "--file", str(git_dir / "config"), "--no-includes", "--get", "remote.origin.url"]
        origin = try_git(arguments, timeout_s=self.mirror.timeout_s).output.decode("utf-8", "replace").strip()
        address = take_apart(origin)
        return None if address and address.scheme == "file" else address

    def _with_submodules(self, treeish: str, above: str, around: Surroundings, *, depth: int) -> str:
        """The tree of a commit or tree, with the trees of its submodules."""
        links = self._links(treeish)
        declared = self._declared(treeish, above) if links else {}
        trees: dict[tuple[bytes, ...], str] = {}
        for path, pin in links.items():
            shown = above + path.decode("utf-8", "replace")
            if not self.is_wanted(shown):
                continue
            if len(self._found) >= MOST_SUBMODULES:
                self._leave_out(shown, pin)
                continue
            link = _Link(path, pin, shown, *declared.get(path, ("", "")))
            tree = self._tree_of(link, around, depth=depth)
            trees |= {tuple(path.split(b"/")): tree} if tree else {}
        return _replaced(self.mirror, treeish, trees)

    def _leave_out(self, shown: str, pin: str) -> None:
        """Note one that is too many; only the first of them is a problem."""
        why = f"more than {MOST_SUBMODULES} are not read"
        if len(self._found) == MOST_SUBMODULES:
            told = f"submodule: {why}: neither this one nor those that follow"
            self._problems.append(Failure(shown, told, is_settled=True))
        self._found.append(Submodule(shown, pin, "", problem=why))

    def _links(self, treeish: str) -> Mapping[bytes, str]:
        """The pinned commits of a tree by path. Raises `UnfitTree` for a tree that has, with those around it, more
        than `MOST_ENTRIES`."""
        found = {}
        before = self._entries
        with closing(read_tree(treeish, git_dir=self.mirror.git_dir, timeout_s=self.mirror.timeout_s)) as files:
            for file in files:
                self._entries += 1
                if self._entries > MOST_ENTRIES:
                    self._entries = before
                    raise UnfitTree(f"with it, the repository would hold more than {MOST_ENTRIES:,} files")
                if file.mode == SUBMODULE_MODE:
                    found[file.path] = file.blob
        return found

    def _tree_of(self, link: "_Link", around: Surroundings, *, depth: int) -> str | None:
        """The tree of one submodule with those inside; None, and a problem, if it cannot be had."""
        address, before = "", len(self._found)
        try:
            if not depth or link.path.count(b"/") > _MOST_FOLDERS:
                raise RefusedAddress(f"it lies below more than {DEEPEST} others, or {_MOST_FOLDERS} folders")
            kept = _at_hand(around, link, timeout_s=self.mirror.timeout_s)
            if kept is not None:
                # Where it came from, whatever address is committed now.
                came_from = self._origin(kept) or take_apart(link.url)
                location, inner = str(kept), Surroundings(came_from, kept, link.folder_in(around.work_tree))
                address = str(inner.address or "")
            else:
                target = submodule_address(link.url, base=around.address, named=self.named)
                address, location, inner = target.shown, target.location, Surroundings(target.base)
            tree = self._pinned_tree(link.pin, location, link.shown)
            self._found.append(Submodule(link.shown, link.pin, address, is_indexed=True))
            return self._with_submodules(tree, f"{link.shown}/", inner, depth=depth - 1)
        except CannotWrite:
            raise
        except (RefusedAddress, UnfitTree, CodesumError) as error:
            problem = str(error).removeprefix(f"repos.yaml: {self.entry.key!r}: ")
            # Those inside go with it.
            self._found[before:] = [Submodule(link.shown, link.pin, address, problem=problem)]
            is_settled = not isinstance(error, CodesumError)
            self._problems.append(Failure(link.shown, f"submodule: {problem}", is_settled=is_settled))
            return None

    def _declared(self, treeish: str, above: str) -> Mapping[bytes, tuple[str, str]]:
        """Name and address of each submodule by its path, as the committed list gives them."""
        git_dir, timeout_s, blob = self.mirror.git_dir, self.mirror.timeout_s, f"{treeish}:{_LIST}"
        size = try_git(["cat-file", "-s", blob], git_dir=git_dir, timeout_s=timeout_s)
        if size.status != 0:
            return {}
        why = "is larger than any list of submodules"
        if int(size.output) <= _LARGEST_LIST:
            content = try_git(["cat-file", "blob", blob], git_dir=git_dir, timeout_s=timeout_s)
            pattern = r"^submodule\..*\.(path|url)$"
            # Of a blob, git itself reads no byte order mark, and of a file it does.
            arguments = ["config", "--no-includes", "--file", "-", "-z", "--get-regexp", pattern]
            listed = try_git(arguments, git_dir=git_dir, timeout_s=timeout_s, data=content.output)
            # Without a complaint, a status tells only that nothing was found.
            if content.status == 0 and (listed.status == 0 or not listed.complaints):
                return _by_path(listed.output)
            why = "is no list of submodules as git writes it"
        self._problems.append(Failure(f"{above}{_LIST}", f"{why}: it is not used", is_settled=True))
        return {}

    def _pinned_tree(self, pin: str, location: str, shown: str) -> str:
        """The tree of a submodule's commit, which is brought here if it did not come from this location before: one
        that has a commit by another's name shows what only the other may."""
        mirror, entry = self.mirror, RepositoryEntry(self.entry.key, location, ref=pin)
        ref = f"{_PINNED}/{our_ref(entry).rpartition('/')[2]}"
        if found := mirror.resolve(ref, kind="tree"):
            return found
        most_s = _MOST_TIMEOUTS * mirror.timeout_s
        if self._fetched_for_s > most_s:
            raise TookTooLong(f"the submodules before it took {most_s:g} s to fetch: the next build goes on with it")
        began = time.monotonic()
        try:
            tree = self._fetched_tree(entry, pin, shown)
        finally:
            self._fetched_for_s += time.monotonic() - began
        mirror.run_git("update-ref", ref, tree)
        return tree

    def _fetched_tree(self, entry: RepositoryEntry, pin: str, shown: str) -> str:
        mirror = self.mirror
        self.progress(f"fetching submodule {shown}", 0, 1)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=mirror.git_dir) as aside:
            fetched = Mirror(Path(aside) / "submodule.git", mirror.timeout_s)
            try:
                fetched.update(entry, offline=self.offline)
            except ConfigurationError as error:
                raise RepositoryUnavailable(
                    f"{shown_location(entry.location)} does not give out commit {pin[:12]}"
                ) from error
            tree = fetched.run_git("rev-parse", f"{pin}^{{tree}}").decode("ascii").strip()
            listed = fetched.run_git("rev-list", "--objects", "--no-object-names", "--missing=print", tree)
            ids = [each for each in listed.decode("ascii").split() if not each.startswith("?")]
            copy_objects([tree, *ids], fetched.git_dir, mirror.git_dir)
        return tree


def drop_joined(mirror: Mirror, *, kept: int = 0) -> None:
    """Have the commits of a mirror read without their submodules, but for those that were joined last."""
    files = sorted((mirror.git_dir / JOINED_TREES).glob("*"), key=lambda file: (file.stat().st_mtime, file.name))
    for file in files[: len(files) - kept if kept else None]:
        file.unlink(missing_ok=True)


def _by_path(listed: bytes) -> dict[bytes, tuple[str, str]]:
    fields: dict[str, dict[str, str]] = defaultdict(dict)
    for record in filter(None, listed.split(b"\0")):
        key, _, value = record.decode("utf-8", "surrogateescape").partition("\n")
        name, _, kind = key.removeprefix("submodule.").rpartition(".")
        # As for git, the last of several counts.
        fields[name][kind] = value
    return {
        found["path"].rstrip("/").encode("utf-8", "surrogateescape"): (name, found.get("url", ""))
        for name, found in fields.items()
        if "path" in found
    }


def _at_hand(around: Surroundings, link: _Link, *, timeout_s: float) -> Path | None:
    """The git folder that a clone on this disk keeps of its own submodule, if it has the pinned commit."""
    candidates = []
    if around.git_dir is not None and link.name and link.name.isprintable():
        candidates.append((around.git_dir / "modules", around.git_dir / "modules" / link.name))
    if around.work_tree is not None and (folder := link.folder_in(around.work_tree)):
        candidates.append((around.work_tree, folder / ".git"))
    for root, folder in candidates:
        # Nothing that a name or a link leads out of the clone to.
        inner = folder.relative_to(root) if folder.is_relative_to(root) else Path("..")
        is_own = ".." not in inner.parts and folder.resolve() == root.resolve() / inner and (folder / "HEAD").is_file()
        if is_own and _has_commit(link.pin, folder, timeout_s=timeout_s):
            return folder
    return None


def _has_commit(commit: str, git_dir: Path, *, timeout_s: float) -> bool:
    # Its own work tree may be gone, into which git would go first.
    asked = ["cat-file", "-e", f"{commit}^{{commit}}"]
    return try_git(asked, git_dir=git_dir, timeout_s=timeout_s, environment={"GIT_WORK_TREE": "/"}).status == 0


def _replaced(mirror: Mirror, treeish: str, trees: Mapping[tuple[bytes, ...], str]) -> str:
    """The id of a tree in which links to commits are replaced by trees, by the parts of their paths."""
    timeout_s = mirror.timeout_s
    if not trees:
        return mirror.resolve(treeish, kind="tree") or treeish
    below: dict[bytes, dict[tuple[bytes, ...], str]] = defaultdict(dict)
    for parts, joined in trees.items():
        below[parts[0]][parts[1:]] = joined
    listed = run_git(["ls-tree", "-z", treeish], git_dir=mirror.git_dir, timeout_s=timeout_s)
    lines = []
    for record in _records(listed):
        facts, _, name = record.partition(b"\t")
        inner, (_, kind, old) = below.get(name, {}), facts.split()
        tree = inner.get(()) if kind == b"commit" else None
        if kind == b"tree" and (deeper := {parts: each for parts, each in inner.items() if parts}):
            tree = _replaced(mirror, old.decode("ascii"), deeper)
        lines.append((b"040000 tree " + tree.encode() + b"\t" + name if tree else record) + b"\0")
    # Of an incomplete clone, files may be missing.
    arguments = ["mktree", "-z", "--missing"]
    written = try_git(arguments, git_dir=mirror.git_dir, timeout_s=timeout_s, data=b"".join(lines))
    if written.status != 0:
        raise UnfitTree(f"git cannot write such a tree: {written.complaint}")
    return written.output.decode("ascii").strip()


def _records(listed: bytes) -> Iterator[bytes]:
    return (record for record in listed.split(b"\0") if record)
