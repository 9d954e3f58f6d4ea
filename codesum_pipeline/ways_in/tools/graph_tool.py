"""`graph` and, in other forms, `get_symbol_info`, `get_dependencies` and `get_file_analysis`: what belongs together.

The command line shows the neighbours of one document, as many as fit.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace
from pydantic import BaseModel, Field

from codesum_pipeline.ground.model.document import Level
from codesum_pipeline.ground.model.errors import ConfigurationError
from codesum_pipeline.ground.model.printable import counted, one_line, shortened
from codesum_pipeline.indexes.formats.index_files import KINDS
from codesum_pipeline.search.retrieval.published_index import IndexedDocument
from codesum_pipeline.ways_in.tools.call import ToolContext
from codesum_pipeline.ways_in.tools.document_tree import (
    NOTHING,
    OF_FILES,
    OF_SYMBOLS,
    JoinedDocuments,
    Relation,
    definitions,
    exports_of,
    external_names,
    related_documents,
)
from codesum_pipeline.ways_in.tools.tool_answers import (
    AnswerPage,
    BoundedArguments,
    DocumentRow,
    Name,
    Names,
    PagedArguments,
    fitting,
    indented,
    section,
    tokens_of,
)


class RelatedDocument(Struct, frozen=True):
    """A neighbour and its purpose; `trusted` where a compiler's index confirms that it uses or is used."""

    id: str
    type: str
    summary: str
    trusted: bool = False


class DocumentRelations(Struct, frozen=True, omit_defaults=True):
    """The neighbours of a document: parents nearest first, up to the root module; children by level, then by id.
    `dependencies` are the names that the document uses, external ones too. Where only some neighbours fit, `more`
    counts the others of each part."""

    parents: tuple[RelatedDocument, ...]
    children: tuple[RelatedDocument, ...]
    called_by: tuple[RelatedDocument, ...]
    calls: tuple[RelatedDocument, ...]
    dependencies: tuple[str, ...]
    more: Mapping[str, int] = field(default_factory=dict)


# In the order in which they are shown where only some fit.
_PARTS = ("parents", "called_by", "calls", "children", "dependencies")
# A reader looks through no more of each part.
_MOST_OF_PART = 5
# A neighbour's summary is a pointer: whoever wants more reads the neighbour.
_SUMMARY_CHARACTERS = 120
# Behind what is trusted, and the line that explains it.
TRUST_MARK = "✓"
TRUST_LEGEND = f"{TRUST_MARK} confirmed by a compiler's index"
# As many callers and callees as a document names by default.
_MOST_NEIGHBOURS = 5


def bound_surroundings(around: DocumentRelations, *, tokens: int) -> tuple[DocumentRelations, int]:
    """The first neighbours of each part in turn, as many as fit, and the number of tokens left."""
    waiting = {name: [*getattr(around, name)] for name in _PARTS}
    kept: dict[str, list[RelatedDocument | str]] = {name: [] for name in _PARTS}
    for place in range(_MOST_OF_PART):
        for name in _PARTS:
            if place < len(waiting[name]) and len(kept[name]) == place:
                each = waiting[name][place]
                if isinstance(each, RelatedDocument):
                    each = replace(each, summary=shortened(each.summary, most=_SUMMARY_CHARACTERS))
                price = tokens_of(f"{json.dumps(to_builtins(each), ensure_ascii=False)}, ")
                if price <= tokens:
                    kept[name].append(each)
                    tokens -= price
    more = {name: left for name in _PARTS if (left := len(waiting[name]) - len(kept[name]))}
    first: dict[str, Any] = {name: tuple(some) for name, some in kept.items()}
    return DocumentRelations(**first, more=more), tokens


def surroundings(documents: JoinedDocuments, number: int) -> DocumentRelations:
    """The neighbours of a document. In an index, callers and callees are those that the document names, a sample of
    many; in a work tree that differs from its index, they are computed from the graph."""
    document = documents[number].document()
    if documents.is_one_index:
        users, used = _confirmed(documents, number)
        called_by = _neighbours(documents, map(documents.number, document["context"]["called_by"]), trusted=users)
        calls = _neighbours(documents, map(documents.number, document["context"]["calls"]), trusted=used)
        dependencies = document["dependencies"]
    else:
        is_place = documents[number].level in (Level.FILE, Level.MODULE)
        called_by = _related(documents, number, Relation.IMPORTED_BY if is_place else Relation.CALLERS)
        calls = _related(documents, number, Relation.IMPORTS if is_place else Relation.CALLEES)
        known = {name for name in document["dependencies"] if documents.number(name) is not None}
        dependencies = sorted({*known, *external_names(documents, number)})
    return DocumentRelations(
        parents=_neighbours(
            documents, (each.number for each in related_documents(documents, number, Relation.PART_OF))
        ),
        children=_neighbours(documents, documents.children(number)),
        called_by=called_by,
        calls=calls,
        dependencies=tuple(dependencies),
    )


def _related(documents: JoinedDocuments, number: int, relation: Relation) -> tuple[RelatedDocument, ...]:
    """The nearest documents in a relation to a document; for a class, also to its members."""
    is_class = documents[number].level is Level.CLASS
    inside = [number, *(documents.children(number) if is_class else ())]
    found: dict[int, bool] = {}
    for each in (other for one in inside for other in related_documents(documents, one, relation)):
        found[each.number] = each.trusted or found.get(each.number, False)
    others = [other for other in found if other not in inside][:_MOST_NEIGHBOURS]
    return _neighbours(documents, others, trusted=[other for other in others if found[other]])


def _confirmed(documents: JoinedDocuments, number: int) -> tuple[Collection[int], Collection[int]]:
    """The confirmed users and used documents of a document and its members, with the folders of their files."""
    uses, level = documents.confirmed_uses, documents[number].level
    if not len(uses.users):
        return (), ()
    inside = [number]
    if level is Level.MODULE:
        inside = [one for one in documents.children(number) if documents[one].level is Level.FILE]
    for one in inside if level is Level.CLASS else ():
        inside += documents.children(one)
    inside = [one for one in inside if one < len(uses)]
    users = {user for one in inside for kind in KINDS for user in uses.users_of(one, kind)}
    used = {one for kind in KINDS for one in uses.used_by_any(inside, kind)}
    folder_of = documents.parents[documents.files].tolist()
    return {*users, *(folder_of[user] for user in users)}, {*used, *(folder_of[one] for one in used)}


def _neighbours(
    documents: JoinedDocuments, numbers: Iterable[int | None], *, trusted: Collection[int] = ()
) -> tuple[RelatedDocument, ...]:
    found = ((number in trusted, documents[number].document()) for number in numbers if number is not None)
    return tuple(RelatedDocument(each["id"], each["type"], each["summary"], is_trusted) for is_trusted, each in found)


_TOOL = "graph"
EXTERNAL = "external"


class GraphArguments(PagedArguments):
    """One document, which of its relations are followed, and how far."""

    id: Name = Field(description="Id, name, `path:line`, file or folder")
    repo: Name = ""
    relations: Annotated[
        Names,
        Field(
            description="part_of, members, callers, callees, bases, subclasses, imports, imported_by, external, similar"
        ),
    ] = []
    depth: int = Field(1, ge=1, le=6, description="Steps of callers, callees, imports, bases")


class SymbolArguments(BoundedArguments):
    """One function or class."""

    id: Name = Field(description="Id, name, or `path:line`")
    repo: Name = ""


class DependencyArguments(PagedArguments):
    """One file or folder."""

    path: Name = Field(description="A file or folder")
    repo: Name = ""
    direction: Literal["all", "imports", "imported_by", "external"] = "all"
    depth: int = Field(1, ge=1, le=6)


class FileArguments(BoundedArguments):
    """One file."""

    path: Name = Field(description="A file's path, or a part of it that no other has")
    repo: Name = ""
    limit: int = Field(30, ge=1, le=200)
    tokens: int = Field(3000, ge=100, le=50_000)


class RelatedRow(DocumentRow):
    """`distance` is the number of steps to the document; `trusted` where a compiler's index confirms them."""

    distance: int = 1
    trusted: bool = False

    def line(self, *, with_repo: bool = False) -> str:
        steps = "" if self.distance == 1 else f"({self.distance} steps)  "
        return f"{steps}{super().line(with_repo=with_repo)}{f'  {TRUST_MARK}' if self.trusted else ''}"


class Group(BaseModel):
    """The documents in one relation: as many as fit, of `total`."""

    relation: str
    total: int
    rows: list[RelatedRow] = []
    names: list[str] = []

    @property
    def lines(self) -> list[str]:
        return [row.line() for row in self.rows] or self.names


class GraphPage(AnswerPage):
    """A document and its relations; `next` is set only where one relation was wanted."""

    document: DocumentRow
    signature: str = ""
    groups: list[Group] = []

    def text(self) -> str:
        lines = [self.document.line()]
        if self.signature:
            lines += indented([one_line(self.signature)])
        for group in self.groups:
            lines += _section(group.relation, group.lines, group.total)
        if any(row.trusted for group in self.groups for row in group.rows):
            lines.append(TRUST_LEGEND)
        return self.framed(lines, what="related")


class Export(DocumentRow):
    """A definition that other files use, and the number of using documents."""

    users: int

    def line(self, *, with_repo: bool = False) -> str:
        return f"{self.place}  {self.kind}  {counted(self.users, 'user')}  {self.text}"


class FileSection(BaseModel):
    """As many documents as fit, of `total`."""

    total: int
    rows: list[DocumentRow] = []


class FilePage(AnswerPage):
    """A file: its document, and its relations. `exports` are definitions that other files use."""

    document: DocumentRow
    language: str
    summary: str
    defines: FileSection
    exports: list[Export] = []
    imports: FileSection
    imported_by: FileSection
    external: list[str] = []

    def text(self) -> str:
        lines = [self.document.line(), *indented([f"language: {self.language}"])]
        if self.summary not in self.document.text:
            lines += indented([self.summary])
        for name, part in (("defines", self.defines), ("imports", self.imports), ("imported_by", self.imported_by)):
            lines += _section(name, [row.line() for row in part.rows], part.total) if part.total else []
        lines += section("used by other files", map(Export.line, self.exports))
        lines += section("external", self.external)
        return self.framed(lines, what="rows")


def graph(call: ToolContext, arguments: GraphArguments) -> GraphPage:
    """Answer with each relation in turn; they share the bounds evenly."""
    found = call.find(arguments.id, arguments.repo)
    is_place = found.level in (Level.FILE, Level.MODULE)
    wanted = call.known("relation", arguments.relations, [*Relation, EXTERNAL])
    return _page(
        call, found, arguments, wanted or ([*OF_FILES, EXTERNAL] if is_place else OF_SYMBOLS), depth=arguments.depth
    )


def get_symbol_info(call: ToolContext, arguments: SymbolArguments) -> GraphPage:
    """As `graph` for a function or class."""
    return _page(call, call.find(arguments.id, arguments.repo), arguments, OF_SYMBOLS, depth=1)


def get_dependencies(call: ToolContext, arguments: DependencyArguments) -> GraphPage:
    """As `graph` for a file or folder; for a function, the answer is that of its file."""
    found = call.find(arguments.path, arguments.repo)
    every = [Relation.IMPORTS, Relation.IMPORTED_BY, EXTERNAL]
    wanted = every if arguments.direction == "all" else [arguments.direction]
    return _page(call, found, arguments, wanted, depth=arguments.depth, is_of_file=True)


def get_file_analysis(call: ToolContext, arguments: FileArguments) -> FilePage:
    """Answer with five parts, which share the bounds evenly."""
    found = call.find(arguments.path, arguments.repo)
    if found.level is Level.MODULE:
        raise ConfigurationError(f"{found.id!r} is a folder: get_dependencies and graph answer for folders")
    documents = call.documents(found.repo)
    number = int(documents.files[documents.number_of(found)])
    document, bounds = documents[number].document(), {"limit": arguments.limit, "tokens": arguments.tokens // 5}

    def part(numbers: list[int]) -> FileSection:
        rows = fitting(map(documents.row, numbers), DocumentRow.line, **bounds)
        return FileSection(total=len(numbers), rows=rows)

    exports = (
        Export.of(documents[one], users=users) for one, users in exports_of(documents, number)[: arguments.limit]
    )
    page = FilePage(
        as_of=call.as_of([documents.repo]),
        document=documents.row(number),
        language=document["language"],
        summary=one_line(document["summary"]),
        defines=part(definitions(documents, number)),
        exports=fitting(exports, Export.line, **bounds),
        imports=part([each.number for each in related_documents(documents, number, Relation.IMPORTS)]),
        imported_by=part([each.number for each in related_documents(documents, number, Relation.IMPORTED_BY)]),
        external=fitting(map(one_line, external_names(documents, number)), str, **bounds),
    )
    call.tell_gone(documents, number)
    parts = (page.defines, page.imports, page.imported_by)
    page.shown, page.total = sum(len(each.rows) for each in parts), sum(each.total for each in parts)
    if page.shown < page.total:
        call.tell("where a part is cut, a higher limit or more tokens show the rest")
    return page


def _section(name: str, lines: Sequence[str], total: int) -> list[str]:
    """The lines below a heading, which has their number where some are left out."""
    heading = f"{name} ({len(lines):,} of {total:,})" if len(lines) < total else name
    return [heading, *indented(lines)]


def _page(
    call: ToolContext,
    found: IndexedDocument,
    arguments: BoundedArguments,
    wanted: Sequence[str],
    *,
    depth: int,
    is_of_file: bool = False,
) -> GraphPage:
    documents = call.documents(found.repo)
    number = documents.number_of(found)
    if is_of_file and documents.files[number] != NOTHING:
        number = int(documents.files[number])
    start = call.start(_TOOL, arguments, documents.parts)[0] if isinstance(arguments, PagedArguments) else 0
    if start and len(wanted) != 1:
        raise ConfigurationError("a cursor goes on with one relation: name it in `relations`")
    document, signature = documents.row(number), str(documents[number].shown()["signature_summary"] or "")
    room = arguments.tokens - tokens_of(document.line() + signature)
    groups: list[Group] = []
    for place, name in enumerate(wanted):
        share = room // (len(wanted) - place)
        group = _group(documents, number, name, start=start, limit=arguments.limit, tokens=share, depth=depth)
        room -= tokens_of("\n".join(group.lines))
        if group.total:
            groups.append(group)
    shown, total = sum(len(group.lines) for group in groups), sum(group.total for group in groups)
    end, following = start + shown, None
    if shown and end < total and len(wanted) == 1 and isinstance(arguments, PagedArguments):
        following = call.next(_TOOL, arguments, documents.parts, (end,))
    elif end < total:
        call.tell("for more of one relation ask for it alone")
    call.tell_gone(documents, number)
    return GraphPage(
        as_of=call.as_of([documents.repo]),
        shown=shown,
        total=total,
        next=following,
        document=document,
        signature=signature,
        groups=groups,
    )


def _group(
    documents: JoinedDocuments, number: int, name: str, *, start: int, limit: int, tokens: int, depth: int
) -> Group:
    if name == EXTERNAL:
        names = [one_line(each) for each in external_names(documents, number)]
        return Group(relation=name, total=len(names), names=fitting(names[start:], str, limit=limit, tokens=tokens))
    others = related_documents(documents, number, Relation(name), depth=depth)
    rows = (
        RelatedRow.of(documents[each.number], distance=each.distance, trusted=each.trusted) for each in others[start:]
    )
    kept = fitting(rows, RelatedRow.line, limit=limit, tokens=tokens)
    return Group(relation=name, total=len(others), rows=kept)
