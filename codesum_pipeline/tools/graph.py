"""`graph`, and by the names of others `get_symbol_info` and `get_dependencies`: what belongs together, both ways."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.tools.answers import AnswerPage, BoundedArguments, DocumentRow, Name, Names, PagedArguments
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import NOTHING, JoinedDocuments
from codesum_pipeline.tools.finding import IndexedDocument, shortened
from codesum_pipeline.tools.paging import fitting, tokens_of
from codesum_pipeline.tools.relations import OF_FILES, OF_SYMBOLS, RelatedNumber, Relation, external, related
from codesum_pipeline.tools.surroundings import TRUST_LEGEND, TRUST_MARK
from codesum_pipeline.tools.text import indented, row_line, with_frame

_TOOL = "graph"


class GraphArguments(PagedArguments):
    """One document, and which of its relations are followed how far."""

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


class RelatedRow(DocumentRow):
    """`distance` is by how many steps it is reached; `trusted` where a compiler's index confirms them."""

    distance: int = 1
    trusted: bool = False


class Group(BaseModel):
    """The documents in one relation: as many as there is room for, of `total`."""

    relation: str
    total: int
    rows: list[RelatedRow] = []
    names: list[str] = []


class GraphPage(AnswerPage):
    """A document and what belongs to it; `next` is there where one relation was asked for."""

    document: DocumentRow
    signature: str = ""
    groups: list[Group] = []


EXTERNAL = "external"


def graph(call: ToolContext, asked: GraphArguments) -> GraphPage:
    """Answer with each relation in turn, an even share of the room each."""
    found = call.find(asked.id, asked.repo)
    default = OF_FILES if found.index.level_of(found.row) in (Level.FILE, Level.MODULE) else OF_SYMBOLS
    wanted = _wanted(call, asked.relations) or [*default, *([EXTERNAL] if default is OF_FILES else [])]
    return _page(call, found, asked, wanted, depth=asked.depth)


def get_symbol_info(call: ToolContext, asked: SymbolArguments) -> GraphPage:
    """As `graph` for a function or class."""
    return _page(call, call.find(asked.id, asked.repo), asked, OF_SYMBOLS, depth=1)


def get_dependencies(call: ToolContext, asked: DependencyArguments) -> GraphPage:
    """As `graph` for a file or folder; of a function it is that of its file."""
    found = call.find(asked.path, asked.repo)
    every = [Relation.IMPORTS, Relation.IMPORTED_BY, EXTERNAL]
    wanted = every if asked.direction == "all" else [asked.direction]
    return _page(call, found, asked, wanted, depth=asked.depth, is_of_file=True)


def graph_text(page: GraphPage) -> str:
    lines = [row_line(page.document)]
    if page.signature:
        lines += indented([one_line(page.signature)])
    for group in page.groups:
        shown = len(group.rows) + len(group.names)
        lines.append(f"{group.relation} ({shown:,} of {group.total:,})" if shown < group.total else group.relation)
        lines += indented([_line(row) for row in group.rows] or group.names)
    if any(row.trusted for group in page.groups for row in group.rows):
        lines.append(TRUST_LEGEND)
    return with_frame(page, lines, what="related")


def _line(row: RelatedRow) -> str:
    steps = "" if row.distance == 1 else f"({row.distance} steps)  "
    return f"{steps}{row_line(row)}{f'  {TRUST_MARK}' if row.trusted else ''}"


def _wanted(call: ToolContext, names: Sequence[str]) -> list[str]:
    known = [*Relation, EXTERNAL]
    unknown = [name for name in names if name not in known]
    if names and len(unknown) == len(names):
        raise ConfigurationError(f"relation {shortened(unknown[0])!r} is unknown; relations are: {', '.join(known)}")
    for name in unknown:
        call.tell(f"left out: relation {shortened(name)!r} is unknown; relations are: {', '.join(known)}")
    return [name for name in known if name in names]


def _page(
    call: ToolContext,
    found: IndexedDocument,
    asked: BoundedArguments,
    wanted: Sequence[str],
    *,
    depth: int,
    is_of_file: bool = False,
) -> GraphPage:
    documents = call.documents(found.repo)
    number = documents.number_of(found)
    if is_of_file and documents.files[number] != NOTHING:
        number = int(documents.files[number])
    start = (call.start(_TOOL, asked, documents.parts) or (0,))[0] if isinstance(asked, PagedArguments) else 0
    if start and len(wanted) != 1:
        raise ConfigurationError("a cursor goes on with one relation: name it in `relations`")
    document, signature = documents.row(number), documents.signature(number)
    room = asked.tokens - tokens_of(row_line(document) + signature)
    groups: list[Group] = []
    for place, name in enumerate(wanted):
        share = room // (len(wanted) - place)
        group = _group(documents, number, name, start=start, limit=asked.limit, tokens=share, depth=depth)
        room -= tokens_of("\n".join([*map(_line, group.rows), *group.names]))
        if group.total:
            groups.append(group)
    shown = sum(len(group.rows) + len(group.names) for group in groups)
    end, total = start + shown, sum(group.total for group in groups)
    following = None
    if shown and end < total and len(wanted) == 1 and isinstance(asked, PagedArguments):
        following = call.next(_TOOL, asked, documents.parts, (end,))
    elif end < total:
        call.tell("for more of one relation ask for it alone")
    call.tell_gone(documents, number)
    return GraphPage(
        as_of=call.as_of([documents.repo]),
        notes=call.notes,
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
        names = [one_line(each) for each in external(documents, number)]
        kept_names = fitting(((each, each) for each in names[start:]), limit=limit, tokens=tokens)
        return Group(relation=name, total=len(names), names=kept_names)
    others = related(documents, number, Relation(name), depth=depth)
    rows = (_related_row(documents, each) for each in others[start:])
    kept = fitting(((each, _line(each)) for each in rows), limit=limit, tokens=tokens)
    return Group(relation=name, total=len(others), rows=kept)


def _related_row(documents: JoinedDocuments, each: RelatedNumber) -> RelatedRow:
    return RelatedRow(**documents.row(each.number).model_dump(), distance=each.distance, trusted=each.trusted)
