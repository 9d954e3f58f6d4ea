"""A message as a clause in the third person: `Saving data`, `Saved data` and `Save data` are all `Saves data`.

What was filled in at run time is left out, and the message with it where another word then lacks its object.
"""

import re
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.evidence.extractive.message_verbs import base_forms, gerunds, past_forms, words_of
from codesum_pipeline.evidence.extractive.verb_forms import third_person
from codesum_pipeline.evidence.extractive.words import capitalize

# Tags and bullets before a message: `[cache] `, `--> `.
_LEAD = re.compile(r"^(?:\[[^\]]{0,40}\]|[-=>*#+\s…]|\(\S{0,20}\))+")
_MIN_WORDS, _MAX_CHARS = 3, 140
_LEAST_LETTERS = 0.85
_CODE_SIGNS = frozenset("{}<>|\\=$~^@*")
_GAP = "…"
_MOST_GAPS = 3
# A value that is shown, not a step: `result: …`.
_VALUE = re.compile(r": ?['\"]?…['\"]?$")


class Clause(Struct, frozen=True):
    """A clause in the third person with its verb; `is_command` where the message began as one does: `Save data`."""

    verb: str
    text: str
    is_command: bool


@lru_cache(maxsize=4096)
def clause_of(message: str, *, is_help: bool = False) -> Clause | None:
    """The clause of a message in words; None of one that names no action, or tells of a failure or a detail."""
    text = _LEAD.sub("", message).strip(" .!:;")
    _, is_led, after_lead = text.rpartition(": ")
    if is_led and not is_help and after_lead.partition(" ")[0].lower() in gerunds():
        text = after_lead
    first, _, rest = text.partition(" ")
    if rest.startswith("to ") and first.lower() in words_of("attempts"):
        first, _, rest = rest.removeprefix("to ").partition(" ")
    form = first.lower()
    verb = gerunds().get(form) or past_forms().get(form) or base_forms().get(form, "")
    is_command = form in base_forms() and form not in past_forms()
    if is_command and not is_help and _VALUE.search(rest):
        return None
    rest = _with_second_verb(_without_gaps(rest)) if is_command else _without_gaps(rest)
    is_long_enough = len(rest.split()) >= _MIN_WORDS - 1 and len(rest) <= _MAX_CHARS
    if not verb or first.isupper() or not is_long_enough or not _is_prose(rest):
        return None
    words = {word.strip(".,;:!?'\"()").lower().replace("'", "") for word in text.split()}
    if not is_help and words & words_of("not_purposes"):
        return None
    return Clause(verb, f"{capitalize(third_person(verb))} {rest}", is_command)


def _with_second_verb(rest: str) -> str:
    """`or get the branch` as `or gets the branch`; "" where what follows is not known to be a verb."""
    joint, _, after = rest.partition(" ")
    second, _, last = after.partition(" ")
    if joint.lower() not in ("or", "and"):
        return rest
    return f"{joint} {third_person(second)} {last}" if second in base_forms() else ""


def _without_gaps(text: str) -> str:
    """A text without what was filled in at run time; "" where a word would then have nothing to stand with."""
    words, kept = text.split(), list[str]()
    if text.count(_GAP) > _MOST_GAPS:
        return ""
    for place, word in enumerate(words):
        is_ellipsis = word.endswith(_GAP) and word[:-1].isalpha() and place + 1 == len(words)
        if _GAP not in word or is_ellipsis:
            kept.append(word.rstrip(_GAP))
            continue
        after = words[place + 1].strip("'\"`().,:;").lower() if place + 1 < len(words) else ""
        before = kept[-1].lower() if kept else ""
        is_alone = word.strip("'\"`().,:;#*-") == _GAP
        lacks_object = (not kept or before in words_of("prepositions")) and (
            not after or _is_small(after) or after.endswith("ing")
        )
        if not is_alone or lacks_object:
            return ""
        if not after and before.strip(",:;#") in words_of("filled_nouns"):
            kept = _without_last_part(kept)
        elif kept:
            kept[-1] = kept[-1].rstrip(":;,")
    return "" if not kept or _is_small(kept[-1].lower()) else " ".join(kept).strip(" ,:;-(")


def _without_last_part(words: list[str]) -> list[str]:
    """The words before a last part such as `with ID`, `, phase:` or `ID`; none where a participle then hangs on."""
    before = words[-2] if len(words) > 1 else ""
    if _is_small(before.lower()):
        return words[:-2] if len(words) > 2 and words[-3].lower() not in past_forms() else []
    if words[-1].lower().strip(",:;#") in words_of("numbers"):
        return words[:-1]
    return [*words[:-2], before.rstrip(",")] if before.endswith(",") else words


def _is_small(word: str) -> bool:
    return word.strip(".,:;") in words_of("prepositions")


def _is_prose(text: str) -> bool:
    """Whether a text is words: few signs, brackets and quotes in pairs."""
    letters = sum(char.isalpha() or char == " " for char in text)
    is_paired = text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("[") == text.count("]")
    return letters >= _LEAST_LETTERS * len(text) and is_paired and _CODE_SIGNS.isdisjoint(text)
