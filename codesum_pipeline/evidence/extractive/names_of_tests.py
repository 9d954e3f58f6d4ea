"""Names of tests: sentences stay sentences, and what is tested is named."""

import re
from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.name_evidence import IN_DOUBT, NameEvidence, is_called
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    BASE_OF_THIRD,
    GERUNDS,
    PREPOSITIONS,
    THIRD_PERSONS,
    VERBS,
    Verb,
    grammar_words,
    is_known,
    is_phrase,
    noun_phrase,
    verb_at,
)
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.language_facts.writing_systems import sets_no_blanks

_FINITE = grammar_words("finite")
_MODALS = frozenset(("should", "must", "can", "cannot", "will", "would"))
_CONDITIONS = frozenset(("when", "if", "where", "while", "unless", "after", "before", "once"))
# A sentence may begin with a subject that stands for what is tested.
_SUBJECTS = frozenset(("it", "they", "we", "there"))
_ACTED_ON = grammar_words("acted_on")
# Verbs that say in tests more often how a thing is: `DuplicateReferenceNumberTest`.
_ADJECTIVES = frozenset(("duplicate", "corrupt", "live", "double", "dry", "secret", "present", "free", "perfect"))
_CASES = frozenset(("with", "without", "at", "on", "in", "during", "under", "outside", "inside", "for", "from"))
# In these a name with blanks is a sentence of a test.
_SENTENCE_LANGUAGES = frozenset(("javascript", "typescript", "tsx", "elixir", "ruby", "kotlin", "scala", "swift"))
# There tests are marked, or give nothing back.
_MARKED = frozenset(("c-sharp", "java", "kotlin", "swift", "php", "typescript"))
_MAX_CONTEXT = 60
_MIN_SENTENCE = 5
_MAX_WORDS = 22
_CODE = frozenset("`#{}$<>\\|;=")


def is_test(function: FunctionInput) -> bool:
    """Whether the parser or the name says that it is a test."""
    name = function.name.strip()
    if function.is_unnamed and held_clause(function):
        return False
    is_sentence = " " in name and (function.is_unnamed or function.language in _SENTENCE_LANGUAGES)
    is_sentence = is_sentence and not name.startswith("operator")
    # `TestData()` that declares what it gives back is none.
    is_named = name_words(name)[:1] == ("test",) and not (
        function.language in _MARKED and function.facts.return_type and NameEvidence(function).gives_value
    )
    return "test" in function.modifiers or is_named or is_sentence


def test_clause(function: FunctionInput) -> str:
    """What a test tests; "" of a name that does not say it."""
    name = make_printable(function.name)
    if " " in name:
        sentence = _sentence(name)
        return f"{sentence}{_context(function, sentence)}" if sentence else ""
    words = [word for word in name_words(name) if word]
    words = words[1:] if words[:1] == ["test"] else words
    words = words[:-1] if words[-1:] == ["test"] else words
    if (
        not words
        or len(words) > _MAX_WORDS
        or not (len(words) >= _MIN_SENTENCE or all(word.isdigit() or len(word) > 1 or word == "a" for word in words))
    ):
        return ""
    spoken = [word_in_full(word) for word in words]
    claim = _claim(words, spoken)
    is_noun = (
        words[0] in IN_DOUBT | _ADJECTIVES
        and words[1:]
        and claim.startswith("tests ")
        and not is_called(words[0], function)
    )
    return f"tests {' '.join(spoken)}" if is_noun and not claim.startswith("tests that ") else claim


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


def _context(function: FunctionInput, sentence: str) -> str:
    """The condition that the block around a test states: " when the list is empty"."""
    around = function.qualified_name.removesuffix(function.name).rstrip(".").rpartition(".")[2]
    words = make_printable(around).split(" ")
    said = " ".join(words)
    is_condition = len(words) > 1 and words[0].lower() in (*_CONDITIONS, "with", "without", "given")
    if not is_condition or len(said) > _MAX_CONTEXT or not _CODE.isdisjoint(said) or " when " in sentence:
        return ""
    return f" {words[0].lower()} {' '.join(words[1:])}"


def _claim(words: Sequence[str], spoken: Sequence[str]) -> str:
    """Words of a name as what a test claims, or what it is about."""
    said = " ".join(spoken)
    verb = verb_at(words)
    is_action = verb is not None and verb.base not in ALSO_NOUNS and words[0] in VERBS
    finite = _finite_place(words, is_action=is_action)
    if _begins_with_verb(words, finite):
        return f"tests that it {said}"
    if words[0] in _CONDITIONS:
        return f"tests what happens {said}" if len(words) > 1 else ""
    if words[0] in _CASES:
        return f"tests the case {said}" if len(words) > 1 else ""
    if is_action and finite == 1 and words[1] in _ACTED_ON:
        finite = 0
    if words[0] in _SUBJECTS and len(words) > 1:
        return f"tests that {said}"
    if finite and len(words) > 2:
        return f"tests that {_subject(verb, spoken, finite) if verb and is_action else said}"
    if verb and verb.length == len(words) and verb.base not in ALSO_NOUNS:
        return f"tests {verb.ing}"
    if verb and verb.length < len(words) and words[0] in VERBS:
        rest = words[verb.length :]
        is_thing = is_phrase(rest) and rest[-1] not in GERUNDS
        named = noun_phrase(rest, article="a") if is_thing else " ".join(spoken[verb.length :])
        return f"tests {verb.ing} {named}"
    return f"tests {said}" if len(words) > 1 or is_known(words[0]) or sets_no_blanks(words[0]) else ""


def _subject(verb: Verb, spoken: Sequence[str], finite: int) -> str:
    """What is done is the subject of the claim: `render_list_keeps_order` says that rendering list keeps order."""
    return " ".join((verb.ing, *spoken[verb.length :])) if finite > verb.length - 1 else " ".join(spoken)


def _finite_place(words: Sequence[str], *, is_action: bool) -> int:
    """Where the verb of a sentence stands; 0 where there is none. The condition of an action has a verb of its own."""
    ends = (place for place, word in enumerate(words) if is_action and place and word in ("when", "if", "unless"))
    end = next(ends, len(words))
    places = (place for place in range(1, end) if _is_finite(words[place]) and words[place - 1] not in PREPOSITIONS)
    return next(places, 0)


def _is_finite(word: str) -> bool:
    return word in _FINITE or word in THIRD_PERSONS


def _begins_with_verb(words: Sequence[str], finite: int) -> bool:
    """Whether the subject is left out: `returns_none`, `should_fail`, `tracks_attributes`."""
    if words[0] in THIRD_PERSONS or words[0] in _FINITE or words[0] in _MODALS:
        return True
    # A noun in the plural modifies no other noun.
    is_plural_noun = not words[1:] or words[1] in PREPOSITIONS or verb_at(words, 1) is not None
    return words[0] in BASE_OF_THIRD and not finite and not is_plural_noun


_ROUTE = re.compile(r"(?:route|(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ALL|USE|WEBSOCKET|LIVE)) (\S+)")
_STARTED = re.compile(r"(command|task) (\S.*)")
_EVENT = re.compile(r"(?:on|once|handle|handleOnce|hears|addEventListener) (\S.*)")
_WITHOUT_METHOD = frozenset((None, "ALL", "USE", "LIVE"))
# Keys of a command's record, by what runs then.
_RUN = frozenset(("Run", "RunE", "Action"))
_COMMAND_WORDS = frozenset(("cmd", "command"))


def held_clause(function: FunctionInput) -> str:
    """What a function without a name does, by what starts it; "" where its name does not say that."""
    name = make_printable(function.name)
    if match := _ROUTE.fullmatch(name):
        return f"handles {'requests to' if match[1] in _WITHOUT_METHOD else match[1]} {match[2]}"
    if match := _STARTED.fullmatch(name):
        return f"runs the {match[1]} {match[2]}"
    if match := _EVENT.fullmatch(name):
        return f"handles the event {match[1]}"
    words = name_words(function.qualified_name.rpartition(".")[0].rpartition(".")[2])
    if name in _RUN and len(words) > 1 and words[-1] in _COMMAND_WORDS:
        return f"runs the {' '.join(map(word_in_full, words[:-1]))} command"
    return ""
