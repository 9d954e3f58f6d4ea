"""A record's fields as what they are: a sync store, a list of scrobble items, the texts title and URL."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.noun_phrases import is_plural, pluralize
from codesum_pipeline.evidence.extractive.type_phrases import (
    NUMBER,
    TEXT,
    TRUTH,
    TypePhrase,
    one_of,
    type_phrase,
)
from codesum_pipeline.evidence.extractive.words import (
    in_a_row,
    list_first,
    name_in_words,
    name_words,
    shared_prefix,
    telling_stems,
)
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait

_MAX_FIELDS, _MAX_READ, _MAX_INNER, _MAX_INNER_CHARS = 5, 60, 3, 400
_OPTIONAL_FIELD = re.compile(r"(?<!\w)(\w{1,60})\?\s?:")
_INNER = re.compile(r"(?<!\w)(\w{1,60})\??:")
_VALUE = re.compile(
    r"(?<!\w)(\w{1,60})(?: ?: ?[\w.<>\[\]?]{1,40})? ?= ?"
    r"(?:(?:(\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')|(-?\d[\d_.]{0,20})|([Tt]rue|[Ff]alse));?$"
    r"|new ([A-Z]\w{1,60})\()"
)
_NO_FIELDS = ("def ", "fun ", "func ", "function ", "@", "return ", "public function", "if ", "for ")
_IS_CONSTANT = re.compile(r"\b(?:const|final|readonly|val|static let)\b")
_MAX_VALUE_CHARS = 40
_MARK = " (optional)"
# What fields of a basic type are called together; "" of those that have none.
_GROUPS = {NUMBER: "number", TEXT: "text", TRUTH: "flag", "": ""}

_Types = dict[str, TypePhrase | str | None]


def record_of_types(class_: ClassInput, fields: Sequence[str]) -> str:
    """`Holds a sync store, a list of scrobble items and the text service ID (optional)`; "" where no field has a type
    that can be told. `fields` are the names of those that may be said."""
    types, within = _types_of(class_)
    # A parameter of a constructor and the property that keeps it are one field.
    fields = [*{name_words(name): name for name in reversed(fields) if name not in within}.values()][::-1]
    told = [name for name in fields if name in types]
    told = [name for name in told if not name.isupper()] or told
    if not told or len(told) * 2 < len(fields):
        return ""
    constants, prefix = _constants(class_), shared_prefix(told)
    optional = set(_OPTIONAL_FIELD.findall(class_.own_source))
    missing = [name for name in told if name in optional or getattr(types[name], "is_optional", False)]
    are_all = len(missing) == len(told) > 1
    phrases: list[tuple[str, int]] = []
    # By its type the names of fields that are told together.
    alike: defaultdict[TypePhrase, list[str]] = defaultdict(list)
    basic: defaultdict[str, list[str]] = defaultdict(list)
    for name in told:
        type_, spoken = types[name], name_in_words(name, prefix).removeprefix("m ")
        mark = _MARK if name in missing and not are_all else ""
        if isinstance(type_, str):
            phrases.append((f"{spoken}{type_}", 1))
        elif type_ is None or type_.is_basic:
            kind = _GROUPS[type_.said] if type_ else ""
            basic[kind].append(f"{spoken}{constants.get(name, '')}{mark}")
        elif phrase := _without_name(spoken, type_, mark):
            phrases.append((phrase, 1))
        else:
            alike[replace(type_, is_optional=False)].append(f"{spoken}{mark}")
    if not phrases and not alike and set(basic) <= {""}:
        return ""
    phrases += [(_of_type(type_, names), min(len(names), _MAX_FIELDS)) for type_, names in alike.items()]
    is_whole = len(class_.fields) < _MAX_READ and len(told) == len(fields)
    listed = _listed(phrases, basic, len(told), is_whole=is_whole)
    return f"Holds {listed}{', all optional' if are_all else ''}"


def _listed(
    phrases: Sequence[tuple[str, int]], basic: Mapping[str, Sequence[str]], count: int, *, is_whole: bool
) -> str:
    """The phrases, each of so many fields, then the names of basic fields by their types; of many the first, and how
    many more of `count` fields there are."""
    parts = [phrase for phrase, _ in phrases[:_MAX_FIELDS]]
    room = _MAX_FIELDS - len(parts)
    more = count - sum(number for _, number in phrases[:_MAX_FIELDS])
    for kind in _GROUPS.values():
        names = list(basic.get(kind, ()))[:room]
        room -= len(names)
        more -= len(names)
        if names:
            noun = f"{kind}{'s' * (len(names) > 1)} " if kind else ""
            parts.append(f"the {noun}{in_a_row(names)}")
    if more:
        parts.append(f"{more} more" if is_whole else "more")
    return in_a_row(parts, ", and " if any(" and " in part for part in parts) else " and ")


def _types_of(class_: ClassInput) -> tuple[_Types, set[str]]:
    """By name the types of fields: the names in a record that is written within, None of what cannot be read. And the
    names in such records, which are left out."""
    follows = has_trait(class_.language, Trait.TYPE_FOLLOWS_NAME)
    found: _Types = {}
    within: set[str] = set()
    texts: set[str] = set()
    cut: list[str] = []
    values = _types_of_values(class_)
    for field in class_.fields[:_MAX_READ]:
        name, sign, written = field.partition(" " if follows else ":")
        name, written = name.strip().strip("@$*&"), written.strip()
        if (plain := _plain(field).partition("{")[0]) in texts or any(plain.startswith(text) for text in cut):
            within.add(name)
        if name in within or not (sign or name in values):
            continue
        if written.startswith("{"):
            written = written[: _MAX_INNER_CHARS * 4]
            parts = [_plain(part) for part in re.split(r"[;{}]", written)]
            cut.extend(part.removesuffix("…") for part in parts if len(part) > 1 and part.endswith("…"))
            texts.update(parts)
            inner = list_first([name_in_words(one) for one in _INNER.findall(written)], _MAX_INNER)
            found.setdefault(name, f" ({inner})" if inner else None)
        else:
            found.setdefault(name, type_phrase(written) if sign else values[name])
    return found, within


def _plain(field: str) -> str:
    """A field's text as it can be compared: without blanks, a mark that it may be missing, and words before it."""
    return "".join(field.replace("?:", ":").removeprefix("readonly ").split())


def _types_of_values(class_: ClassInput) -> dict[str, TypePhrase]:
    """The types of fields without written ones, by what they are set to."""
    found: dict[str, TypePhrase] = {}
    for line in class_.own_source.split("\n")[1:]:
        value = None if line.lstrip().startswith(_NO_FIELDS) else _VALUE.search(line)
        if value:
            name, text, number, truth, made = value.groups()
            read = TypePhrase(TEXT if text else NUMBER if number else TRUTH) if text or number or truth else None
            if read := read or type_phrase(made):
                found.setdefault(name, read)
    return found


def _constants(class_: ClassInput) -> dict[str, str]:
    """The values of constants by name, as they follow it in a sentence, where they say more than the name."""
    found: dict[str, str] = {}
    for line in class_.own_source.split("\n")[1:]:
        value = None if line.lstrip().startswith(_NO_FIELDS) else _VALUE.search(line)
        if value and (value[1].isupper() or _IS_CONSTANT.search(line[: value.start()])):
            text = (value[2] or "")[1:-1]
            is_told = 0 < len(text) <= _MAX_VALUE_CHARS and without_foreign_names(text, ()) == text
            if is_told and not telling_stems(text) <= telling_stems(value[1]):
                found[value[1]] = f' "{text}"'
    return found


def _without_name(spoken: str, type_: TypePhrase, mark: str) -> str:
    """`a sync store` of what is called store, `a list of scrobble items` of items; "" where the name says more."""
    name, kind = spoken.lower().split(" "), type_.said.lower().split(" ")
    if type_.shape == "choice":
        is_value = type_.said[:1] == '"' or type_.said.isdigit()
        return f"the {spoken} {type_.said if is_value else f'({type_.said})'}{mark}"
    if type_.shape == "list":
        many = [*name[:-1], name[-1] if is_plural(name[-1]) else pluralize(name[-1])]
        return f"{type_.one()}{mark}" if kind[-len(many) :] == many else ""
    if type_.shape:
        return ""
    if set(name) <= set(kind):
        return f"{type_.one()}{mark}"
    return f"{one_of(spoken)}{mark}" if kind == name[-len(kind) :] else ""


def _of_type(type_: TypePhrase, names: Sequence[str]) -> str:
    """`an ident (alias ID)`, `lists of texts (hosts and limitations)`: fields of one type by what they are called."""
    if names == [type_.said]:
        return type_.one()
    if len(names) == 1:
        return f"{type_.one()} ({names[0].replace(_MARK, ', optional')})"
    return f"{type_.many()} ({in_a_row(names[:_MAX_FIELDS])})"
