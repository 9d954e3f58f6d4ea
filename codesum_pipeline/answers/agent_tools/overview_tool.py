"""What a repository is, its parts, its frameworks, its neighbourhoods, and where to begin reading.

Folders and most used code are those of the tree. The README's opening, frameworks, entry points and communities of the
graph are the facts of a build, and are left out where these are of another version than the one that answers.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import SHORT_COMMIT
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped, told_skipped
from codesum_pipeline.answers.agent_tools.submodule_answers import read_submodules, told_left_out
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    BoundedArguments,
    DocumentRow,
    Name,
    Names,
    PagedArguments,
    indent_lines,
    make_section,
    place_of,
    take_fitting,
)
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import MissingTable
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.path_rules import is_bundled

_FILES_NAMED = 5
_PLACES_SHOWN = 3
_ENTRY_POINT = "entry point"
Facts = dict[str, Any]


def read_overview(layout: HomeLayout, key: str) -> dict[str, Any]:
    """The row of a repository's overview: its page, its facts, and their commit."""
    # Importing takes a third of a second, for which answers without facts do not wait.
    from codesum_pipeline.foundation.store.tables import tables_of

    rows: list[dict[str, Any]] = tables_of(layout).read_or_empty("overviews", key).to_pylist()
    if not rows:
        raise MissingTable(f"repository {key!r} has no overview yet: run `codesum index {key}`")
    return rows[0]


def read_facts(call: ToolContext, index: PublishedIndex) -> Facts | None:
    """The facts of an index; None, with a note that says why, where there are none or those of another version."""
    known, version, way = "frameworks, entry points and neighbourhoods are", index.version.manifest, index.repo
    if call.catalogue.hidden_folders(index.repo):
        call.tell(f"{known} not told to a token that does not name all of the submodules of {way}")
        return None
    try:
        row = read_overview(call.catalogue.layout, index.repo)
    except MissingTable:
        call.tell(f"{known} not known: `codesum index {way}` finds them out")
        return None
    if (row["commit"], row["content_digest"]) != (version["commit"], version["content_digest"]):
        commit = row["commit"][:SHORT_COMMIT]
        call.tell(f"{known} known of commit {commit} and not of this version: `codesum index {way}` finds them out")
        return None
    facts: Facts = json.loads(row["facts"])
    tell_differing(call, index, facts)
    return facts


def tell_differing(call: ToolContext, index: PublishedIndex, facts: Facts) -> None:
    """Name the files of the caller's work tree that differ from the commit and that the facts name or are read in."""
    tree = call.trees.tree(index)
    if not tree.found:
        return
    # Importing parsers takes a tenth of a second, for which an answer about a commit does not wait.
    from codesum_pipeline.search.overviews.package_manifests.manifest_readers import manifest_paths

    evidence = (each for framework in facts["frameworks"] for each in framework["evidence"])
    named = {each["place"].rpartition(":")[0] for each in (*facts["entry_points"], *evidence)}
    named.add(facts["opening"].get("path"))
    differing = sorted(named.intersection(tree.found.paths) | set(manifest_paths(tree.found.paths)))
    if differing:
        call.tell(
            f"frameworks and entry points are those of commit {facts['commit'][:SHORT_COMMIT]}; of the files that they "
            f"are read in, the work tree has others: {some_of(differing, _FILES_NAMED)}"
        )


class FrameworkArguments(PagedArguments):
    """A repository, and the kinds of frameworks that are wanted."""

    repo: Name = ""
    kinds: Annotated[
        Names, Field(description='As answers name them: "web framework", "entry point"; default: all')
    ] = []
    limit: int = Field(40, ge=1, le=200)


class FrameworkEntry(BaseModel):
    """A framework, a tool or an entry point: its first place, and a text."""

    place: str
    kind: str
    name: str
    text: str = ""
    more_places: list[str] = []
    changed_since: bool = False

    def line(self) -> str:
        more = f"  also {', '.join(self.more_places)}" if self.more_places else ""
        text = f": {self.text}" if self.text else ""
        changed = "  (changed since)" if self.changed_since else ""
        return f"{self.place}  {self.kind}  {self.name}{text}{more}{changed}"


class FrameworkPage(AnswerPage):
    """Findings: frameworks and tools first, then entry points."""

    findings: list[FrameworkEntry] = []

    def text(self) -> str:
        return self.framed([*map(FrameworkEntry.line, self.findings)] or ["no framework was found"], what="findings")


def get_framework_analysis(call: ToolContext, arguments: FrameworkArguments) -> FrameworkPage:
    """Answer with the findings of a build; without any, a note says why."""
    index = call.one_index(arguments.repo)
    every = list(findings_of(read_facts(call, index)))
    kinds = sorted({each.kind for each in every})
    for kind in arguments.kinds if every else ():
        if kind not in kinds:
            call.tell(f"left out: kind {shorten_text(kind)!r} is not found here; kinds are: {', '.join(kinds)}")
    wanted = [kind for kind in arguments.kinds if kind in kinds] or kinds
    found = [each for each in every if each.kind in wanted]
    part = call.part("get_framework_analysis", arguments, [index], found, FrameworkEntry.line)
    return FrameworkPage(as_of=call.as_of([index.repo]), findings=part.items, **part.frame)


def findings_of(facts: Facts | None) -> Iterator[FrameworkEntry]:
    """The frameworks of a repository, then its entry points."""
    if facts is None:
        return
    for found in facts["frameworks"]:
        places = list(dict.fromkeys(one_line(each["place"]) for each in found["evidence"]))
        importing = found["importing_files"]
        details = (
            one_line(found["constraint"] or ""),
            "for development" if found["development_only"] else "",
            f"imported by {count_noun(importing, 'file')}" if importing else "",
        )
        yield FrameworkEntry(
            place=places[0] if places else "",
            kind=found["kind"],
            name=found["name"],
            text=", ".join(part for part in details if part),
            more_places=places[1:_PLACES_SHOWN],
        )
    for each in facts["entry_points"]:
        target = one_line(each["target"] or "")
        text = " ".join(part for part in (one_line(each["kind"]), f"-> {target}" if target else "") if part)
        said = one_line(each.get("text", ""))
        text = f"{text}: {said}" if said else text
        yield FrameworkEntry(place=one_line(each["place"]), kind=_ENTRY_POINT, name=one_line(each["name"]), text=text)


class NeighbourhoodArguments(PagedArguments):
    """A repository, or one document of it."""

    repo: Name = ""
    id: Annotated[Name, Field(description="Only what is around this id, name or `path:line`")] = ""
    members: int = Field(5, ge=1, le=10, description="Members shown of each")
    tokens: int = Field(3000, ge=100, le=50_000)


class NeighbourhoodRow(BaseModel):
    """A community of the graph, or (`kind` is `alike`) documents with nearly the same meaning as one."""

    name: str
    kind: str
    size: int
    folder: str = ""
    members: list[DocumentRow] = []

    def lines(self) -> str:
        where = f", mostly in {self.folder}" if self.folder not in ("", ".") else ""
        heading = f"{self.name}  {self.kind}  {count_noun(self.size, 'member')}{where}"
        return "\n".join([heading, *indent_lines(map(DocumentRow.line, self.members))])


class NeighbourhoodPage(AnswerPage):
    """Neighbourhoods, the most used first."""

    neighbourhoods: list[NeighbourhoodRow] = []

    def text(self) -> str:
        lines = [each.lines() for each in self.neighbourhoods]
        return self.framed(lines or ["no neighbourhood is known here"], what="neighbourhoods")


def get_semantic_neighborhoods(call: ToolContext, arguments: NeighbourhoodArguments) -> NeighbourhoodPage:
    """All communities; for a document, those that have it among their best known members, and similar documents."""
    found = call.find(arguments.id, arguments.repo) if arguments.id else None
    documents = call.documents(found.repo if found else call.one_index(arguments.repo).repo)
    facts = read_facts(call, call.index(documents.repo))
    rows = [
        _community(documents, each, arguments.members)
        for each in (facts["neighbourhoods"] if facts else ())
        if not found or found.id in {member["id"] for member in each["members"]}
    ]
    if found and (like := related_documents(documents, documents.number_of(found), Relation.SIMILAR)):
        members = [documents.row(each.number) for each in like[: arguments.members]]
        name = f"like {one_line(found.id)}"
        rows.append(NeighbourhoodRow(name=name, kind="alike", size=len(like), members=members))
    part = call.part("get_semantic_neighborhoods", arguments, documents.parts, rows, NeighbourhoodRow.lines)
    return NeighbourhoodPage(as_of=call.as_of([documents.repo]), neighbourhoods=part.items, **part.frame)


def _community(documents: JoinedDocuments, found: Mapping[str, Any], members: int) -> NeighbourhoodRow:
    """A community of the commit, without the members that the tree lacks."""
    numbers = (documents.number(member["id"]) for member in found["members"])
    return NeighbourhoodRow(
        name=one_line(found["name"]),
        kind="community",
        size=found["size"],
        folder=one_line(found["folder"]),
        members=[documents.row(number) for number in numbers if number is not None][:members],
    )


_LANGUAGES_SHOWN = 8
# How many parts share the bounds of an answer.
_PARTS = 4
_LONGEST_OPENING = 600


class OverviewArguments(BoundedArguments):
    """A repository, and how long the answer may be."""

    repo: Name = ""
    limit: int = Field(12, ge=1, le=100, description="Rows of each part")
    tokens: int = Field(3000, ge=100, le=50_000)


class PartRow(DocumentRow):
    """A folder, and how many files are below it."""

    files: int

    def line(self, *, with_repo: bool = False) -> str:
        place = "./" if self.id == ROOT_MODULE else self.place
        return f"{place}  {count_noun(self.files, 'file')}  {self.text}".rstrip()


class LanguageShare(BaseModel):
    """A language, and in how many files it is written."""

    name: str
    files: int


class OverviewPage(AnswerPage):
    """A repository: what it says of itself, its folders, its most used files and definitions."""

    repo: str
    summary: str
    summary_place: str = ""
    languages: list[LanguageShare] = []
    skipped: dict[str, int] = {}
    frameworks: list[FrameworkEntry] = []
    parts: list[PartRow] = []
    files: list[DocumentRow] = []
    symbols: list[DocumentRow] = []

    def text(self) -> str:
        place = f"  ({self.summary_place})" if self.summary_place else ""
        lines = [f"{self.repo}: {self.summary}{place}"]
        if self.languages:
            languages = ", ".join(f"{each.name} {count_noun(each.files, 'file')}" for each in self.languages)
            lines.append(f"languages: {languages}")
        if self.skipped:
            lines.append(f"skipped: {told_skipped(self.skipped)}; `read PATH` says why")
        lines += make_section("parts", map(PartRow.line, self.parts))
        lines += make_section("frameworks, tools and entry points", map(FrameworkEntry.line, self.frameworks))
        lines += make_section("most used files", map(DocumentRow.line, self.files))
        lines += make_section("most used definitions", map(DocumentRow.line, self.symbols))
        return self.framed(lines, what="rows")


def overview(call: ToolContext, arguments: OverviewArguments) -> OverviewPage:
    """Answer with four parts, an even share of the room each."""
    index = call.one_index(arguments.repo)
    layout, hidden = call.catalogue.layout, call.catalogue.hidden_folders(index.repo)
    if left_out := told_left_out(index.repo, read_submodules(layout, index.repo, hidden=hidden)):
        call.tell(left_out)
    documents, facts = call.documents(index.repo), read_facts(call, index)
    bounds = {"limit": arguments.limit, "tokens": arguments.tokens // _PARTS}
    tops = (number for number in documents.numbers(Level.MODULE) if documents.parents[number] == NOTHING)
    root = next(tops, None)
    summary = one_line(documents[root].document()["summary"]) if root is not None else ""
    opening = facts["opening"] if facts else {}
    files = documents.numbers(Level.FILE)
    found = Counter(language_of_path(documents[number].id) or "text" for number in files)
    return OverviewPage(
        as_of=call.as_of([index.repo]),
        repo=index.repo,
        summary=shorten_text(one_line(opening.get("text") or summary), most=_LONGEST_OPENING),
        summary_place=place_of(opening["path"], opening["line"]) if opening.get("path") else "",
        languages=[LanguageShare(name=name, files=count) for name, count in found.most_common(_LANGUAGES_SHOWN)],
        skipped=read_skipped(layout, index.repo, hidden=hidden).counts(),
        parts=take_fitting(_parts(documents, root) if root is not None else (), PartRow.line, **bounds),
        frameworks=take_fitting(findings_of(facts), FrameworkEntry.line, **bounds),
        files=take_fitting(_most_important(documents, Level.FILE), DocumentRow.line, **bounds),
        symbols=take_fitting(_most_important(documents, Level.CLASS, Level.FUNCTION), DocumentRow.line, **bounds),
    )


def _parts(documents: JoinedDocuments, root: int) -> Iterator[PartRow]:
    """The folders of the root; where that holds a single folder and no files, the folders of this one."""
    children = documents.children(root)
    folders = [number for number in children if documents[number].level is Level.MODULE]
    if len(folders) == 1 and len(children) == 1:
        yield from _parts(documents, folders[0])
        return
    paths = [documents[number].id for number in documents.numbers(Level.FILE)]
    for number in sorted(folders, key=lambda number: (-documents.importance[number], number)):
        inside = f"{documents[number].id}/"
        yield PartRow.of(documents[number], files=sum(path.startswith(inside) for path in paths))


def _most_important(documents: JoinedDocuments, *levels: Level) -> Iterator[DocumentRow]:
    """The documents of some levels, most important first, without tests, copies of others' code and placeholders.

    Of as important ones those come first whose files define more: the list may be cut, and the alphabet says nothing of
    a file. Bundles that a build made of other files come last.
    """
    left_out = np.logical_or.reduce([documents.column(name) for name in ("is_test", "is_vendored", "is_placeholder")])
    numbers = np.array(documents.numbers(*levels), dtype=np.int64)
    numbers = np.sort(numbers[~left_out[numbers]])
    definitions = np.bincount(documents.files[documents.files >= 0], minlength=len(documents.files))
    order = np.lexsort((-definitions[documents.files[numbers]], -documents.importance[numbers]))
    bundled: list[int] = []
    for number in numbers[order].tolist():
        if is_bundled(documents[number].path):
            bundled.append(number)
        else:
            yield documents.row(number)
    yield from map(documents.row, bundled)


class Folder(DocumentRow):
    """A folder, the number of files directly in it, and its depth; its subfolders follow it."""

    depth: int
    files: int


def folder_tree(call: ToolContext, repo: str, *, limit: int) -> tuple[list[Folder], int]:
    """The folders of a repository, for people, each before its subfolders, and how many there are; of more than
    `limit`, the deepest are left out, with a note."""
    documents = call.documents(call.one_index(repo).repo)
    modules = documents.numbers(Level.MODULE)
    inside: dict[int, list[int]] = defaultdict(list)
    for number in modules:
        inside[int(documents.parents[number])].append(number)
    counts = Counter(int(documents.parents[number]) for number in documents.numbers(Level.FILE))
    every = list(_in_order(documents, inside, NOTHING, 0))
    shown = every
    if len(every) > limit:
        shown = sorted(every, key=lambda each: each[1])[:limit]
        call.tell(f"{count_noun(len(every) - len(shown), 'deeper folder')} left out")
        kept = {number for number, _ in shown}
        shown = [each for each in every if each[0] in kept]
    folders = [Folder.of(documents[number], depth=depth, files=counts[number]) for number, depth in shown]
    return folders, len(modules)


def _in_order(
    documents: JoinedDocuments, inside: Mapping[int, Sequence[int]], number: int, depth: int
) -> Iterator[tuple[int, int]]:
    for child in sorted(inside.get(number, ()), key=lambda each: documents[each].id):
        yield child, depth
        yield from _in_order(documents, inside, child, depth + 1)
