"""What a text about a document says now and did not say before, sentence by sentence and name by name."""

import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])")
# `Methods: add, close.` and `Calls add, close.`: a word, then names.
_LISTING = re.compile(
    r"(Methods|Functions|Classes|Constants|Fields|Values|Tests|Files|Folders|Sections|Entries|Names"
    r"|Calls|Raises|Returns|Yields|Takes|Sets|Creates|Extends|Imports|Mentions|Holds|Defines):? (.+?)\.?"
)
# Where something is, and not what.
_OF_PLACE = re.compile(r"Part of .{0,120}\.?")
# What code itself says, where its lines are shown.
_OF_CODE = frozenset(("Calls", "Raises", "Returns", "Yields", "Takes", "Sets", "Creates", "Mentions", "Imports"))
_OTHERS = re.compile(r"\d+ more")


def sentences(text: str) -> list[str]:
    """What a text says of its document, without where that is."""
    found = (each.strip() for each in _SENTENCE.split(" ".join(text.split())))
    return [each for each in found if each and not _OF_PLACE.fullmatch(each)]


def differences(before: str, after: str, *, with_code: bool = True) -> list[str]:
    """A line for each thing that is said otherwise; without what the lines of code say, where these are shown."""
    old, new = sentences(before), sentences(after)
    gone, come = ([each for each in one if each not in other] for one, other in ((old, new), (new, old)))
    were, are = _listings(gone), _listings(come)
    lines = [
        _listed(label, were.get(label, []), are.get(label, []))
        for label in dict.fromkeys([*are, *were])
        if with_code or label not in _OF_CODE
    ]
    said = [" ".join(each for each in side if not _LISTING.fullmatch(each)) for side in (come, gone)]
    return [*_quoted(*said), *(line for line in lines if line)]


def _listings(said: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in said:
        if listing := _LISTING.fullmatch(each):
            names = [name.strip() for name in listing[2].split(", ")]
            found.setdefault(listing[1], []).extend(name for name in names if not _OTHERS.fullmatch(name))
    return found


def _listed(label: str, were: list[str], are: list[str]) -> str:
    come, gone = [each for each in are if each not in were], [each for each in were if each not in are]
    if label in ("Returns", "Yields", "Extends") and come and gone:
        return f"{label} {', '.join(come)}, before {', '.join(gone)}"
    parts = [
        f"{word} {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
        for word, names in (("now also", come), ("no longer", gone))
        if names
    ]
    return f"{label}: {'; '.join(parts)}" if parts else ""


def _quoted(now: str, before: str) -> Iterator[str]:
    if now:
        yield f"Now: “{now}”"
    if before:
        yield f"Before: “{before}”"
