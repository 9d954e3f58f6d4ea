"""The relations of a document: its parents and members, users, used documents, and similar ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.uses import Uses
from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.tools.documents import NOTHING, JoinedDocuments

# A chain of users is followed no further.
_MOST_FOLLOWED = 5000
_MOST_SIMILAR = 50


class Relation(StrEnum):
    """The relations between documents."""

    PART_OF = "part_of"
    MEMBERS = "members"
    CALLERS = "callers"
    CALLEES = "callees"
    BASES = "bases"
    SUBCLASSES = "subclasses"
    IMPORTS = "imports"
    IMPORTED_BY = "imported_by"
    SIMILAR = "similar"


OF_SYMBOLS = (
    Relation.PART_OF, Relation.MEMBERS, Relation.CALLERS, Relation.CALLEES, Relation.BASES, Relation.SUBCLASSES,
)  # fmt: skip
OF_FILES = (Relation.PART_OF, Relation.MEMBERS, Relation.IMPORTS, Relation.IMPORTED_BY)


class RelatedNumber(Struct, frozen=True):
    """The number of a related document, and the number of steps to it; `trusted` where a compiler's index confirms each
    step of some way to it."""

    number: int
    distance: int = 1
    trusted: bool = False


def related_documents(
    documents: JoinedDocuments, number: int, relation: Relation, *, depth: int = 1
) -> list[RelatedNumber]:
    """The documents in a relation to one, nearest first, then most important first; parents from the inside out."""
    if relation is Relation.PART_OF:
        return [RelatedNumber(above, steps) for steps, above in enumerate(_above(documents, number), start=1)]
    if relation is Relation.MEMBERS:
        return [RelatedNumber(child) for child in documents.children(number)]
    if relation is Relation.SIMILAR:
        return [RelatedNumber(other) for other in documents.similar(number, most=_MOST_SIMILAR)]
    return _followed(documents, number, _STEPS[relation], depth)


def external_names(documents: JoinedDocuments, number: int) -> list[str]:
    """The external names that a document, a file, or the files of a folder use, as the code writes them."""
    is_place = documents[number].level in (Level.FILE, Level.MODULE)
    named = {
        name for each in (_files_of(documents, number) if is_place else [number]) for name in documents.outside(each)
    }
    return sorted(named)


def exports_of(documents: JoinedDocuments, file: int) -> list[tuple[int, int]]:
    """The definitions of a file that other files use, with the number of using documents, most used first."""
    found = []
    for number in documents.inside_file(file):
        users = (
            {user for kind in EdgeKind for user in _users(documents, documents.uses, [number], kind)}
            if number != file
            else set()
        )
        outside = sum(documents.files[user] != file for user in users)
        if outside:
            found.append((number, int(outside)))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def definitions(documents: JoinedDocuments, file: int) -> list[int]:
    """The functions and classes of a file in the order of its lines."""
    inside = [number for number in documents.inside_file(file) if number != file]
    return sorted(inside, key=lambda number: (documents.row(number).start_line or 0, number))


def _above(documents: JoinedDocuments, number: int) -> Iterator[int]:
    while (number := int(documents.parents[number])) != NOTHING:
        yield number


def _followed(documents: JoinedDocuments, number: int, step: "_Step", depth: int) -> list[RelatedNumber]:
    """Follow a step breadth first, each document once, without the files of the folder where it begins."""
    begin = _files_of(documents, number) if documents[number].level is Level.MODULE else [number]
    seen, frontier, found = {number, *begin}, begin, list[RelatedNumber]()
    trusted = {*begin} if len(documents.confirmed_uses.users) else set()
    for distance in range(1, depth + 1):
        checkpoint()
        trusted = {*step(documents, documents.confirmed_uses, [other for other in frontier if other in trusted])}
        frontier = [other for other in dict.fromkeys(step(documents, documents.uses, frontier)) if other not in seen]
        frontier.sort(key=lambda other: (-documents.importance[other], other))
        found += [RelatedNumber(other, distance, other in trusted) for other in frontier]
        seen.update(frontier)
        if not frontier or len(found) > _MOST_FOLLOWED:
            break
    return found


def _files_of(documents: JoinedDocuments, number: int) -> list[int]:
    """A file, or all files below a folder."""
    if documents[number].level is Level.FILE:
        return [number]
    folder = documents[number].id
    inside = "" if folder == ROOT_MODULE else f"{folder}/"
    return [file for file in documents.numbers(Level.FILE) if documents[file].id.startswith(inside)]


def _users(documents: JoinedDocuments, uses: Uses, numbers: Iterable[int], kind: EdgeKind) -> list[int]:
    return [user for each in numbers if each < len(uses) for user in uses.users_of(each, kind)]


def _used(documents: JoinedDocuments, uses: Uses, numbers: Sequence[int], kind: EdgeKind) -> list[int]:
    return uses.used_by_any(numbers, kind)


def _with_definitions(documents: JoinedDocuments, files: Sequence[int]) -> list[int]:
    """Files and their definitions: an import may name either."""
    inside = np.isin(documents.files, np.array(files, dtype=np.int64))
    return sorted({*files, *np.flatnonzero(inside).tolist()})


def _as_files(documents: JoinedDocuments, numbers: Iterable[int]) -> list[int]:
    """The files of documents; a file's is itself."""
    files = documents.files
    return list(dict.fromkeys(int(files[each]) if files[each] != NOTHING else each for each in numbers))


def _imports(documents: JoinedDocuments, uses: Uses, numbers: Sequence[int]) -> list[int]:
    return _as_files(documents, _used(documents, uses, _with_definitions(documents, numbers), EdgeKind.IMPORT))


def _imported_by(documents: JoinedDocuments, uses: Uses, numbers: Sequence[int]) -> list[int]:
    return _as_files(documents, _users(documents, uses, _with_definitions(documents, numbers), EdgeKind.IMPORT))


_Step = Callable[[JoinedDocuments, Uses, Sequence[int]], list[int]]
_STEPS: Mapping[Relation, _Step] = {
    Relation.CALLERS: partial(_users, kind=EdgeKind.CALL),
    Relation.CALLEES: partial(_used, kind=EdgeKind.CALL),
    Relation.BASES: partial(_used, kind=EdgeKind.INHERIT),
    Relation.SUBCLASSES: partial(_users, kind=EdgeKind.INHERIT),
    Relation.IMPORTS: _imports,
    Relation.IMPORTED_BY: _imported_by,
}
