"""A record's fields as what they are: a sync store, a list of scrobble items, the texts title and URL."""

import re
from collections import defaultdict
from collections.abc import Sequence

from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_plural, pluralize
from codesum_pipeline.texts.summaries.extractive.type_phrases import (
    NUMBER,
    TEXT,
    TRUTH,
    TypePhrase,
    one_of,
    type_phrase,
)
from codesum_pipeline.texts.summaries.extractive.words import list_first, name_in_words
from codesum_pipeline.texts.summaries.inputs import ClassInput

_MAX_FIELDS, _MAX_READ, _MAX_INNER = 5, 60, 3
_OPTIONAL = re.compile(r"(?<!\w)(\w{1,60})\?\s?:")
_INNER = re.compile(r"(?<!\w)(\w{1,60})\??:")
_OMITTED = re.compile(r"(?:Omit|Exclude)<\s?(\w{1,80})\s?,\s?((?:[\"']\w{1,60}[\"'][ |]{0,3}){1,6})>")
_PARTIAL = re.compile(r"= Partial<|= Pick<")
_ASKING = ("is ", "has ", "should ", "can ")
_GROUPS = {TEXT: "text", NUMBER: "number", TRUTH: "flag"}


def record_of_types(class_: ClassInput, fields: Sequence[str]) -> str:
    """`Holds a sync store, a list of scrobble items and the text service ID (optional)`; "" where no field has a type
    that says more than its name. `fields` are the names of those that are told."""
    typed = _typed(class_)
    told = [name for name in dict.fromkeys(fields) if name in typed]
    if not told or len(told) * 2 < len(fields):
        return ""
    optional = set(_OPTIONAL.findall(class_.own_source)) if class_.own_source else set()
    phrases: list[str] = []
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in told:
        type_ = typed[name]
        spoken = name_in_words(name).removeprefix("m ")
        mark = " (optional)" if name in optional or (isinstance(type_, TypePhrase) and type_.is_optional) else ""
        if isinstance(type_, str):
            phrases.append(f"{spoken}{type_}")
        elif type_ is None:
            groups["flag" if spoken.startswith(_ASKING) else ""].append(f"{spoken}{mark}")
        elif type_.is_basic:
            groups[_GROUPS[type_.said]].append(f"{spoken}{mark}")
        else:
            phrases.append(_phrase(spoken, type_, mark))
    if not phrases and set(groups) <= {""}:
        return ""
    return _joined(phrases, groups, len(told), class_)


def _joined(phrases: Sequence[str], groups: dict[str, list[str]], count: int, class_: ClassInput) -> str:
    """The phrases, then those that are grouped; of many fields the first."""
    room = _MAX_FIELDS - len(phrases[:_MAX_FIELDS])
    parts = [*phrases[:_MAX_FIELDS]]
    for kind in ("number", "text", "flag", ""):
        names = groups.get(kind, [])[: max(room, 0)]
        room -= len(names)
        if names:
            lead = f"the {kind if len(names) == 1 else f'{kind}s'} " if kind else "the "
            parts.append(f"{lead}{_and(names)}")
    told = min(len(phrases), _MAX_FIELDS) + (_MAX_FIELDS - len(phrases[:_MAX_FIELDS]) - max(room, 0))
    are_all = len(class_.fields) < _MAX_READ
    if count > told:
        parts.append(f"{count - told} more" if are_all else "more")
    return f"{_lead(class_)} {_and(parts, ' and ' if not any(' and ' in part for part in parts) else ', and ')}"


def _lead(class_: ClassInput) -> str:
    """`Holds`, or what it is made from: `A storage values options V2 without streaming services, with`."""
    if omitted := _OMITTED.search(class_.own_source[:400]):
        names = _INNER_NAMES.findall(omitted[2])
        return f"Is {one_of(name_in_words(omitted[1]))} without {_and([name_in_words(one) for one in names])}, with"
    return "Holds"


_INNER_NAMES = re.compile(r"\w+")


def _and(parts: Sequence[str], last: str = " and ") -> str:
    return f"{', '.join(parts[:-1])}{last}{parts[-1]}" if len(parts) > 1 else "".join(parts)


def _typed(class_: ClassInput) -> dict[str, TypePhrase | str | None]:
    """By name the types of fields; of a record that is written within, the names in it; what it holds is left out."""
    follows = has_trait(class_.language, Trait.TYPE_FOLLOWS_NAME)
    found: dict[str, TypePhrase | str | None] = {}
    within: set[str] = set()
    for field in class_.fields[:_MAX_READ]:
        name, sign, written = field.partition(" " if follows else ":")
        name, written = name.strip().strip("@$*&"), written.strip()
        if field in within or not sign:
            continue
        if written.startswith("{"):
            inner = [one for one in _INNER.findall(written[:400]) if one != name]
            within.update(part.strip(" {};").replace("?:", ":") for part in re.split(r"[;{}]", written[:2000]))
            names = list_first([name_in_words(one) for one in inner], _MAX_INNER)
            found.setdefault(name, f" ({names})" if names else None)
        else:
            found.setdefault(name, type_phrase(written))
    return found


def _phrase(spoken: str, type_: TypePhrase, mark: str) -> str:
    """`a sync store` of what is called store, `a list of scrobble items` of items, else both names."""
    name, kind = spoken.lower().split(" "), type_.said.lower().split(" ")
    if type_.shape == "callback":
        return f"a callback ({spoken}{', optional' if mark else ''})"
    if type_.shape == "choice":
        return f"the {spoken} {type_.said}{mark}"
    if type_.shape == "list":
        is_known = _ends_alike(kind, name)
        return f"a list of {type_.said}{mark if is_known else _aside(spoken, mark)}"
    if type_.shape == "map":
        return f"a map from {type_.said}{_aside(spoken, mark)}"
    if name == kind[-len(name) :] or set(name) <= set(kind):
        return f"{one_of(type_.said)}{mark}"
    if kind == name[-len(kind) :]:
        return f"{one_of(spoken)}{mark}"
    return f"{one_of(type_.said)}{_aside(spoken, mark)}"


def _aside(spoken: str, mark: str) -> str:
    return f" ({spoken}{', optional' if mark else ''})"


def _ends_alike(kind: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a list's name says nothing besides what is in it: items of scrobble items."""
    many = [*name[:-1], name[-1] if is_plural(name[-1]) else pluralize(name[-1])]
    return kind[-len(many) :] == many or (kind == many)
