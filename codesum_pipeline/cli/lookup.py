"""Finding one document in the published indexes."""

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from codesum_pipeline.cli.checkout import checkout_of, entries_of
from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.failures import complain
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import note
from codesum_pipeline.model.errors import BrokenStore, ConfigurationError, MissingTable
from codesum_pipeline.model.ids import without_suffix
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.languages import language_of_path
from codesum_pipeline.source.registry import Registry, slug

_NEAREST_SHOWN = 5
# What tells overloads apart, also as earlier versions counted them: `#2`.
_ASKED_SUFFIX = re.compile(r"(?<=[^:/])#[0-9a-f]*(?:-[0-9]*)?$")

RepoOption = Annotated[
    str | None,
    typer.Option(
        "--repo",
        metavar="KEY",
        autocompletion=complete_keys,
        help="The repository, where several have a document with this id.",
    ),
]


@dataclass(frozen=True)
class Found:
    """One document of one published index."""

    index: PublishedIndex
    row: int

    @property
    def repo(self) -> str:
        return self.index.repo

    @property
    def id(self) -> str:
        return self.index.ids[self.row]

    def document(self) -> dict[str, Any]:
        """All its fields, provenance too."""
        return self.index.document(self.row)


def find_document(called: Invocation, doc_id: str, *, repo: str | None) -> Found:
    """The one document with an id; of several, that of the folder's repository, and this is said.

    Raises `ConfigurationError` where there is none, or more than one.
    """
    indexes = open_published(called, [repo] if repo else [])
    found = [Found(index, row) for index in indexes if (row := index.row(doc_id)) is not None]
    if not found:
        raise ConfigurationError(_no_such_document(doc_id, indexes))
    return found[0] if len(found) == 1 else _of_this_folder(called, doc_id, found)


def _of_this_folder(called: Invocation, doc_id: str, found: Sequence[Found]) -> Found:
    checkout = checkout_of(Path.cwd())
    here = {entry.key for entry in entries_of(checkout, called.registry.entries())} if checkout else set()
    ours = [each for each in found if each.repo in here]
    if len(ours) != 1:
        keys = ", ".join(each.repo for each in found)
        raise ConfigurationError(f"document {doc_id!r} is in {len(found)} repositories ({keys}): choose with --repo")
    others = ", ".join(each.repo for each in found if each is not ours[0])
    note(f"{doc_id!r} of {ours[0].repo}, the repository of this folder; also in {others}: choose with --repo")
    return ours[0]


def open_published(called: Invocation, names: Sequence[str] = ()) -> list[PublishedIndex]:
    """The indexes of the repositories with these keys or owner/names; without names, of all enabled ones.

    Raises `UnknownRepository` for a name, and `MissingTable` where nothing is published.
    """
    if names:
        entries = {entry.key: entry for name in names for entry in entries_named(called.registry, name)}
        return [PublishedIndex.open(called.layout.published(key)) for key in entries]
    enabled = [entry.key for entry in called.entries() if entry.enabled]
    opened = [index for key in enabled if (index := _open_if_whole(called, key)) is not None]
    if not opened and any(os.path.lexists(called.layout.published(key)) for key in enabled):
        raise BrokenStore(f"no index in {called.layout.home} can be read: run `codesum index`, or `codesum doctor`")
    if not opened:
        raise MissingTable(f"{called.layout.home} holds no index yet: run `codesum index PATH|URL`")
    return opened


def entries_named(registry: Registry, name: str) -> list[RepositoryEntry]:
    """The entry with a key, else those of an owner/name (a monorepo may have several)."""
    by_slug = [entry for entry in registry.entries() if slug(entry) == name]
    return by_slug if "/" in name and by_slug else [registry.get(name)]


def _open_if_whole(called: Invocation, key: str) -> PublishedIndex | None:
    """None where nothing is published; one broken index is told, and does not silence the others."""
    path = called.layout.published(key)
    try:
        return PublishedIndex.open(path) if os.path.lexists(path) else None
    except BrokenStore as error:
        complain(f"left out: {error}")
        return None


def _no_such_document(doc_id: str, indexes: Sequence[PublishedIndex]) -> str:
    searched = ", ".join(index.repo for index in indexes)
    near = nearest_ids(doc_id, sorted({id_ for index in indexes for id_ in index.ids}))
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"no document {doc_id!r} in {searched}{hint}"


def nearest_ids(wanted: str, ids: Sequence[str]) -> list[str]:
    """Ids that end as asked, or are written nearly so; best first. Overloads count by their names alone."""
    wanted = _ASKED_SUFFIX.sub("", wanted)
    ends = (wanted.lower(), wanted.lower().replace(".", "::"))
    tail = _tail(wanted)
    names = {id_: without_suffix(id_) for id_ in ids}
    same_end = [id_ for id_, name in names.items() if name.lower().endswith(ends)]
    same_name = [id_ for id_, name in names.items() if _tail(name) == tail] if tail else []
    found = list(dict.fromkeys((*same_end, *same_name)))
    if len(found) < _NEAREST_SHOWN:
        found += [id_ for id_ in difflib.get_close_matches(wanted, ids, n=_NEAREST_SHOWN) if id_ not in found]
    return found[:_NEAREST_SHOWN]


def _tail(text: str) -> str:
    """The last name of an id, a path or a dotted name, without regard to case."""
    last = text.lower().rstrip("/.").replace("::", "/").rpartition("/")[2]
    return last if language_of_path(last) else last.rpartition(".")[2]
