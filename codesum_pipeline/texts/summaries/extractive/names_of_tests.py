"""Names of tests: sentences stay sentences, and what is tested is named."""

from collections.abc import Sequence

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import make_printable
from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_known, is_phrase, noun_phrase
from codesum_pipeline.texts.summaries.extractive.verb_forms import (
    ALSO_NOUNS,
    THIRD_PERSONS,
    VERBS,
    grammar_words,
    verb_at,
)
from codesum_pipeline.texts.summaries.extractive.words import name_words, word_in_full
from codesum_pipeline.texts.summaries.inputs import FunctionInput

_FINITE = grammar_words("finite")
_MODALS = frozenset(("should", "must", "can", "cannot", "will", "would"))
_MAX_WORDS = 22
_CODE = frozenset("`#{}$<>\\|;=")


def is_test(function: FunctionInput) -> bool:
    """Whether the parser or the name says that it is a test."""
    return "test" in function.modifiers or name_words(function.name)[:1] == ("test",)


def test_clause(function: FunctionInput) -> str:
    """What a test tests; "" of a name that does not say it."""
    name = make_printable(function.name)
    if " " in name:
        return _sentence(name)
    words = [word for word in name_words(name) if word]
    words = words[1:] if words[:1] == ["test"] else words
    words = words[:-1] if words[-1:] == ["test"] else words
    if (
        not words
        or len(words) > _MAX_WORDS
        or not all(word.isdigit() or len(word) > 1 or word == "a" for word in words)
    ):
        return ""
    return _claim(words, [word_in_full(word) for word in words])


def _sentence(name: str) -> str:
    """A name with blanks, as it is written."""
    if not _CODE.isdisjoint(name) or len(name) > 140:
        return ""
    text = name.strip(" .:").removeprefix("test ").strip()
    spoken = text.split(" ")
    if len(spoken) < 2:
        return ""
    first = spoken[0]
    if first[1:].islower() and first.isalpha():
        spoken[0] = first.lower()
    words = [word.strip(",.'\"").lower() for word in spoken]
    return _claim(words, spoken)


def _claim(words: Sequence[str], spoken: Sequence[str]) -> str:
    said = " ".join(spoken)
    if words[0] in THIRD_PERSONS or words[0] in _FINITE or words[0] in _MODALS:
        return f"tests that it {said}"
    if len(words) > 2 and any(word in _FINITE or word in THIRD_PERSONS for word in words[1:]):
        return f"tests that {said}"
    verb = verb_at(words)
    if verb and verb.length == len(words) and verb.base not in ALSO_NOUNS:
        return f"tests {verb.ing}"
    if verb and verb.length < len(words) and words[0] in VERBS:
        rest = words[verb.length :]
        named = noun_phrase(rest, article="a") if is_phrase(rest) else " ".join(spoken[verb.length :])
        return f"tests {verb.ing} {named}"
    return f"tests {said}" if len(words) > 1 or is_known(words[0]) else ""
