"""The relations between the documents of a repository, and what is reached by following one.

A call of a class is a call of its constructor: who creates an object of a class, or of a subclass that inherits the
constructor, is a caller of it. What is handed over as a value, named as a type, or read as a constant is referred to:
that is a relation of its own, of one step, and no call.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import numpy as np
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.constructors import creators_of
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.indexes.file_formats.index_files import Uses

# A chain of users is followed no further.
_MOST_FOLLOWED = 5000
_MOST_SIMILAR = 50
_MOST_GENERATIONS = 6


class Relation(StrEnum):
    """The relations between documents."""

    PART_OF = "part_of"
    MEMBERS = "members"
    CALLERS = "callers"
    CALLEES = "callees"
    REFERENCED_BY = "referenced_by"
    REFERENCES = "references"
    BASES = "bases"
    SUBCLASSES = "subclasses"
    IMPORTS = "imports"
    IMPORTED_BY = "imported_by"
    SIMILAR = "similar"


OF_SYMBOLS = (
    Relation.PART_OF, Relation.MEMBERS, Relation.CALLERS, Relation.REFERENCED_BY, Relation.CALLEES, Relation.BASES,
    Relation.SUBCLASSES,
)  # fmt: skip
_OF_ONE_STEP = frozenset({Relation.REFERENCED_BY, Relation.REFERENCES})
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
    # Who is handed a function need not call it: whatever uses the user in turn may have nothing to do with it.
    return _followed(documents, number, relation, 1 if relation in _OF_ONE_STEP else depth)


def relatives_of(documents: JoinedDocuments, class_: int) -> list[int]:
    """The bases and the subclasses of a class, over a few steps."""
    related = (
        related_documents(documents, class_, way, depth=_MOST_GENERATIONS)
        for way in (Relation.BASES, Relation.SUBCLASSES)
    )
    return [each.number for found in related for each in found]


def callers_of(documents: JoinedDocuments, uses: Uses, number: int) -> list[int]:
    """What calls a document; of a constructor, what creates an object by it, too."""
    return list(dict.fromkeys([*_users(uses, [number], EdgeKind.CALL), *creators_of(documents, uses, number)]))


def external_names(documents: JoinedDocuments, number: int) -> list[str]:
    """The external names that a document, a file, or the files of a folder use, as the code writes them."""
    is_place = documents[number].level in (Level.FILE, Level.MODULE)
    named = {
        name for each in (files_of(documents, number) if is_place else [number]) for name in documents.outside(each)
    }
    return sorted(named)


def exports_of(documents: JoinedDocuments, file: int) -> list[int]:
    """The definitions of a file that other files use, most used first."""
    counts: dict[int, int] = {}
    for number in documents.inside_file(file):
        users = {user for kind in EdgeKind for user in _users(documents.uses, [number], kind)}
        counts[number] = sum(documents.files[user] != file for user in users) if number != file else 0
    return sorted(filter(counts.get, counts), key=lambda number: (-counts[number], number))


def definitions_in(documents: JoinedDocuments, file: int) -> list[int]:
    """The functions and classes of a file in the order of its lines."""
    inside = [number for number in documents.inside_file(file) if number != file]
    return sorted(inside, key=lambda number: (documents.row(number).start_line or 0, number))


def _above(documents: JoinedDocuments, number: int) -> Iterator[int]:
    while (number := int(documents.parents[number])) != NOTHING:
        yield number


def _followed(documents: JoinedDocuments, number: int, relation: Relation, depth: int) -> list[RelatedNumber]:
    """Follow a step breadth first, each document once, without the files of the folder where it begins."""
    begin = files_of(documents, number) if documents[number].level is Level.MODULE else [number]
    seen, frontier, found = {number, *begin}, begin, list[RelatedNumber]()
    trusted = {*begin} if len(documents.confirmed_uses.users) else set()
    for distance in range(1, depth + 1):
        stop_if_cancelled()
        sure = [other for other in frontier if other in trusted]
        trusted = {*_step(documents, documents.confirmed_uses, sure, relation)}
        found_now = dict.fromkeys(_step(documents, documents.uses, frontier, relation))
        frontier = [other for other in found_now if other not in seen]
        frontier.sort(key=lambda other: (-documents.importance[other], other))
        found += [RelatedNumber(other, distance, other in trusted) for other in frontier]
        seen.update(frontier)
        if not frontier or len(found) > _MOST_FOLLOWED:
            break
    return found


def files_of(documents: JoinedDocuments, number: int) -> list[int]:
    if documents[number].level is Level.FILE:
        return [number]
    folder = documents[number].id
    inside = "" if folder == ROOT_MODULE else f"{folder}/"
    return [file for file in documents.numbers(Level.FILE) if documents[file].id.startswith(inside)]


def _users(uses: Uses, numbers: Iterable[int], kind: EdgeKind) -> list[int]:
    return [user for each in numbers if each < len(uses) for user in uses.users_of(each, kind)]


_KINDS = {
    Relation.CALLERS: (_users, EdgeKind.CALL),
    Relation.CALLEES: (Uses.used_by_any, EdgeKind.CALL),
    Relation.REFERENCED_BY: (_users, EdgeKind.REFERENCE),
    Relation.REFERENCES: (Uses.used_by_any, EdgeKind.REFERENCE),
    Relation.BASES: (Uses.used_by_any, EdgeKind.INHERIT),
    Relation.SUBCLASSES: (_users, EdgeKind.INHERIT),
    Relation.IMPORTS: (Uses.used_by_any, EdgeKind.IMPORT),
    Relation.IMPORTED_BY: (_users, EdgeKind.IMPORT),
}


def _step(documents: JoinedDocuments, uses: Uses, numbers: Sequence[int], relation: Relation) -> list[int]:
    """The users of some documents, or what these use; of an import, the files."""
    look, kind = _KINDS[relation]
    if relation is Relation.CALLERS:
        return [user for one in numbers for user in callers_of(documents, uses, one)]
    if kind is not EdgeKind.IMPORT:
        return look(uses, numbers, kind)
    # An import may name a file or one of its definitions.
    files = documents.files
    inside = np.flatnonzero(np.isin(files, np.array(numbers, dtype=np.int64))).tolist()
    found = look(uses, sorted({*numbers, *inside}), kind)
    return list(dict.fromkeys(int(files[each]) if files[each] != NOTHING else each for each in found))
