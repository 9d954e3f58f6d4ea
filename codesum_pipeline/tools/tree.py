"""The folders of a repository, one in another: for people, who find their way by them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.tools.answers import AnswerPage, Arguments, DocumentRow, Name, counted
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import NOTHING, JoinedDocuments
from codesum_pipeline.tools.facts import one_index


class TreeArguments(Arguments):
    """Of which repository, and how many folders at most."""

    repo: Name = ""
    limit: int = Field(ge=1, le=5000)


class Folder(DocumentRow):
    """A folder, how many files are directly in it, and how deep it is; what it holds follows it."""

    depth: int
    files: int


class TreePage(AnswerPage):
    """Folders in the order of a listing, each before what is in it."""

    folders: list[Folder] = []


def folder_tree(call: ToolContext, asked: TreeArguments) -> TreePage:
    """Where there are more folders than `limit`, the deepest are left out, and this is told."""
    documents = call.documents(one_index(call, asked.repo).repo)
    modules = documents.numbers(Level.MODULE)
    inside: dict[int, list[int]] = defaultdict(list)
    for number in modules:
        inside[int(documents.parents[number])].append(number)
    counts = Counter(int(documents.parents[number]) for number in documents.numbers(Level.FILE))
    every = list(_in_order(documents, inside, NOTHING, 0))
    shown = every
    if len(every) > asked.limit:
        shown = sorted(every, key=lambda each: each[1])[: asked.limit]
        call.tell(f"{counted(len(every) - len(shown), 'deeper folder')} left out")
        kept = {number for number, _ in shown}
        shown = [each for each in every if each[0] in kept]
    return TreePage(
        as_of=call.as_of([documents.repo]),
        notes=call.notes,
        shown=len(shown),
        total=len(modules),
        folders=[
            Folder(**documents.row(number).model_dump(), depth=depth, files=counts[number]) for number, depth in shown
        ],
    )


def _in_order(
    documents: JoinedDocuments, inside: Mapping[int, Sequence[int]], number: int, depth: int
) -> Iterator[tuple[int, int]]:
    for child in sorted(inside.get(number, ()), key=documents.id):
        yield child, depth
        yield from _in_order(documents, inside, child, depth + 1)
