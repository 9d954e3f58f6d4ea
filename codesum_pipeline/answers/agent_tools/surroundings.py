"""The neighbours of one document: what it is part of and holds, uses, and is used by. The command line shows as many
as fit."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.constructors import constructed_class
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.relations import Relation, external_names, related_documents
from codesum_pipeline.answers.agent_tools.tool_answers import tokens_of
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text, some_of
from codesum_pipeline.indexes.file_formats.index_files import KINDS


class RelatedDocument(Struct, frozen=True):
    """A neighbour and its purpose; `trusted` where a compiler's index confirms that it uses or is used."""

    id: str
    type: str
    summary: str
    trusted: bool = False


class DocumentRelations(Struct, frozen=True, omit_defaults=True):
    """The neighbours of a document: parents nearest first, up to the root module; children by level, then by id.
    `dependencies` are the names that the document uses, external ones too. `more` counts what is left out."""

    parents: tuple[RelatedDocument, ...]
    children: tuple[RelatedDocument, ...]
    called_by: tuple[RelatedDocument, ...]
    referenced_by: tuple[RelatedDocument, ...]
    calls: tuple[RelatedDocument, ...]
    dependencies: tuple[str, ...]
    more: Mapping[str, int] = field(default_factory=dict)


# In the order in which they are shown where only some fit.
_PARTS = ("parents", "called_by", "referenced_by", "calls", "children", "dependencies")
# A reader looks through no more of each part.
_MOST_OF_PART = 5
# A neighbour's summary is a pointer: whoever wants more reads the neighbour.
_SUMMARY_CHARACTERS = 120
# Behind what is trusted, and the line that explains it.
TRUST_MARK = "✓"
TRUST_LEGEND = f"{TRUST_MARK} confirmed by a compiler's index"
# As many callers and callees as a document names by default.
_MOST_NEIGHBOURS = 5
# Names in a line for agents.
_MOST_NAMES = 6
_USERS_NAMED = 3


def bound_surroundings(relations: DocumentRelations, *, tokens: int) -> tuple[DocumentRelations, int]:
    """The first neighbours of each part in turn, as many as fit, and the number of tokens left."""
    waiting = {name: [*getattr(relations, name)] for name in _PARTS}
    kept: dict[str, list[RelatedDocument | str]] = {name: [] for name in _PARTS}
    for place in range(_MOST_OF_PART):
        for name in _PARTS:
            if place < len(waiting[name]) and len(kept[name]) == place:
                each = waiting[name][place]
                if isinstance(each, RelatedDocument):
                    each = replace(each, summary=shorten_text(each.summary, most=_SUMMARY_CHARACTERS))
                price = tokens_of(f"{json.dumps(to_builtins(each), ensure_ascii=False)}, ")
                if price <= tokens:
                    kept[name].append(each)
                    tokens -= price
    unknown = relations.more
    more = {name: left for name in _PARTS if (left := len(waiting[name]) - len(kept[name]) + unknown.get(name, 0))}
    first: dict[str, Any] = {name: tuple(some) for name, some in kept.items()}
    return DocumentRelations(**first, more=more), tokens


def surroundings_of(documents: JoinedDocuments, number: int) -> DocumentRelations:
    """The neighbours of a document, of users and callees a few. In an index, callers and callees are those that the
    document names, a sample of many; those of a constructor, and all in a work tree that differs from its index, are
    computed from the graph."""
    document, level = documents[number].document(), documents[number].level
    is_place = level in (Level.FILE, Level.MODULE)
    users = _others(documents, number, Relation.IMPORTED_BY if is_place else Relation.CALLERS)
    referring = _others(documents, number, Relation.REFERENCED_BY)
    called_by, dependencies = _first(documents, users), document["dependencies"]
    if documents.is_one_index:
        trusted_users, used = _confirmed(documents, number)
        if constructed_class(documents, number) is None:
            named = map(documents.number, document["context"]["called_by"])
            called_by = neighbours_of(documents, named, trusted=trusted_users)
        calls = neighbours_of(documents, map(documents.number, document["context"]["calls"]), trusted=used)
    else:
        calls = _first(documents, _others(documents, number, Relation.IMPORTS if is_place else Relation.CALLEES))
        known = {name for name in dependencies if documents.number(name) is not None}
        dependencies = sorted({*known, *external_names(documents, number)})
    referenced_by = _first(documents, referring)
    # The users of a folder are folders.
    left = {
        "called_by": 0 if level is Level.MODULE else len(users) - len(called_by),
        "referenced_by": len(referring) - len(referenced_by),
    }
    return DocumentRelations(
        parents=neighbours_of(
            documents, (each.number for each in related_documents(documents, number, Relation.PART_OF))
        ),
        children=neighbours_of(documents, documents.children(number)),
        called_by=called_by,
        referenced_by=referenced_by,
        calls=calls,
        dependencies=tuple(dependencies),
        more={name: count for name, count in left.items() if count > 0},
    )


def called_names(documents: JoinedDocuments, number: int) -> list[str]:
    """The qualified names of what a function calls in the repository, as its document or the graph has them."""
    if documents.is_one_index:
        return _names(documents[number].document()["context"]["calls"])
    return _names_of(documents, number, Relation.CALLEES)


def names_of_callers(documents: JoinedDocuments, number: int) -> list[str]:
    """The qualified names of the functions that call a function."""
    if documents.is_one_index and constructed_class(documents, number) is None:
        return _names(documents[number].document()["context"]["called_by"])
    return _names_of(documents, number, Relation.CALLERS)


def names_of_referring(documents: JoinedDocuments, number: int) -> list[str]:
    """The qualified names of what refers to a function and does not call it."""
    return _names_of(documents, number, Relation.REFERENCED_BY)


# The facts that `users_line` gives.
USERS_FACTS = ("called by", "referenced by")


def users_line(documents: JoinedDocuments, number: int) -> dict[str, list[str]]:
    """Who calls a function or class, `A, B and 3 more`, or else who refers to it; those of tests last."""
    for relation, words in zip((Relation.CALLERS, Relation.REFERENCED_BY), USERS_FACTS, strict=True):
        found = [each.number for each in related_documents(documents, number, relation)]
        if found:
            found.sort(key=lambda user: bool(documents[user].index.arrays["is_test"][documents[user].row]))
            ids = (documents[user].id for user in found)
            names = dict.fromkeys(_qualified_name(id_) or one_line(id_) for id_ in ids)
            return {words: [some_of([*names], _USERS_NAMED)]}
    return {USERS_FACTS[0]: ["nobody known"]}


def _names_of(documents: JoinedDocuments, number: int, relation: Relation) -> list[str]:
    return _names(documents[each.number].id for each in related_documents(documents, number, relation))


def _names(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(_qualified_name, ids))))[:_MOST_NAMES]


def _qualified_name(id_: str) -> str:
    return one_line(without_suffix(id_).partition(SEPARATOR)[2].replace(SEPARATOR, "."))


def _others(documents: JoinedDocuments, number: int, relation: Relation) -> dict[int, bool]:
    """The documents in a relation to a document, nearest first, and whether each is trusted; for a class, also to its
    members."""
    is_class = documents[number].level is Level.CLASS
    inside = [number, *(documents.children(number) if is_class else ())]
    found: dict[int, bool] = {}
    for each in (other for one in inside for other in related_documents(documents, one, relation)):
        if each.number not in inside:
            found[each.number] = each.trusted or found.get(each.number, False)
    return found


def _first(documents: JoinedDocuments, found: Mapping[int, bool]) -> tuple[RelatedDocument, ...]:
    others = [*found][:_MOST_NEIGHBOURS]
    return neighbours_of(documents, others, trusted=[other for other in others if found[other]])


def _confirmed(documents: JoinedDocuments, number: int) -> tuple[Collection[int], Collection[int]]:
    """The confirmed users and used documents of a document and its members, with the folders of their files."""
    uses, level = documents.confirmed_uses, documents[number].level
    if not len(uses.users):
        return (), ()
    inside = [number]
    if level is Level.MODULE:
        inside = [one for one in documents.children(number) if documents[one].level is Level.FILE]
    for one in inside if level is Level.CLASS else ():
        inside += documents.children(one)
    inside = [one for one in inside if one < len(uses)]
    users = {user for one in inside for kind in KINDS for user in uses.users_of(one, kind)}
    used = {one for kind in KINDS for one in uses.used_by_any(inside, kind)}
    folder_of = documents.parents[documents.files].tolist()
    return {*users, *(folder_of[user] for user in users)}, {*used, *(folder_of[one] for one in used)}


def neighbours_of(
    documents: JoinedDocuments, numbers: Iterable[int | None], *, trusted: Collection[int] = ()
) -> tuple[RelatedDocument, ...]:
    """Documents with what each is for."""
    found = ((number in trusted, documents[number].document()) for number in numbers if number is not None)
    return tuple(RelatedDocument(each["id"], each["type"], each["summary"], is_trusted) for is_trusted, each in found)
