"""The text of a function: its author's words, or its name in words, then what its code shows."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.docstrings import Docstring, docstring_of, opening_of, read_documentation
from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    make_printable,
    make_sentence,
    split_sentences,
)
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, field_name, parameter_words, set_fields
from codesum_pipeline.evidence.extractive.composing import (
    MAX_DETAILS,
    MAX_INPUT,
    MAX_TYPE_SUMMARY,
    MIN_DETAILS,
    MIN_INPUT,
    MIN_TYPE_SUMMARY,
    ExtractiveText,
    compose_text,
    own_names,
    part_of,
)
from codesum_pipeline.evidence.extractive.effects import (
    effects_in_prose,
    effects_of,
    not_implemented,
    operations_in_prose,
)
from codesum_pipeline.evidence.extractive.expectations import expectations_in_prose
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import Effect
from codesum_pipeline.evidence.extractive.name_clauses import clause_of_function
from codesum_pipeline.evidence.extractive.name_grammar import BASE_OF_THIRD, VERBS, is_phrase
from codesum_pipeline.evidence.extractive.names_of_tests import is_test
from codesum_pipeline.evidence.extractive.own_messages import said_by
from codesum_pipeline.evidence.extractive.results import results_in_prose, said_as_written
from codesum_pipeline.evidence.extractive.steps import delegation_in_prose, steps_in_prose
from codesum_pipeline.evidence.extractive.told_calls import calls_in_prose
from codesum_pipeline.evidence.extractive.words import (
    BODY,
    DOCSTRING,
    NAME,
    PARAMETER,
    capitalize,
    in_a_row,
    make_fact,
    name_in_words,
    name_words,
    place_of,
    telling_stems,
    word_in_full,
)
from codesum_pipeline.evidence.inputs import FunctionInput, Holder
from codesum_pipeline.foundation.data_model.document import Citation, InputSpec, PurposeSource, Returns
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.symbol import Parameter
from codesum_pipeline.foundation.language_facts.writing_systems import full_stop_of, without_end

_MAX_TYPE_CHARS = 120
_MAX_DEFAULT_CHARS = 40
_MAX_NAME_CHARS = 100
# A sentence with fewer words beyond the name is taken for its echo.
_TOLD_WORDS = 2
_MAX_STATEMENTS = 4


class Headline(Struct, frozen=True):
    """The first sentence of a text, the evidence that it is from, and the canonical lines of that."""

    text: str
    source: PurposeSource
    lines: tuple[int, int]


def write_function(function: FunctionInput, holder: Holder | None = None) -> ExtractiveText:
    """Write one function's text; equal input gives an equal text."""
    doc, code = docstring_of(function), CodeFacts(function)
    headline, effects = headline_of(code, doc), effects_of(code)
    path, _, _ = function.id.partition("::")
    around = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    around = around if len(around) > 1 else ""
    literals = code.literals(headline.text)
    taken = [one for one in function.facts.parameters if one.kind != "receiver"]
    words = [(function.name, NAME), *((name, PARAMETER) for name in (*(one.name for one in taken), around))]
    words += [*((text, DOCSTRING) for text in literals), *((name, BODY) for name in code.words())]
    own = own_names(function)
    statements = [headline.text, effects_in_prose(effects, headline=headline.text)]
    is_told, said_names = _is_told(headline, function.name), own.union(said_as_written(code))
    is_case = is_told and is_test(function) and len(split_sentences(headline.text)) == 1
    if expected := "" if is_told and not is_case else expectations_in_prose(code, said_names, headline.text):
        statements = [without_foreign_names(one, own) for one in statements]
        own, statements = said_names, [statements[0], expected, *statements[1:]]
    elif not is_told:
        statements.append(operations_in_prose(code, " ".join(statements)))
        statements = [without_foreign_names(one, own) for one in statements]
        own = said_names
        result = results_in_prose(code, own)
        is_answer = headline.text.startswith("Reports whether ")
        is_echo = telling_stems(result) <= telling_stems(headline.text)
        statements.append("" if is_echo or (is_answer and result.startswith("Returns ")) else result)
        statements.append(steps_in_prose(code, " ".join(statements), own))
        statements.append(constructor_in_prose(code, " ".join(statements)))
    is_by_name = headline.source is PurposeSource.NAME
    told = [*filter(None, statements)]
    calls = (
        calls_in_prose(code, " ".join(told), own) if len(told) <= 1 and not _is_told(headline, function.name) else ""
    )
    said = [*told, *filter(None, [calls])][:_MAX_STATEMENTS]
    # A small word alone is an option more often than what is shown.
    mentioned = [one for one in literals if one not in calls and not (one[1:-1].isalpha() and one.islower())]
    is_bare = len(told) <= is_by_name and (not calls or bool(mentioned))
    return compose_text(
        function,
        [*said, _fallback(code, mentioned, is_bare=not said) if is_bare else ""],
        name=_name_of(code, around),
        part=part_of(_place(around, path, holder), holder),
        source=headline.source,
        words=words,
        prose=doc.sentences,
        own=own,
        path=path,
        returns=_returns(code, doc),
        inputs=tuple([_input(one, doc) for one in taken]),
        side_effects=tuple([_with_kind(one) for one in effects]),
        citations=tuple(dict.fromkeys(_citations(code, doc, headline, effects))),
    )


def headline_of(code: CodeFacts, doc: Docstring) -> Headline:
    """One clause from the best evidence that there is; its text is empty where there is none.

    The author's words come first, then what the function says itself, then its name.
    """
    facts = code.facts
    written, _ = opening_of(doc)
    if written:
        first, last = sorted((facts.signature_line, facts.docstring_line))
        return Headline(written, PurposeSource.DOCSTRING, (first, last))
    if comment := comment_of(code.function):
        return Headline(
            comment, PurposeSource.COMMENT, (facts.signature_line, min(facts.signature_line + 1, _lines(code)))
        )
    if failed := not_implemented(code):
        return Headline(failed, PurposeSource.BODY, (facts.raises[0].line, facts.raises[0].line))
    if said := said_by(code):
        return Headline(make_sentence(said.text), PurposeSource.MESSAGE, (said.line, said.line))
    clause = make_sentence(clause_of_function(code.function, code.prefix))
    source = PurposeSource.NAME if clause else PurposeSource.BODY
    return Headline(clause, source, (facts.signature_line, facts.signature_line))


def _fallback(code: CodeFacts, literals: Sequence[str], *, is_bare: bool) -> str:
    """What a text that is a name alone says: texts in the code, else of whom it asks all, or what it reads."""
    if literals:
        return make_fact("Mentions", literals)
    if delegation := delegation_in_prose(code):
        return delegation
    if code.is_constructor() or not is_bare:
        return ""
    fields = [name_in_words(field_name(one)) for one in code.facts.attributes if is_phrase(name_words(field_name(one)))]
    telling = [one for one in dict.fromkeys(fields) if not telling_stems(one) <= telling_stems(code.function.name)]
    return make_sentence(f"Reads its {in_a_row(telling[:3])}") if telling else ""


def _is_told(headline: Headline, name: str) -> bool:
    """Whether an author's sentence says more than the name, so that the code need not be told."""
    is_written = headline.source in (PurposeSource.DOCSTRING, PurposeSource.COMMENT)
    return is_written and len(telling_stems(headline.text) - telling_stems(name)) >= _TOLD_WORDS


def _name_of(code: CodeFacts, around: str) -> str:
    """The name in words, or what has none of its own."""
    name = code.function.name
    if code.is_constructor() or name.startswith("~"):
        kind = "Constructor" if code.is_constructor() else "Destructor"
        return f"{kind} of {name_in_words(around)}." if around else f"{kind}."
    if not any(map(str.isalnum, name.removeprefix("operator"))):
        return f"Operator {make_printable(name.removeprefix('operator'))}."
    words = capitalize(name_in_words(name, code.prefix))
    return f"{words}{full_stop_of(words)}"


def _with_kind(effect: Effect) -> str:
    """`reads: asks a database`; a text that has the word is left as it is."""
    return effect.text if effect.text.startswith(effect.kind) else f"{effect.kind}: {effect.text}"


def comment_of(function: FunctionInput) -> str:
    """The first sentences of the comment that opens the body, where it begins with what is done; "" of remarks."""
    words = function.opening_comment
    opening = opening_of(read_documentation(words, function.language, function.name))[0] if words else ""
    first = opening.partition(" ")[0].lower()
    return opening if first in VERBS or first in BASE_OF_THIRD else ""


def _lines(code: CodeFacts) -> int:
    """How many canonical lines there are: a comment stands right before the first of the body."""
    return code.function.canonical_source.count("\n") + 1


def _place(around: str, path: str, holder: Holder | None) -> str:
    """What the function is part of: the class that an author speaks of, else its class in its file."""
    place = place_of(path)
    owner = holder.name if holder and SEPARATOR in holder.id else around
    if not owner or place.rpartition("/")[2].lower() == name_in_words(owner).lower():
        return place
    return name_in_words(owner) if holder and owner == holder.name else f"{name_in_words(owner)} in {place}"


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
    details = make_sentence(doc.returns) if doc.returns else _conditions(code, lead) or f"{lead} {result or kind}."
    if len(details) < MIN_DETAILS:
        details = f"{without_end(details)}, {evidence}."
    return Returns(clip_text(kind, _MAX_TYPE_CHARS), summary, clip_text(details, MAX_DETAILS))


_MAX_CONDITIONS = 3


def _conditions(code: CodeFacts, lead: str) -> str:
    """Which values are returned under which conditions, as the code writes both; "" where none has one."""
    ways = [f"{one.text or 'nothing'} when {one.when}" for one in code.facts.returned if one.when]
    return make_sentence(f"{lead} {', '.join(map(make_printable, ways[:_MAX_CONDITIONS]))}") if ways else ""


def _citations(code: CodeFacts, doc: Docstring, headline: Headline, effects: Sequence[Effect]) -> Iterator[Citation]:
    """The canonical lines that support each field: where no line of the body does, the signature with what documents
    it."""
    facts = code.facts
    first, last = sorted((facts.signature_line, facts.docstring_line))
    yield Citation("summary", *headline.lines)
    head = (first, last) if doc.parameters else (facts.signature_line, facts.signature_line)
    yield Citation("inputs", *head)
    returned = [one.line for one in facts.returned[:3]]
    yield from (Citation("returns", line, line) for line in returned)
    if not returned:
        yield Citation("returns", first, last)
    yield from (Citation("side_effects", one.line, one.line) for one in effects)


_MOST_NAMES = 4


def constructor_in_prose(code: CodeFacts, said: str) -> str:
    """`Sets up its cache and lock.`; "" of one that only keeps what it is given."""
    if not code.is_constructor():
        return ""
    given = telling_stems(f"{said} {' '.join(map(parameter_words, code.facts.parameters))}")
    phrases = []
    for name in set_fields(code):
        words = name_words(field_name(name).strip("_"))
        phrase = " ".join(map(word_in_full, words))
        if is_phrase(words) and len(name) > 2 and not telling_stems(phrase) <= given:
            phrases.append(phrase)
    names = list(dict.fromkeys(phrases))
    more = len(names) - _MOST_NAMES
    shown = [*names[:_MOST_NAMES], f"{more} more"] if more > 1 else names
    return make_sentence(f"Sets up its {in_a_row(shown)}") if names else ""
