"""The text of a function: its author's words, or its name in words, then what its code shows."""

from collections.abc import Iterator

from codesum_pipeline.foundation.data_model.document import Citation, InputSpec, PurposeSource, Returns
from codesum_pipeline.foundation.data_model.symbol import Parameter
from codesum_pipeline.texts.summaries.author_texts.docstrings import Docstring, docstring_of, opening_of
from codesum_pipeline.texts.summaries.author_texts.plain_sentences import clip_text, make_printable, make_sentence
from codesum_pipeline.texts.summaries.extractive.code_facts import CodeFacts, parameter_words
from codesum_pipeline.texts.summaries.extractive.composing import (
    MAX_DETAILS,
    MAX_INPUT,
    MAX_TYPE_SUMMARY,
    MIN_DETAILS,
    MIN_INPUT,
    MIN_TYPE_SUMMARY,
    ExtractiveText,
    compose_text,
    own_names,
)
from codesum_pipeline.texts.summaries.extractive.words import (
    BODY,
    DOCSTRING,
    NAME,
    PARAMETER,
    capitalize,
    make_fact,
    name_in_words,
    place_of,
)
from codesum_pipeline.texts.summaries.inputs import FunctionInput

_MAX_TYPE_CHARS = 120
_MAX_DEFAULT_CHARS = 40
_MAX_NAME_CHARS = 100


def write_function(function: FunctionInput) -> ExtractiveText:
    """Write one function's text; equal input gives an equal text."""
    doc = docstring_of(function)
    code = CodeFacts(function)
    doc_opening, used = opening_of(doc)
    path, _, _ = function.id.partition("::")
    around = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    around, place = around if len(around) > 1 else "", place_of(path)
    is_named_so = place.rpartition("/")[2].lower() == name_in_words(around).lower()
    has_owner = bool(around) and bool(doc_opening or not code.is_constructor())
    owner = make_fact("Part of", name_in_words(around)) if has_owner else ""
    opening = doc_opening or _kind(code, around)
    name = f"{capitalize(name_in_words(function.name, code.prefix))}."
    literals = code.literals(opening or name)
    taken = [one for one in function.facts.parameters if one.kind != "receiver"]
    words = [(function.name, NAME), *((name, PARAMETER) for name in (*(one.name for one in taken), around))]
    words += [*((text, DOCSTRING) for text in literals), *((name, BODY) for name in code.words())]
    return compose_text(
        function,
        opening,
        [*code.phrases(opening or name), owner, make_fact("Mentions", literals)],
        name=name,
        part=f"Part of {name_in_words(around)} in {place}." if around and not is_named_so else f"Part of {place}.",
        source=PurposeSource.DOCSTRING if doc_opening else PurposeSource.NAME,
        words=words,
        prose=doc.sentences,
        used=used,
        own=own_names(function),
        path=path,
        returns=_returns(code, doc),
        inputs=tuple([_input(one, doc) for one in taken]),
        side_effects=tuple(code.effects),
        citations=tuple(dict.fromkeys(_citations(code, doc))),
    )


def _kind(code: CodeFacts, around: str) -> str:
    """What has no name of its own, by what it is; a name that is a sentence; "" of others."""
    name = code.function.name
    if code.is_constructor():
        return f"Constructor of {name_in_words(around)}."
    if name.startswith("~"):
        return f"Destructor of {name_in_words(around)}."
    if not any(map(str.isalnum, name.removeprefix("operator"))):
        return f"Operator {make_printable(name.removeprefix('operator'))}."
    if name.startswith("__") and name.endswith("__"):
        return f"Special method {name_in_words(name)}."
    words = name_in_words(name, code.prefix)
    is_sentence = words.count(" ") >= (2 if words.startswith("test ") else 3)
    return f"{capitalize(words)}." if is_sentence else ""


def _input(parameter: Parameter, doc: Docstring) -> InputSpec:
    """One parameter: the author's words, else its name, type and default."""
    name = parameter.name.lstrip("*&.$@")
    kind = clip_text(make_printable(parameter.type or doc.types.get(name, "")), _MAX_TYPE_CHARS)
    default = clip_text(make_printable(parameter.default or ""), _MAX_DEFAULT_CHARS)
    is_open = parameter.kind.startswith("var_")
    need = "any number" if is_open else f"{default} by default" if default else "required"
    facts = f"Parameter {parameter_words(parameter)}, {need}."
    description = make_sentence(clip_text(doc.parameters.get(name, ""), MAX_INPUT - 1))
    text = description if len(description) >= MIN_INPUT else f"{description} {facts}".strip()
    return InputSpec(make_printable(parameter.name)[:_MAX_NAME_CHARS], kind, clip_text(text, MAX_INPUT))


def _returns(code: CodeFacts, doc: Docstring) -> Returns | None:
    """The value that is returned or yielded; None if nothing shows it."""
    result = code.result
    written = make_printable(code.facts.return_type or doc.return_type or "")
    if not result and not ((doc.returns or doc.return_type) and not code.is_constructor()):
        return None
    kind = written or result or "not declared"
    lead = "Yields" if code.facts.is_generator else "Returns"
    evidence = "as declared" if written else "as its code shows"
    summary = clip_text(f"{lead.lower()} {result or kind}", MAX_TYPE_SUMMARY)
    if len(summary) < MIN_TYPE_SUMMARY:
        summary = f"{summary}, {evidence}"
    details = make_sentence(doc.returns) if doc.returns else f"{lead} {result or kind}."
    if len(details) < MIN_DETAILS:
        details = f"{details.rstrip('.')}, {evidence}."
    return Returns(clip_text(kind, _MAX_TYPE_CHARS), summary, clip_text(details, MAX_DETAILS))


def _citations(code: CodeFacts, doc: Docstring) -> Iterator[Citation]:
    """The canonical lines that support each field: where no line of the body does, the signature with what documents
    it."""
    facts = code.facts
    first, last = sorted((facts.signature_line, facts.docstring_line))
    yield Citation("summary", first, last)
    head = (first, last) if doc.parameters else (facts.signature_line, facts.signature_line)
    yield Citation("inputs", *head)
    returned = [one.line for one in facts.returned[:3]]
    yield from (Citation("returns", line, line) for line in returned)
    if not returned:
        yield Citation("returns", first, last)
    yield from (Citation("side_effects", line, line) for line in code.effects.values())
