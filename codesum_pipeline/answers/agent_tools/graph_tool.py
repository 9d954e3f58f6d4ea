"""`graph` and, in other forms, `get_symbol_info`, `get_dependencies` and `get_file_analysis`: what belongs together."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.graph_subjects import (
    EXTERNAL,
    GraphSubject,
    RelatedRow,
    find_subject,
    subject_of,
)
from codesum_pipeline.answers.agent_tools.relations import (
    OF_SYMBOLS,
    Relation,
    definitions_in,
    exports_of,
    external_names,
)
from codesum_pipeline.answers.agent_tools.submodule_answers import read_submodules, with_submodule
from codesum_pipeline.answers.agent_tools.surroundings import TRUST_LEGEND
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    BoundedArguments,
    DocumentRow,
    Name,
    Names,
    PagedArguments,
    indent_lines,
    take_fitting,
    tokens_of,
)
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import one_line

_TOOL = "graph"


class GraphArguments(PagedArguments):
    """One document, which of its relations are followed, and how far."""

    id: Name = Field(description="Id, name, `path:line`, file or folder")
    repo: Name = ""
    relations: Annotated[
        Names,
        Field(
            description="part_of, members, callers, callees, referenced_by (not called: handed over as a value, named "
            "as a type, read as a constant), references, bases, subclasses, imports, imported_by, external, similar"
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
    """A document or constant, and its relations; `next` is set only where one relation was wanted. `not_counted` is
    what callers and users leave out; of a file, `details` are its language and what its row cuts of its summary."""

    document: DocumentRow
    signature: str = ""
    details: list[str] = []
    groups: list[Group] = []
    not_counted: list[str] = []

    def text(self) -> str:
        lines = [self.document.line()]
        if self.signature:
            lines += indent_lines([one_line(self.signature)])
        lines += indent_lines(self.details)
        for group in self.groups:
            lines += _section(group.relation, group.lines, group.total)
        if any(row.trusted for group in self.groups for row in group.rows):
            lines.append(TRUST_LEGEND)
        if self.not_counted:
            lines.append(f"not counted: {'; '.join(self.not_counted)}")
        return self.framed(lines, what="related")


def graph(call: ToolContext, arguments: GraphArguments) -> GraphPage:
    """Answer with each relation in turn; they share the bounds evenly."""
    subject = find_subject(call, arguments.id, arguments.repo)
    wanted = call.known("relation", arguments.relations, [*Relation, EXTERNAL])
    return _page(call, subject, arguments, wanted or subject.usual_relations, depth=arguments.depth)


def get_symbol_info(call: ToolContext, arguments: SymbolArguments) -> GraphPage:
    """As `graph` for a function or class."""
    return _page(call, find_subject(call, arguments.id, arguments.repo), arguments, OF_SYMBOLS, depth=1)


def get_dependencies(call: ToolContext, arguments: DependencyArguments) -> GraphPage:
    """As `graph` for a file or folder; for a function, the answer is that of its file."""
    found = call.find(arguments.path, arguments.repo)
    documents = call.documents(found.repo)
    number = documents.number_of(found)
    file = int(documents.files[number])
    every = [Relation.IMPORTS, Relation.IMPORTED_BY, EXTERNAL]
    wanted = every if arguments.direction == "all" else [arguments.direction]
    subject = subject_of(call, found if file == NOTHING else documents[file])
    return _page(call, subject, arguments, wanted, depth=arguments.depth)


def get_file_analysis(call: ToolContext, arguments: FileArguments) -> GraphPage:
    """Answer with five parts, which share the bounds evenly; of the definitions that other files use, the most used
    first."""
    found = call.find(arguments.path, arguments.repo)
    if found.level is Level.MODULE:
        raise ConfigurationError(
            f"{found.id!r} is a folder, and get_file_analysis answers for files: ask get_dependencies or graph"
        )
    documents = call.documents(found.repo)
    number = int(documents.files[documents.number_of(found)])
    bounds = {"limit": arguments.limit, "tokens": arguments.tokens // 5}
    groups: list[Group] = []
    for name, inside in (
        ("defines", definitions_in(documents, number)),
        ("used by other files", exports_of(documents, number)),
    ):
        rows = take_fitting((RelatedRow.of(documents[one]) for one in inside), RelatedRow.line, **bounds)
        groups.append(Group(relation=name, total=len(inside), rows=rows))
    subject = subject_of(call, documents[number])
    relations = (Relation.IMPORTS, Relation.IMPORTED_BY, EXTERNAL)
    groups += (_group(call, subject, name, start=0, depth=1, **bounds) for name in relations)
    row, document = documents.row(number), documents[number].document()
    summary = one_line(document["summary"])
    page = GraphPage(
        as_of=call.as_of([documents.repo]),
        document=row,
        details=[f"language: {document['language']}", *([] if summary in row.text else [summary])],
        shown=sum(len(each.lines) for each in groups),
        total=sum(each.total for each in groups),
        groups=[each for each in groups if each.total],
    )
    call.tell_gone(documents, number)
    if page.shown < (page.total or 0):
        call.tell("where a part is cut, a higher limit or more tokens show the rest")
    return page


def _section(name: str, lines: Sequence[str], total: int) -> list[str]:
    """The lines below a heading, which has their number where some are left out."""
    heading = f"{name} ({len(lines):,} of {total:,})" if len(lines) < total else name
    return [heading, *indent_lines(lines)]


def _page(
    call: ToolContext, subject: GraphSubject, arguments: BoundedArguments, wanted: Sequence[str], *, depth: int
) -> GraphPage:
    documents, number = subject.documents, subject.number
    start = call.start(_TOOL, arguments, documents.parts)[0] if isinstance(arguments, PagedArguments) else 0
    if start and len(wanted) != 1:
        raise ConfigurationError("a cursor continues one relation: name that relation in `relations`")
    document, signature = subject.row, subject.signature
    room = arguments.tokens - tokens_of(document.line() + signature)
    groups: list[Group] = []
    for place, name in enumerate(wanted):
        share = room // (len(wanted) - place)
        group = _group(call, subject, name, start=start, limit=arguments.limit, tokens=share, depth=depth)
        room -= tokens_of("\n".join(group.lines))
        if group.total:
            groups.append(group)
    shown, total = sum(len(group.lines) for group in groups), sum(group.total for group in groups)
    end, following = start + shown, None
    if shown and end < total and len(wanted) == 1 and isinstance(arguments, PagedArguments):
        following = call.next(_TOOL, arguments, documents.parts, (end,))
    elif end < total:
        call.tell("for more of one relation, ask for it alone")
    call.tell_gone(documents, number)
    asks_for_users = not {Relation.CALLERS, Relation.REFERENCED_BY}.isdisjoint(wanted)
    return GraphPage(
        as_of=call.as_of([documents.repo]),
        shown=shown,
        total=total,
        next=following,
        document=document,
        signature=signature,
        groups=groups,
        not_counted=subject.not_counted(call, depth=depth) if asks_for_users else [],
    )


def _external_names(call: ToolContext, documents: JoinedDocuments, number: int) -> list[str]:
    """The names from outside as the code writes them, and which of them lead into a submodule that is not indexed."""
    names = [one_line(each) for each in external_names(documents, number)]
    submodules = read_submodules(call.catalogue.layout, documents.repo) if names else []
    if all(each.is_indexed for each in submodules):
        return names
    importer = documents[number].id.partition(SEPARATOR)[0]

    def has_folder(folder: str) -> bool:
        return any(part.row(folder) is not None for part in documents.parts)

    return [with_submodule(name, submodules, importer=importer, has_folder=has_folder) for name in names]


def _group(
    call: ToolContext, subject: GraphSubject, name: str, *, start: int, limit: int, tokens: int, depth: int
) -> Group:
    bounds = {"limit": limit, "tokens": tokens}
    if name == EXTERNAL:
        names = _external_names(call, subject.documents, subject.number)
        return Group(relation=name, total=len(names), names=take_fitting(names[start:], str, **bounds))
    others = subject.related(Relation(name), depth)
    kept = take_fitting(map(subject.related_row, others[start:]), RelatedRow.line, **bounds)
    return Group(relation=name, total=len(others), rows=kept)
