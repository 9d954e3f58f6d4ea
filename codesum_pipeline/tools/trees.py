"""Which indexes answer for the work tree that somebody stands in: those of its repository as the tree is now."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.kept import still_kept
from codesum_pipeline.overlays.opening import TreeIndex, open_tree, settle_tree
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.catalogue import ComparedTree, IndexCatalogue, Tell
from codesum_pipeline.tools.checkout import Checkout, checkout_of, entries_of
from codesum_pipeline.tools.sources import bring_mirror


@dataclass(frozen=True)
class Trees:
    """The tree of one folder, compared once for each index that is asked for; what cannot be compared is told."""

    catalogue: IndexCatalogue
    folder: Path
    tell: Tell
    _known: dict[str, TreeIndex] = field(default_factory=dict)

    def tree(self, index: PublishedIndex) -> TreeIndex:
        """What answers in the place of a published index: the index itself, unless the folder is a checkout of it."""
        entry = self._served.get(index.repo)
        return TreeIndex((index,)) if entry is None else self._tree(index, entry)

    @cached_property
    def _checkout(self) -> Checkout | None:
        return checkout_of(self.folder)

    @cached_property
    def _served(self) -> dict[str, RepositoryEntry]:
        """The repository's entries that answer for the tree: one for each part of it, first the one without a ref."""
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
    """The keys of some indexes, each once."""
    return list(dict.fromkeys(index.repo for index in indexes))


def _prepare(catalogue: IndexCatalogue, entry: RepositoryEntry, root: Path) -> None:
    """What the next call of a tree that changed needs."""
    with catalogue.opening_tree(entry.key, root):
        _open(catalogue, entry, catalogue.open(entry.key), root)


def _open(catalogue: IndexCatalogue, entry: RepositoryEntry, index: PublishedIndex, root: Path) -> TreeIndex:
    """As `open_tree`, unless nothing has changed since that was done; to be settled soon where a server does that."""
    generation = catalogue.follower.generation(root) if catalogue.follower else None
    known = None if generation is None else catalogue.compared.get((index.repo, root))
    if known and known.generation == generation and known.base is index and _stands(known.tree):
        return known.tree
    found = open_tree(catalogue.settings, entry, index, root)
    if generation is not None:
        catalogue.compared[index.repo, root] = ComparedTree(index, found, generation)
    if not found.is_settled and catalogue.settler:
        catalogue.settler.ask(index.repo, root, partial(settle_tree, catalogue.settings, entry, index, root))
    return found


def _stands(tree: TreeIndex) -> bool:
    """Whether a tree that has not changed is answered as it was: it was compared, and could not be settled since."""
    return tree.found is not None and tree.is_settled and still_kept(tree.parts)


def _area(entry: RepositoryEntry) -> tuple[object, ...]:
    return entry.subdir, entry.include, entry.exclude
