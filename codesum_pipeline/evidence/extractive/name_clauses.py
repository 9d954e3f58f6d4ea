"""A name read by the grammar of names: one clause with a verb, or nothing.

The first word of a name says which rule reads it: a verb, a question (`is_empty`), a conversion (`to_json`), a handler
(`on_click`), a test. Closed lists say what each word may be, and the code must not contradict: a name that begins with
a noun, or has a word that no list knows, is read as nothing.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, word_set
from codesum_pipeline.evidence.extractive.class_clauses import class_clause, spoken_many
from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.name_grammar import (
    PREPOSITIONS,
    grammar_table,
    grammar_words,
    is_known,
    is_listed,
    is_plural,
    noun_phrase,
    pluralize,
    singular,
    verb_at,
    with_a,
)
from codesum_pipeline.evidence.extractive.names_of_tests import held_clause, is_test, test_clause
from codesum_pipeline.evidence.extractive.noun_names import is_component, marked_question, noun_clause, question_clause
from codesum_pipeline.evidence.extractive.verb_clauses import (
    EVENTS,
    converted,
    noun_first_clause,
    prepositional_parts,
    verb_clause,
)
from codesum_pipeline.evidence.extractive.words import capitalize, name_words, word_in_full
from codesum_pipeline.evidence.inputs import ClassInput, FunctionInput
from codesum_pipeline.evidence.packaged_tables import packaged_table

MAX_CLAUSE = 160
# Of a constructor's parameters so many are said.
_MAX_TAKEN = 3
# Longer names are generated.
_MAX_NAME_CHARS = 200
_DROPPED_FIRST = grammar_words("dropped_first")
_DROPPED_LAST = grammar_words("dropped_last")
_GLUED_DIGITS = word_set("glued_digits")
_VERSIONED = grammar_words("versioned")
# In these a word that no list has is clipped.
_CLIPPING = frozenset(("c", "bash", "lua", "zig"))
_NOUN_FIRST = frozenset(("c", "bash", "lua", "zig"))
# There `useRows` is a hook of a component, by convention.
_WITH_HOOKS = frozenset(("javascript", "typescript", "tsx"))
_IDIOMS = grammar_words("idioms")
# In these a new thing is made by a function of such a name.
_NEW = grammar_words("new_languages")
_CONSTRUCTORS = grammar_table("constructors")


def clause_of_function(function: FunctionInput, prefix: tuple[str, ...] = ()) -> str:
    """One clause that a function's name says, capitalised and without a full stop; "" where it says nothing certain.

    `prefix` are the words that a library puts before its names.
    """
    if len(function.name) > _MAX_NAME_CHARS:
        return ""
    if function.is_unnamed and (clause := held_clause(function)):
        return _finished(clause)
    return _finished(test_clause(function) if is_test(function) else _function_clause(function, prefix))


def clause_of_class(class_: ClassInput) -> str:
    """One clause that a class's name and bases say; "" where they say nothing certain."""
    if len(class_.name) > _MAX_NAME_CHARS or not class_.name.isidentifier():
        return ""
    return _finished(class_clause(class_, words_of_name(class_.name, ())))


def _finished(clause: str) -> str:
    clause = make_printable(clause)
    return capitalize(clause) if len(clause) <= MAX_CLAUSE else ""


@lru_cache(maxsize=65536)
def words_of_name(name: str, prefix: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name, without a library's prefix and without words about its implementation."""
    words = name_words(name)
    if prefix and words[: len(prefix)] == prefix and len(words) > len(prefix):
        words = words[len(prefix) :]
    bare = words[-1].rstrip("0123456789") if words else ""
    if bare and bare not in _GLUED_DIGITS:
        words = (*words[:-1], bare)
    words = _with_to(words)
    while len(words) > 1 and words[-1] in _DROPPED_LAST:
        words = words[:-1]
    while len(words) > 1 and words[0] in _DROPPED_FIRST and verb_at(words, 1):
        words = words[1:]
    return words


def _with_to(words: tuple[str, ...]) -> tuple[str, ...]:
    """`speed2zoom` is written for "speed to zoom"."""
    return tuple(
        part
        for place, word in enumerate(words)
        for part in ((word[:-1], "to") if _stands_for_to(word) and words[place + 1 :] else (word,))
    )


def _stands_for_to(word: str) -> bool:
    is_version = word in _GLUED_DIGITS or word[:-1] in _VERSIONED
    return len(word) > 3 and word[-1] == "2" and word[:-1].isalpha() and not is_version


def _function_clause(function: FunctionInput, prefix: tuple[str, ...]) -> str:
    evidence = NameEvidence(function)
    name = function.name
    if conventional := conventional_clause(evidence):
        return conventional
    if _is_constructor(function):
        return _constructor(evidence)
    bare = name.rstrip("?!=")
    if not bare.isidentifier() or len(name) - len(bare) > 1 or (bare.startswith("__") and bare.endswith("__")):
        return ""
    words = words_of_name(bare, prefix)
    if not words:
        return ""
    if bare == "operator" or bare in _IDIOMS:
        return ""
    if function.language in _CLIPPING and not all(map(is_listed, words)):
        return ""
    if name.endswith("?"):
        return marked_question(words, evidence)
    if name.endswith("=") or "setter" in function.modifiers or "set" in function.modifiers:
        phrase = noun_phrase(words)
        return f"sets {phrase}" if phrase else ""
    if name[:1].isupper() and is_component(evidence):
        return noun_clause(words, evidence)
    if function.language in _WITH_HOOKS and words[0] == "use" and words[1:] and name[3:4].isupper():
        phrase = noun_phrase(words[1:])
        return f"hook of {phrase}" if phrase else ""
    rules = (question_clause, _special_clause, verb_clause, _noun_first, noun_clause)[name.endswith("!") :]
    return next(filter(None, (rule(words, evidence) for rule in rules)), "")


def _noun_first(words: Sequence[str], evidence: NameEvidence) -> str:
    return noun_first_clause(words, evidence) if evidence.function.language in _NOUN_FIRST else ""


def _is_constructor(function: FunctionInput) -> bool:
    owner = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    return bool(owner) and function.name in (owner, _CONSTRUCTORS.get(function.language))


def _constructor(evidence: NameEvidence) -> str:
    """Creates one of its class, with the parameters that say what they are."""
    made = evidence.owner_in_words.removeprefix("the ")
    taken = list(dict.fromkeys(evidence.telling_parameters))[:_MAX_TAKEN]
    is_copy = noun_phrase(evidence.owner, article="a") in taken
    is_function = evidence.function.language in ("rust", "zig") and not evidence.makes_owner
    if is_function or not made or is_copy or "delete" in evidence.function.modifiers:
        return ""
    named = ", ".join(taken[:-1]) + (" and " if taken[1:] else "") + taken[-1] if taken else ""
    return f"creates {with_a(made)}{f' with {named}' if named else ''}"


def _special_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """The clause of a name that begins with a word of its own rule."""
    rule = _SPECIAL.get(words[0])
    if rule:
        return rule(words[1:], evidence) if words[1:] else ""
    return _conversion_of(words, evidence)


def _to(rest: Sequence[str], evidence: NameEvidence) -> str:
    """`to_json`: a method converts its object, a function its parameter; with both, neither is certain."""
    what = converted(rest, evidence)
    if not what or evidence.returns_nothing:
        return ""
    if not evidence.parameters:
        return f"converts {evidence.owner_in_words or 'it'} to {what}"
    named = evidence.first_parameter
    is_certain = named and not evidence.is_method and len(evidence.parameters) == 1 and not set(named) & set(rest)
    return f"converts {noun_phrase(named, given=named)} to {what}" if is_certain else ""


def _as(rest: Sequence[str], evidence: NameEvidence) -> str:
    what = converted(rest, evidence)
    return f"returns {evidence.owner_in_words} as {what}" if what and evidence.owner and not evidence.parameters else ""


def _from(rest: Sequence[str], evidence: NameEvidence) -> str:
    part = prepositional_parts(("from", *rest), evidence)
    return (
        f"creates {with_a(evidence.owner_in_words.removeprefix('the '))} {part}"
        if part and evidence.makes_owner
        else ""
    )


def _new(rest: Sequence[str], evidence: NameEvidence) -> str:
    if evidence.function.language not in _NEW or evidence.only_reads or evidence.returns_nothing:
        return ""
    return verb_clause(("create", *rest), evidence)


def _on(rest: Sequence[str], evidence: NameEvidence) -> str:
    """A handler, or what registers one: then a function is handed in."""
    if (
        evidence.takes_function
        or "test" in name_words(evidence.around)
        or not PREPOSITIONS.isdisjoint(rest)
        or not all(map(is_known, rest))
    ):
        return ""
    spoken = " ".join(map(word_in_full, rest))
    if rest[-1] in EVENTS:
        return f"handles {' '.join(map(word_in_full, (*rest[:-1], pluralize(rest[-1]))))}"
    return f"handles {noun_phrase(rest, given=evidence.given) or f'the {spoken} event'}"


def _try(rest: Sequence[str], evidence: NameEvidence) -> str:
    clause = verb_clause(rest, evidence, is_base=True)
    return f"tries to {clause}" if clause else ""


def _maybe(rest: Sequence[str], evidence: NameEvidence) -> str:
    clause = verb_clause(rest, evidence)
    return f"{clause}, if needed" if clause else ""


def _conversion_of(words: Sequence[str], evidence: NameEvidence) -> str:
    """`celsius_to_fahrenheit`: what is converted, and to what."""
    if "to" not in words[1:-1] or not evidence.parameters or evidence.returns_nothing or verb_at(words):
        return ""
    place = list(words).index("to", 1)
    what, before = converted(words[place + 1 :], evidence), words[:place]
    phrase = noun_phrase(before, article="a") if len(before) < 4 else ""
    return f"converts {phrase} to {what}" if what and phrase else ""


_Rule = Callable[[Sequence[str], NameEvidence], str]
_SPECIAL: dict[str, _Rule] = {
    "to": _to, "into": _to, "as": _as, "from": _from, "new": _new, "on": _on, "try": _try, "maybe": _maybe,
}  # fmt: skip


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
    is_made = evidence.owner and evidence.around in evidence.return_type
    if not meaning and language == "scala" and function.name == "apply" and is_made:
        meaning = "creates {one}"
    if not meaning and evidence.is_container:
        meaning = _TABLES["containers"].get(f"{function.name} {len(evidence.parameters)}", "")
    if meaning.startswith("reports whether ") and evidence.makes_other:
        return ""
    if not meaning:
        return _action(language, evidence)
    return _filled(meaning, evidence)


def _filled(meaning: str, evidence: NameEvidence) -> str:
    owner = evidence.owner_in_words or "the object"
    given = evidence.first_parameter
    return meaning.format(
        owner=owner,
        one=with_a(owner.removeprefix("the ")),
        many=spoken_many(evidence.owner or ("object",)),
        tested=_tested(evidence),
        given=noun_phrase(given, given=given) or "something",
    )


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
    return str(meaning).format(one=one, many=spoken_many(thing), a_new=f"a new {spoken}")
