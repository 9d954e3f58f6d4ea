"""The text of a function: its purpose, and what its body does, in words."""

from codesum_pipeline.model.documents import PurposeSource, WrittenText
from codesum_pipeline.summaries.extractive.body import Body, unsaid_name
from codesum_pipeline.summaries.extractive.doc_comments import docstring_of
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.intent import function_intent
from codesum_pipeline.summaries.extractive.keywords import BODY, DOCSTRING, NAME, PARAMETER, choose_keywords
from codesum_pipeline.summaries.extractive.parameters import describe_parameters, describe_return
from codesum_pipeline.summaries.extractive.plain import clip, join_sentences, sentence
from codesum_pipeline.summaries.extractive.purpose import purpose_from_docstring, purpose_from_name
from codesum_pipeline.summaries.extractive.roles import Profile, Role
from codesum_pipeline.summaries.extractive.words import split_identifier, spoken
from codesum_pipeline.summaries.extractive.written import MAX_SUMMARY, MIN_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import FunctionInput
from codesum_pipeline.summaries.own_names import own_names

# A docstring has told what matters; the body's sentence then only adds.
_ADDITION_CHARS = 240
_PURPOSE_CHARS = 360


def write_function(given: FunctionInput) -> Written:
    """Write one function's text; equal input gives an equal text."""
    profile = Profile(given)
    doc = docstring_of(given)
    body = Body(profile)
    purpose, source, used = _purpose(profile, doc, body)
    if source is PurposeSource.DOCSTRING:
        purpose = _named(purpose, profile)
    limit = MAX_SUMMARY if source is not PurposeSource.DOCSTRING else _ADDITION_CHARS
    addition = (
        ""
        if source is PurposeSource.BODY
        else body.sentence(said=purpose, limit=limit, told=source is PurposeSource.DOCSTRING)
    )
    summary = join_sentences([clip(purpose, _PURPOSE_CHARS), addition], MAX_SUMMARY)
    if len(summary) < MIN_SUMMARY:
        summary = join_sentences([summary, _shape(profile)], MAX_SUMMARY)
    keywords = _keywords(profile, doc, body)
    text = WrittenText(
        summary=summary,
        business_intent=function_intent(profile, doc, summary, used=used, keywords=keywords),
        keywords=keywords,
        returns=describe_return(profile, doc, body),
        inputs=describe_parameters(profile, doc),
        side_effects=body.side_effects(),
        invariants=body.invariants(),
        citations=body.citations(doc),
    )
    return finished(text, source, own=own_names(given))


def _purpose(profile: Profile, doc: Docstring, body: Body) -> tuple[str, PurposeSource, int]:
    """The first sentence, where it came from, and how many of the docstring's sentences it used."""
    told = purpose_from_docstring(doc)
    if told:
        return told[0], PurposeSource.DOCSTRING, told[1]
    named = purpose_from_name(profile)
    if named:
        return sentence(named), PurposeSource.NAME, 0
    acts = body.sentence(said="", limit=_PURPOSE_CHARS)
    if acts:
        return acts, PurposeSource.BODY, 0
    return _shape(profile), PurposeSource.NAME, 0


def _named(purpose: str, profile: Profile) -> str:
    """A docstring's sentence with the function's name in words, where it says something else."""
    name = profile.given.name
    if name.startswith("__") or not purpose.endswith("."):
        return purpose
    words = unsaid_name(name, purpose, is_test=profile.role is Role.TEST)
    return f"{purpose[:-1]} ({words})." if words else purpose


def _shape(profile: Profile) -> str:
    """What can be said of any function: what it is, where, and what it takes."""
    given = profile.given
    words = spoken(given.name.strip("_")) or "unnamed"
    where = f" of the {profile.owner}" if profile.owner else f" in {spoken(profile.outer)}" if profile.outer else ""
    count = len(profile.parameters)
    taken = f", taking {count} parameter{'s' if count > 1 else ''}" if count else ""
    return sentence(f"The {words} {profile.role.value}{where}{taken}")


def _keywords(profile: Profile, doc: Docstring, body: Body) -> tuple[str, ...]:
    given = profile.given
    places = [(given.name, NAME), *((p.name, PARAMETER) for p in given.facts.parameters if p.kind != "receiver")]
    if profile.outer:
        places.append((profile.outer, PARAMETER))
    places.extend((word, DOCSTRING) for one in doc.sentences[:3] for word in one.split())
    places.extend((text, BODY) for text in body.identifiers)
    path = given.id.split("::", 1)[0]
    return choose_keywords(places, fallback=[*split_identifier(path), given.language, profile.role.value])
