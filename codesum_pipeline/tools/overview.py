"""`overview`, by another name `get_codebase_overview`: what a repository is, its parts, where to begin reading.

Folders and what is used most are read from the index; what the build found out beside (the README's opening,
frameworks, entry points) comes where it is of the same version.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.languages import language_of_path
from codesum_pipeline.tools.answers import BoundedArguments, Name, Page, Row, counted, place_of, row_of, shortened
from codesum_pipeline.tools.call import Call
from codesum_pipeline.tools.facts import one_index, read_facts
from codesum_pipeline.tools.frameworks import Finding, finding_line, findings_of
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


class PartRow(Row):
    """A folder, and how many files are below it."""

    files: int


class Kind(BaseModel):
    """A language, and in how many files it is written."""

    name: str
    files: int


class OverviewPage(Page):
    """A repository: what it says of itself, its folders, its most used files and definitions."""

    repo: str
    summary: str
    summary_place: str = ""
    languages: list[Kind] = []
    frameworks: list[Finding] = []
    parts: list[PartRow] = []
    files: list[Row] = []
    symbols: list[Row] = []


def overview(call: Call, asked: OverviewArguments) -> OverviewPage:
    """Tests and copies of others' code are no place to begin."""
    index = one_index(call, asked.repo)
    facts = read_facts(call, index)
    share = asked.tokens // _PARTS
    root = _top(index)
    summary = one_line(index.shown.of_row(root)["summary"]) if root is not None else ""
    opening = facts["opening"] if facts else {}
    parts = list(_parts(index, root)) if root is not None else []
    findings = ((each, finding_line(each)) for each in (findings_of(facts) if facts else ()))
    return OverviewPage(
        as_of=call.as_of([index.repo]),
        notes=call.notes,
        repo=index.repo,
        summary=shortened(one_line(opening.get("text") or summary), most=_LONGEST_OPENING),
        summary_place=place_of(opening["path"], opening["line"]) if opening.get("path") else "",
        languages=_languages(index),
        parts=fitting(((each, _part_line(each)) for each in parts), limit=asked.limit, tokens=share),
        frameworks=fitting(findings, limit=asked.limit, tokens=share),
        files=_most_important(index, Level.FILE, limit=asked.limit, tokens=share),
        symbols=_most_important(index, Level.CLASS, Level.FUNCTION, limit=asked.limit, tokens=share),
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


def _top(index: PublishedIndex) -> int | None:
    """The folder that has all others in it, of an entry's subfolder that one; None of an empty index."""
    modules = index.rows_of(Level.MODULE)
    rows = [row for row in range(modules.start, modules.stop) if index.arrays["parent_row"][row] < 0]
    return rows[0] if rows else None


def _parts(index: PublishedIndex, root: int) -> Iterator[PartRow]:
    """The folders of the root; where that holds a single folder and no files, the folders of this one."""
    parents, level = index.arrays["parent_row"], index.rows_of(Level.MODULE)
    children: list[int] = np.flatnonzero(parents == root).tolist()
    folders = [row for row in children if level.start <= row < level.stop]
    if len(folders) == 1 and len(children) == 1:
        yield from _parts(index, folders[0])
        return
    files = index.rows_of(Level.FILE)
    paths = [index.ids[row] for row in range(files.start, files.stop)]
    for row in sorted(folders, key=lambda row: (-index.arrays["importance"][row], row)):
        inside = f"{index.ids[row]}/"
        yield PartRow(**row_of(index, row).model_dump(), files=sum(path.startswith(inside) for path in paths))


def _languages(index: PublishedIndex) -> list[Kind]:
    files = index.rows_of(Level.FILE)
    found = Counter(language_of_path(index.ids[row]) or "text" for row in range(files.start, files.stop))
    return [Kind(name=name, files=count) for name, count in found.most_common(_LANGUAGES_TOLD)]


def _most_important(index: PublishedIndex, *levels: Level, limit: int, tokens: int) -> list[Row]:
    order, _ = index.by_importance
    left_out = index.arrays["is_test"] | index.arrays["is_vendored"] | index.arrays["is_placeholder"]
    rows = (row for row in order.tolist() if index.level_of(row) in levels and not left_out[row])
    return fitting(
        ((each, row_line(each)) for each in (row_of(index, row) for row in rows)), limit=limit, tokens=tokens
    )


def _part_line(part: PartRow) -> str:
    place = "./" if part.id == ROOT_MODULE else part.place
    return f"{place}  {counted(part.files, 'file')}  {part.text}".rstrip()
