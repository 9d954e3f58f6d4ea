"""Who runs a constructor: what creates an object of its class, or of a subclass that has none of its own.

A call of a class is an edge to the class. Whether a subclass inherits the constructor depends on the order of its bases
in some languages: where the constructor may be another base's, the subclass does not count.
"""

import re
from collections.abc import Iterator

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import qualified_parts
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import OF_CLASS, profile_of
from codesum_pipeline.indexes.file_formats.index_files import Uses

# Subclasses that are looked at.
_MOST_HEIRS = 500
# `[K, V]` behind a base, inside of so many others.
_TYPE_ARGUMENTS = re.compile(r"\[[^\[\]]*+\]")
_MOST_NESTED = 4
# Bases that bring no constructor, wherever they are named.
_WITHOUT_CONSTRUCTOR = frozenset({"ABC", "Generic", "Protocol", "object"})


def creators_of(documents: JoinedDocuments, uses: Uses, number: int) -> list[int]:
    """What creates an object by a constructor; nothing for what is none."""
    class_ = constructed_class(documents, number)
    classes = [] if class_ is None else [class_, *_heirs(documents, class_)]
    creators = (user for one in classes if one < len(uses) for user in uses.users_of(one, EdgeKind.CALL))
    return [user for user in dict.fromkeys(creators) if user != number]


def constructed_class(documents: JoinedDocuments, number: int) -> int | None:
    """The class whose constructor a function is; None for any other."""
    found = documents[number]
    parts = qualified_parts(found.id)
    if found.level is not Level.FUNCTION or len(parts) < 2:
        return None
    language = language_of_path(found.path) or ""
    if parts[-1] not in _names(language, parts[-2]):
        return None
    owner = int(documents.parents[number])
    if owner != NOTHING and documents[owner].level is Level.CLASS:
        return owner
    # Its body may be in another file than the class.
    classes = [one for one in documents.named(".".join(parts[:-1])) if documents[one].level is Level.CLASS]
    return classes[0] if len(classes) == 1 else None


def constructors_of(documents: JoinedDocuments, class_: int) -> list[int]:
    """The constructors that a class has itself."""
    parts, language = qualified_parts(documents[class_].id), language_of_path(documents[class_].path) or ""
    named = (one for name in _names(language, parts[-1]) for one in documents.named(".".join([*parts, name])))
    return sorted(one for one in named if constructed_class(documents, one) == class_)


def _names(language: str, class_: str) -> list[str]:
    return sorted(class_ if name == OF_CLASS else name for name in profile_of(language).constructors)


def _heirs(documents: JoinedDocuments, class_: int) -> Iterator[int]:
    """The subclasses, at any depth, whose objects are made by the constructor of a class."""
    seen, waiting = {class_}, [class_]
    while waiting and len(seen) < _MOST_HEIRS:
        base = waiting.pop()
        users = documents.uses.users_of(base, EdgeKind.INHERIT) if base < len(documents.uses) else []
        for heir in users:
            if heir in seen or documents[heir].level is not Level.CLASS:
                continue
            seen.add(heir)
            if not constructors_of(documents, heir) and _is_first_base(documents, heir, base):
                waiting.append(heir)
                yield heir


def _is_first_base(documents: JoinedDocuments, heir: int, base: int) -> bool:
    """Whether a class inherits from another before all others; only Python's classes have several constructors above
    of which one runs."""
    if language_of_path(documents[heir].path) != "python":
        return True
    signature = str(documents[heir].document()["signature"] or "")
    for _ in range(_MOST_NESTED):
        signature = _TYPE_ARGUMENTS.sub("", signature)
    listed = (one.strip() for one in signature.partition("(")[2].split(","))
    telling = (name for name in listed if name.rpartition(".")[2].rstrip("):") not in _WITHOUT_CONSTRUCTOR)
    return next(telling, "").rpartition(".")[2].rstrip("):") == own_name(documents[base].id)
