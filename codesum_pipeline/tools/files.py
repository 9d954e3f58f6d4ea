"""`get_file_analysis`: what a file defines, imports, and hands to others."""

from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.tools.answers import AnswerPage, BoundedArguments, DocumentRow, Name, counted
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.paging import fitting
from codesum_pipeline.tools.relations import Relation, definitions, external, related, used_elsewhere
from codesum_pipeline.tools.text import indented, row_line, with_frame


class FileArguments(BoundedArguments):
    """One file."""

    path: Name = Field(description="A file's path, or a part of it that no other has")
    repo: Name = ""
    limit: int = Field(30, ge=1, le=200)
    tokens: int = Field(3000, ge=100, le=50_000)


class Export(DocumentRow):
    """A definition that other files use, and how many documents of them do."""

    users: int


class FileSection(BaseModel):
    """As many as there is room for, of `total`."""

    total: int
    rows: list[DocumentRow] = []


class FilePage(AnswerPage):
    """A file: what its document says, and its place in the graph. `exports` are definitions that other files use."""

    document: DocumentRow
    language: str
    summary: str
    defines: FileSection
    exports: list[Export] = []
    imports: FileSection
    imported_by: FileSection
    external: list[str] = []


def get_file_analysis(call: ToolContext, asked: FileArguments) -> FilePage:
    """Each part gets an even share of the room."""
    found = call.find(asked.path, asked.repo)
    if found.index.level_of(found.row) is Level.MODULE:
        raise ConfigurationError(f"{found.id!r} is a folder: get_dependencies and graph answer for folders")
    documents = call.documents(found.repo)
    number = int(documents.files[documents.number_of(found)])
    document, share = documents.document(number), asked.tokens // 5

    def part(numbers: list[int]) -> FileSection:
        written = ((each, row_line(each)) for each in map(documents.row, numbers))
        return FileSection(total=len(numbers), rows=fitting(written, limit=asked.limit, tokens=share))

    used = [
        Export(**documents.row(one).model_dump(), users=users)
        for one, users in used_elsewhere(documents, number)[: asked.limit]
    ]
    outside = [one_line(name) for name in external(documents, number)]
    page = FilePage(
        as_of=call.as_of([documents.repo]),
        document=documents.row(number),
        language=document["language"],
        summary=one_line(document["summary"]),
        defines=part(definitions(documents, number)),
        exports=fitting(((each, _export_line(each)) for each in used), limit=asked.limit, tokens=share),
        imports=part([each.number for each in related(documents, number, Relation.IMPORTS)]),
        imported_by=part([each.number for each in related(documents, number, Relation.IMPORTED_BY)]),
        external=fitting(((name, name) for name in outside), limit=asked.limit, tokens=share),
    )
    call.tell_gone(documents, number)
    parts = (page.defines, page.imports, page.imported_by)
    if any(len(each.rows) < each.total for each in parts):
        call.tell("where a part is cut, a higher limit or more tokens show the rest")
    return page.model_copy(
        update={
            "notes": call.notes,
            "shown": sum(len(each.rows) for each in parts),
            "total": sum(each.total for each in parts),
        }
    )


def file_text(page: FilePage) -> str:
    lines = [f"{row_line(page.document)}", *indented([f"language: {page.language}"])]
    if page.summary not in page.document.text:
        lines += indented([page.summary])
    for name, part in (("defines", page.defines), ("imports", page.imports), ("imported_by", page.imported_by)):
        if part.total:
            shown = len(part.rows)
            lines.append(f"{name} ({shown:,} of {part.total:,})" if shown < part.total else name)
            lines += indented(map(row_line, part.rows))
    for heading, told in (("used by other files", map(_export_line, page.exports)), ("external", page.external)):
        written = list(indented(told))
        lines += [heading, *written] if written else []
    return with_frame(page, lines, what="rows")


def _export_line(each: Export) -> str:
    return f"{each.place}  {each.kind}  {counted(each.users, 'user')}  {each.text}"
