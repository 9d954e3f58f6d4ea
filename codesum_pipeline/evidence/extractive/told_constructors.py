"""What a constructor does besides keeping what it is given: fields that no parameter names, and the text that it hands
to the class above."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence
from codesum_pipeline.evidence.extractive.changed_state import field_name, set_fields
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words, parameter_words
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.noun_phrases import is_phrase
from codesum_pipeline.evidence.extractive.words import in_a_row, name_words, telling_stems, word_in_full

_MOST_NAMES, _MAX_SOURCE_CHARS = 4, 20_000
_TO_CLASS_ABOVE = re.compile(
    r"""(?:\bsuper(?:\.init|\(\)\.__init__)?|\bparent::__construct|\bbase)\("""
    r"""\s*(?:[\w.]{1,60}(?:\(\))?, ?)?[fr]?(["'])([^"'\\\n{$]{4,60})\1\s*[,)]"""
)


def constructor_in_prose(code: CodeFacts, said: str) -> str:
    """`Sets up its cache and lock.`; "" of one that only keeps what it is given."""
    if not code.is_constructor():
        return ""
    given = telling_stems(f"{said} {' '.join(map(parameter_words, code.facts.parameters))}")
    phrases = []
    for name in set_fields(code):
        words = name_words(field_name(name).strip("_"))
        phrase = " ".join(map(word_in_full, words))
        if is_phrase(words) and len(name) > 2 and not telling_stems(phrase) <= given:
            phrases.append(phrase)
    names = list(dict.fromkeys(phrases))
    more = len(names) - _MOST_NAMES
    shown = [*names[:_MOST_NAMES], f"{more} more"] if more > 1 else names
    parts = [f"sets up its {in_a_row(shown)}"] if names else []
    above = _TO_CLASS_ABOVE.search(code.function.canonical_source[:_MAX_SOURCE_CHARS])
    text = message_in_words(above[2]) if above else ""
    if text and without_foreign_names(text, ()) == text:
        parts.append(f'hands "{text}" to the class above')
    return make_sentence(in_a_row(parts)) if parts else ""
