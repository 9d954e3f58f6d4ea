"""What other registered repositories use of a repository, by the names with which their code imports it.

Each index resolves its own repository alone. What it leaves outside is known by the name that the code writes:
`shop.money.round_cents`, `example.com/shop/money.Cents`. A name means a definition of another repository if it ends
with the definition's names and begins with the package that holds its file, or with the repository's own address.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import dotted_parts, qualified_parts
from codesum_pipeline.answers.agent_tools.uncounted import family_of, files_with
from codesum_pipeline.foundation.data_model.document import Level

# Repositories that are looked through, and files of each that have the name of the package.
MOST_REPOSITORIES = 500
_MOST_FILES = 200
_SOURCE_FOLDERS = frozenset({"src", "lib", "packages", "python", "pkg", "internal", "source"})


class ForeignUse(Struct, frozen=True):
    """A document of another repository, and the id of what it uses."""

    repo: str
    number: int
    used: str


class OfferedNames(Struct, frozen=True):
    """What can be imported of some definitions: their ids by their last names, and the names of their packages."""

    by_name: Mapping[str, Sequence[str]]
    packages: frozenset[str]
    families: frozenset[str]

    @classmethod
    def of(cls, documents: JoinedDocuments, ids: Collection[str]) -> "OfferedNames":
        by_name: dict[str, list[str]] = {}
        for id_ in sorted(ids):
            if parts := qualified_parts(id_):
                by_name.setdefault(parts[-1], []).append(id_)
        names = {package for id_ in ids for package in packages_of(id_.partition("::")[0])}
        slug = documents.parts[0].slug
        names |= {slug.rpartition("/")[2]} if slug else set()
        return cls(by_name, frozenset(names), frozenset(family_of(id_.partition("::")[0]) for id_ in ids))

    def meant(self, name: str) -> str | None:
        """The definition that a name from outside means; None for another package's."""
        parts = dotted_parts(name)
        if len(parts) < 2 or self.packages.isdisjoint(parts[:-1]):
            return None
        for id_ in self.by_name.get(parts[-1], ()):
            own = qualified_parts(id_)
            path = PurePosixPath(id_.partition("::")[0]).with_suffix("")
            before = parts[: -len(own)] if parts[-len(own) :] == own else []
            known = {*path.parts, *self.packages}
            # Of a name that is handed on by a package, the file is not part of it.
            if before and before[0].lstrip("@") and known.issuperset(before[-1:]) and not known.isdisjoint(before):
                return id_
        return None


def packages_of(path: str) -> Iterator[str]:
    """The topmost folder of a file that is no usual name of a folder of sources; of a file at the top, its own name."""
    parts = [part for part in PurePosixPath(path).with_suffix("").parts if part not in _SOURCE_FOLDERS]
    if parts:
        yield parts[0]


def foreign_uses(call: ToolContext, documents: JoinedDocuments, ids: Collection[str]) -> list[ForeignUse]:
    """What the other repositories that the caller may read use of some definitions."""
    offered = OfferedNames.of(documents, ids)
    others = [entry.key for entry in call.catalogue.entries(call.tell) if entry.enabled and entry.key != documents.repo]
    others = [key for key in others if call.catalogue.is_published(key)]
    if len(others) > MOST_REPOSITORIES:
        call.tell(f"only the first {MOST_REPOSITORIES:,} of {len(others):,} other repositories were searched")
    found = list[ForeignUse]()
    for key in others[:MOST_REPOSITORIES] if offered.by_name else ():
        found += _uses_in(call, key, offered)
    return found


def _uses_in(call: ToolContext, key: str, offered: OfferedNames) -> Iterator[ForeignUse]:
    index = call.index(key)
    rows = {
        row for package in sorted(offered.packages) for family in sorted(offered.families)
        for row in files_with(index, package, family)[:_MOST_FILES]
    }  # fmt: skip
    if not rows:
        return
    other = call.documents(key)
    inside = [
        one for path in sorted(index.ids[row] for row in rows)
        if (file := other.number(path)) is not None for one in other.inside_file(file)
    ]  # fmt: skip
    for one in inside:
        used = (offered.meant(name) for name in other.outside(one))
        if other[one].level is not Level.FILE:
            yield from (ForeignUse(key, one, id_) for id_ in dict.fromkeys(used) if id_)
