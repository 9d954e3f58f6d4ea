"""Which indexes answer for the work tree that somebody stands in: those of its repository as the tree is now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.opening import TreeIndex, open_tree, settle_tree
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.catalogue import Catalogue, Tell
from codesum_pipeline.tools.checkout import Checkout, checkout_of, entries_of


@dataclass(frozen=True)
class Trees:
    """The tree of one folder, compared once for each index that is asked for; what cannot be compared is told."""

    catalogue: Catalogue
    folder: Path
    tell: Tell
    _known: dict[str, TreeIndex] = field(default_factory=dict)

    def current(self, indexes: Sequence[PublishedIndex]) -> list[PublishedIndex]:
        """The indexes, those of the folder's repository as its work tree is."""
        return [part for index in indexes for part in self.tree(index).parts]

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
        by_part: dict[object, RepositoryEntry] = {}
        for entry in sorted(ours, key=lambda entry: (entry.ref is not None, entry.key)):
            by_part.setdefault(_part(entry), entry)
        return {entry.key: entry for entry in by_part.values()}

    def _tree(self, index: PublishedIndex, entry: RepositoryEntry) -> TreeIndex:
        assert self._checkout is not None
        root = self._checkout.root
        if index.repo not in self._known:
            settings = self.catalogue.settings
            found = self._known[index.repo] = open_tree(settings, entry, index, root)
            if found.warning:
                self.tell(f"{index.repo}: {found.warning}")
            if not found.is_settled and self.catalogue.settler:
                self.catalogue.settler.ask(index.repo, root, partial(settle_tree, settings, entry, index, root))
        return self._known[index.repo]


def repositories(indexes: Iterable[PublishedIndex]) -> list[str]:
    """The keys of some indexes, each once."""
    return list(dict.fromkeys(index.repo for index in indexes))


def _part(entry: RepositoryEntry) -> tuple[object, ...]:
    return entry.subdir, entry.include, entry.exclude
