"""Answers as text for agents: a header once, then rows `path:line  kind  one line`.

Nothing of a repository can pass for a line of ours: what a row says is on one
line, without what acts on a terminal.
"""

from collections.abc import Iterable, Iterator, Sequence

from codesum_pipeline.model.printable import clean
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow

_INDENT = "    "


def row_line(row: DocumentRow, *, several: bool = False) -> str:
    """`several` repositories are named."""
    repo = f"{row.repo}  " if several else ""
    changed = "  (changed since)" if row.changed_since else ""
    return f"{repo}{row.place}  {row.kind}  {row.text}".rstrip() + changed


def several_repositories(rows: Iterable[DocumentRow]) -> bool:
    return len({row.repo for row in rows}) > 1


def with_frame(page: AnswerPage, lines: Iterable[str], *, what: str) -> str:
    """The lines between what they stand for and where to go on."""
    return "\n".join([*_head(page), *lines, *_foot(page, what)])


def numbered(lines: Sequence[str], first: int) -> Iterator[str]:
    """Lines of a source behind their numbers; each stays one line."""
    for number, line in enumerate(lines, start=first):
        yield f"{number}\t{clean(line).replace(chr(10), ' ')}".rstrip()


def indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"{_INDENT}{line}" for line in lines)


def _head(page: AnswerPage) -> Iterator[str]:
    if page.as_of:
        yield f"as of: {'; '.join(map(str, page.as_of))}"
    yield from (f"note: {clean(note).replace(chr(10), ' ')}" for note in page.notes)


def _foot(page: AnswerPage, what: str) -> Iterator[str]:
    if page.next is None and page.total in (None, page.shown):
        return
    of = "" if page.total is None else f" of {page.total:,}"
    more = f"; more with cursor={page.next}" if page.next else ""
    yield f"shown {page.shown:,}{of} {what}{more}"
