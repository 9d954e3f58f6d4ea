"""What stands around a document, as its tree has it."""

from collections.abc import Collection, Iterable

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.surroundings import DocumentRelations, RelatedDocument, surroundings_of
from codesum_pipeline.tools.documents import JoinedDocuments
from codesum_pipeline.tools.relations import Relation, external, related

# Behind what is trusted, and what says once what it means.
TRUST_MARK = "✓"
TRUST_LEGEND = f"{TRUST_MARK} confirmed by a compiler's index"
# As many callers and callees as a document names by default.
_MOST_NEIGHBOURS = 5


def surroundings_in(documents: JoinedDocuments, number: int) -> DocumentRelations:
    """Of an index as it is, what its document names; of a work tree, what its files say."""
    if documents.is_one_index:
        return surroundings_of(*documents.locate(number))
    level = documents.level(number)
    users, used = (
        (Relation.IMPORTED_BY, Relation.IMPORTS)
        if level in (Level.FILE, Level.MODULE)
        else (Relation.CALLERS, Relation.CALLEES)
    )
    inside = [number, *(documents.children(number) if level is Level.CLASS else ())]

    def around(relation: Relation) -> tuple[RelatedDocument, ...]:
        found: dict[int, bool] = {}
        for each in (other for one in inside for other in related(documents, one, relation)):
            found[each.number] = each.trusted or found.get(each.number, False)
        others = [other for other in found if other not in inside][:_MOST_NEIGHBOURS]
        return _neighbours(documents, others, trusted=[other for other in others if found[other]])

    known = [name for name in documents.document(number)["dependencies"] if documents.number(name) is not None]
    return DocumentRelations(
        parents=_neighbours(documents, (each.number for each in related(documents, number, Relation.PART_OF))),
        children=_neighbours(documents, documents.children(number)),
        called_by=around(users),
        calls=around(used),
        dependencies=tuple(sorted({*known, *external(documents, number)})),
    )


def _neighbours(
    documents: JoinedDocuments, numbers: Iterable[int], *, trusted: Collection[int] = ()
) -> tuple[RelatedDocument, ...]:
    found = ((number in trusted, documents.document(number)) for number in numbers)
    return tuple(RelatedDocument(each["id"], each["type"], each["summary"], is_trusted) for is_trusted, each in found)
