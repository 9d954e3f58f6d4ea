"""One call of a tool: the versions of indexes that it answers from, the documents that it means, and its notes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader, repositories_of
from codesum_pipeline.answers.agent_tools.caller_trees import CallerTrees
from codesum_pipeline.answers.agent_tools.catalogue import AsOf, IndexCatalogue, Tell, as_of_all
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import join_uses
from codesum_pipeline.answers.agent_tools.skipped_files import check_skipped, skipped_on_disk
from codesum_pipeline.answers.agent_tools.submodule_answers import check_submodule
from codesum_pipeline.answers.agent_tools.tool_answers import Cursor, ItemSlice, PagedArguments, place_of, take_fitting
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import (
    CodesumError,
    ConfigurationError,
    MissingTable,
    NotIndexedFile,
)
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.nearest_names import nearest_names
from codesum_pipeline.foundation.data_model.notebook_cells import without_cell
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.indexes.file_formats.route_names import asked_route_forms
from codesum_pipeline.search.retrieval.innermost import find_innermost
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.source.files.origins import is_below
from codesum_pipeline.source.repositories.checkouts import checkout_of, entries_of

_NEAREST_SHOWN = 5
# The suffix of an overload's id, also in the form of earlier versions: `#2`.
_OVERLOAD_SUFFIX = re.compile(r"(?<=[^:/])#[0-9a-f]*(?:-[0-9]*)?$")


def documents_with_id(indexes: Sequence[PublishedIndex], doc_id: str) -> list[IndexedDocument]:
    """The documents with an id, at most one of each index. A folder may have a slash behind it, as rows show it."""
    doc_id = "." if doc_id == "./" else doc_id.rstrip("/") or doc_id
    return [IndexedDocument(index, row) for index in indexes if (row := index.row(doc_id)) is not None]


def documents_meant(indexes: Sequence[PublishedIndex], text: str) -> list[IndexedDocument]:
    """The documents that a text names: by their id, else the innermost ones at `path:line` or `path:first-last`, else
    by name or qualified name, as `Class.method` or `Class::method`; namespaces only where nothing else has the name."""
    text = without_cell(text)
    found = documents_with_id(indexes, text)
    path, _, lines = text.rpartition(":")
    first = lines.partition("-")[0]
    if not found and path and first.isdecimal() and len(first) <= 9:
        for index in indexes:
            if (file := index.row(path)) is not None:
                around = find_innermost(index, file, int(first), (Level.FUNCTION, Level.CLASS))
                found.append(IndexedDocument(index, file if around is None else around))
    names = [*dict.fromkeys((text.replace("::", "."), text.strip(), *asked_route_forms(text)))]
    named = [
        IndexedDocument(index, row)
        for index in indexes
        for row in sorted({row for name in names for row in index.names.rows_named(name)})
        if index.shows(row)
    ]
    named = named or [*_named_in_file(indexes, text)] or [*_named_at_end(indexes, text)]
    return found or [each for each in named if each.index.may_answer(each.row)] or named


def _named_in_file(indexes: Sequence[PublishedIndex], text: str) -> Iterator[IndexedDocument]:
    """The documents that `path::name` means, where the path may be the end of a file's, and the name of a method may
    stand without its class."""
    path, _, name = text.partition(SEPARATOR)
    for index in indexes:
        for row in index.names.rows_named(name.replace(SEPARATOR, ".")) if path and name else ():
            if f"/{index.ids[row].partition(SEPARATOR)[0]}".endswith(f"/{path}") and index.shows(row):
                yield IndexedDocument(index, row)


def _named_at_end(indexes: Sequence[PublishedIndex], text: str) -> Iterator[IndexedDocument]:
    """The documents whose qualified name ends with `Class.method`, without the namespaces around."""
    wanted = text.strip().replace(SEPARATOR, ".")
    around, _, name = wanted.rpartition(".")
    for index in indexes:
        for row in index.names.rows_named(name) if around else ():
            qualified = without_suffix(index.ids[row]).partition(SEPARATOR)[2].replace(SEPARATOR, ".")
            if qualified.lower().endswith(f".{wanted.lower()}") and index.shows(row):
                yield IndexedDocument(index, row)


def no_such_document(doc_id: str, indexes: Sequence[PublishedIndex]) -> ConfigurationError:
    searched = ", ".join(dict.fromkeys(index.repo for index in indexes))
    ids = sorted({id_ for index in indexes for row, id_ in enumerate(index.ids) if index.shows(row)})
    near = nearest_ids(shorten_text(doc_id), ids)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return ConfigurationError(f"no document {shorten_text(doc_id)!r} in {searched}{hint}")


def nearest_ids(wanted: str, ids: Sequence[str]) -> list[str]:
    """Ids that end with a text, or are spelled nearly like it; best first. Overloads are compared without suffixes."""
    wanted = _OVERLOAD_SUFFIX.sub("", wanted)
    ends, tail = (wanted.lower(), wanted.lower().replace(".", "::")), _tail(wanted)
    names = {id_: without_suffix(id_) for id_ in ids}
    found = [id_ for id_, name in names.items() if name.lower().endswith(ends)]
    found += [id_ for id_, name in names.items() if tail and _tail(name) == tail]
    if len({*found}) < _NEAREST_SHOWN:
        found += nearest_names(wanted, ids, most=_NEAREST_SHOWN)
    return list(dict.fromkeys(found))[:_NEAREST_SHOWN]


def _tail(text: str) -> str:
    """The last name of an id, a path or a dotted name, in lower case."""
    last = text.lower().rstrip("/.").replace("::", "/").rpartition("/")[2]
    return last if language_of_path(last) else last.rpartition(".")[2]


def _place(found: IndexedDocument) -> str:
    shown = found.shown()
    return place_of(found.path, shown["start_line"], shown["end_line"])


T = TypeVar("T")
_OTHERS_NAMED = 10
_GONE_NAMED = 5
_LONGEST_REASON = 400


class ToolContext:
    """One call. It remembers its notes, and what it has opened, compared and joined: each index is opened once and each
    work tree compared once, so that the whole answer is from one version and one state.

    `folder` is the caller's working folder. With `is_everywhere`, a call that names no repository is about all, also in
    a checkout. With `is_masked`, sources are read without secrets: an answer shows parts of lines and of keys, in which
    nobody would recognise one.
    """

    def __init__(
        self,
        catalogue: IndexCatalogue,
        folder: Path,
        *,
        progress: Progress = no_progress,
        on_note: Tell | None = None,
        is_everywhere: bool = False,
        is_masked: bool = False,
    ) -> None:
        self.catalogue = catalogue
        self.folder = folder
        self.progress = progress
        self.is_everywhere = is_everywhere
        self.is_masked = is_masked
        self.notes: list[str] = []
        self.trees = CallerTrees(catalogue, folder, self.tell)
        # Whether files differ from the commit, by repository: many questions of a batch name the same files.
        self.judged_files: dict[str, dict[str, bool]] = {}
        self._on_note = on_note
        self._indexes: dict[str, PublishedIndex] = {}
        self._documents: dict[str, JoinedDocuments] = {}

    def tell(self, note: str) -> None:
        """Add a note for the caller, once; `on_note` gets it at once."""
        if one_line(note) not in self.notes:
            self.notes.append(one_line(note))
            if self._on_note:
                self._on_note(one_line(note))

    def indexes(self, names: Sequence[str] = ()) -> list[PublishedIndex]:
        """The indexes of the named repositories, else of those of the caller's folder, else of all. Unknown names are
        left out with a note; raises `UnknownRepository` if none is known. Where the caller's repository has no index
        yet but gets one automatically, raises `BeingIndexed`, or the reason why it cannot."""
        wanted = self._published(names) if names else self.keys_here()
        if not wanted and (waiting := self.first_index(names)):
            entries = self.catalogue.entries(self.tell)
            if not self.is_everywhere or not any(self.catalogue.is_published(entry.key) for entry in entries):
                raise waiting
            self.tell(str(waiting))
        wanted = wanted or (self._published(names) if names else self.keys_here())
        if not wanted and names:
            way = self.catalogue.way_to_first(*(entry.key for entry in self.entries(names)))
            raise MissingTable(f"no index of {', '.join(names)} yet: {way}")
        # A caller whose repositories are limited must not hear of others.
        is_elsewhere = bool(wanted or self.is_everywhere or self.catalogue.is_limited)
        checkout = None if is_elsewhere else checkout_of(self.folder)
        try:
            opened = self.catalogue.open_all(wanted, tell=self.tell, progress=self.progress)
        except MissingTable as error:
            if checkout is None:
                raise
            raise MissingTable(f"this repository is not indexed yet: run `codesum index {checkout.root}`") from error
        if checkout is not None:
            self.tell(f"the repository of this folder is not indexed (`codesum index {checkout.root}`): others answer")
        return [self._indexes.setdefault(index.repo, index) for index in opened]

    def keys_here(self) -> list[str]:
        """The indexed repositories of the caller's folder, for a call without names; empty means all."""
        return [] if self.is_everywhere else self.catalogue.keys_of_folder(self.folder)

    def first_index(self, names: Sequence[str] = ()) -> CodesumError | None:
        """Why the repository of the caller's folder, which gets its first index automatically, has none yet."""
        checkout = checkout_of(self.folder) if self.catalogue.first_index else None
        if checkout is None or self.catalogue.first_index is None:
            return None
        known = self.entries(names) if names else self.catalogue.entries(self.tell)
        if (names or self.catalogue.is_limited) and not entries_of(checkout, known):
            return None
        return self.catalogue.first_index(checkout)

    def current(self, names: Sequence[str] = ()) -> list[PublishedIndex]:
        """As `indexes`; the caller's repository as its work tree is now, with an overlay of the differences."""
        return self.current_of(self.indexes(names))

    def current_of(self, indexes: Sequence[PublishedIndex]) -> list[PublishedIndex]:
        """As `current`, for published indexes that were opened already, which this call uses from now on."""
        ours = [self._indexes.setdefault(index.repo, index) for index in indexes]
        return [part for index in ours for part in self.trees.tree(index).parts]

    def documents(self, repo: str) -> JoinedDocuments:
        """All documents of a repository and their relations; those of the caller's repository as its work tree is."""
        if repo not in self._documents:
            tree = self.trees.tree(self.index(repo))
            # Only changed files are read; what is masked in these has other words.
            join = partial(join_uses, tree.parts, self.sources(tree.parts))
            uses = self.catalogue.compared.make_once(repo, tree, self.is_masked, join)
            self._documents[repo] = JoinedDocuments.of(tree.parts, uses)
        return self._documents[repo]

    def tell_gone(self, documents: JoinedDocuments, number: int) -> None:
        """Note what a document used at the commit and the work tree no longer has."""
        document = documents[number]
        hidden = self.catalogue.hidden_folders(document.index.repo)
        gone = [id_ for id_ in documents.lost(number) if not is_below(f"{id_}/", hidden)]
        if gone:
            self.tell(
                f"{document.id} used {some_of(gone, _GONE_NAMED)} at the indexed commit, which the work tree "
                "does not have any more"
            )

    def again(self) -> "ToolContext":
        """Another call, from the same versions and the same state of the work tree, with notes of its own."""
        another = copy(self)
        another.notes = []
        return another

    def entries(self, names: Sequence[str] = ()) -> list[RepositoryEntry]:
        """The registered repositories of some names, with a note on unknown names; raises where none is known."""
        found = (each for entries in self.each_found(names, self.catalogue.entries_named) for each in entries)
        return [*{entry.key: entry for entry in found}.values()]

    def known(self, what: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
        """The known ones of some names, in any case, with a note on unknown ones; raises where none is known."""

        def checked(name: str) -> str:
            if name.lower() not in known:
                message = f"{what} {shorten_text(name)!r} is unknown; {what}s are: {', '.join(known)}"
                raise ConfigurationError(message)
            return name.lower()

        wanted = self.each_found(names, checked)
        return [name for name in known if name in wanted]

    def one_index(self, repo: str) -> PublishedIndex:
        """The index of a repository; without a name, the one of the caller's folder, or the only one."""
        indexes = self.indexes([repo] if repo else [])
        if len(indexes) != 1:
            raise ConfigurationError(f"name one repository: repo is one of {', '.join(each.repo for each in indexes)}")
        return indexes[0]

    def index(self, key: str) -> PublishedIndex:
        """The index of one repository; raises `MissingTable` or `BrokenIndex`."""
        if key not in self._indexes:
            self._indexes[key] = self.catalogue.open(key)
        return self._indexes[key]

    def sources(self, indexes: Sequence[PublishedIndex]) -> SourceReader:
        return SourceReader(self.catalogue, indexes, self.tell, is_masked=self.is_masked)

    def as_of(self, repos: Iterable[str]) -> list[AsOf]:
        """The commits of the repositories of an answer, in their order."""
        stop_if_cancelled()
        indexes = [self.index(repo) for repo in dict.fromkeys(repos)]
        return as_of_all(self.catalogue, indexes, {index.repo: self.trees.tree(index) for index in indexes})

    def versions(self, indexes: Sequence[PublishedIndex]) -> dict[str, str]:
        digests: dict[str, str] = {}
        for index in indexes:
            digests[index.repo] = f"{digests.get(index.repo, '')}{index.version.digest}"
        return digests

    def start(self, tool: str, arguments: PagedArguments, indexes: Sequence[PublishedIndex]) -> tuple[int, ...]:
        """The position of the cursor; 0 without one. A note says where a version has changed since."""
        if not arguments.cursor:
            return (0,)
        cursor = Cursor.read(arguments.cursor, tool, arguments.question())
        changed = cursor.changed(self.versions(indexes))
        if changed:
            self.tell(
                f"{', '.join(changed)} was published anew, or its work tree changed, since the last part: rows may be "
                "missing or come twice"
            )
        return cursor.at or (0,)

    def next(self, tool: str, arguments: PagedArguments, indexes: Sequence[PublishedIndex], at: Sequence[int]) -> str:
        return str(Cursor.after(tool, arguments.question(), at, self.versions(indexes)))

    def part(
        self,
        tool: str,
        arguments: PagedArguments,
        indexes: Sequence[PublishedIndex],
        items: Sequence[Any],
        text: Callable[[T], str],
        *,
        row: Callable[[Any], T] = lambda item: item,
    ) -> ItemSlice[T]:
        """The items from the cursor on, each made a `row`, as many as the bounds of the call allow."""
        start = self.start(tool, arguments, indexes)[0]
        kept = take_fitting(map(row, items[start:]), text, limit=arguments.limit, tokens=arguments.tokens)
        end = start + len(kept)
        goes_on = kept and end < len(items)
        return ItemSlice(kept, len(items), self.next(tool, arguments, indexes, (end,)) if goes_on else None)

    def find(self, text: str, repo: str = "") -> IndexedDocument:
        """The document that a text names by its id, `path:line`, or name. Of several, the most important one is taken,
        with a note on the others. Raises `NotIndexedFile` for a skipped file, `ConfigurationError` with the nearest ids
        where there is none."""
        if not text.strip():
            raise ConfigurationError("the id is empty: give a document's id, `path:line`, or a name")
        indexes = self.current([repo] if repo else [])
        found = documents_meant(indexes, text)
        if not found and not repo:
            found = documents_with_id(self.current_of(self.catalogue.open_all(tell=self.tell)), text)
        if not found:
            self.check_skipped(repositories_of(indexes), text)
            raise no_such_document(text, indexes)
        best = max(found, key=lambda each: each.importance)
        # Overloads of one function count as one.
        same = (best.repo, without_suffix(best.id))
        also = [each for each in found if (each.repo, without_suffix(each.id)) != same]
        if also:
            others = ", ".join(f"{_place(each)} in {each.repo}" for each in also[:_OTHERS_NAMED])
            self.tell(f"{len(also) + 1} documents are meant by {shorten_text(text)!r}; also: {others}")
        return best

    def each_found(self, names: Sequence[str], find: Callable[[str], T]) -> list[T]:
        """What `find` gives for each name; a note names each that is left out. Raises the error of the last where all
        are."""
        found, errors = list[T](), list[ConfigurationError]()
        for name in names:
            try:
                found.append(find(name))
            except ConfigurationError as error:
                errors.append(error)
        if errors and not found:
            told = "; ".join(shorten_text(str(each), _LONGEST_REASON) for each in errors)
            raise errors[-1] if len(errors) == 1 else type(errors[-1])(told)
        for each in errors:
            self.tell(f"left out: {shorten_text(str(each), _LONGEST_REASON)}")
        return found

    def check_skipped(self, keys: Sequence[str], text: str) -> None:
        """Raise `NotIndexedFile` for a skipped file or a submodule's of some repositories, and for one of the caller's
        work tree that no index of it would have."""
        hidden_in = self.catalogue.hidden_folders
        check_submodule(self.catalogue.layout, keys, text, hidden_in=hidden_in)
        check_skipped(self.catalogue.layout, keys, text, hidden_in=hidden_in)
        for key in keys:
            root = self.trees.tree(self.index(key)).root
            entry = self.catalogue.registry.get(key) if root else None
            if root and entry and (why := skipped_on_disk(root, entry, self.catalogue.settings, text)):
                raise NotIndexedFile(why)

    def _published(self, names: Sequence[str]) -> list[str]:
        """The keys of the indexed repositories of some names, with a note on the others."""
        entries = self.entries(names)
        for entry in entries:
            if not self.catalogue.is_published(entry.key):
                self.tell(f"left out: {entry.key} has no index yet: {self.catalogue.way_to_first(entry.key)}")
        return [entry.key for entry in entries if self.catalogue.is_published(entry.key)]
