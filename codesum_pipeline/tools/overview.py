"""`overview`, also named `get_codebase_overview`: what a repository is, its parts, and where to begin reading.

Folders and most used code are those of the tree. The README's opening, frameworks and entry points are those of the
commit, and are left out where the build's facts are of another version.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.source.languages import language_of_path
from codesum_pipeline.tools.answers import (
    AnswerPage,
    BoundedArguments,
    DocumentRow,
    Name,
    fitting,
    place_of,
    section,
    shortened,
)
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import NOTHING, JoinedDocuments
from codesum_pipeline.tools.facts import FrameworkEntry, findings_of, read_facts

_LANGUAGES_TOLD = 8
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
        return f"{place}  {counted(self.files, 'file')}  {self.text}".rstrip()


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

    def text(self) -> str:
        place = f"  ({self.summary_place})" if self.summary_place else ""
        lines = [f"{self.repo}: {self.summary}{place}"]
        if self.languages:
            languages = ", ".join(f"{each.name} {counted(each.files, 'file')}" for each in self.languages)
            lines.append(f"languages: {languages}")
        lines += section("parts", map(PartRow.line, self.parts))
        lines += section("frameworks, tools and entry points", map(FrameworkEntry.line, self.frameworks))
        lines += section("most used files", map(DocumentRow.line, self.files))
        lines += section("most used definitions", map(DocumentRow.line, self.symbols))
        return self.framed(lines, what="rows")


def overview(call: ToolContext, asked: OverviewArguments) -> OverviewPage:
    """Answer with four parts, an even share of the room each."""
    index = call.one_index(asked.repo)
    documents, facts = call.documents(index.repo), read_facts(call, index)
    bounds = {"limit": asked.limit, "tokens": asked.tokens // _PARTS}
    tops = (number for number in documents.numbers(Level.MODULE) if documents.parents[number] == NOTHING)
    root = next(tops, None)
    summary = one_line(documents[root].document()["summary"]) if root is not None else ""
    opening = facts["opening"] if facts else {}
    files = documents.numbers(Level.FILE)
    found = Counter(language_of_path(documents[number].id) or "text" for number in files)
    return OverviewPage(
        as_of=call.as_of([index.repo]),
        repo=index.repo,
        summary=shortened(one_line(opening.get("text") or summary), most=_LONGEST_OPENING),
        summary_place=place_of(opening["path"], opening["line"]) if opening.get("path") else "",
        languages=[LanguageShare(name=name, files=count) for name, count in found.most_common(_LANGUAGES_TOLD)],
        parts=fitting(_parts(documents, root) if root is not None else (), PartRow.line, **bounds),
        frameworks=fitting(findings_of(facts), FrameworkEntry.line, **bounds),
        files=fitting(_most_important(documents, Level.FILE), DocumentRow.line, **bounds),
        symbols=fitting(_most_important(documents, Level.CLASS, Level.FUNCTION), DocumentRow.line, **bounds),
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
    """The documents of some levels, most important first, without tests, copies of others' code and placeholders."""
    left_out = np.logical_or.reduce([documents.column(name) for name in ("is_test", "is_vendored", "is_placeholder")])
    numbers = np.array(documents.numbers(*levels), dtype=np.int64)
    numbers = np.sort(numbers[~left_out[numbers]])
    order = np.argsort(-documents.importance[numbers], kind="stable")
    return map(documents.row, numbers[order].tolist())


class Folder(DocumentRow):
    """A folder, the number of files directly in it, and its depth; its subfolders follow it."""

    depth: int
    files: int


class TreePage(AnswerPage):
    """Folders in the order of a listing, each before its subfolders."""

    folders: list[Folder] = []


def folder_tree(call: ToolContext, repo: str, *, limit: int) -> TreePage:
    """The folders of a repository, for people; of more than `limit`, the deepest are left out, with a note."""
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
        call.tell(f"{counted(len(every) - len(shown), 'deeper folder')} left out")
        kept = {number for number, _ in shown}
        shown = [each for each in every if each[0] in kept]
    return TreePage(
        as_of=call.as_of([documents.repo]),
        shown=len(shown),
        total=len(modules),
        folders=[Folder.of(documents[number], depth=depth, files=counts[number]) for number, depth in shown],
    )


def _in_order(
    documents: JoinedDocuments, inside: Mapping[int, Sequence[int]], number: int, depth: int
) -> Iterator[tuple[int, int]]:
    for child in sorted(inside.get(number, ()), key=lambda each: documents[each].id):
        yield child, depth
        yield from _in_order(documents, inside, child, depth + 1)
