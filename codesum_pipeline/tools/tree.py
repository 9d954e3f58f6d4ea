"""The folders of a repository, one in another: for people, who find their way by them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.answers import Arguments, Name, Page, Row, counted, row_of
from codesum_pipeline.tools.call import Call
from codesum_pipeline.tools.facts import one_index


class TreeArguments(Arguments):
    """Of which repository, and how many folders at most."""

    repo: Name = ""
    limit: int = Field(ge=1, le=5000)


class Folder(Row):
    """A folder, how many files are directly in it, and how deep it is; what it holds follows it."""

    depth: int
    files: int


class TreePage(Page):
    """Folders in the order of a listing, each before what is in it."""

    folders: list[Folder] = []


def folder_tree(call: Call, asked: TreeArguments) -> TreePage:
    """Where there are more folders than `limit`, the deepest are left out, and this is told."""
    index = one_index(call, asked.repo)
    parents = index.arrays["parent_row"]
    inside: dict[int, list[int]] = defaultdict(list)
    modules, files = index.rows_of(Level.MODULE), index.rows_of(Level.FILE)
    for row in range(modules.start, modules.stop):
        inside[int(parents[row])].append(row)
    counts = Counter(parents[files.start : files.stop].tolist())
    rows = list(_in_order(index, inside, -1, 0))
    if len(rows) > asked.limit:
        kept = sorted(rows, key=lambda each: each[1])[: asked.limit]
        call.tell(f"{counted(len(rows) - len(kept), 'deeper folder')} left out")
        shown = {row for row, _ in kept}
        rows = [each for each in rows if each[0] in shown]
    return TreePage(
        as_of=call.as_of([index.repo]),
        notes=call.notes,
        shown=len(rows),
        total=modules.stop - modules.start,
        folders=[Folder(**row_of(index, row).model_dump(), depth=depth, files=counts[row]) for row, depth in rows],
    )


def _in_order(
    index: PublishedIndex, inside: Mapping[int, Sequence[int]], row: int, depth: int
) -> Iterator[tuple[int, int]]:
    for child in sorted(inside.get(row, ()), key=lambda each: index.ids[each]):
        yield child, depth
        yield from _in_order(index, inside, child, depth + 1)
