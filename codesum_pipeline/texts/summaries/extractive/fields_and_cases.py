"""What a function lists in its code: the fields of which an object's text is made, the cases of a test."""

import re

from codesum_pipeline.texts.summaries.extractive.changed_state import assigned_names, field_name
from codesum_pipeline.texts.summaries.extractive.code_facts import CodeFacts
from codesum_pipeline.texts.summaries.extractive.foreign_names import without_foreign_names
from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_phrase
from codesum_pipeline.texts.summaries.extractive.words import in_a_row, name_words, word_in_full

_MAX_SOURCE_CHARS, _MOST_NAMES = 20_000, 5
_AS_TEXT = re.compile(r"Returns the [\w ]{1,60} as text(?: for developers)?\.")
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.){0,200}+\"|'(?:[^'\\\n]|\\.){0,200}+'")
# A field of an object, a name that is joined to a text, and a name that fills a gap of one.
_OF_OBJECT = re.compile(r"\b(?:self|this)(?:\.|->)([A-Za-z_]\w{1,60})\b(?! ?[(.])")
_JOINED = re.compile(r"(?:\+|<<) ?([A-Za-z_]\w{1,60})\b(?! ?[(.\[])")
_FILLED = re.compile(r"[#$]?\{@?([A-Za-z_]\w{1,60})\}")


def with_fields(code: CodeFacts, headline: str) -> str:
    """`Returns the object as text: its ID and name.`; the headline of any other function, and where none is certain."""
    function, facts = code.function, code.facts
    if not _AS_TEXT.fullmatch(headline) or function.complexity > 1 or len(facts.returned) != 1 or facts.writes:
        return headline
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    body = source.partition("\n")[2] or source
    local = assigned_names(function).union(one.name.strip("*&$@_ ") for one in facts.parameters)
    found = [*_OF_OBJECT.finditer(body), *_JOINED.finditer(_TEXT.sub(lambda text: " " * len(text[0]), body))]
    found += _FILLED.finditer(body) if function.language in ("python", "c-sharp", "ruby", "kotlin") else ()
    names = [one[1] for one in sorted(found, key=lambda one: one.start(1)) if one[1] not in local]
    words = [name_words(field_name(name).strip("_")) for name in names]
    phrases = list(dict.fromkeys(" ".join(map(word_in_full, one)) for one in words if is_phrase(one)))
    more = len(phrases) - _MOST_NAMES
    shown = [*phrases[:_MOST_NAMES], f"{more} more"] if more > 1 else phrases
    return f"{headline[:-1]}: its {in_a_row(shown)}." if phrases else headline


_CASE = re.compile(r"\bQTest::newRow\(\"([^\"\\\n]{2,40})\"\)")


def cases_in_prose(code: CodeFacts) -> str:
    """`Gives the cases "identity" and "equal" of a test.`, of a function that fills the table of a test of Qt."""
    found = dict.fromkeys(_CASE.findall(code.function.canonical_source[:_MAX_SOURCE_CHARS]))
    cases = [f'"{one}"' for one in found if without_foreign_names(one, ()) == one]
    more = len(cases) - _MOST_NAMES
    shown = [*cases[:_MOST_NAMES], f"{more} more"] if more > 1 else cases
    return f"Gives the cases {in_a_row(shown)} of a test." if cases[1:] else ""
