"""A function's one result in words where no clause says it: a choice, a default, a template, a list made of another.

Only what comes back on every way is told: one value that is returned under no condition.
"""

import re
from collections.abc import Collection

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence, word_set
from codesum_pipeline.evidence.extractive.changed_state import assigned_names, field_name
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words, parameter_words
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.noun_phrases import is_phrase, noun_phrase
from codesum_pipeline.evidence.extractive.spoken_code import condition_in_words, thing_in_words
from codesum_pipeline.evidence.extractive.words import name_words, telling_stems
from codesum_pipeline.foundation.data_model.symbol import Fact, Form

# Names in these are of parameters and of what a function defines.
_WITHOUT_FIELDS = frozenset(("haskell", "elixir", "ruby", "bash"))
_EMPTY_NAMES = word_set("empty_names") | {"ret", "res", "rv"}
_MAX_VALUE_CHARS, _MAX_TEMPLATE_CHARS, _MOST_WAYS = 60, 70, 3
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
_OF_ERRORS = re.compile(r"\b(?:err|error|ok|e)\b")
_TERNARY = re.compile(r"([^?]{1,80}(?:\?\.[^?]{1,60}){0,2}\??) \? ([^?]{1,80}?) : ([^?:]{1,80})")
_PYTHON_TERNARY = re.compile(r"(.{1,80}?) if (.{1,80}?) else (.{1,80})")
_IF_ELSE = re.compile(
    r"if \(?([^{}()]{1,80}(?:\(\))?)\)? (?:\{ )?([^{}]{1,60}?)(?: \})? else (?:\{ )?([^{}]{1,60}?)(?: \})?"
)
_ONLY_CHOICE = re.compile(
    r"^ *+def [^\n]{1,80}\n *+if ([^\n]{1,80})\n *+([^\n]{1,60})\n *+else\n *+([^\n]{1,60})\n *+end\n *+end"
)
_DEFAULT = re.compile(r"((?:[^?|:]|\?\.){1,80}) (?:\?\?|\?:|\|\||or) ((?:[^?|:]|\?\.|::){1,80})")
_TEMPLATES = re.compile(r"(?:f|rf|fr|\$|s)?(?P<quote>[\"'`]).{3,90}(?P=quote)", re.S)
_GAPS = re.compile(r"[#$]?\{[^{}]*\}")
_MADE_OF = re.compile(r"[\[(](.{1,60}?) for (\w{1,30}) in ([\w.()]{1,60}?)(?: if (.{1,70}?))?[\])]")


def told_result(code: CodeFacts, one: Fact, own: Collection[str]) -> str:
    """One sentence of the value that a function returns on all its ways; "" where it is not plain."""
    text = make_printable(one.text).removeprefix("await ")
    if "…" in text:
        return ""
    ways = _constant, _question, _choice, _default, _template, _made_of, _stored
    return next(filter(None, (way(code, one, text, own) for way in ways)), "")


def _constant(code: CodeFacts, one: Fact, text: str, _own: Collection[str]) -> str:
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


def _question(_code: CodeFacts, one: Fact, text: str, own: Collection[str]) -> str:
    condition = condition_in_words(text, own) if one.form is Form.TRUTH or text.endswith("?)") else ""
    return make_sentence(f"True when {condition}") if condition else ""


def _choice(_code: CodeFacts, _one: Fact, text: str, own: Collection[str]) -> str:
    """`a if asked else b`, in each language's way."""
    found = _PYTHON_TERNARY.fullmatch(text)
    parts = (found[2], found[1], found[3]) if found else ()
    if not parts and (found := _IF_ELSE.fullmatch(text) or _TERNARY.fullmatch(text)):
        parts = (found[1], found[2], found[3])
    if not parts:
        return ""
    asked, first, second = parts
    if not all(map(_is_whole, parts)):
        return ""
    condition = condition_in_words(asked, own) or _plain_claim(asked, own)
    first, second = _value(first, own), _value(second, own)
    if not condition or not first or not second:
        return ""
    return make_sentence(f"Returns {first} when {condition}, else {second}")


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
    if len(depths) > 1 or is_local or any("…" in one.text or _OF_ERRORS.search(one.when) for one in returned):
        return ""
    ways = [_way(one, own) for one in conditional]
    value = _any_value(last.text, own) if not last.when else ""
    return make_sentence(f"Returns {', '.join(ways)}, else {value}") if value and all(ways) else ""


def told_last_choice(code: CodeFacts, own: Collection[str]) -> str:
    """What comes back of an `if` with `else` that is all of a function of Ruby."""
    found = _ONLY_CHOICE.fullmatch(code.function.canonical_source) if code.function.language == "ruby" else None
    if found is None:
        return ""
    condition = condition_in_words(found[1], own) or _plain_claim(found[1], own)
    first, second = (_any_value(found[at], own) or _plain_claim(found[at], own) for at in (2, 3))
    return make_sentence(f"Returns {first} when {condition}, else {second}") if condition and first and second else ""


def _way(one: Fact, own: Collection[str]) -> str:
    condition = condition_in_words(one.when, own) or _plain_claim(one.when, own)
    value = _any_value(one.text, own) if condition else ""
    return f"{value} when {condition}" if value else ""


def _any_value(text: str, own: Collection[str]) -> str:
    """A value in words, or a default: "x, or else y"."""
    found = _DEFAULT.fullmatch(text)
    first, second = (_value(found[1], own), _value(found[2], own)) if found else ("", "")
    return f"{first} or else {second}" if first and second else _value(text, own)


def _plain_claim(text: str, own: Collection[str]) -> str:
    """A condition that is one name of the function's own, or a comparison of such names, as it is written."""
    plain = _OF_OBJECT.sub("", text.strip())
    is_short = 1 < len(plain) <= _MAX_VALUE_CHARS and "{" not in plain
    return plain if is_short and without_foreign_names(plain, own) == plain else ""


def _is_whole(text: str) -> bool:
    """Whether a part of an expression is one: brackets and quotes in pairs."""
    return all(text.count(one) == text.count(other) for one, other in ("()", "[]", "{}")) and text.count('"') % 2 == 0


def _default(_code: CodeFacts, one: Fact, text: str, own: Collection[str]) -> str:
    """`Returns its watched at, or else the release date of its trakt.`"""
    found = _DEFAULT.fullmatch(text) if one.form is not Form.TRUTH else None
    if found is None or found[2] in ("null", "nil", "None", "undefined", "false"):
        return ""
    first, second = _value(found[1], own), _value(found[2], own)
    return make_sentence(f"Returns {first}, or else {second}") if first and second else ""


def _value(text: str, own: Collection[str]) -> str:
    """A value in words: a literal, a thing, or a text with gaps."""
    plain = text.strip()
    if plain in _EMPTY:
        return _EMPTY[plain]
    if _LITERAL.fullmatch(plain):
        return plain.lower() if plain in _ALWAYS else plain if without_foreign_names(plain, own) == plain else ""
    thing = thing_in_words(plain, own)
    return "" if thing.startswith("the constant ") else thing or _form_of(plain)


def _template(code: CodeFacts, one: Fact, text: str, _own: Collection[str]) -> str:
    form = _form_of(text) if one.form in (Form.TEXT, Form.OTHER) else ""
    is_news = form and not telling_stems(form) <= telling_stems(code.function.name) | {"text", "form"}
    return make_sentence(f"Returns {form}") if is_news else ""


def _form_of(text: str) -> str:
    """`text of the form "… - …"`, of a text in which something is filled in."""
    if not _TEMPLATES.fullmatch(text):
        return ""
    inside = text.lstrip("frs$")[1:-1]
    if any(quote in inside for quote in '"`\n<') or len(inside) > _MAX_TEMPLATE_CHARS:
        return ""
    words = message_in_words(inside)
    is_telling = words.count("…") and any(len(word) > 2 and word.isalpha() for word in re.split(r"\W+", words))
    if not words and (gaps := _GAPS.sub("…", inside)).count("…") > 1 and not any(map(str.isalnum, gaps)):
        words, is_telling = gaps, len(gaps.replace("…", "").strip()) > 0
    return f'text of the form "{words}"' if is_telling and without_foreign_names(words, ()) == words else ""


def _made_of(_code: CodeFacts, _one: Fact, text: str, own: Collection[str]) -> str:
    """`[row for row in rows if row.day == day]`: each row of the rows for which the condition holds."""
    found = _MADE_OF.fullmatch(text)
    if found is None:
        return ""
    made, each, source, asked = found[1], found[2], found[3], found[4] or ""
    things = thing_in_words(source, own)
    condition = condition_in_words(asked, own) or _plain_claim(asked, own) if asked else ""
    if not things or bool(asked) != bool(condition):
        return ""
    of_each = each if made == each else thing_in_words(made, {*own, each.lower()})
    if not of_each or (made == each and not asked):
        return ""
    where = f" when {condition}" if condition else ""
    return make_sentence(f"Returns {of_each} for each {each} in {things}{where}")


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
