"""What a function without its author's words gives back, where neither signature nor name says it: a value under a
condition, or the one expression that it is.

Both are told as the code writes them, and only where every name in them is the function's own: a parameter, or what it
uses of its object.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence, word_set
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, assigned_names, field_name, parameter_words
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.name_grammar import VERBS, grammar_words, is_phrase, noun_phrase
from codesum_pipeline.evidence.extractive.spoken_code import condition_in_words, thing_in_words
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
    if ways:
        lead = "Yields" if code.facts.is_generator else "Returns"
        return make_sentence(f"{lead} {', '.join(ways[:_MAX_CONDITIONAL])}")
    (only,) = returned if len(returned) == 1 and not returned[0].when else (None,)
    if only is None or code.facts.is_generator:
        return ""
    is_answer = only.form is Form.OTHER and (code.facts.return_type or "").lower().strip(" :->") in ("bool", "boolean")
    if is_answer and any(mark in only.text for mark in _COMPARED) and " ? " not in only.text:
        only = replace(only, form=Form.TRUTH)
    said = _constant(only, own) or _made(code, only) or _expression(only, own)
    return said or _asked(code, only) or told_result(code, only, own)


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
    """A called name that says what comes back, as "the badge"; "" of names with a verb."""
    if not words or words[0] in VERBS or words[-1] in VERBS or words[-1] in _NO_ANSWERS:
        return ""
    return noun_phrase(words)


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


# Names in these are of parameters and of what a function defines.
_WITHOUT_FIELDS = frozenset(("haskell", "elixir", "ruby", "bash"))
_MAX_CLAIM_CHARS, _MOST_WAYS = 60, 3
_LITERAL = re.compile(
    r"-?\d[\w.]{0,11}|true|false|True|False|null|nil|None|\"[^\"\\…$#{}%<>]{0,40}\"|'[^'\\…$#{}%<>]{0,40}'|:[a-z]\w{0,20}"
)
_EMPTY = {
    "[]": "an empty list", "{}": "an empty mapping", '""': "an empty text", "''": "an empty text",
    "null": "nothing", "nil": "nothing", "None": "nothing", "undefined": "nothing",
}  # fmt: skip
_ALWAYS = frozenset(("true", "false", "True", "False", "[]", "{}", '""', "''", "null", "nil", "None", "undefined"))
_ALWAYS_SAID = {text: said for text, said in _EMPTY.items() if said != "nothing"} | {"True": "true", "False": "false"}
_LITERALS = (Form.TRUTH, Form.NOTHING, Form.LIST, Form.MAPPING, Form.TEXT)
# What is returned where an error is caught stands under no condition.
_CAUGHT = re.compile(r"^\s*+\}?+\s*+(?:catch|except|rescue)\b")
_OF_OBJECT = re.compile(r"\b(?:this|self)\.|@(?=\w)")
_NAMES_ERRORS = re.compile(r"\b(?:err|error|ok|e)\b")


def told_result(code: CodeFacts, one: Fact, own: Collection[str]) -> str:
    """One sentence of the value that a function returns on all its ways; "" where it is not plain."""
    text = make_printable(one.text).removeprefix("await ")
    if "…" in text:
        return ""
    condition = condition_in_words(text, own) if one.form is Form.TRUTH or text.endswith("?)") else ""
    asked = make_sentence(f"True when {condition}") if condition else ""
    return _always(code, one, text) or asked or _stored(code, one, text, own)


def _always(code: CodeFacts, one: Fact, text: str) -> str:
    """`Always returns false.`, of what does nothing else."""
    facts = code.facts
    if (
        text not in _ALWAYS
        or one.form not in _LITERALS
        or facts.calls
        or facts.writes
        or facts.raises
        or code.function.complexity > 1
    ):
        return ""
    return f"Always returns {_ALWAYS_SAID.get(text, text)}."


def told_choice(code: CodeFacts, own: Collection[str]) -> str:
    """`Returns "free" when its price is missing, else its price.`, of all values that come back."""
    returned, asked = code.facts.returned, code.facts.conditions
    if not 1 < len(returned) <= _MOST_WAYS or len(asked) != len(returned) - 1:
        return ""
    *conditional, last = returned
    lines = code.function.canonical_source.split("\n")
    if any(map(_CAUGHT.match, lines)):
        return ""
    depths = {len(line) - len(line.lstrip()) for one in conditional for line in lines[one.line - 1 : one.line]}
    is_local = last.form is Form.NAME and last.names[-1:] == (last.text.strip("*&$@"),) and not _field(code, last.text)
    if len(depths) > 1 or is_local or any("…" in one.text or _NAMES_ERRORS.search(one.when) for one in returned):
        return ""
    ways = [_way(one, own) for one in conditional]
    value = _value(last.text, own) if not last.when else ""
    return make_sentence(f"Returns {', '.join(ways)}, else {value}") if value and all(ways) else ""


def _way(one: Fact, own: Collection[str]) -> str:
    condition = condition_in_words(one.when, own) or _plain_claim(one.when, own)
    value = _value(one.text, own) if condition else ""
    return f"{value} when {condition}" if value else ""


def _plain_claim(text: str, own: Collection[str]) -> str:
    """A condition that is one name of the function's own, or a comparison of such names, as it is written."""
    plain = _OF_OBJECT.sub("", text.strip())
    is_short = 1 < len(plain) <= _MAX_CLAIM_CHARS and "{" not in plain
    return plain if is_short and without_foreign_names(plain, own) == plain else ""


def _value(text: str, own: Collection[str]) -> str:
    """A value in words: a literal or a thing."""
    plain = text.strip()
    if plain in _EMPTY:
        return _EMPTY[plain]
    if _LITERAL.fullmatch(plain):
        return plain.lower() if plain in _ALWAYS else plain if without_foreign_names(plain, own) == plain else ""
    thing = thing_in_words(plain, own)
    return "" if thing.startswith("the constant ") else thing


def _stored(code: CodeFacts, one: Fact, text: str, own: Collection[str]) -> str:
    """What a function gives back without doing anything, where its name says something else."""
    if one.form is not Form.NAME or code.facts.writes or code.function.complexity > 1:
        return ""
    if len(one.names) < 2:
        return _field(code, text)
    thing = thing_in_words(text, own) if one.names[-1].lower() not in _EMPTY_NAMES else ""
    is_news = thing and not telling_stems(thing) <= telling_stems(code.function.name)
    return make_sentence(f"Returns {thing}") if is_news else ""


def _field(code: CodeFacts, name: str) -> str:
    """A name that is neither given to the function nor made in it: of a field or of the file."""
    facts, language = code.facts, code.function.language
    given = {parameter_words(one) for one in facts.parameters} | {one.name.strip("*&$@_") for one in facts.parameters}
    is_made = facts.calls or name in given or name in assigned_names(code.function) or language in _WITHOUT_FIELDS
    is_made = is_made or (name[:1].isupper() and language not in ("go", "c-sharp"))
    words = name_words(field_name(name).strip("_$@"))
    if is_made or name.lower() in _EMPTY_NAMES or not is_phrase(words):
        return ""
    phrase = noun_phrase(words)
    return "" if telling_stems(phrase) <= telling_stems(code.function.name) else make_sentence(f"Returns {phrase}")
