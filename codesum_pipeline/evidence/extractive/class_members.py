"""What a class's methods and parts tell of it where its name and its bases are all that is said: not those
methods that its framework asks of every such class, nor those that a test double only stands in for."""

import re
from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence, split_sentences
from codesum_pipeline.evidence.extractive.class_marks import MAX_NAMES, MAX_PARTS, list_some
from codesum_pipeline.evidence.extractive.class_words import class_words
from codesum_pipeline.evidence.extractive.composing import bare_name, names_of_children
from codesum_pipeline.evidence.extractive.member_heads import methods_of, said_method, taken_by
from codesum_pipeline.evidence.extractive.themes import headline_of
from codesum_pipeline.evidence.extractive.type_phrases import type_phrase
from codesum_pipeline.evidence.extractive.words import (
    capitalize,
    name_in_words,
    name_words,
    telling_stems,
)
from codesum_pipeline.evidence.inputs import ChildText, ClassInput
from codesum_pipeline.foundation.data_model.document import Level

_FIXED = class_words("fixed_methods")
_RUNNING = class_words("running_methods")
_DOUBLES = class_words("test_doubles")
_OF_INTERFACES = class_words("of_interfaces")
_FOR_TESTS = re.compile(
    r"(?:^|/)(?:__mocks__|mocks?|fakes?|stubs?|[\w.-]{0,40}(?:tests?|testing|fixtures?|spec))/", re.I
)
_FOR_DOUBLES = re.compile(r"(?:^|/)__mocks__/")
_NOT_DONE = re.compile(r"\bnot[ -](?:yet )?(?:implemented|supported exception)\b", re.I)


def telling_children(class_: ClassInput) -> list[ChildText]:
    """The children whose headlines say what it does, and not only what every such class has to have."""
    return [child for child in class_.children if not _says_nothing(child, class_.name)]


def _says_nothing(child: ChildText, owner: str) -> bool:
    name, said = bare_name(child), telling_stems(headline_of(child))
    is_fixed = name in _FIXED and said <= telling_stems(name)
    is_run = name.lower() in _RUNNING
    only_runs = is_run and said <= telling_stems(f"{name} {owner}")
    is_missing = _NOT_DONE.search(child.summary) is not None and " when " not in child.summary
    return child.level is Level.FUNCTION and (is_fixed or only_runs or is_missing)


def stand_in(class_: ClassInput) -> str:
    """`Stands in for the real review manager.`, of a test double that its base or its place confirms."""
    path = class_.id.partition("::")[0]
    words = name_words(class_.name)
    rest = [word for word in words if word not in _DOUBLES]
    if not rest or rest[-1] == "class":
        return ""
    if not _DOUBLES.isdisjoint((words[0], words[-1])):
        bases = (set(name_words(one.partition("<")[0].rpartition(".")[2])) - _OF_INTERFACES for one in class_.bases)
        is_of_base = any(base and (base <= set(rest) or set(rest) <= base) for base in bases)
        is_sure = is_of_base or _FOR_TESTS.search(path) is not None
        spoken = [word for word in name_in_words(class_.name).split(" ") if word.lower() not in _DOUBLES]
        return f"Stands in for the real {' '.join(spoken)}" if is_sure else ""
    is_double = bool(class_.bases) and _FOR_DOUBLES.search(path) is not None
    return f"Stands in for the real {class_.name}" if is_double else ""


_MAX_INNER = 120


def members_said(class_: ClassInput, kind: str, theme: str) -> str:
    """What a class has within it: what a part of it holds, what its methods say by their heads."""
    nested = names_of_children(class_.children, Level.CLASS)
    parts = [child for child in class_.children if child.level is Level.CLASS and not child.is_placeholder]
    inner = next(iter(split_sentences(parts[0].summary, limit=1)), "") if len(parts) == 1 else ""
    if inner.startswith("Holds ") and len(inner) < _MAX_INNER:
        return make_sentence(f"Holds {_names(nested)} with {inner.removeprefix('Holds ').rstrip('.')}")
    return make_sentence(f"Holds {_names(nested)}") if nested and not theme else _methods_said(class_, kind)


def _names(names: Sequence[str]) -> str:
    return list_some([*map(name_in_words, names)], MAX_NAMES)


def _methods_said(class_: ClassInput, kind: str) -> str:
    is_asked = kind in ("interface", "protocol", "trait")
    functions = [child for child in class_.children if child.level is Level.FUNCTION]
    known = {bare_name(one) for one in functions if headline_of(one) or _says_nothing(one, class_.name)}
    heads = [one for one in methods_of(class_) if is_asked or one.name not in _FIXED | known]
    said = list(dict.fromkeys(said for one in heads if " " in (said := said_method(one))))
    said = [one for one in said if is_asked or not one.startswith("gives ")]
    if said:
        return make_sentence(capitalize("; ".join(said[:MAX_PARTS])))
    if len(heads) != 1 or not is_asked:
        return ""
    taken, given = taken_by(heads[0]), type_phrase(heads[0].gives) if heads[0].gives else None
    told = f"which takes {taken}{f' and gives {given.one()}' if given else ''}"
    return make_sentence(f"Has the method {name_in_words(heads[0].name)}, {told}") if taken else ""
