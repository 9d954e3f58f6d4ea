"""What the methods of an interface or module say by their heads: their names, what they take and what they give back."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.summaries.extractive.composing import names_of_children
from codesum_pipeline.texts.summaries.extractive.noun_phrases import PREPOSITIONS, is_phrase, noun_phrase
from codesum_pipeline.texts.summaries.extractive.type_phrases import TypePhrase, one_of, type_phrase
from codesum_pipeline.texts.summaries.extractive.verb_forms import ALSO_NOUNS, BASE_OF_THIRD, grammar_words, verb_at
from codesum_pipeline.texts.summaries.extractive.words import name_words, word_in_full
from codesum_pipeline.texts.summaries.inputs import ClassInput

_CALLED = re.compile(r"(?<![\w@])([A-Za-z_]\w{0,80})\s?(?:<[^<>()]{0,80}>\s?)?\(")
_GIVEN = re.compile(r"\s?(?:async |throws |rethrows |const )*(?:->|:|=>)?\s?(?:Result<)?([^{=;\n]{1,160})")
_MAX_PARAMETERS_CHARS = 600
_BRING_IN = grammar_words("bring_in")
# Such a method is about what it takes.
_OF_TAKEN = frozenset((
    "consume", "accept", "handle", "process", "validate", "parse", "render", "save", "delete", "insert", "update", "log",
    "print", "visit", "format", "encode", "decode", "map", "convert", "transform", "serialize", "deserialize",
))  # fmt: skip
_EVENTS = frozenset(("on", "did", "will", "should"))
_ERRORS = frozenset(("error", "exception", "err"))
_KEYS = frozenset("id ids key keys uid uuid guid name index ident path url position".split())
_SENTENCE_MARKS = frozenset(("when", "if", "that", "which"))


class MethodHead(Struct, frozen=True):
    """A method by its head: its name, the types of what it takes by name, what it gives, and what is written before."""

    name: str
    takes: tuple[tuple[str, str], ...]
    gives: str
    before: str


def methods_of(class_: ClassInput) -> list[MethodHead]:
    """The methods that stand in the class itself, in its order; each name once."""
    names = set(names_of_children(class_.children, Level.FUNCTION)) - {class_.name}
    found: dict[str, MethodHead] = {}
    for line in class_.own_source.split("\n")[1:] if names else ():
        for match in _CALLED.finditer(line[:400]):
            if match[1] in names:
                found.setdefault(match[1], _read(line, match))
                break
    return list(found.values())


def _read(line: str, match: re.Match[str]) -> MethodHead:
    inside, after = _bracketed(line, match.end())
    before = line[: match.start()].strip()
    given = _GIVEN.match(after)
    gives = given[1].strip(" ;") if given else ""
    if not gives and before and before.split()[-1] not in ("fun", "func", "fn", "def", "function", "get", "set"):
        gives = before.split()[-1]
    # Go gives back several in brackets: the first one, where the others are errors.
    if gives.startswith("(") and gives.endswith(")"):
        first, _, rest = gives[1:-1].partition(",")
        gives = first.strip() if rest.strip() in ("error", "bool", "") else ""
    return MethodHead(match[1], tuple(_parameters(inside)), gives, before)


def _bracketed(line: str, start: int) -> tuple[str, str]:
    """What stands within the brackets that are open at a place, and what after them."""
    depth = 1
    for at in range(start, min(len(line), start + _MAX_PARAMETERS_CHARS)):
        depth += (line[at] == "(") - (line[at] == ")")
        if not depth:
            return line[start:at], line[at + 1 :]
    return "", ""


def _parameters(inside: str) -> Iterator[tuple[str, str]]:
    if any(mark in inside for mark in "({"):
        return
    for part in re.split(r",(?![^<]*>)", inside)[:6]:
        bare = re.sub(r"@\w+\s", "", part).strip()
        name, sign, written = bare.partition(":")
        if not sign:
            written, _, name = bare.rpartition(" ")
        yield name.strip().split(" ")[-1], written.partition("=")[0].strip()


def said_method(method: MethodHead) -> str:
    """`gets events`, `creates a nasa component from a tools provider`; "" where the name says nothing certain."""
    words = name_words(method.name)
    result = type_phrase(method.gives) if method.gives else None
    if words[:1] and words[0] in _EVENTS or "did" in words:
        return ""
    if words[1:] and verb_at(words[-1:]) and words[-1] in ("get", "post", "list", "create", "delete", "update", "patch"):
        phrase = noun_phrase(words[:-1])
        words = (words[-1], *words[:-1]) if phrase else words
    verb = verb_at(words)
    if verb is None or (verb.base in ALSO_NOUNS and not words[verb.length :] and result is not None):
        return _given(words, result)
    rest = words[verb.length :]
    cut = next((at for at, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    thing, part = rest[:cut], rest[cut + 1 :]
    if verb.base in ("get", "fetch", "find", "load", "create", "make", "build", "provide") and result and not result.is_basic and not part:
        return f"{verb.third} {one_or_list(result)}{_from(method, verb.base)}"
    if not rest:
        if verb.base not in _OF_TAKEN:
            return verb.third
        taken = _taken(method)
        return f"{verb.third} {taken}" if taken else ""
    phrase = noun_phrase(thing, article="a" if verb.base in _BRING_IN else "the")
    after = noun_phrase(part, article="a") if part else ""
    if not phrase or (rest[cut:] and not after):
        return ""
    return " ".join(filter(None, (verb.third, phrase, *rest[cut : cut + 1], after)))


def _given(words: Sequence[str], result: TypePhrase | None) -> str:
    """What a method without a verb gives: `spaceXViewModelFactory(): SpaceXViewModel.Factory`."""
    if result is not None and not result.is_basic:
        return f"gives {one_or_list(result)}"
    return f"gives {noun_phrase(words)}" if result is not None and is_phrase(words) else ""


def _from(method: MethodHead, verb: str) -> str:
    phrases = [phrase for _, written in method.takes if (phrase := type_phrase(written)) and not phrase.is_basic]
    if verb not in ("create", "make", "build") or not phrases or len(phrases) != len(method.takes):
        return ""
    listed = [one_or_list(one) for one in phrases[:2]]
    return f" from {' and '.join(listed)}" if len(phrases) == len(listed) else f" from {', '.join(listed)} and more"


def _taken(method: MethodHead) -> str:
    if len(method.takes) != 1:
        return ""
    name, written = method.takes[0]
    if name_words(name)[-1:] and name_words(name)[-1] in _KEYS:
        return ""
    found = type_phrase(written)
    return one_or_list(found) if found and not found.is_basic else noun_phrase(name_words(name), article="a")


def one_or_list(one: TypePhrase) -> str:
    """A thing with its article, a list or a map of things."""
    if one.shape in ("list", "map"):
        return f"a {one.shape} {'of' if one.shape == 'list' else 'from'} {one.said}"
    return "a callback" if one.shape == "callback" else one_of(one.said)


def said_event(method: MethodHead) -> str:
    """`selected tab did change`, of a method that is told of an event; "" of others."""
    words = name_words(method.name)
    if words[:1] == ("on",) and words[1:]:
        words = words[1:]
    elif words[:1] not in (("did",), ("will",)) and "did" not in words:
        return ""
    is_plain = all(word.isalpha() for word in words) and len(words) > 1 and not _SENTENCE_MARKS & set(words)
    return " ".join(map(word_in_full, words)) if is_plain else ""
