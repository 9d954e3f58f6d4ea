"""A name that asks a question: `is_empty`, `has_parent`, `can_write`, `valid?`."""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.noun_phrases import (
    PREPOSITIONS,
    is_adjective,
    is_phrase,
    noun_phrase,
    with_a,
)
from codesum_pipeline.evidence.extractive.verb_clauses import MANNERS, prepositional_parts
from codesum_pipeline.evidence.extractive.verb_forms import grammar_table, grammar_words, verb_at
from codesum_pipeline.evidence.extractive.words import word_in_full

# What a question is asked with, and how its answer says it.
_ASKED = grammar_table("questions")
_MODIFIED = grammar_words("modified")


def question_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """The clause of a question; "" where it is none, or its result is no answer."""
    if not words or not evidence.may_be_boolean or (words[-1] in _MODIFIED and not evidence.return_type):
        return ""
    claim = claim_of(words, evidence)
    return f"reports whether {claim}" if claim else ""


def claim_of(words: Sequence[str], evidence: NameEvidence) -> str:
    """What is claimed: "the session is expired"; "" where the words do not say it."""
    asked, rest = words[0], words[1:]
    if words[-1] in ("exists", "exist") and is_phrase(words[:-1]):
        return f"{noun_phrase(words[:-1], given=evidence.given)} exists"
    if asked not in _ASKED:
        return ""
    lead = _ASKED[asked]
    if not rest or lead == "equals":
        return "" if rest else _bare_claim(asked, evidence)
    match lead:
        case "is" | "was":
            return _state_claim(lead, rest, evidence)
        case "has":
            return _possession(rest, evidence)
        case "can" | "should" | "must" | "will":
            return _ability(lead, rest, evidence)
    phrase = noun_phrase(rest, given=evidence.given, article="a")
    return f"{subject_of(evidence)} {lead} {phrase}" if phrase else ""


def subject_of(evidence: NameEvidence) -> str:
    """Who a question is about: the only parameter, the class around it, or it."""
    if evidence.parameters:
        named = evidence.first_parameter if len(evidence.parameters) == 1 else ()
        return noun_phrase(named, given=named) if named and named[-1] not in MANNERS else "it"
    return evidence.owner_in_words or "it"


def _bare_claim(asked: str, evidence: NameEvidence) -> str:
    named = evidence.first_parameter
    if (
        asked in ("contains", "includes", "supports", "matches", "accepts", "allows", "has")
        and named
        and evidence.owner
    ):
        return f"{evidence.owner_in_words} {asked} {noun_phrase(named, given=named)}"
    return ""


def _state_claim(lead: str, rest: Sequence[str], evidence: NameEvidence) -> str:
    """`is_expired`, `is_session_expired`, `is_valid_name`, `is_directory`."""
    is_denied = rest[0] == "not"
    rest = rest[1:] if is_denied else rest
    lead = f"{lead} not" if is_denied else lead
    if not rest:
        return ""
    if rest[0] in PREPOSITIONS:
        return ""
    cut = next((place for place, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    said, parts = rest[:cut], prepositional_parts(rest[cut:], evidence)
    if parts is None:
        return ""
    if is_adjective(said[-1]):
        if len(said) == 1:
            return f"{_subject_beside(rest, evidence)} {lead} {said[0]} {parts}".strip()
        phrase = noun_phrase(said[:-1], given=evidence.given)
        return f"{phrase} {lead} {said[-1]} {parts}".strip() if phrase else ""
    phrase = noun_phrase(said, article="a")
    return f"it {lead} {phrase} {parts}".strip() if phrase else ""


def _subject_beside(rest: Sequence[str], evidence: NameEvidence) -> str:
    """The subject, unless the claim names it already: no "a string is a string"."""
    subject = subject_of(evidence)
    last = subject.split(" ")[-1].lower()
    return "it" if last in rest or not rest else subject


def _possession(rest: Sequence[str], evidence: NameEvidence) -> str:
    """`has_parent`."""
    phrase = noun_phrase(rest, article="a")
    return f"{evidence.owner_in_words or 'it'} has {phrase}" if phrase else ""


def _ability(lead: str, rest: Sequence[str], evidence: NameEvidence) -> str:
    """`can_write`, `should_retry_request`."""
    subject = subject_of(evidence) if not evidence.parameters else "it"
    verb = verb_at(rest)
    if verb is None:
        return ""
    object_words = rest[verb.length :]
    base = f"{verb.base} {verb.particle}".strip()
    if not object_words:
        return f"{subject} {lead} {base}"
    cut = next((place for place, word in enumerate(object_words) if word in PREPOSITIONS), len(object_words))
    parts = prepositional_parts(object_words[cut:], evidence)
    phrase = noun_phrase(object_words[:cut], given=evidence.given) if cut else ""
    return "" if parts is None or (cut and not phrase) else " ".join(filter(None, (subject, lead, base, phrase, parts)))


def marked_question(words: Sequence[str], evidence: NameEvidence) -> str:
    """A name that ends with a question mark: `empty?`, `include?`, `valid_token?`."""
    if words[0] in _ASKED:
        return question_clause(words, evidence)
    if not evidence.may_be_boolean and evidence.facts.returned:
        return ""
    if not is_adjective(words[-1]):
        is_claim = is_adjective(words[0]) and is_phrase(words)
        return (
            f"reports whether it is {with_a(' '.join(map(word_in_full, words)))}"
            if is_claim and noun_phrase(words, article="a").startswith("a")
            else ""
        )
    return f"reports whether {subject_of(evidence)} is {words[0]}" if len(words) == 1 else ""
