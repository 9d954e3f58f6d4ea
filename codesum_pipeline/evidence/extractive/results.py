"""What a function without its author's words gives back, where neither signature nor name says it: a value under a
condition, or the one expression that it is.

Both are told as the code writes them, and only where every name in them is the function's own: a parameter, or what it
uses of its object.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence, word_set
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.noun_phrases import PREPOSITIONS, is_phrase, noun_phrase
from codesum_pipeline.evidence.extractive.told_results import told_choice, told_last_choice, told_result
from codesum_pipeline.evidence.extractive.verb_forms import VERBS, grammar_words
from codesum_pipeline.evidence.extractive.words import name_words, telling_stems, word_in_full
from codesum_pipeline.foundation.data_model.symbol import Fact, Form

_MAX_CONDITIONAL = 2
_MAX_CONDITION_CHARS = 60
_MAX_VALUE_CHARS, _MAX_NUMBER_CHARS = 40, 12
_VALUES = (Form.TRUTH, Form.NOTHING, Form.NUMBER, Form.TEXT, Form.NAME)
_MAX_SOURCE_CHARS = 20_000
_MAX_CHAIN = 3
_EVERYDAY = word_set("everyday_calls")
_EVERYDAY_NAMES = frozenset(map(str.lower, _EVERYDAY))
_EMPTY_NAMES = word_set("empty_names") | {"ret", "res", "rv"}
# A condition that only says whether the call before it failed.
_OF_ERRORS = re.compile(r"(?:not )?(?:err|error|ok|e)(?: ?[!=]=?=? ?(?:nil|null|undefined|None))?")
# Names of calls that name no thing that comes back.
_NO_ANSWERS = grammar_words("no_answers")
# Numbers that say no more than how it went.
_STATUSES = frozenset(("0", "1", "-1"))
# `vector_to_rows` names what is done; `badge_for_episode` what comes back.
_OF_RESULTS = ("of", "for", "by", "in")
# A name of a value: it begins with a small letter, and is not called.
_VARIABLE = re.compile(r"(?<![\w.])[a-z_]\w{0,60}\b(?!\s?\()")
_COMPARED = (" == ", " != ", " < ", " > ", " <= ", " >= ", " === ", " !== ", " && ", " || ", " and ", " or ", " in ")
_COMPUTED = (" + ", " - ", " * ", " / ", " % ", " // ", " ** ", " & ", " | ", " << ", " >> ", " ^ ")


def results_in_prose(code: CodeFacts, own: Collection[str]) -> str:
    """`Returns -1 when count == 0.`, `True when state == "open".`, `Computes width * height.`; "" where it would not be
    certain or not be plain."""
    if code.is_test() or code.is_constructor():
        return ""
    returned = code.facts.returned
    ways = [f"{value} when {condition}" for value, condition in _conditional(returned, own)]
    if not code.facts.is_generator and (chosen := told_choice(code, own)):
        return chosen
    if not returned:
        return told_last_choice(code, own)
    if ways:
        lead = "Yields" if code.facts.is_generator else "Returns"
        return make_sentence(f"{lead} {', '.join(ways[:_MAX_CONDITIONAL])}")
    (only,) = returned if len(returned) == 1 and not returned[0].when else (None,)
    if only is None or code.facts.is_generator:
        return ""
    is_answer = only.form is Form.OTHER and (code.facts.return_type or "").lower().strip(" :->") in ("bool", "boolean")
    if is_answer and any(mark in only.text for mark in _COMPARED) and " ? " not in only.text:
        only = replace(only, form=Form.TRUTH)
    return (
        _constant(only, own)
        or _part_of_object(only)
        or _made(code, only)
        or _expression(only, own)
        or _asked(code, only)
        or told_result(code, only, own)
    )


def _constant(one: Fact, own: Collection[str]) -> str:
    """`Returns "attempt".`, of what always gives the same."""
    said = shown_code(one.said, own, _MAX_VALUE_CHARS) if one.form is Form.TEXT else ""
    if said and one.text[1:-1] == one.said:
        return make_sentence(f'Returns "{said}"')
    is_telling = one.form is Form.NUMBER and one.text not in _STATUSES and len(one.text) <= _MAX_NUMBER_CHARS
    return make_sentence(f"Returns {make_printable(one.text)}") if is_telling else ""


def said_as_written(code: CodeFacts) -> frozenset[str]:
    """The names that a sentence may say: of variables, and of what every program of a language calls."""
    source = code.function.canonical_source[:_MAX_SOURCE_CHARS]
    return _EVERYDAY_NAMES.union(map(str.lower, _VARIABLE.findall(source)))


def _asked(code: CodeFacts, one: Fact) -> str:
    """`Returns the active users of its repository.`, of `self.repository.active_users()`."""
    words = name_words(one.names[-1]) if one.form is Form.CALL and 0 < len(one.names) <= _MAX_CHAIN else ()
    phrase = "" if one.names[-1:] and one.names[-1] in _EVERYDAY else _phrase_of_answer(words)
    if len(words) == 1 == len(one.names) or any(not word.isalpha() for word in words):
        return ""
    if not phrase or telling_stems(phrase) <= telling_stems(code.function.name):
        return ""
    *_, holder = ("", *one.names[:-1])
    if not holder:
        return make_sentence(f"Returns {phrase}")
    if holder in RECEIVERS:
        return make_sentence(f"Returns its {phrase.removeprefix('the ')}")
    is_own = one.names[0] in RECEIVERS
    of = name_words(holder.strip("_*&$@"))
    if not is_phrase(of) or (len(one.names) == _MAX_CHAIN and not is_own):
        return ""
    return make_sentence(f"Returns {phrase} of {'its' if is_own else 'the'} {' '.join(map(word_in_full, of))}")


def _phrase_of_answer(words: Sequence[str]) -> str:
    """A called name that says what comes back, as "the badge for the episode"; "" of names with a verb."""
    if not words or words[0] in VERBS or words[-1] in VERBS or words[-1] in _NO_ANSWERS:
        return ""
    at = next((place for place, word in enumerate(words) if word in PREPOSITIONS), len(words))
    named, rest = noun_phrase(words[:at]), words[at + 1 :]
    if at == len(words) or not named:
        return named
    if words[at] not in _OF_RESULTS:
        return ""
    return f"{named} {words[at]} {noun_phrase(rest)}" if is_phrase(rest) else ""


def _part_of_object(one: Fact) -> str:
    """`Returns the name of its config.`, of `self.config.name`."""
    if one.form is not Form.NAME or len(one.names) != 3 or one.names[0] not in RECEIVERS:
        return ""
    of, what = (name_words(name.strip("_")) for name in one.names[1:])
    return make_sentence(f"Returns {noun_phrase(what)} of its {' '.join(map(word_in_full, of))}") if (
        is_phrase(of) and is_phrase(what)
    ) else ""  # fmt: skip


def _made(code: CodeFacts, one: Fact) -> str:
    """`Creates a shipping label.`, of what calls the constructor of a class that no signature names."""
    made = name_words(code.class_made(one)) if one.form is Form.CALL and not code.facts.return_type else ()
    return make_sentence(f"Creates {noun_phrase(made, article='a')}") if is_phrase(made) else ""


def _conditional(returned: Collection[Fact], own: Collection[str]) -> Iterator[tuple[str, str]]:
    for one in returned:
        value, condition = shown_code(one.text, own, _MAX_VALUE_CHARS), shown_code(one.when, own, _MAX_CONDITION_CHARS)
        is_telling = one.form is not Form.NAME or value.lower() not in _EMPTY_NAMES
        if one.form in _VALUES and is_telling and value and condition and not is_about_errors(condition):
            yield value, condition


def is_about_errors(condition: str) -> bool:
    """Whether a condition only asks whether the call before it failed."""
    return _OF_ERRORS.fullmatch(condition) is not None


def _expression(one: Fact, own: Collection[str]) -> str:
    text = shown_code(one.text, own, _MAX_CONDITION_CHARS)
    if not text or "{" in text:
        return ""
    if one.form is Form.TRUTH and any(mark in text for mark in _COMPARED):
        return make_sentence(f"True when {text}")
    return make_sentence(f"Computes {text}") if any(mark in text for mark in _COMPUTED) else ""


def shown_code(text: str, own: Collection[str], limit: int) -> str:
    """Code as it may stand in a sentence, without its receivers; "" of what is long or has names of other code."""
    plain = make_printable(text)
    for receiver in RECEIVERS:
        plain = plain.removeprefix(f"{receiver}.").replace(f" {receiver}.", " ").replace(f"({receiver}.", "(")
    is_plain = 0 < len(plain) <= limit and "…" not in plain and ";" not in plain
    return plain if is_plain and without_foreign_names(plain, own) == plain else ""
