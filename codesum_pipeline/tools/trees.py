"""Which indexes answer for the work tree that somebody stands in: those of its repository as the tree is now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.opening import TreeIndex, open_tree, settle_tree
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.catalogue import Catalogue, Tell
from codesum_pipeline.tools.checkout import Checkout, checkout_of, entries_of


@dataclass(frozen=True, slots=True)
class Trees:
    """The tree of one folder, compared once for each index that is asked for; what cannot be compared is told."""

    catalogue: Catalogue
    folder: Path
    tell: Tell
    _known: dict[str, TreeIndex] = field(default_factory=dict)

    def current(self, indexes: Sequence[PublishedIndex]) -> list[PublishedIndex]:
        """The indexes, those of the folder's repository as its work tree is."""
        checkout = checkout_of(self.folder)
        if checkout is None:
            return [*indexes]
        ours = self._served(checkout)
        return [
            part
            for index in indexes
            for part in (self._tree(index, ours[index.repo], checkout.root).parts if index.repo in ours else (index,))
        ]

    def note(self, repo: str) -> str:
        """How an answer about a repository differs from its commit; nothing where it does not."""
        return self._known[repo].note if repo in self._known else ""

    def _served(self, checkout: Checkout) -> dict[str, RepositoryEntry]:
        """The repository's entries that answer for the tree: one for each part of it, first the one without a ref."""
        ours = entries_of(checkout, self.catalogue.entries(self.tell))
        by_part: dict[object, RepositoryEntry] = {}
        for entry in sorted(ours, key=lambda entry: (entry.ref is not None, entry.key)):
            by_part.setdefault(_part(entry), entry)
        return {entry.key: entry for entry in by_part.values()}

    def _tree(self, index: PublishedIndex, entry: RepositoryEntry, root: Path) -> TreeIndex:
        if index.repo not in self._known:
            if self.catalogue.follower:
                self.catalogue.follower.follow(root, index.repo, partial(_prepare, self.catalogue, entry, root))
            with self.catalogue.opening_tree(index.repo, root):
                found = self._known[index.repo] = _open(self.catalogue, entry, index, root)
            if found.warning:
                self.tell(f"{index.repo}: {found.warning}")
        return self._known[index.repo]


def repositories(indexes: Iterable[PublishedIndex]) -> list[str]:
    """The keys of some indexes, each once."""
    return list(dict.fromkeys(index.repo for index in indexes))


def _prepare(catalogue: Catalogue, entry: RepositoryEntry, root: Path) -> None:
    """What the next call of a tree that changed needs."""
    with catalogue.opening_tree(entry.key, root):
        _open(catalogue, entry, catalogue.open(entry.key), root)


def _open(catalogue: Catalogue, entry: RepositoryEntry, index: PublishedIndex, root: Path) -> TreeIndex:
    """As `open_tree`, to be settled soon where a server does that."""
    found = open_tree(catalogue.settings, entry, index, root)
    if not found.is_settled and catalogue.settler:
        catalogue.settler.ask(index.repo, root, partial(settle_tree, catalogue.settings, entry, index, root))
    return found


def _part(entry: RepositoryEntry) -> tuple[object, ...]:
    return entry.subdir, entry.include, entry.exclude
