"""`overview`, by another name `get_codebase_overview`: what a repository is, its parts, where to begin reading.

Folders and what is used most are those of the tree; what the build found out beside (the README's opening,
frameworks, entry points) comes where it is of the same version, and is of the commit.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.source.languages import language_of_path
from codesum_pipeline.tools.answers import AnswerPage, BoundedArguments, DocumentRow, Name, counted, place_of, shortened
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import NOTHING, JoinedDocuments
from codesum_pipeline.tools.facts import one_index, read_facts
from codesum_pipeline.tools.frameworks import FrameworkEntry, finding_line, findings_of
from codesum_pipeline.tools.paging import fitting
from codesum_pipeline.tools.text import indented, row_line, with_frame

_LANGUAGES_TOLD = 8
# Of an answer, those that share its room.
_PARTS = 4
_LONGEST_OPENING = 600


class OverviewArguments(BoundedArguments):
    """Of which repository."""

    repo: Name = ""
    limit: int = Field(12, ge=1, le=100, description="Rows of each part")
    tokens: int = Field(3000, ge=100, le=50_000)


class PartRow(DocumentRow):
    """A folder, and how many files are below it."""

    files: int


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
    frameworks: list[FrameworkEntry] = []
    parts: list[PartRow] = []
    files: list[DocumentRow] = []
    symbols: list[DocumentRow] = []


def overview(call: ToolContext, asked: OverviewArguments) -> OverviewPage:
    """Tests and copies of others' code are no place to begin."""
    index = one_index(call, asked.repo)
    documents, facts = call.documents(index.repo), read_facts(call, index)
    share = asked.tokens // _PARTS
    root = _top(documents)
    summary = one_line(documents.document(root)["summary"]) if root is not None else ""
    opening = facts["opening"] if facts else {}
    parts = list(_parts(documents, root)) if root is not None else []
    findings = ((each, finding_line(each)) for each in (findings_of(facts) if facts else ()))
    return OverviewPage(
        as_of=call.as_of([index.repo]),
        notes=call.notes,
        repo=index.repo,
        summary=shortened(one_line(opening.get("text") or summary), most=_LONGEST_OPENING),
        summary_place=place_of(opening["path"], opening["line"]) if opening.get("path") else "",
        languages=_languages(documents),
        parts=fitting(((each, _part_line(each)) for each in parts), limit=asked.limit, tokens=share),
        frameworks=fitting(findings, limit=asked.limit, tokens=share),
        files=_most_important(documents, Level.FILE, limit=asked.limit, tokens=share),
        symbols=_most_important(documents, Level.CLASS, Level.FUNCTION, limit=asked.limit, tokens=share),
    )


def overview_text(page: OverviewPage) -> str:
    place = f"  ({page.summary_place})" if page.summary_place else ""
    lines = [f"{page.repo}: {page.summary}{place}"]
    if page.languages:
        languages = ", ".join(f"{each.name} {counted(each.files, 'file')}" for each in page.languages)
        lines.append(f"languages: {languages}")
    for heading, told in (
        ("parts", map(_part_line, page.parts)),
        ("frameworks, tools and entry points", map(finding_line, page.frameworks)),
        ("most used files", map(row_line, page.files)),
        ("most used definitions", map(row_line, page.symbols)),
    ):
        written = list(indented(told))
        lines += [heading, *written] if written else []
    return with_frame(page, lines, what="rows")


def _top(documents: JoinedDocuments) -> int | None:
    """The folder that has all others in it, of an entry's subfolder that one; None of an empty index."""
    tops = (number for number in documents.numbers(Level.MODULE) if documents.parents[number] == NOTHING)
    return next(tops, None)


def _parts(documents: JoinedDocuments, root: int) -> Iterator[PartRow]:
    """The folders of the root; where that holds a single folder and no files, the folders of this one."""
    children = documents.children(root)
    folders = [number for number in children if documents.level(number) is Level.MODULE]
    if len(folders) == 1 and len(children) == 1:
        yield from _parts(documents, folders[0])
        return
    paths = [documents.id(number) for number in documents.numbers(Level.FILE)]
    for number in sorted(folders, key=lambda number: (-documents.importance[number], number)):
        inside = f"{documents.id(number)}/"
        row = documents.row(number)
        yield PartRow(**row.model_dump(), files=sum(path.startswith(inside) for path in paths))


def _languages(documents: JoinedDocuments) -> list[LanguageShare]:
    files = documents.numbers(Level.FILE)
    found = Counter(language_of_path(documents.id(number)) or "text" for number in files)
    return [LanguageShare(name=name, files=count) for name, count in found.most_common(_LANGUAGES_TOLD)]


def _most_important(documents: JoinedDocuments, *levels: Level, limit: int, tokens: int) -> list[DocumentRow]:
    left_out = np.logical_or.reduce([documents.column(name) for name in ("is_test", "is_vendored", "is_placeholder")])
    numbers = np.array(documents.numbers(*levels), dtype=np.int64)
    numbers = np.sort(numbers[~left_out[numbers]])
    order = np.argsort(-documents.importance[numbers], kind="stable")
    rows = (documents.row(number) for number in numbers[order].tolist())
    return fitting(((each, row_line(each)) for each in rows), limit=limit, tokens=tokens)


def _part_line(part: PartRow) -> str:
    place = "./" if part.id == ROOT_MODULE else part.place
    return f"{place}  {counted(part.files, 'file')}  {part.text}".rstrip()
