"""Which repositories a search looks at: those that were named, else that of the folder, else all."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.cli.first_use import index_on_first_use
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.lookup import open_published
from codesum_pipeline.cli.render import count
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.catalogue import checkout_of, entries_of


class SearchScope(Struct, frozen=True):
    """The indexes to search; `remark` says why it is these where nobody named them.

    It `leaves_out` others that a question of a batch may name.
    """

    indexes: list[PublishedIndex]
    remark: str | None = None
    leaves_out: bool = False


def open_scope(called: Invocation, names: Sequence[str], *, everything: bool, may_ask: bool = False) -> SearchScope:
    """Open the indexes that a search is about; in a checkout, those of its repository.

    One that is not indexed is, if somebody at the terminal may be asked and wants it.
    """
    checkout = None if names or everything else checkout_of(Path.cwd())
    if checkout is None:
        return SearchScope(open_published(called, names))
    published = [
        entry
        for entry in called.registry.entries()
        if entry.enabled and os.path.lexists(called.layout.published(entry.key))
    ]
    ours = entries_of(checkout, published)
    if not ours and index_on_first_use(called, checkout, may_ask=may_ask):
        return open_scope(called, names, everything=everything)
    others = len(published) - len(ours)
    if not ours:
        remark = f"the repository of this folder is not indexed (`codesum index {checkout.root}`)"
        return SearchScope(open_published(called), f"{remark}: searching {_all(others)}" if published else None)
    keys = [entry.key for entry in ours]
    if not others:
        return SearchScope(open_published(called))
    is_one = len(keys) == 1
    remark = f"searching {', '.join(keys)}, the {'repository' if is_one else 'repositories'} of this folder"
    rest = "the other one" if others == 1 else f"the other {others:,}"
    return SearchScope(open_published(called, keys), f"{remark}; --all searches {rest} too", leaves_out=True)


def _all(number: int) -> str:
    return "the one that is" if number == 1 else f"the {count(number, 'repository', 'repositories')} that are"
