"""`get_semantic_neighborhoods`: code that belongs together, by the graph's communities and by what is alike."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from codesum_pipeline.model.printable import one_line
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow, Name, PagedArguments, counted
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import JoinedDocuments
from codesum_pipeline.tools.facts import one_index, read_facts
from codesum_pipeline.tools.relations import Relation, related
from codesum_pipeline.tools.text import indented, row_line, with_frame

_TOOL = "get_semantic_neighborhoods"


class NeighbourhoodArguments(PagedArguments):
    """Of a repository all, or of one document those around it."""

    repo: Name = ""
    id: Annotated[Name, Field(description="Only what is around this id, name or `path:line`")] = ""
    members: int = Field(5, ge=1, le=10, description="Members shown of each")
    tokens: int = Field(3000, ge=100, le=50_000)


class NeighbourhoodRow(BaseModel):
    """A community of the graph, or (`kind` is `alike`) what means nearly the same as a document."""

    name: str
    kind: str
    size: int
    folder: str = ""
    members: list[DocumentRow] = []


class NeighbourhoodPage(AnswerPage):
    """Neighbourhoods, the most used first."""

    neighbourhoods: list[NeighbourhoodRow] = []


def get_semantic_neighborhoods(call: ToolContext, asked: NeighbourhoodArguments) -> NeighbourhoodPage:
    """Around a document: the communities whose best known members it is of, and what is like it."""
    alike: list[NeighbourhoodRow] = []
    if asked.id:
        found = call.find(asked.id, asked.repo)
        documents, wanted = call.documents(found.repo), found.id
        like = related(documents, documents.number_of(found), Relation.SIMILAR)
        rows = [documents.row(each.number) for each in like]
        name = f"like {one_line(wanted)}"
        alike = (
            [NeighbourhoodRow(name=name, kind="alike", size=len(rows), members=rows[: asked.members])] if rows else []
        )
    else:
        documents, wanted = call.documents(one_index(call, asked.repo).repo), ""
    facts = read_facts(call, call.index(documents.repo))
    communities = [
        _community(documents, each, asked.members)
        for each in (facts["neighbourhoods"] if facts else ())
        if not wanted or wanted in {member["id"] for member in each["members"]}
    ]
    part = call.part(_TOOL, asked, documents.parts, [*communities, *alike], lambda each: "\n".join(_lines(each)))
    return NeighbourhoodPage(
        as_of=call.as_of([documents.repo]), notes=call.notes, neighbourhoods=part.items, **part.frame
    )


def neighbourhoods_text(page: NeighbourhoodPage) -> str:
    lines = [line for each in page.neighbourhoods for line in _lines(each)]
    return with_frame(page, lines or ["no neighbourhood is known here"], what="neighbourhoods")


def _lines(each: NeighbourhoodRow) -> list[str]:
    where = f", mostly in {each.folder}" if each.folder not in ("", ".") else ""
    return [f"{each.name}  {each.kind}  {counted(each.size, 'member')}{where}", *indented(map(row_line, each.members))]


def _community(documents: JoinedDocuments, found: Mapping[str, Any], members: int) -> NeighbourhoodRow:
    """As the commit has it; members that the tree does not have are left out."""
    numbers = (documents.number(member["id"]) for member in found["members"])
    return NeighbourhoodRow(
        name=one_line(found["name"]),
        kind="community",
        size=found["size"],
        folder=one_line(found["folder"]),
        members=[documents.row(number) for number in numbers if number is not None][:members],
    )
