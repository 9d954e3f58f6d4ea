"""What `graph` is asked about: a document, or a constant, which has none."""

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.call import ToolContext, documents_meant
from codesum_pipeline.answers.agent_tools.constants import ConstantReader, constants_named
from codesum_pipeline.answers.agent_tools.constructors import constructed_class, constructors_of
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.relations import (
    OF_FILES,
    OF_SYMBOLS,
    RelatedNumber,
    Relation,
    files_of,
    related_documents,
)
from codesum_pipeline.answers.agent_tools.surroundings import TRUST_MARK
from codesum_pipeline.answers.agent_tools.tool_answers import DocumentRow, place_of
from codesum_pipeline.answers.agent_tools.uncounted import uncounted_uses
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text, some_of
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex

EXTERNAL = "external"
_OTHERS_NAMED = 10
_PASSED_ON_NAMED = 3
# `read` shows so many of a constant, of whose end nobody knows.
_LINES_OF_CONSTANT = 10
# A constant is part of its file, and of the folders above.
_OF_CONSTANTS = (Relation.PART_OF, Relation.REFERENCED_BY)
# A related document's number and the steps to it, or the id of a constant.
Related = RelatedNumber | str


class RelatedRow(DocumentRow):
    """`distance` is the number of steps to the document; `trusted` where a compiler's index confirms them."""

    distance: int = 1
    trusted: bool = False

    def line(self, *, with_repo: bool = False) -> str:
        steps = "" if self.distance == 1 else f"({self.distance} steps)  "
        return f"{steps}{super().line(with_repo=with_repo)}{f'  {TRUST_MARK}' if self.trusted else ''}"


class GraphSubject(Struct, frozen=True):
    """A document, or a `constant` by its id, whose file is then the document."""

    reader: ConstantReader
    number: int
    constant: str = ""

    @property
    def documents(self) -> JoinedDocuments:
        return self.reader.documents

    @property
    def row(self) -> DocumentRow:
        return self.reader.row(self.constant) if self.constant else self.documents.row(self.number)

    @property
    def signature(self) -> str:
        return "" if self.constant else str(self.documents[self.number].shown()["signature_summary"] or "")

    @property
    def is_place(self) -> bool:
        return not self.constant and self.documents[self.number].level in (Level.FILE, Level.MODULE)

    @property
    def usual_relations(self) -> Sequence[str]:
        if self.constant:
            return _OF_CONSTANTS
        return [*OF_FILES, EXTERNAL] if self.is_place else OF_SYMBOLS

    def related(self, relation: Relation, depth: int = 1) -> Sequence[Related]:
        """What is in a relation, nearest first; of what is referred to, constants come last."""
        if self.constant:
            return self._related_to_constant(relation)
        if self.is_place and relation in (Relation.REFERENCED_BY, Relation.REFERENCES):
            return self._across(relation)
        found = related_documents(self.documents, self.number, relation, depth=depth)
        return [*found, *self.reader.used_by([self.number])] if relation is Relation.REFERENCES else found

    def related_row(self, related: Related) -> RelatedRow:
        if isinstance(related, str):
            return RelatedRow(**self.reader.row(related).model_dump())
        found = self.documents[related.number]
        return RelatedRow.of(found, distance=related.distance, trusted=related.trusted)

    def not_counted(self, call: ToolContext, *, depth: int) -> list[str]:
        """What the callers and users that an answer shows leave out."""
        if self.constant or self.is_place:
            return uncounted_uses(call, self.documents)
        self._tell_overloads(call)
        passed_on = self._passed_on(depth) if depth > 1 else []
        return [*passed_on, *uncounted_uses(call, self.documents, self.number)]

    def related_numbers(self, relation: Relation) -> list[RelatedNumber]:
        """As `related`, for a relation to documents alone."""
        return [each for each in self.related(relation) if isinstance(each, RelatedNumber)]

    def _related_to_constant(self, relation: Relation) -> list[Related]:
        if relation is Relation.REFERENCED_BY:
            return [RelatedNumber(user) for user in self.reader.users_of(self.constant)]
        above = related_documents(self.documents, self.number, Relation.PART_OF) if relation is Relation.PART_OF else []
        files = [RelatedNumber(self.number)] if relation is Relation.PART_OF else []
        return [*files, *(RelatedNumber(each.number, each.distance + 1) for each in above)]

    def _across(self, relation: Relation) -> list[Related]:
        """What refers to the definitions and constants in a file or folder from elsewhere, or what these refer to."""
        documents, uses = self.documents, self.documents.uses
        files = files_of(documents, self.number)
        inside = np.flatnonzero(np.isin(documents.files, np.array(files, dtype=np.int64))).tolist()
        if relation is Relation.REFERENCES:
            found = {*uses.used_by_any(inside, EdgeKind.REFERENCE)}
            constants = [id_ for id_ in self.reader.used_by(inside) if self.reader.file(id_) not in files]
            return [*map(RelatedNumber, self._ranked(found.difference(inside))), *constants]
        known = (one for one in inside if one < len(uses))
        found = {user for one in known for user in uses.users_of(one, EdgeKind.REFERENCE)}
        for id_ in self.reader.constants_in({documents[file].id for file in files}):
            found.update(self.reader.users_of(id_))
        return [*map(RelatedNumber, self._ranked(found.difference(inside)))]

    def _ranked(self, numbers: Iterable[int]) -> list[int]:
        return sorted(numbers, key=lambda number: (-self.documents.importance[number], number))

    def _tell_overloads(self, call: ToolContext) -> None:
        """Overloads are told apart by arguments, of which an edge to a class knows nothing."""
        class_ = constructed_class(self.documents, self.number)
        own = [] if class_ is None else constructors_of(self.documents, class_)
        names = [own_name(self.documents[one].id) for one in own]
        count = names.count(own_name(self.documents[self.number].id))
        if class_ is not None and count > 1:
            name = self.documents[class_].id
            call.tell(f"{name} has {count} constructors: whoever creates an object is shown at each of them")

    def _passed_on(self, depth: int) -> list[str]:
        """The callers that are handed over as values: what calls them then is no step."""
        documents = self.documents
        reached = [self.number, *(each.number for each in related_documents(
            documents, self.number, Relation.CALLERS, depth=depth - 1
        ))]  # fmt: skip
        passed = [
            documents[one].id
            for one in reached
            if documents[one].level is Level.FUNCTION and documents.uses.users_of(one, EdgeKind.REFERENCE)
        ]
        shown = some_of([*map(one_line, passed)], _PASSED_ON_NAMED)
        return [f"calls of what is handed over as a value: {shown}"] if passed else []


def subject_of(call: ToolContext, found: IndexedDocument) -> GraphSubject:
    documents = call.documents(found.repo)
    return GraphSubject(ConstantReader(documents, call.sources(documents.parts)), documents.number_of(found))


def find_subject(call: ToolContext, text: str, repo: str) -> GraphSubject:
    """The document that a text names, else the constant; a constant that is spelled so comes before what is spelled
    otherwise. Raises `ConfigurationError` where there is neither."""
    return _meant_in_scope(call, text, repo) or subject_of(call, call.find(text, repo))


def constant_place(call: ToolContext, text: str, repo: str) -> str:
    """The first lines of a constant, as `path:first-last`; empty where a text names none."""
    found = _meant_in_scope(call, text, repo)
    line = found.row.start_line if found else None
    return "" if found is None or line is None else place_of(found.row.path, line, line + _LINES_OF_CONSTANT - 1)


def _meant_in_scope(call: ToolContext, text: str, repo: str) -> GraphSubject | None:
    return constant_meant(call, text, call.current([repo] if repo else [])) if text.strip() else None


def constant_meant(call: ToolContext, text: str, indexes: Sequence[PublishedIndex]) -> GraphSubject | None:
    """The constant that a text names where it names no document; of several, the one with most users."""
    constants, last = constants_named(indexes, text), own_name(text).rpartition(".")[2]
    if not constants or any(last in (own_name(each.id), each.id) for each in documents_meant(indexes, text)):
        return None
    subjects = []
    for key, id_ in constants:
        documents = call.documents(key)
        reader = ConstantReader(documents, call.sources(documents.parts))
        if (file := reader.file(id_)) is not None:
            subjects.append(GraphSubject(reader, file, id_))
    best = max(subjects, key=lambda each: len(each.reader.users_of(each.constant)), default=None)
    others = [f"{each.constant} in {each.documents.repo}" for each in subjects if each is not best]
    if others:
        named = some_of(others, _OTHERS_NAMED)
        call.tell(f"{len(subjects)} constants are meant by {shorten_text(text)!r}; also: {named}")
    return best
