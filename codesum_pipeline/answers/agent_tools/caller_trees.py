"""The indexes that answer for the work tree of a caller's folder."""

from functools import cached_property, partial
from pathlib import Path

from codesum_pipeline.answers.agent_tools.answering_sources import bring_mirror
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue, Tell
from codesum_pipeline.answers.agent_tools.compared_trees import ComparedTree
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex, open_tree, settle_tree
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.repositories.checkouts import Checkout, checkout_of, entries_of


class CallerTrees:
    """The tree of one folder, compared once with each index, with a note where it cannot be compared.

    It remembers the checkout of the folder and the comparisons, so that all that is asked of it is of one state.
    """

    def __init__(self, catalogue: IndexCatalogue, folder: Path, tell: Tell) -> None:
        self.catalogue = catalogue
        self.folder = folder
        self.tell = tell
        self._known: dict[str, TreeIndex] = {}

    def tree(self, index: PublishedIndex) -> TreeIndex:
        """The indexes in place of a published one: itself, unless the folder is a checkout of its repository."""
        # What the caller may not read is in the tree, too.
        entry = None if index.visible is not None else self._served.get(index.repo)
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
            with self.catalogue.compared.lock_of(index.repo, root):
                found = self._known[index.repo] = _open(self.catalogue, entry, index, root)
            if found.warning:
                self.tell(f"{index.repo}: {found.warning}")
        return self._known[index.repo]


def _prepare(catalogue: IndexCatalogue, entry: RepositoryEntry, root: Path) -> None:
    """Open a changed tree, so that the next call finds it done."""
    with catalogue.compared.lock_of(entry.key, root):
        _open(catalogue, entry, catalogue.open(entry.key), root)


def _open(catalogue: IndexCatalogue, entry: RepositoryEntry, index: PublishedIndex, root: Path) -> TreeIndex:
    """The tree of the last call where it did not change, else a newly opened one, which a server settles soon."""
    generation = catalogue.follower.generation(root) if catalogue.follower else None
    known = None if generation is None else catalogue.compared.find(index.repo, root)
    if known and known.generation == generation and known.base is index and known.tree.is_still_best():
        return known.tree
    found = open_tree(catalogue.settings, entry, index, root, rescaled=catalogue.rescaled)
    if generation is not None:
        catalogue.compared.keep(index.repo, root, ComparedTree(index, found, generation))
    if not found.is_settled and catalogue.settler:
        catalogue.settler.ask(index.repo, root, partial(settle_tree, catalogue.settings, entry, index, root))
    return found


def _area(entry: RepositoryEntry) -> tuple[object, ...]:
    return entry.subdir, entry.include, entry.exclude
