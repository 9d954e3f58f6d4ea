"""The method of a base, interface, trait or protocol that a method overrides or implements.

It is the nearest method with the same name in what its class is built on. Where the language's rules leave a doubt, as
for private methods, overloads with other parameters, and methods that are not marked as virtual, none is given.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import CONSTRUCTORS
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.texts.summaries.purposes import Purpose, purpose_of

# A hierarchy is followed so far, and so many of its types are looked at.
_MOST_STEPS = 6
_MOST_BASES = 30
_WORD = re.compile(r"@?\w+")
# Words of the heads of types and methods without bodies, of what is overridden, and of what never is.
_PROMISING_TYPES = frozenset({"interface", "trait", "protocol"})
_PROMISES = frozenset({"abstract", "@callback"})
_PURE = re.compile(r"=\s*0\s*$")
_VIRTUAL = frozenset({"virtual", "abstract", "override", "final"})
_OWN_ALONE = frozenset({"static", "private"})


class OverriddenMethod(Struct, frozen=True):
    """The method above, and the words of its author; `is_promise` where it has no body to be replaced."""

    name: str
    purpose: Purpose
    is_promise: bool


def overridden_by(documents: JoinedDocuments, number: int) -> OverriddenMethod | None:
    """The nearest overridden or implemented method whose author says what it does."""
    owner, name = int(documents.parents[number]), _name(documents[number].id)
    if owner == NOTHING or documents[owner].level is not Level.CLASS or name in CONSTRUCTORS or _is_mangled(name):
        return None
    method = documents[number].document()
    if _OWN_ALONE.intersection(_head(method)):
        return None
    is_overloaded = has_trait(method["language"], Trait.OVERLOADS) and len(_named(documents, owner, name)) > 1
    for above, base in _methods_above(documents, owner, name):
        purpose = purpose_of(above)
        if purpose and purpose.is_authors and _overrides(method, above, base, is_overloaded=is_overloaded):
            return OverriddenMethod(above["qualified_name"], purpose, _is_promise(above, base))
    return None


def _methods_above(
    documents: JoinedDocuments, owner: int, name: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The methods of a name in all that a class is built on, nearest first, each with its class."""
    for base in related_documents(documents, owner, Relation.BASES, depth=_MOST_STEPS)[:_MOST_BASES]:
        functions = _named(documents, base.number, name)
        base_document = documents[base.number].document() if functions else {}
        yield from ((documents[one].document(), base_document) for one in functions)


def _named(documents: JoinedDocuments, owner: int, name: str) -> list[int]:
    """The methods of a class that have a name."""
    members = documents.children(owner)
    return [one for one in members if _name(documents[one].id) == name and documents[one].level is Level.FUNCTION]


def _overrides(method: dict[str, Any], above: dict[str, Any], base: dict[str, Any], *, is_overloaded: bool) -> bool:
    """Whether the rules of the language let one method override the other."""
    language = method["language"]
    if _OWN_ALONE.intersection(_head(above)):
        return False
    own, others = _parameters(method), _parameters(above)
    if has_trait(language, Trait.OVERLOADS) and len(own) != len(others):
        return False
    if is_overloaded and [*map(_type, own)] != [*map(_type, others)]:
        return False
    if has_trait(language, Trait.MARKED_OVERRIDES):
        return "override" in _head(method) or "interface" in _head(base)
    return not has_trait(language, Trait.VIRTUAL_METHODS) or bool(_VIRTUAL.intersection(_head(method) + _head(above)))


def _is_promise(above: dict[str, Any], base: dict[str, Any]) -> bool:
    is_promised = bool(_PROMISING_TYPES.intersection(_head(base)) or _PROMISES.intersection(_head(above)))
    return (
        is_promised or has_trait(base["language"], Trait.TYPE_CLASSES) or bool(_PURE.search(above["signature"] or ""))
    )


def _head(document: dict[str, Any]) -> list[str]:
    """The words of a signature without those in its brackets, and those behind them."""
    before, _, rest = (document["signature"] or "").partition("(")
    return _WORD.findall(f"{before} {rest.rpartition(')')[2]}")


def _parameters(document: dict[str, Any]) -> list[str]:
    """The parameters of a signature as it has them."""
    _, is_there, rest = (document["signature"] or "").partition("(")
    depth, found = 0, [""]
    for sign in rest if is_there else "":
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(sign, 0)
        if depth < 0 and sign == ")":
            break
        found = [*found, ""] if sign == "," and depth == 0 else [*found[:-1], found[-1] + sign]
    return [each.strip() for each in found if each.strip()]


def _type(parameter: str) -> str:
    """The type of a parameter, before its name or behind a colon."""
    before, is_behind, behind = parameter.partition(":")
    return behind.strip() if is_behind else before.rpartition(" ")[0].removeprefix("final ").strip()


def _name(id_: str) -> str:
    return without_suffix(id_).rpartition(SEPARATOR)[2]


def _is_mangled(name: str) -> bool:
    """Whether a name is private by its form, as Python's `__x` and JavaScript's `#x`."""
    return name.startswith("#") or (name.startswith("__") and not name.endswith("__")) or name == "__init__"
