"""What goes into a function and what comes back, described one by one."""

from dataclasses import replace

from codesum_pipeline.model.documents import InputSpec, Returns
from codesum_pipeline.model.symbols import Parameter
from codesum_pipeline.summaries.extractive.body import Body
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.foreign_roles import known_parameter
from codesum_pipeline.summaries.extractive.foreign_types import as_python
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_words, printable, sentence
from codesum_pipeline.summaries.extractive.roles import Profile
from codesum_pipeline.summaries.extractive.type_words import type_words
from codesum_pipeline.summaries.extractive.value_phrases import value_phrase
from codesum_pipeline.summaries.extractive.words import spoken
from codesum_pipeline.summaries.extractive.written import (
    MAX_DETAILS,
    MAX_INPUT,
    MAX_TYPE_SUMMARY,
    MIN_DETAILS,
    MIN_INPUT,
    MIN_TYPE_SUMMARY,
)

_MAX_TYPE_CHARS = 120
_MAX_DEFAULT_CHARS = 40
_MAX_NAME_CHARS = 100


def describe_parameters(profile: Profile, doc: Docstring) -> tuple[InputSpec, ...]:
    """Every parameter but the receiver: the docstring's words, else its name's and type's."""
    return tuple(
        InputSpec(
            name=printable(parameter.name)[:_MAX_NAME_CHARS],
            type=clip(printable(parameter.type or _told(doc.types, parameter)), _MAX_TYPE_CHARS),
            description=_described(parameter, doc, profile),
        )
        for parameter in profile.given.facts.parameters
        if parameter.kind != "receiver"
    )


def _told(said: dict[str, str], parameter: Parameter) -> str:
    return said.get(parameter.name.lstrip("*&.$@"), "")


def _described(parameter: Parameter, doc: Docstring, profile: Profile) -> str:
    told = _told(doc.parameters, parameter)
    if profile.is_python:
        return _description(parameter, told)
    return _description(_said_in_python(parameter, doc), told or known_parameter(parameter))


def _said_in_python(parameter: Parameter, doc: Docstring) -> Parameter:
    """The parameter as Python would write it, so that one set of rules describes it."""
    written = parameter.type or _told(doc.types, parameter)
    default = {"true": "True", "false": "False", "null": "None", "nil": "None", "undefined": "None"}.get(
        parameter.default or "", parameter.default
    )
    return replace(parameter, type=as_python(written) if written else None, default=default)


def _description(parameter: Parameter, told: str) -> str:
    if told:
        text = sentence(clip(told, MAX_INPUT - 1))
        if len(text) >= MIN_INPUT:
            return text
        return clip(f"{text} {_from_name(parameter)}", MAX_INPUT)
    return _from_name(parameter)


def _from_name(parameter: Parameter) -> str:
    words = spoken(parameter.name.strip("_*")) or "value"
    if parameter.kind == "var_positional":
        return f"Any further positional arguments, as {printable(parameter.name)}."
    if parameter.kind == "var_keyword":
        return f"Any further keyword arguments, as {printable(parameter.name)}."
    default = printable(parameter.default or "")
    if parameter.type == "bool" or default in ("True", "False"):
        state = {"True": "; on by default", "False": "; off by default"}.get(default, "")
        return _padded(f"Switches {words}: true or false{state}.")
    said = type_words(parameter.type) if parameter.type else ""
    text = f"The {words}" + (f": {said}" if said and said.split(" ", 1)[-1] != words else "")
    if default and default != "None" and len(default) <= _MAX_DEFAULT_CHARS:
        text = f"{text}; {default} by default"
    elif default:
        text = f"{text}; optional"
    return _padded(f"{text}.")


def _padded(text: str) -> str:
    text = clip(text, MAX_INPUT)
    return text if len(text) >= MIN_INPUT else f"{text.rstrip('.')}, as the caller gives it."


def describe_return(profile: Profile, doc: Docstring, body: Body) -> Returns | None:
    """What comes back or is yielded; None where nothing does."""
    facts = profile.given.facts
    written = facts.return_type or doc.return_type or None
    if not profile.gives_value or (not body.values and written is None):
        return None
    annotation = printable(written or "")
    # What is inferred is named as Python names it.
    kinds = {kind for _, kind in body.values} if profile.is_python else set()
    inferred = kinds.pop() if len(kinds) == 1 else ""
    nothing = value_phrase("None")[0]
    unsaid = f"a value of type {annotation}" if annotation and not profile.is_python else nothing
    phrases = [phrase for phrase in body.results if phrase != "nothing"] or [unsaid]
    said = annotation if profile.is_python or not annotation else as_python(annotation)
    summary = (type_words(said) if said else "") or enumerate_words(phrases[:2], conjunction="or")
    lead = "Yields" if facts.is_generator else "Returns"
    told = (
        summary
        if summary and (phrases == ["nothing"] or not profile.is_python)
        else enumerate_words(phrases[:3], conjunction="or")
    )
    details = sentence(doc.returns) if doc.returns else f"{lead} {told}."
    if len(details) < MIN_DETAILS:
        details = f"{details} Its type is {annotation or inferred or 'not declared'}."
    return Returns(
        type=clip(annotation or inferred or "unknown", _MAX_TYPE_CHARS),
        type_summary=_type_summary(summary, lead),
        details=clip(details, MAX_DETAILS),
    )


def _type_summary(text: str, lead: str) -> str:
    text = clip(text, MAX_TYPE_SUMMARY)
    if len(text) >= MIN_TYPE_SUMMARY:
        return text
    return f"{'yields' if lead == 'Yields' else 'gives'} {text or 'a value'}".ljust(MIN_TYPE_SUMMARY, ".")
