"""A class that only holds values: which values of what, from its own fields."""

import re
from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.noun_phrases import is_plural, noun_phrase
from codesum_pipeline.evidence.extractive.verb_forms import GERUNDS, grammar_words, verb_at
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import ClassInput

_CARRIERS = grammar_words("carriers")
_PLAIN_MEMBERS = grammar_words("plain_members")
_EMPTY_FIELDS = grammar_words("empty_fields")
_FRAMEWORK = grammar_words("framework_classes")
_UNCOUNTED = frozenset(("info", "data", "metadata", "details"))
# So many values are said, and so many there have to be that can be said.
_MOST, _LEAST = 4, 2
_FIELD = re.compile(r"\$?([A-Za-z]\w*)")
# A function as a value is something to be called.
_FUNCTIONS = ("=>", "->", "func(", "(*", "Fn(")
_MODULES = frozenset(("module", "namespace", "object", "static"))


def record_clause(class_: ClassInput, words: Sequence[str]) -> str:
    """`Holds the title, the author and the URL of a page`; "" of a class that does something."""
    named = words[:-1] if words[-1] in _CARRIERS and words[1:] else words
    phrase = noun_phrase(named, article="a")
    if words[-1] in _UNCOUNTED and phrase:
        phrase = " ".join(map(word_in_full, words))
    if not phrase or is_plural(named[-1]) or words[-1] in _FRAMEWORK or not _only_holds(class_, words):
        return ""
    told, is_all = _values(class_, named)
    if len(told) < _LEAST:
        return ""
    listed = [*told[:_MOST], *([] if is_all else ["more"])]
    return f"holds {', '.join(listed[:-1])} and {listed[-1]} of {phrase}"


def _only_holds(class_: ClassInput, words: Sequence[str]) -> bool:
    head = class_.signature.split("{")[0].replace("(", " ").split()
    own = {child.name.rpartition("::")[2].rpartition(".")[2] for child in class_.children}
    does = {name for name in own if name != class_.name and "_".join(name_words(name)) not in _PLAIN_MEMBERS}
    return not does and _MODULES.isdisjoint((*head, *class_.modifiers)) and verb_at(words) is None


def _values(class_: ClassInput, named: Sequence[str]) -> tuple[list[str], bool]:
    """The fields as things, and whether these are all."""
    names = [found[1] for text in class_.fields if (found := _FIELD.match(text)) and not _is_called(text)]
    read = [_thing(name, named) for name in names if not name.isupper() or len(name) < _LEAST * 2]
    told = list(dict.fromkeys(filter(None, read)))
    # The alternatives of a type may each have a field of the same name.
    distinct = {found[1] if (found := _FIELD.match(text)) else text for text in class_.fields}
    return told, len(told) <= _MOST and len(told) == len(distinct)


def _is_called(text: str) -> bool:
    return any(mark in text for mark in _FUNCTIONS)


def _thing(name: str, named: Sequence[str]) -> str:
    words = name_words(name)
    if words[:1] == ("m",) and words[1:]:
        words = words[1:]
    if (
        not words
        or set(words) <= _EMPTY_FIELDS
        or words[-1] in GERUNDS
        or verb_at(words)
        or not set(words).isdisjoint(named)
    ):
        return ""
    phrase = noun_phrase(words)
    return f"the {' '.join(map(word_in_full, words))}" if phrase and not phrase.startswith("the ") else phrase
