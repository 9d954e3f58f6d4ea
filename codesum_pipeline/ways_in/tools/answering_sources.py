"""The indexes that answer for the caller's work tree, and the sources of documents at the published commits.

Sources are read from the repositories' mirrors. For a home in a bucket, each machine has mirrors of its own, made when
a reader needs sources.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from msgspec import Struct, field

from codesum_pipeline.ground.model.cancellation import checkpoint
from codesum_pipeline.ground.model.document import Level
from codesum_pipeline.ground.model.errors import CodesumError, RepositoryUnavailable, SkippedFile
from codesum_pipeline.ground.model.repository import RepositoryEntry
from codesum_pipeline.ground.store.layout import HomeLayout
from codesum_pipeline.ground.store.locks import exclusive
from codesum_pipeline.search.retrieval.hits import Excerpt, Hit, best_lines
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import read_file, read_files
from codesum_pipeline.source.git.git import find_object_id
from codesum_pipeline.source.repositories.checkouts import Checkout, checkout_of, entries_of
from codesum_pipeline.ways_in.tools.catalogue import ComparedTree, IndexCatalogue, Tell
from codesum_pipeline.ways_in.worktrees.opening import TreeIndex, are_kept, open_tree, settle_tree

# Commits that this process looked for, found or not, so that it waits for a host only once.
_looked_for: set[tuple[Path, str]] = set()


def bring_mirror(catalogue: IndexCatalogue, index: PublishedIndex, *, tell: Tell) -> None:
    """Bring the commit of a published index into this machine's mirror, or note why it cannot be fetched. In a home
    that is a folder, builds do that."""
    layout, commit = catalogue.layout, index.commit
    git_dir = layout.mirror(index.repo)
    if not layout.files.is_copy or index.home is not None or (git_dir, commit) in _looked_for:
        return
    # What builds fetch with.
    from codesum_pipeline.source.git.mirror import Mirror

    timeout_s = catalogue.settings.git_timeout_s
    with exclusive(git_dir.with_name(f".{index.repo}.lock")):
        # Another thread may have looked for it meanwhile.
        if (git_dir, commit) in _looked_for:
            return
        try:
            if not find_object_id(commit, git_dir=git_dir, timeout_s=timeout_s):
                entry = catalogue.registry.get(index.repo)
                Mirror(git_dir, timeout_s).update(entry, offline=catalogue.settings.offline)
        except (CodesumError, OSError) as error:
            tell(f"the sources of {index.repo} are not on this machine, and cannot be fetched: {error}")
        finally:
            _looked_for.add((git_dir, commit))


class SourceReader(Struct, frozen=True):
    """Reads each file once, with a note where it cannot be read."""

    catalogue: IndexCatalogue
    indexes: Sequence[PublishedIndex]
    tell: Tell
    _texts: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def excerpt(self, hit: Hit, query: str, *, size: int) -> Excerpt | None:
        """The lines of a hit that fit best; None for a folder, and for a file that the mirror lacks."""
        text = None if hit.type == Level.MODULE else self.text(hit.repo, hit.file_path)
        if text is None:
            return None
        return best_lines(text, query, size=size, start_line=hit.start_line, end_line=hit.end_line)

    def read(self, index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The texts of those files of an index that its mirror has."""
        checkpoint()
        mirror = self._mirror(index)
        if not mirror.exists():
            return {}
        try:
            texts = read_files(mirror, paths, commit=index.commit, timeout_s=self.catalogue.settings.git_timeout_s)
        except RepositoryUnavailable as error:
            self.tell(f"the words of the query were not looked up in the sources of {index.repo}: {error}")
            return {}
        self._texts.update(((index.repo, path), text) for path, text in texts.items())
        return texts

    def read_of(self, indexes: Sequence[PublishedIndex], hits: Sequence[Hit]) -> None:
        """Read the files of some hits together: one process of git for each repository instead of one for each file."""
        for index in indexes:
            paths = {hit.file_path for hit in hits if hit.repo == index.repo and hit.type != Level.MODULE}
            # A work tree has two indexes, each with files of its own.
            missing = sorted(
                path for path in paths if (index.repo, path) not in self._texts and index.row(path) is not None
            )
            if missing:
                bring_mirror(self.catalogue, index, tell=self.tell)
                self.read(index, missing)

    def text(self, repo: str, path: str) -> str | None:
        """The text of a file; None if the mirror lacks it."""
        if (repo, path) not in self._texts:
            checkpoint()
            text: str | None = None
            ours = [index for index in self.indexes if index.repo == repo]
            index = next((index for index in ours if index.row(path) is not None), ours[0])
            bring_mirror(self.catalogue, index, tell=self.tell)
            try:
                text = read_file(
                    self._mirror(index), commit=index.commit, path=path, timeout_s=self.catalogue.settings.git_timeout_s
                )
            except (RepositoryUnavailable, SkippedFile) as error:
                self.tell(f"no excerpt of {path} in {repo}: {error}; `codesum index {repo} --force` fetches it anew")
            self._texts[repo, path] = text
        return self._texts[repo, path]

    def _mirror(self, index: PublishedIndex) -> Path:
        layout = self.catalogue.layout if index.home is None else HomeLayout(index.home)
        return layout.mirror(index.repo)


class Trees(Struct, frozen=True, dict=True):
    """The tree of one folder, compared once with each index, with a note where it cannot be compared."""

    catalogue: IndexCatalogue
    folder: Path
    tell: Tell
    _known: dict[str, TreeIndex] = field(default_factory=dict)

    def tree(self, index: PublishedIndex) -> TreeIndex:
        """The indexes in place of a published one: itself, unless the folder is a checkout of its repository."""
        entry = self._served.get(index.repo)
        return TreeIndex((index,)) if entry is None else self._tree(index, entry)

    @cached_property
    def _checkout(self) -> Checkout | None:
        return checkout_of(self.folder)

    @cached_property
    def _served(self) -> dict[str, RepositoryEntry]:
        """The entries that answer for the tree: one for each part of the repository, preferably without a ref."""
        if self._checkout is None:
            return {}
        ours = entries_of(self._checkout, self.catalogue.entries(self.tell))
        by_area: dict[object, RepositoryEntry] = {}
        for entry in sorted(ours, key=lambda entry: (entry.ref is not None, entry.key)):
            by_area.setdefault(_area(entry), entry)
        return {entry.key: entry for entry in by_area.values()}

    def _tree(self, index: PublishedIndex, entry: RepositoryEntry) -> TreeIndex:
        assert self._checkout is not None
        root = self._checkout.root
        if index.repo not in self._known:
            if self.catalogue.follower:
                self.catalogue.follower.follow(root, index.repo, partial(_prepare, self.catalogue, entry, root))
            bring_mirror(self.catalogue, index, tell=self.tell)
            with self.catalogue.opening_tree(index.repo, root):
                found = self._known[index.repo] = _open(self.catalogue, entry, index, root)
            if found.warning:
                self.tell(f"{index.repo}: {found.warning}")
        return self._known[index.repo]


def repositories(indexes: Iterable[PublishedIndex]) -> list[str]:
    return list(dict.fromkeys(index.repo for index in indexes))


def _prepare(catalogue: IndexCatalogue, entry: RepositoryEntry, root: Path) -> None:
    """Open a changed tree, so that the next call finds it done."""
    with catalogue.opening_tree(entry.key, root):
        _open(catalogue, entry, catalogue.open(entry.key), root)


def _open(catalogue: IndexCatalogue, entry: RepositoryEntry, index: PublishedIndex, root: Path) -> TreeIndex:
    """The tree of the last call where it did not change, else a newly opened one, which a server settles soon."""
    generation = catalogue.follower.generation(root) if catalogue.follower else None
    known = None if generation is None else catalogue.compared.get((index.repo, root))
    if known and known.generation == generation and known.base is index and _is_valid(known.tree):
        return known.tree
    found = open_tree(catalogue.settings, entry, index, root)
    if generation is not None:
        catalogue.compared[index.repo, root] = ComparedTree(index, found, generation)
    if not found.is_settled and catalogue.settler:
        catalogue.settler.ask(index.repo, root, partial(settle_tree, catalogue.settings, entry, index, root))
    return found


def _is_valid(tree: TreeIndex) -> bool:
    """Whether an opened tree answers again as it is: it was compared, is settled, and its indexes are kept."""
    return tree.found is not None and tree.is_settled and are_kept(tree.parts)


def _area(entry: RepositoryEntry) -> tuple[object, ...]:
    return entry.subdir, entry.include, entry.exclude
