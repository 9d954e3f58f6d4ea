"""What the evidence of a function adds to the clause that its name says: of whom, by what, from where, to what."""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.noun_phrases import (
    PREPOSITIONS,
    is_plural,
    noun_phrase,
    starts_determined,
)
from codesum_pipeline.evidence.extractive.verb_forms import Verb, grammar_words
from codesum_pipeline.evidence.extractive.words import word_in_full

_OWNED = grammar_words("owned")
_LOOKING_UP = grammar_words("looking_up")
_KEYS = grammar_words("keys")
_TAKING_IN = grammar_words("taking_in")
_GIVING_OUT = grammar_words("giving_out")
_PLACES = grammar_words("file_places")
_WRITERS = grammar_words("writers")
_MESSAGES = grammar_words("messages")
_CONVERTING = frozenset(("convert", "map", "transform", "translate"))


def addition(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """What follows the object of a verb, with a blank before it; `words` are those of the object alone."""
    if verb.particle or not words or not PREPOSITIONS.isdisjoint(words) or starts_determined(words):
        return ""
    rules = (_of_owner, _by_key, _from_or_to, _to_result)
    return next(filter(None, (rule(verb, words, evidence) for rule in rules)), "")


def _of_owner(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """A getter and a setter are about a part of the class around it."""
    count = {"get": 0, "set": 1}.get(verb.base, -1) if verb.base in _OWNED else -1
    is_certain = evidence.is_thing and evidence.is_method and len(evidence.parameters) == count
    return f" of {evidence.owner_in_words}" if is_certain and set(evidence.owner).isdisjoint(words) else ""


def _by_key(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """What is looked up is one thing, by the only parameter that says which."""
    named = evidence.first_parameter[-1:]
    is_one = verb.base in _LOOKING_UP and evidence.takes_one and not is_plural(words[-1])
    is_key = is_one and bool(named) and named[0] in _KEYS and named[0] not in words
    return f" by {word_in_full(named[0])}" if is_key else ""


def _from_or_to(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """Where something is read from or written to, by the only parameter."""
    named = evidence.first_parameter
    if not named or not evidence.takes_one or not set(named).isdisjoint(words):
        return ""
    if evidence.label:
        return f" {evidence.label} {noun_phrase(named, given=named)}"
    is_source = verb.base in _TAKING_IN and named[-1] in _PLACES | _MESSAGES
    preposition = "from" if is_source else "to" if verb.base in _GIVING_OUT and named[-1] in _PLACES | _WRITERS else ""
    return f" {preposition} {noun_phrase(named, given=named)}" if preposition else ""


def _to_result(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    made, is_many = evidence.result
    is_told = verb.base in _CONVERTING and bool(made) and not is_many and set(made).isdisjoint(words)
    return f" to {noun_phrase(made, article='a')}" if is_told else ""
