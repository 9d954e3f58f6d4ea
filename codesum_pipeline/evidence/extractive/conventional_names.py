"""Names to which a language or its usual platforms give one meaning: `__len__`, `toString`, `viewDidLoad`, `index`."""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.noun_phrases import is_plural, noun_phrase, pluralize, singular, with_a
from codesum_pipeline.evidence.extractive.verb_forms import grammar_words
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.packaged_tables import packaged_table

_TABLES = packaged_table(__package__, "conventional_names")
_SHARING = {"tsx": "typescript"}
_TEST_WORDS = frozenset(("test", "tests", "testcase", "case", "suite", "spec"))
# Pages of which there is one.
_NO_THINGS = grammar_words("single_pages")
# What such classes control is the rest of their name.
_CONTROLLER = "controller"


def conventional_clause(evidence: NameEvidence) -> str:
    """The clause of a name that has its meaning by convention; "" of any other."""
    function = evidence.function
    language = _SHARING.get(function.language, function.language)
    meaning = _TABLES.get(language, {}).get(function.name, "")
    if not meaning and not evidence.around:
        meaning = _TABLES["any"].get(function.name, "")
    if not meaning and language == "scala" and function.name == "apply" and _is_made(evidence):
        meaning = "creates {one}"
    if not meaning and evidence.is_container:
        meaning = _TABLES["containers"].get(f"{function.name} {len(evidence.parameters)}", "")
    if meaning.startswith("reports whether ") and evidence.makes_other:
        return ""
    if not meaning:
        return _action(language, evidence)
    return _filled(meaning, evidence)


def _is_made(evidence: NameEvidence) -> bool:
    """Whether the class around it is in the type that comes back."""
    return bool(evidence.owner) and evidence.around in evidence.return_type


def _filled(meaning: str, evidence: NameEvidence) -> str:
    owner = evidence.owner_in_words or "the object"
    given = evidence.first_parameter
    return meaning.format(
        owner=owner,
        one=with_a(owner.removeprefix("the ")),
        many=_many(evidence.owner or ("object",)),
        tested=_tested(evidence),
        given=noun_phrase(given, given=given) or "something",
    )


def _many(words: Sequence[str]) -> str:
    return " ".join(map(word_in_full, (*words[:-1], pluralize(words[-1]))))


def _tested(evidence: NameEvidence) -> str:
    """What the tests of a class are about: " of the player" in `PlayerTest`; "" where its name does not say it."""
    words = name_words(evidence.around)
    rest = tuple(word for word in words if word not in _TEST_WORDS)
    phrase = noun_phrase(rest) if rest and rest != words else ""
    return f" of {phrase}" if phrase else ""


def _action(language: str, evidence: NameEvidence) -> str:
    """What an action of a controller does, by the thing that the controller is named after."""
    meaning = _TABLES["actions"].get(language, {}).get(evidence.function.name, "")
    words = name_words(evidence.around)
    if not meaning or words[-1:] != (_CONTROLLER,) or not words[1:] or words[-2] in _NO_THINGS:
        return ""
    if language == "ruby" and not is_plural(words[-2]) and pluralize(words[-2]) != words[-2]:
        return ""
    if evidence.facts.writes and not any(singular(words[-2]) in one.text.lower() for one in evidence.facts.writes):
        # The action is about something else.
        return ""
    thing = (*words[:-2], singular(words[-2]))
    one = noun_phrase(thing, article="a")
    if not one.startswith(("a ", "an ")):
        return ""
    spoken = " ".join(map(word_in_full, thing))
    return str(meaning).format(one=one, many=_many(thing), a_new=f"a new {spoken}")
