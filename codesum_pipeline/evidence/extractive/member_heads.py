"""What the methods of an interface or module say by their heads: names, what they take and what they give back."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.evidence.extractive.composing import names_of_children
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    PREPOSITIONS,
    grammar_words,
    is_phrase,
    noun_phrase,
    verb_at,
)
from codesum_pipeline.evidence.extractive.type_phrases import TypePhrase, class_words, type_phrase
from codesum_pipeline.evidence.extractive.words import name_words, telling_stems
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.foundation.data_model.document import Level

_CALLED = re.compile(r"(?<![\w@])([A-Za-z_]\w{0,80})\s?(?:<[^<>()]{0,80}>\s?)?\(")
_GIVEN = re.compile(r"\s?(?:async |throws |rethrows |const ){0,4}(?:->|:|=>)?\s?(?:Result<)?([^{=;\n]{1,160})")
_PARAMETER_MARK = re.compile(r"@\w+\s")
BETWEEN_TYPES = re.compile(r",(?![^<]{0,80}>)")
_HEAD_WORDS = ("fun", "func", "fn", "def", "function", "get", "set", "suspend", "override")
_NO_RESULTS = ("error", "override", "final", "const", "noexcept")
_MAX_HEAD_CHARS, _MAX_TAKEN = 400, 6
_BRING_IN = grammar_words("bring_in")
_OF_TAKEN = class_words("of_taken")
_KEYS = class_words("keys")
_BRINGING = class_words("bringing")
_EVENTS = frozenset(("on", "did", "will", "should"))


class MethodHead(Struct, frozen=True):
    """A method by its head: its name, the types of what it takes by name and what it gives."""

    name: str
    takes: tuple[tuple[str, str], ...]
    gives: str


def methods_of(class_: ClassInput) -> list[MethodHead]:
    """The methods whose heads the class's own source has."""
    names = set(names_of_children(class_.children, Level.FUNCTION)) - {class_.name}
    found: list[MethodHead] = []
    for line in class_.own_source.split("\n")[1:] if names else ():
        calls = (match for match in _CALLED.finditer(line[:_MAX_HEAD_CHARS]) if match[1] in names)
        if match := next(calls, None):
            found.append(_read(line, match))
    return found


def _read(line: str, match: re.Match[str]) -> MethodHead:
    inside, after = _bracketed(line, match.end())
    before = line[: match.start()].strip()
    given = _GIVEN.match(after)
    # Java says after `throws` what is raised; Swift what comes back, after an arrow.
    is_raised = given is not None and "throws " in given[0] and "->" not in given[0]
    gives = given[1].strip(" ;") if given and not is_raised else ""
    if not gives and before and before.split()[-1] not in _HEAD_WORDS:
        gives = before.split()[-1]
    gives = "" if gives.partition(" ")[0] in _NO_RESULTS else gives
    # Go gives back several in brackets: the first one, where the others only say whether it went well.
    if gives.startswith("(") and gives.endswith(")"):
        first, _, rest = gives[1:-1].partition(",")
        gives = first.strip() if rest.strip() in ("error", "bool", "") else ""
    return MethodHead(match[1], tuple(_parameters(inside)), gives)


def _bracketed(line: str, start: int) -> tuple[str, str]:
    """What stands within the brackets that are open at a place, and what after them."""
    depth = 1
    for at in range(start, len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if not depth:
            return line[start:at], line[at + 1 :]
    return "", ""


def _parameters(inside: str) -> Iterator[tuple[str, str]]:
    if "(" in inside or "{" in inside:
        return
    for part in BETWEEN_TYPES.split(inside)[:_MAX_TAKEN]:
        bare = _PARAMETER_MARK.sub("", part).strip()
        name, sign, written = bare.partition(":")
        if not sign:
            written, _, name = bare.rpartition(" ")
        if name.strip():
            yield name.split()[-1], written.partition("=")[0].strip()


def said_method(method: MethodHead) -> str:
    """`gets events`, `creates a nasa component from a tools provider`; "" where the name says nothing certain."""
    words = name_words(method.name)
    result = type_phrase(method.gives) if method.gives else None
    if not words or words[0] in _EVENTS or "did" in words:
        return ""
    verb = verb_at(words)
    rest = words[verb.length :] if verb else ()
    if verb is None or (verb.base in ALSO_NOUNS and not rest and result is not None):
        return _given(words, result)
    cut = next((at for at, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    thing, part = rest[:cut], rest[cut + 1 :]
    if verb.base in _BRINGING and result and not result.is_basic and not part:
        return f"{verb.third} {_brought(rest, result)}"
    if not rest:
        if verb.particle:
            return ""
        taken = taken_by(method) if verb.base in _OF_TAKEN else ""
        return "" if verb.base in _OF_TAKEN and not taken else f"{verb.third} {taken}".strip()
    phrase = noun_phrase(thing, article="a" if verb.base in _BRING_IN else "the")
    after = noun_phrase(part, article="a") if part else ""
    if not phrase or (rest[cut:] and not after):
        return ""
    return " ".join(filter(None, (verb.third, phrase, *rest[cut : cut + 1], after)))


def _brought(rest: Sequence[str], result: TypePhrase) -> str:
    """What comes back, and what the name calls it if that is something else: `apod URLs (a list of texts)`."""
    named = noun_phrase(rest) if rest else ""
    is_same = not named or telling_stems(" ".join(rest)) & telling_stems(result.said)
    return result.one() if is_same else f"{named} ({result.one()})"


def _given(words: Sequence[str], result: TypePhrase | None) -> str:
    """What a method without a verb gives: `spaceXViewModelFactory(): SpaceXViewModel.Factory`."""
    if result is not None and not result.is_basic:
        return f"gives {result.one()}"
    return f"gives {noun_phrase(words)}" if result is not None and is_phrase(words) else ""


def taken_by(method: MethodHead) -> str:
    """The only thing that a method takes, if that is no key of another."""
    if len(method.takes) != 1:
        return ""
    ((name, written),) = method.takes
    if not _KEYS.isdisjoint(name_words(name)[-1:]):
        return ""
    found = type_phrase(written)
    return found.one() if found and not found.is_basic else noun_phrase(name_words(name), article="a")
