"""The two versions of a repository that a change lies between: their names become commits, and the files that differ
become texts.

A version is a commit, or the work tree of the caller's folder. Commits are looked for in that work tree's repository,
in the repository that is registered, and in its mirror; who holds a token finds only those that the indexed commit has
behind it. Nothing is fetched here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import SHORT_COMMIT
from codesum_pipeline.answers.worktree_indexes.differences import compare_tree
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.origins import is_below
from codesum_pipeline.source.files.path_rules import PathRules, readable_path
from codesum_pipeline.source.git.folder_commits import read_stored
from codesum_pipeline.source.git.git import BlobReader, find_object_id, run_git, try_git
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import is_git_repository, shallow_commits, source_git_dir
from codesum_pipeline.source.git.trees import SUBMODULE_MODE

# Files of one change that are compared, and bytes of both versions that are parsed, about a million a second.
MOST_FILES = 2_000
MOST_BYTES = 20_000_000
_LONGEST_REVISION = 300
_TIMEOUT_S = 30.0
_BRANCHES_NAMED = 6
# What git reads as a search through all commits, as a file, as an option, or as all but a commit.
_NO_REVISION = re.compile(r"^[-^]|:|\^\{/|[\x00-\x20\x7f]")
_PRESENT = re.compile(r"^(?:HEAD|@)(?=$|[~^])")
WORK_TREE = "the work tree"
# Reasons that say nothing of what the entry has: who reads a part of a repository hears nothing of the rest.
_OUT_OF_SIGHT = frozenset({SkipReason.OUTSIDE_SUBDIR, SkipReason.NOT_INCLUDED, SkipReason.EXCLUDED})


class VersionRange(Struct, frozen=True):
    """What a caller wrote: `BASE..HEAD`, `BASE...HEAD` (since both parted), or `BASE`; without a head the work tree."""

    base: str
    head: str
    is_since_parting: bool = False

    @classmethod
    def parse(cls, text: str) -> "VersionRange":
        """Raises `ConfigurationError` for what git would take for something else than a commit."""
        written = text.strip()
        base, dots, head = written.partition("..")
        is_parting = head.startswith(".")
        found = cls(base or "HEAD", (head.removeprefix(".") or "HEAD") if dots else "", is_parting)
        for name in (found.base, found.head):
            if name and (len(name) > _LONGEST_REVISION or ".." in name or _NO_REVISION.search(name)):
                raise ConfigurationError(
                    f"{shorten_text(one_line(name))!r} cannot name a commit: give BASE, BASE..HEAD or BASE...HEAD, "
                    "each a branch, a tag or a commit id"
                )
        return found


class DifferingFile(Struct, frozen=True):
    """A file of both versions, as git's blobs; None in a version that lacks it."""

    path: str
    before: str | None
    after: str | None


class VersionPair(Struct, frozen=True):
    """Two versions in one git folder; `head` is empty for the work tree at `root`.

    `skipped` counts files that the index leaves out, by reason.
    """

    git_dir: Path
    base: str
    head: str
    files: tuple[DifferingFile, ...]
    skipped: Mapping[str, int]
    submodules: tuple[str, ...] = ()
    root: Path | None = None

    @property
    def names(self) -> tuple[str, str]:
        return self.base[:SHORT_COMMIT], self.head[:SHORT_COMMIT] or WORK_TREE

    def contents(
        self, files: Sequence[DifferingFile], *, largest: Callable[[str], int]
    ) -> Iterator[tuple[bytes | None, bytes | None]]:
        """The bytes of both versions of some files, None for what is not there, is larger than the `largest` of its
        path, or cannot be read."""
        wanted = [blob for file in files for blob in (file.before, file.after) if blob]
        sizes = self._sizes(wanted)
        with BlobReader(self.git_dir) as reader:

            def stored(blob: str | None, most: int) -> bytes | None:
                if blob is None or sizes.get(blob, most + 1) > most:
                    return None
                return next(iter(reader.read_many([blob])), None)

            for file in files:
                most = largest(file.path)
                after = stored(file.after, most) if self.root is None else self._on_disk(file, most)
                yield stored(file.before, most), after

    def _on_disk(self, file: DifferingFile, largest: int) -> bytes | None:
        found = read_stored(self.root, file.path.encode()) if self.root and file.after else None
        return found[1] if isinstance(found, tuple) and len(found[1]) <= largest else None

    def _sizes(self, blobs: Sequence[str]) -> Mapping[str, int]:
        lines = "".join(f"{blob}\n" for blob in blobs).encode()
        output = run_git(
            ["cat-file", "--batch-check=%(objectname) %(objectsize)"], git_dir=self.git_dir, timeout_s=_TIMEOUT_S,
            data=lines,
        )  # fmt: skip
        fields = (line.split() for line in output.decode().splitlines())
        return {name: int(size) for name, size, *_ in fields if size.isdigit()}


class MissingCommits(ConfigurationError):
    """A range names commits of `repo` that are nowhere here; `names` are these, as the caller wrote them."""

    def __init__(self, message: str, *, repo: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.repo = repo
        self.names = names


def compare_versions(call: ToolContext, index: PublishedIndex, asked: VersionRange) -> VersionPair:
    """The files that differ between the versions of a range. Raises `MissingCommits`, or `ConfigurationError` where
    there is no work tree to compare, or the versions have nothing in common."""
    entry = call.catalogue.registry.get(index.repo)
    root = call.trees.tree(index).root
    if not asked.head and root is None:
        if asked.base == "HEAD":
            raise ConfigurationError(
                f"there is no work tree of {index.repo} here to compare with its last commit: give BASE..HEAD"
            )
        asked = VersionRange(asked.base, "HEAD")
    git_dir, base, head = _resolved(call, index, entry, asked, root)
    if asked.is_since_parting:
        base = _parting(git_dir, base, head, index.repo)
    rules = PathRules.of(entry, call.catalogue.settings)
    hidden = call.catalogue.hidden_folders(index.repo, with_left_out=True)
    if not head:
        assert root is not None
        home = call.catalogue.settings.home.resolve()
        joined = index.version.submodules
        found = compare_tree(root, rules, mirror=git_dir, commit=base, home=home, joined=joined)
        paths, changed = found.paths, found.changed
        before = _blobs_at(git_dir, base, paths)
        files = tuple(DifferingFile(path, before.get(path), _WRITTEN if path in changed else None) for path in paths)
        return VersionPair(git_dir, base, "", files, {}, root=root)
    return _between(git_dir, base, head, rules, hidden)


# In the place of a blob, of a file that is read from the disk.
_WRITTEN = "disk"


def _between(git_dir: Path, base: str, head: str, rules: PathRules, hidden: Sequence[str]) -> VersionPair:
    # It imports the tables of builds, which other tools do without.
    from codesum_pipeline.source.git.commit_history import files_between

    files: list[DifferingFile] = []
    skipped: dict[str, int] = {}
    submodules: list[str] = []
    for change in files_between(git_dir, base, head, timeout_s=_TIMEOUT_S):
        path, is_valid = readable_path(change.path.encode("utf-8", "surrogateescape"))
        mode = change.modes[1] if change.after else change.modes[0]
        reason = rules.why_skipped(path, mode=mode, size=0) if is_valid else SkipReason.INVALID_PATH
        if is_below(f"{path}/", hidden) or reason in _OUT_OF_SIGHT:
            continue
        if SUBMODULE_MODE in change.modes:
            submodules.append(path)
        elif reason is not None:
            skipped[str(reason)] = skipped.get(str(reason), 0) + 1
        elif change.before != change.after:
            files.append(DifferingFile(path, change.before, change.after))
    return VersionPair(git_dir, base, head, tuple(files), skipped, tuple(submodules))


def _blobs_at(git_dir: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    lines = "".join(f"{commit}:{path}\n" for path in paths if "\n" not in path).encode("utf-8", "surrogateescape")
    output = run_git(["cat-file", "--batch-check=%(objectname)"], git_dir=git_dir, timeout_s=_TIMEOUT_S, data=lines)
    answers = output.decode().splitlines()
    readable = [path for path in paths if "\n" not in path]
    return {path: blob for path, blob in zip(readable, answers, strict=False) if " " not in blob}


def _places(call: ToolContext, index: PublishedIndex, entry: RepositoryEntry, root: Path | None) -> Iterator[Path]:
    """The git folders that may have the commits, the caller's own first."""
    if root is not None and not _is_limited(call):
        yield root / ".git"
    folder = Path(entry.location)
    if not is_url(entry.location) and is_git_repository(folder):
        yield source_git_dir(folder)
    mirror = call.catalogue.layout.mirror(index.repo)
    if mirror.exists():
        yield mirror


def _is_limited(call: ToolContext) -> bool:
    return call.catalogue.holder is not None or call.catalogue.is_limited


def _resolved(
    call: ToolContext,
    index: PublishedIndex,
    entry: RepositoryEntry,
    asked: VersionRange,
    root: Path | None,
) -> tuple[Path, str, str]:
    """The first git folder that has both commits, and their ids."""
    places = list(_places(call, index, entry, root))
    if not places:
        raise MissingTable(f"{index.repo} has no copy of its commits on this machine: run `codesum index {index.repo}`")
    missing: tuple[str, ...] = ()
    for git_dir in places:
        is_own = root is not None and git_dir == root / ".git"
        present = "HEAD" if is_own else index.commit
        names = [name for name in (asked.base, asked.head) if name]
        ids = [find_object_id(_PRESENT.sub(present, name), git_dir=git_dir, timeout_s=_TIMEOUT_S) for name in names]
        if _is_limited(call):
            ids = [id_ if id_ and _is_before(git_dir, id_, index.commit) else None for id_ in ids]
        if all(ids):
            return git_dir, str(ids[0]), str(ids[1]) if asked.head else ""
        missing = missing or tuple(name for name, id_ in zip(names, ids, strict=True) if id_ is None)
    unknown = " or ".join(repr(shorten_text(one_line(name))) for name in missing)
    branches = "" if _is_limited(call) else _told_branches(places[0])
    why = f"{index.repo} has no commit {unknown} here{branches}: {_way_out(index.repo, entry, places[0])}"
    raise MissingCommits(why, repo=index.repo, names=missing)


def _is_before(git_dir: Path, commit: str, last: str) -> bool:
    """Whether a commit is another one, or among those before it."""
    arguments = ["merge-base", "--is-ancestor", commit, last]
    return try_git(arguments, git_dir=git_dir, timeout_s=_TIMEOUT_S).status == 0


def _told_branches(git_dir: Path) -> str:
    """The branches that were written to last, to put behind what is not there."""
    arguments = ["for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads", "refs/remotes"]
    names = try_git(arguments, git_dir=git_dir, timeout_s=_TIMEOUT_S).output.decode("utf-8", "replace").split("\n")
    shown = some_of([shorten_text(one_line(name)) for name in names if name], _BRANCHES_NAMED)
    return f" (its branches are {shown})" if shown else ""


def _way_out(repo: str, entry: RepositoryEntry, git_dir: Path) -> str:
    if is_url(entry.location):
        return f"`codesum impact BASE..HEAD --repo {repo}` fetches a branch, a tag or a full commit id"
    how = "--unshallow" if shallow_commits(git_dir) else "origin"
    return f"run `git -C {entry.location} fetch {how}`, or name another commit"


def _parting(git_dir: Path, base: str, head: str, repo: str) -> str:
    """The last common commit of two."""
    finished = try_git(["merge-base", base, head], git_dir=git_dir, timeout_s=_TIMEOUT_S)
    found = finished.output.decode().strip()
    if finished.status != 0 or not found:
        cut = bool(shallow_commits(git_dir))
        why = "its history is cut off here: `git fetch --unshallow` brings it" if cut else "they have no common commit"
        raise ConfigurationError(
            f"{base[:SHORT_COMMIT]}...{head[:SHORT_COMMIT]} of {repo}: {why}; with two dots, BASE..HEAD, both are "
            "compared as they are"
        )
    return found.splitlines()[0]
