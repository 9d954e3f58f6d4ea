"""The repositories of a home and their published indexes, as far as a caller may see them, and how far they are behind.

A folder is compared as it is now. The server of a URL is never asked: the last fetched commit counts.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel

from codesum_pipeline.answers.agent_tools.compared_trees import ComparedTrees
from codesum_pipeline.answers.agent_tools.submodule_answers import closed_folders, read_submodules
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex
from codesum_pipeline.answers.worktree_indexes.recently_used import RecentlyUsed
from codesum_pipeline.answers.worktree_indexes.settler import Settler
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.builds.codesum_home.home_folders import layout_of
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.errors import (
    BrokenStore,
    CodesumError,
    ConfigurationError,
    MissingTable,
    RepositoryUnavailable,
    UnknownRepository,
)
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import ReadableScope, RepositoryEntry, RepositoryScope
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import PURGE_RUN, current_holder
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.source_lines.packed_texts import PackedTexts
from codesum_pipeline.source.git.git import find_object_id, run_git
from codesum_pipeline.source.git.locations import is_url, slug_of
from codesum_pipeline.source.git.remote import is_git_repository, source_git_dir
from codesum_pipeline.source.repositories.checkouts import Checkout, checkout_of, entries_of
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.source.repositories.surveys import Survey

if TYPE_CHECKING:
    from codesum_pipeline.answers.worktree_indexes.follower import Follower


# The inode and modification time of the link to a published version: each publication makes the link anew.
LinkIdentity = tuple[int, int]
# Takes a note for the caller.
Tell = Callable[[str], None]
# Starts the first build of a checkout's index, and returns why there is no index yet; None if there is one.
FirstIndexOf = Callable[[Checkout], CodesumError | None]
# How many indexes of a bucket are fetched together, which is faster than one after the other; the copy's bound may drop
# more.
_AHEAD = 32


class IndexCatalogue(Struct, frozen=True):
    """The repositories of a home, for several threads. A caller sees only those that all `scopes` open; the `holder` of
    a token does not see removed ones, nor submodules that its `token_scope` does not name. A `settler` settles
    differing work trees in the background; with a `follower`, trees are compared only after changes, and prepared for
    the next call; with a `first_index`, a checkout without an index gets one.

    What is remembered from one call to the next is in the last five fields, which limited copies share.
    """

    settings: Settings
    layout: HomeLayout
    registry: Registry
    scopes: tuple[ReadableScope, ...] = ()
    holder: str | None = None
    token_scope: ReadableScope | None = None
    settler: Settler | None = None
    follower: "Follower | None" = None
    first_index: FirstIndexOf | None = None
    _opened: RecentlyUsed[tuple[LinkIdentity, PublishedIndex]] = field(default_factory=RecentlyUsed)
    compared: ComparedTrees = field(default_factory=ComparedTrees)
    rescaled: RescaledIndexes = field(default_factory=RescaledIndexes)
    # Commits that were looked for in mirrors of this machine, found or not: a host is waited for only once.
    sought: set[tuple[Path, str]] = field(default_factory=set)
    texts: RecentlyUsed[PackedTexts] = field(default_factory=RecentlyUsed)

    @classmethod
    def of(cls, settings: Settings) -> "IndexCatalogue":
        layout = layout_of(settings)
        return cls(settings, layout, Registry.of(settings, layout.files))

    def limited_to(self, names: Sequence[str]) -> "IndexCatalogue":
        """The catalogue of only the named repositories; without names, this one. Other checkouts get no first index.
        Raises `UnknownRepository`."""
        if not names:
            return self
        keys = dict.fromkeys(entry.key for name in names for entry in self.entries_named(name))
        return replace(self, scopes=(*self.scopes, RepositoryScope(tuple(keys))), first_index=None)

    def held_by(self, holder: str, scope: ReadableScope) -> "IndexCatalogue":
        """The catalogue for a token's holder or a person, with only the repositories of the scope at each call."""
        if scope.is_everything:
            return replace(self, holder=holder)
        return replace(self, holder=holder, token_scope=scope, scopes=(*self.scopes, scope), first_index=None)

    @property
    def is_limited(self) -> bool:
        """Whether there may be repositories that the caller must not see."""
        return bool(self.scopes)

    @property
    def embedder(self) -> Embedder:
        return embedder_of(self.settings)

    def entries(self, tell: Tell) -> list[RepositoryEntry]:
        """The registry's entries, with a note on malformed ones."""
        self._look()
        survey = self._survey()
        # The problem of one entry may name another: two keys that differ only in case.
        for problem in () if self.is_limited else survey.problems.values():
            tell(f"left out: {problem}")
        return self._shown(survey.entries)

    def entries_named(self, name: str) -> list[RepositoryEntry]:
        """The entry with a key, else those of an owner/name (a monorepo may have several)."""
        self._look()
        entries = self._shown(self._survey().entries)
        by_slug = [entry for entry in entries if slug_of(entry.location) == name]
        if "/" in name and by_slug:
            return by_slug
        if self.holder is None and not self.is_limited:
            return [self.registry.get(name)]
        named = [entry for entry in entries if entry.key == name]
        if not named:
            served = ", ".join(entry.key for entry in entries) or "none"
            raise UnknownRepository(f"no repository {name!r} is served here; those are: {served}")
        return named

    def opens_all(self, keys: Iterable[str]) -> bool:
        """Whether the caller may read all these repositories now."""
        if self.holder is None and not self.is_limited:
            return True
        return {*keys} <= {entry.key for entry in self.entries(lambda _: None)}

    def keys_of_folder(self, folder: Path) -> list[str]:
        """The indexed repositories that a folder is a checkout of."""
        self._look()
        checkout = checkout_of(folder)
        entries = entries_of(checkout, self._shown(self._survey().entries)) if checkout else []
        return [entry.key for entry in entries if entry.enabled and self.is_published(entry.key)]

    def is_published(self, key: str) -> bool:
        return os.path.lexists(self.layout.published(key))

    def open(self, key: str) -> PublishedIndex:
        """The present published version, as far as the caller may read it; raises `MissingTable` if there is none,
        `BrokenIndex` for a damaged one."""
        stop_if_cancelled()
        opened = self._open(key)
        hidden = self._hidden_folders(opened)
        return opened.without(hidden) if hidden else opened

    def hidden_folders(self, key: str, *, with_left_out: bool = False) -> tuple[str, ...]:
        """The submodules of a repository that the caller may not read; `with_left_out` those, too, that are not in the
        index now, of which there may have been documents."""
        return self._hidden_folders(self._open(key), with_left_out=with_left_out) if self.token_scope else ()

    def _hidden_folders(self, opened: PublishedIndex, *, with_left_out: bool = False) -> tuple[str, ...]:
        """Of those of the published version, whatever the registry says since, and of those of the last build."""
        if self.token_scope is None:
            return ()
        registered = self._survey().by_key
        found = [*opened.version.submodules.items()]
        entry = registered.get(opened.repo)
        if with_left_out or (entry and entry.submodules):
            built = read_submodules(self.layout, opened.repo)
            found += [(each.path, each.address) for each in built if each.is_indexed or with_left_out]
        return closed_folders(found, self.token_scope, registered)

    def _open(self, key: str) -> PublishedIndex:
        path = self.layout.published(key)
        try:
            link = path.lstat()
        except FileNotFoundError as error:
            self._opened.forget(key)
            raise MissingTable(f"repository {key!r} has no index yet: {self.way_to_first(key)}") from error
        identity = (link.st_ino, link.st_mtime_ns)
        known = self._opened.find(key)
        if known and known[0] == identity:
            return known[1]
        opened = PublishedIndex.open(path, files=self.layout.files)
        self._opened.keep(key, (identity, opened), most=self.settings.reading.open_indexes)
        return opened

    def way_to_first(self, *keys: str) -> str:
        """The advice for repositories without an index: wait for the build that makes one, or start it."""
        for key in keys:
            with suppress(BrokenStore):
                holder = current_holder(self.layout.state(key))
                if holder and not holder.is_gone():
                    if holder.run_id == PURGE_RUN:
                        return f"{key} is being deleted by {holder}"
                    return f"{key} is being indexed for the first time by {holder}: ask again when that is done"
        several = "KEY" if keys else "PATH|URL"
        return f"run `codesum index {keys[0] if len(keys) == 1 else several}`"

    def open_all(
        self, names: Sequence[str] = (), *, tell: Tell, progress: Progress = no_progress
    ) -> list[PublishedIndex]:
        """The indexes of the repositories with these keys or owner/names; without names, of all enabled ones. Raises
        `UnknownRepository` for a name, and `MissingTable` where nothing is published."""
        if names:
            entries = {entry.key: entry for name in names for entry in self.entries_named(name)}
            return [self.open(key) for key in entries]
        enabled = [entry.key for entry in self.entries(tell) if entry.enabled]
        opened = []
        for place, key in enumerate(enabled):
            progress(f"opening {key}", place, len(enabled))
            if place % _AHEAD == 0:
                ahead = (each for each in enabled[place : place + _AHEAD] if each not in self._opened)
                self.layout.files.bring_indexes(ahead)
            try:
                opened += [self.open(key)] if self.is_published(key) else []
            except MissingTable:
                continue
            except BrokenStore as error:
                tell(f"left out: {error}")
        if not opened and self.is_limited:
            raise MissingTable("no index of the repositories that are served here can be read now")
        if not opened and any(map(self.is_published, enabled)):
            raise BrokenStore(f"no index in {self.layout.home} can be read: run `codesum index`, or `codesum doctor`")
        if not opened:
            raise MissingTable(f"{self.layout.home} holds no index yet: {self.way_to_first(*enabled)}")
        return opened

    def _look(self) -> None:
        """Look for changes of a home in a bucket."""
        self.layout.files.look()

    def _shown(self, entries: Iterable[RepositoryEntry]) -> list[RepositoryEntry]:
        return [
            entry
            for entry in entries
            if (self.holder is None or entry.enabled)
            and all(scope.opens(entry.key, slug_of(entry.location)) for scope in self.scopes)
        ]

    def _survey(self) -> Survey:
        """The registered entries. A limited caller does not get the error of a malformed file, which may name others'
        entries."""
        try:
            return self.registry.survey()
        except ConfigurationError:
            if not self.is_limited:
                raise
        raise ConfigurationError("what is registered here cannot be read now: ask whoever runs this server")


# The longest time that an answer waits for git.
_TIMEOUT_S = 10.0
# More threads than cores, since they wait for processes.
_READERS = 8
SHORT_COMMIT = 12


class AsOf(BaseModel):
    """`behind` counts the commits that the repository has and the index lacks; where it is None, `note` says why.

    `tree` is the work tree of the answer, empty for an answer of the commit; `differ` counts its files that differ from
    the commit, None where it was not compared. Where it is not settled, `lags` names the facts that are not the tree's
    yet.
    """

    repo: str
    commit: str
    behind: int | None
    note: str = ""
    tree: str = ""
    differ: int | None = 0
    is_settled: bool = True
    lags: str = ""

    @property
    def standing(self) -> str:
        """How far the index is behind, in words."""
        if self.behind is None:
            behind = "how far behind HEAD is unknown"
        else:
            behind = f"{count_noun(self.behind, 'commit')} behind HEAD" if self.behind else "at HEAD"
        return f"{behind} ({self.note})" if self.note else behind

    @property
    def is_head(self) -> bool:
        """Whether the answer is of the newest commit and of nothing else."""
        return self.behind == 0 and not self.note and not self.of_tree

    @property
    def of_tree(self) -> str:
        """The part of the work tree in the answer, in words; empty if the tree equals the commit."""
        if self.differ == 0:
            return ""
        if self.differ is None:
            return f"the work tree {one_line(self.tree)} was not compared"
        differ = count_noun(self.differ, "file differs", "files differ")
        what = "settled" if self.is_settled else self.lags
        return f"with the work tree {one_line(self.tree)}: {differ}; {what}"

    def __str__(self) -> str:
        tree = f", {self.of_tree}" if self.of_tree else ""
        return f"{self.repo} @ {self.commit[:SHORT_COMMIT]}, {self.standing}{tree}"


def as_of_all(
    catalogue: IndexCatalogue, indexes: Sequence[PublishedIndex], trees: Mapping[str, TreeIndex]
) -> list[AsOf]:
    """One for each index, in their order; `trees` answer in place of them."""
    entries = {entry.key: entry for entry in catalogue.entries(lambda _: None)}

    def one(index: PublishedIndex) -> AsOf:
        tree, entry, commit = trees[index.repo], entries.get(index.repo), index.commit
        # An error becomes a note, and never stops the answer.
        try:
            behind, note = _compared(catalogue, commit, entry, tree.root)
        except (CodesumError, OSError) as error:
            behind, note = None, str(error)
        found = AsOf(repo=index.repo, commit=commit, behind=behind, note=note)
        if tree.root is None:
            return found
        differ = None if tree.found is None else len(tree.found.paths)
        is_settled = tree.is_settled and not tree.warning
        return found.model_copy(
            update={"tree": str(tree.root), "differ": differ, "is_settled": is_settled, "lags": tree.lags}
        )

    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(one, indexes))


def _compared(
    catalogue: IndexCatalogue, commit: str, entry: RepositoryEntry | None, root: Path | None
) -> tuple[int | None, str]:
    if entry is None:
        return None, "it is not registered any more"
    if root is not None and not entry.worktree:
        # Linked work trees have HEADs of their own. A clone may lack the commit that was fetched from its server.
        git_dir = root / ".git"
        head = find_object_id("HEAD", git_dir=git_dir, timeout_s=_TIMEOUT_S)
        is_here = head == commit or not is_url(entry.location)
        if head and (is_here or find_object_id(commit, git_dir=git_dir, timeout_s=_TIMEOUT_S)):
            return _counted(git_dir, commit, head)
    if is_url(entry.location):
        return _behind_fetched(catalogue.layout.mirror(entry.key), entry, commit)
    folder = Path(entry.location)
    if not folder.is_dir():
        return None, f"{folder} does not exist"
    if entry.worktree or not is_git_repository(folder):
        return None, "a folder read as it is has no commits to count: `codesum status` compares its files"
    git_dir, ref = source_git_dir(folder), entry.ref or "HEAD"
    head = find_object_id(ref, git_dir=git_dir, timeout_s=_TIMEOUT_S)
    if head is None:
        return None, f"the repository has no commit {ref!r}"
    return _counted(git_dir, commit, head)


def _behind_fetched(mirror: Path, entry: RepositoryEntry, commit: str) -> tuple[int | None, str]:
    # Importing takes thirty milliseconds, for which answers about folders do not wait.
    from codesum_pipeline.source.git.mirror import Mirror

    head = Mirror(mirror, timeout_s=_TIMEOUT_S).head_commit(entry, offline=True)
    if head == commit:
        return 0, "as it was fetched last; its server was not asked"
    if (mirror / "shallow").exists():
        return None, f"{head[:SHORT_COMMIT]} was fetched since, without the commits between"
    return _counted(mirror, commit, head)


def _counted(git_dir: Path, commit: str, head: str) -> tuple[int | None, str]:
    if head == commit:
        return 0, ""
    if find_object_id(commit, git_dir=git_dir, timeout_s=_TIMEOUT_S) is None:
        return None, "its commit is not in the repository any more"
    counts = run_git(
        ["rev-list", "--left-right", "--count", f"{commit}...{head}"], git_dir=git_dir, timeout_s=_TIMEOUT_S
    )
    try:
        lacks, behind = map(int, counts.split())
    except ValueError as error:
        raise RepositoryUnavailable(f"git rev-list answered {counts!r}") from error
    return behind, f"HEAD lacks {lacks:,} of its commits: another branch" if lacks else ""
