"""What a text about a document says now and did not say before: sentence by sentence, name by name.

Also of signatures, parameter by parameter, and of lines of code the names that
are new in them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])")
# `Methods: add, close.` and `Calls add, close.`: a word, then names.
_LISTING = re.compile(
    r"(Methods|Functions|Classes|Constants|Fields|Values|Tests|Files|Folders|Sections|Entries|Names"
    r"|Calls|Raises|Returns|Yields|Takes|Sets|Creates|Extends|Imports|Mentions|Holds|Defines):? (.+?)\.?"
)
# Where something is, and not what, or that there is nothing to say of it.
_OF_PLACE = re.compile(r"Part of .{0,120}\.?|Short function [^:]{0,120}\.|Class \S{1,120} without members of its own.*")
_OTHERS = re.compile(r", (?:\d+|and) more\b")
_MOST_NAMES = 5
_LONG_BEGINNING = 60
# Of which somebody shows all in a text, or says that there are more.
_WHOLE_LISTINGS = frozenset(("Methods", "Functions", "Classes", "Constants", "Fields", "Values", "Files", "Folders"))
# A name of more than one word, or one that is given a value, or called; no word of prose.
_CODE_NAME = re.compile(r"\b(?=\w*(?:[^\W_]_|[a-z][A-Z]|\d))[^\W\d]\w{3,}|\b[a-z]\w{3,}(?=[=:(])")
_KEYWORDS = frozenset(
    (
        "case",
        "catch",
        "default",
        "elif",
        "else",
        "except",
        "finally",
        "func",
        "function",
        "lambda",
        "match",
        "return",
        "switch",
        "while",
    )
)
_ANY_NAME = re.compile(r"\w+")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def sentences(text: str) -> list[str]:
    """What a text says of its document, without where that is."""
    found = (each.strip() for each in _SENTENCE.split(" ".join(text.split())))
    return [each for each in found if each and not _OF_PLACE.fullmatch(each)]


def is_listing(sentence: str) -> bool:
    """Whether it is names after a word, as code facts are told."""
    return _LISTING.fullmatch(sentence) is not None


def differences(before: str, after: str) -> tuple[list[str], list[str]]:
    """A line for each thing that is said otherwise: what is said in words, and what in names.

    Of a list that may be cut no name is told, since one that is not in it may be there all the same.
    """
    old, new = sentences(before), sentences(after)
    gone, come = ([each for each in one if each not in other] for one, other in ((old, new), (new, old)))
    were, are = _listings(gone), _listings(come)
    names = (_listed(label, were[label], are[label]) for label in are if label in were)
    now, then = (" ".join(each for each in side if not is_listing(each)) for side in (come, gone))
    start = _shared(now, then)
    told = (("Now", now), ("Before", then))
    words = [f"{word}: “{'… ' if start else ''}{text[start:]}”" for word, text in told if text[start:]]
    return words, [line for line in names if line]


def _shared(now: str, then: str) -> int:
    """How much of two long texts is the same at their beginnings, in whole words."""
    pairs = enumerate(zip(now, then, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(now), len(then)))
    return now.rfind(" ", 0, same) + 1 if same >= _LONG_BEGINNING else 0


def _listings(said: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in said:
        listing = _LISTING.fullmatch(each)
        if listing and listing[1] in _WHOLE_LISTINGS and not _OTHERS.search(each):
            names = [name.strip() for name in listing[2].split(", ")]
            found.setdefault(listing[1], []).extend(names)
    return found


def _listed(label: str, were: Sequence[str], are: Sequence[str]) -> str:
    come, gone = [each for each in are if each not in were], [each for each in were if each not in are]
    parts = [
        f"{word} {', '.join(names[:_MOST_NAMES])}{_more(len(names) - _MOST_NAMES)}"
        for word, names in (("now also", come), ("no longer", gone))
        if names
    ]
    return f"{label}: {'; '.join(parts)}" if parts else ""


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def parameters(signature: str) -> list[str] | None:
    """What stands between the first bracket and its end, at commas; None where there is no such end."""
    start = signature.find("(")
    waiting: list[str] = []
    parts, last = [], start + 1
    for place in range(start, len(signature)) if start >= 0 else ():
        letter = signature[place]
        if letter in "([{":
            waiting.append(_CLOSING[letter])
        elif waiting and letter == waiting[-1]:
            waiting.pop()
        if not waiting or (letter == "," and len(waiting) == 1):
            parts.append(" ".join(signature[last:place].split()))
            last = place + 1
        if not waiting:
            return [part for part in parts if part]
    return None


def changed_parameters(before: str, after: str) -> Iterator[tuple[str, list[str]]]:
    """`now` and `before`, each with the parameters that the other signature has not."""
    old, new = parameters(before), parameters(after)
    if old is not None and new is not None and old != new:
        for word, some, others in (("now", new, old), ("before", old, new)):
            if found := [each for each in some if each not in others]:
                yield word, found


def new_names(hunks: Sequence[str], *, most: int = 3) -> list[str]:
    """Names of code in added lines of at least two diffs that no other line of these has, the most frequent first."""
    counts: Counter[str] = Counter()
    known = set(_KEYWORDS)
    for hunk in hunks:
        lines = hunk.split("\n")
        counts.update({name for line in lines if line[:1] == "+" for name in _CODE_NAME.findall(line)})
        known.update(name for line in lines if line[:1] != "+" for name in _ANY_NAME.findall(line))
    found = [(-count, name) for name, count in counts.items() if count > 1 and name not in known]
    return [name for _, name in sorted(found)[:most]]
