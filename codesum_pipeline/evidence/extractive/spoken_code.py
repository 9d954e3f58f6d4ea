"""Expressions of code in words: what a chain of names is, and what a condition asks.

`story.estimates.length` is the number of estimates of the story, `!rows.isEmpty()` asks whether rows are not empty.
Names of other code become words; a name of the function itself stays as it is written. What no rule reads is no text.
"""

import re
from collections.abc import Collection, Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import field_words
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    PREPOSITIONS,
    VERBS,
    is_adjective,
    is_known,
    is_phrase,
    is_plural,
    noun_phrase,
)
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full

_MAX_CHARS, _MAX_PARTS, _SHORT_NAME = 120, 3, 2
_CHAIN = re.compile(
    r"(?:\*|&)?@{0,2}\$?[A-Za-z_]\w{0,60}(?:\(\))?(?:(?:\?\.|!\.|!!\.|&\.|->|::|\.)@?[A-Za-z_]\w{0,60}[?!]?(?:\(\))?){0,5}!{0,2}"
)
_JOINT = re.compile(r"\?\.|!\.|!!\.|&\.|->|::|\.")
_LITERAL = re.compile(r"-?\d[\w.]{0,11}|true|false|True|False|\"[^\"\\]{0,24}\"|'[^'\\]{0,24}'|:[a-z]\w{0,20}")
_NOTHING = re.compile(r"(?:null|nil|None|undefined|NULL|nullptr|Nil)")
_NOT = re.compile(r"(?:!(?!=)|not )\s*")
_COMPARED = re.compile(r"(.{1,80}?) (===?|!==?|<=?|>=?|is not|is|in|not in) (.{1,60})", re.S)
_COUNTS = frozenset(("length", "size", "count", "len"))
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,60}")
_ASKS = re.compile(r"(.{1,80}?)(?:\?\.|!\.|&\.|->|\.)(\w{1,30}\??)(?:\(([^()]{0,40})\))?", re.S)
_HOLDS = frozenset(
    ("has", "contains", "includes", "include?", "containskey", "contains_key", "key?", "has_key?", "haskey")
)
_OPERATORS = {
    "==": "is", "===": "is", "is": "is", "!=": "is not", "!==": "is not", "is not": "is not", "<": "is less than",
    ">": "is more than", "<=": "is at most", ">=": "is at least",
}  # fmt: skip
_JOINTS = {" && ": "and", " || ": "or", " and ": "and", " or ": "or"}
# By whether it is about several things, and whether it is denied.
_CONTAINS = {
    (False, False): "contains", (False, True): "does not contain",
    (True, False): "contain", (True, True): "do not contain",
}  # fmt: skip


def thing_in_words(text: str, own: Collection[str]) -> str:
    """What a chain of names is: `this.trakt?.releaseDate` the release date of its trakt; "" of anything else."""
    plain = make_printable(text)
    if len(plain) > _MAX_CHARS or _NOTHING.fullmatch(plain) or not _CHAIN.fullmatch(plain):
        return ""
    return _thing(plain, own)


def _thing(plain: str, own: Collection[str]) -> str:
    if plain.endswith("!") and not plain.endswith("!!"):
        return ""
    plain = plain.strip("*&!")
    is_field = plain.startswith("@")
    parts = [one.strip("@$&*!?").removesuffix("()") for one in _JOINT.split(plain)]
    is_called = [one.endswith(("()", "?", "!")) for one in _JOINT.split(plain)]
    if parts[0] in RECEIVERS:
        is_field, parts, is_called = True, parts[1:], is_called[1:]
    is_alone = len(parts) == 1 and not is_field and any(is_called) and not parts[0].startswith("get")
    if not 0 < len(parts) <= _MAX_PARTS or is_alone or "super" in parts:
        return ""
    if len(parts) == 1 and not is_called[0]:
        return _variable(parts[0], own, is_field=is_field)
    words = [_noun_words(part, is_called=called) for part, called in zip(parts, is_called, strict=True)]
    if _CONSTANT.fullmatch(parts[-1]) and parts[0][:1].isupper() and len(parts) == 2 and not any(is_called):
        kind, named = name_words(parts[0]), name_words(parts[1])
        if is_phrase(kind) and all(word.isalpha() for word in named):
            return f"the {_spoken(kind)} {_spoken(named)}"
        return ""
    if not all(words) or any(part[:1].isupper() for part in parts) or not all(map(_is_thing, words, is_called)):
        return ""
    if len(parts) > 1 and name_words(parts[-1])[-1] in VERBS - ALSO_NOUNS:
        return ""
    return _of_each_other(parts, words, own, is_field=is_field)


def _is_thing(words: Sequence[str], is_called: bool) -> bool:
    """Whether a part of a chain is a thing: what is not called is one, if its words are known and make no claim."""
    if is_called:
        return is_phrase(words) and (words[0] not in VERBS or words == (words[-1],))
    is_read = all(map(is_known, words)) or (len(words) == 1 and words[0].isalpha() and len(words[0]) > _SHORT_NAME)
    is_read = is_read and PREPOSITIONS.isdisjoint(words) and not (len(words) == 1 and is_adjective(words[0]))
    return is_read and words[0] not in field_words("claims")


def _said(words: Sequence[str]) -> str:
    return noun_phrase(words) or (_spoken(words) if is_plural(words[-1]) else f"the {_spoken(words)}")


def _of_each_other(
    parts: Sequence[str], words: Sequence[tuple[str, ...]], own: Collection[str], *, is_field: bool
) -> str:
    """`("story", "estimates", "length")` as "the number of estimates of story"."""
    said: list[str] = []
    for place, (part, named) in enumerate(zip(parts, words, strict=True)):
        is_first = place == 0
        if is_first and is_field:
            said.append(f"its {_spoken(named)}")
        elif is_first:
            said.append(part if _is_own(part, own) else _said(named))
        elif part in _COUNTS and is_plural(words[place - 1][-1]):
            said.append("the number")
        else:
            said.append(_said(named))
    return " of ".join(reversed(said)) if all(said) and len(set(said)) == len(said) else ""


def _variable(name: str, own: Collection[str], *, is_field: bool) -> str:
    words = name_words(name.lstrip("_"))
    if _CONSTANT.fullmatch(name):
        return f"the constant {_spoken(words)}" if all(word.isalpha() for word in words) else ""
    if len(name) < 2:
        return ""
    if is_field and is_phrase(words):
        return f"its {_spoken(words)}"
    return name if _is_own(name, own) else ""


def _is_own(name: str, own: Collection[str]) -> bool:
    return name.lower() in own and without_foreign_names(name, own) == name


def _noun_words(part: str, *, is_called: bool) -> tuple[str, ...]:
    """The words of a part that is a thing: of a call without arguments only a getter's, or a noun."""
    words = name_words(part.strip("_"))
    return words[1:] if is_called and words[:1] == ("get",) else words


def _spoken(words: Sequence[str]) -> str:
    return " ".join(map(word_in_full, words))


def condition_in_words(text: str, own: Collection[str]) -> str:
    """What a condition asks, as it follows "when": `!this.rows.isEmpty()` is "its rows are not empty"; "" where that is
    not plain."""
    plain = make_printable(text)
    if not plain or len(plain) > _MAX_CHARS or "…" in plain:
        return ""
    for sign, joint in _JOINTS.items():
        if sign in plain:
            parts = [_one_condition(part, own) for part in plain.split(sign)]
            return f" {joint} ".join(parts) if all(parts) and len(parts) <= _MAX_PARTS else ""
    return _one_condition(plain, own)


def _one_condition(plain: str, own: Collection[str]) -> str:
    negations = 0
    while (match := _NOT.match(plain)) is not None:
        negations, plain = negations + 1, plain[match.end() :]
    if negations > 1 or any(mark in plain for mark in (" && ", " || ", " and ", " or ", " ? ")):
        return ""
    if plain.startswith("(") and plain.endswith(")") and plain.count("(") == 1:
        plain = plain[1:-1]
    return _asked(plain, own, is_negated=negations == 1)


def _asked(plain: str, own: Collection[str], *, is_negated: bool) -> str:
    if compared := _COMPARED.fullmatch(plain):
        return _comparison(compared[1], compared[2], compared[3], own, is_negated=is_negated)
    asks = _ASKS.fullmatch(plain)
    if asks is None or not asks[3] or asks[2].lower() not in _HOLDS:
        return ""
    thing, held = thing_in_words(asks[1], own), _value(asks[3], own)
    return f"{thing} {_CONTAINS[_is_many(thing), is_negated]} {held}" if thing and held else ""


def _comparison(left: str, sign: str, right: str, own: Collection[str], *, is_negated: bool) -> str:
    thing = thing_in_words(left, own)
    if not thing or sign not in _OPERATORS or is_negated:
        return ""
    be = "are" if _is_many(thing) else "is"
    verb = _OPERATORS[sign]
    verb = f"{be}{verb[2:]}" if verb.startswith("is") else verb
    if _NOTHING.fullmatch(right):
        if verb not in (be, f"{be} not"):
            return ""
        return f"{thing} {be} missing" if verb == be else f"{thing} {be} present"
    value = _value(right, own)
    return f"{thing} {verb} {value}" if value else ""


def _value(text: str, own: Collection[str]) -> str:
    plain = text.strip()
    if _LITERAL.fullmatch(plain):
        return plain if without_foreign_names(plain, own) == plain else ""
    return thing_in_words(plain, own)


def _is_many(thing: str) -> bool:
    """Whether a phrase is about several things: by its first noun, which what follows "of" only says more of."""
    if thing.startswith(("the number of ", "the constant ")):
        return False
    words = name_words(thing.partition(" of ")[0].replace(" ", "_"))
    return bool(words) and is_plural(words[-1])
