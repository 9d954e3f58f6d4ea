"""Why something exists: the docstring's further words, and the part it plays where it stands."""

import re
from collections.abc import Sequence

from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.frequencies import word_bucket
from codesum_pipeline.summaries.extractive.keywords import rarity
from codesum_pipeline.summaries.extractive.places import area_of, tested_area
from codesum_pipeline.summaries.extractive.plain import clip, join_sentences, sentence
from codesum_pipeline.summaries.extractive.roles import Profile, Role
from codesum_pipeline.summaries.extractive.words import spoken, spoken_word
from codesum_pipeline.summaries.extractive.written import MAX_INTENT

_FURTHER_CHARS = 200
_MIN_FURTHER_CHARS = 20
# Sentences that point elsewhere, or that a list or a formula should have ended.
_LEANS = re.compile(
    r"(?:see|for (?:more|details|further)|note:|todo|example|e\.g)\b"
    r"|.*\b(?:if|that|are|is|as|by|of|to|the|following|follows|where|and|or)\.?$",
    re.I,
)
_MIN_TOPIC_RARITY = 0.6
# Rarer words are as often misspelt, or glued from others.
_MAX_TOPIC_BUCKET = 9


def function_intent(profile: Profile, doc: Docstring, summary: str, *, used: int, keywords: Sequence[str]) -> str:
    """One or two sentences: the docstring's next one, and the function's part in its file."""
    further = further_sentence(doc.sentences[used:], summary)
    part = sentence(_part(profile, summary, keywords))
    return join_sentences([clip(further, _FURTHER_CHARS), part], MAX_INTENT)


def further_sentence(told: Sequence[str], summary: str) -> str:
    """The first of the next sentences that adds something and stands on its own; empty without one."""
    for one in told[:3]:
        if len(one) >= _MIN_FURTHER_CHARS and one[:40] not in summary and not _LEANS.match(one):
            return sentence(one)
    return ""


def _part(profile: Profile, summary: str, keywords: Sequence[str]) -> str:
    given = profile.given
    path = given.id.split("::", 1)[0]
    area = area_of(path)
    private = given.name.startswith("_") and not given.name.startswith("__")
    role = profile.role
    topic = _topic(keywords, summary)
    about = f", about {topic}" if topic else ""
    if role is Role.TEST:
        return f"Guards the behaviour of {tested_area(path)}{about}"
    if role is Role.FIXTURE:
        return f"Prepares what the tests of {tested_area(path)} need{about}"
    if profile.owner:
        syntax = f"{'Python' if profile.is_python else 'the language'}'s own syntax"
        kind = {
            Role.CONSTRUCTOR: "Makes the {owner} ready for use", Role.PROPERTY: "Exposes state of the {owner}",
            Role.SETTER: "Changes state of the {owner}",
            Role.SPECIAL: f"Lets the {{owner}} work with {syntax}",
            Role.OVERLOAD: "Declares one way to call the {owner}",
            Role.CLASS_METHOD: "Serves the {owner} class as a whole",
        }.get(role)  # fmt: skip
        lead = kind or ("Internal step of the {owner}" if private else "Part of what the {owner} offers")
        return f"{lead.replace('{owner}', profile.owner)} in {area}{about}"
    if role is Role.INNER:
        return f"Works inside {spoken(profile.outer or '') or 'another function'} in {area}{about}"
    lead = {
        Role.COMMAND: "A command that people run", Role.ROUTE: "Answers requests",
        Role.DECORATOR: "Wraps other functions", Role.CONTEXT_MANAGER: "Brackets a piece of work",
    }.get(role, "Internal helper" if private else "Part of")  # fmt: skip
    joint = " " if lead == "Part of" else " in " if role is not Role.FUNCTION else " of "
    return f"{lead}{joint}{area}{about}"


def _is_known(word: str) -> bool:
    return word_bucket(word) <= _MAX_TOPIC_BUCKET


def _topic(keywords: Sequence[str], summary: str) -> str:
    """The most telling keyword that the summary does not have."""
    said = summary.lower()
    telling = (word for word in keywords if word not in said and rarity(word) >= _MIN_TOPIC_RARITY and _is_known(word))
    return spoken_word(next(telling, ""))
