"""Placeholders: short texts from a template, for documents that are too small to say much about.

A function is trivial that has fewer than `min_lines` canonical lines, or a complexity below `min_complexity` and a name
that matches a skip pattern, unless it does real work: raises, writes or calls outward. Placeholders are in the index,
so that every document has its children, but in no dense lane.
"""

from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.docstrings import docstring_of, opening_of
from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    make_printable,
    make_sentence,
    word_set,
)
from codesum_pipeline.evidence.extractive.class_statements import is_component
from codesum_pipeline.evidence.extractive.composing import MAX_INTENT, MAX_SUMMARY
from codesum_pipeline.evidence.extractive.name_clauses import clause_of_function
from codesum_pipeline.evidence.extractive.words import choose_keywords, place_of
from codesum_pipeline.evidence.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
)
from codesum_pipeline.foundation.data_model.document import Level, WrittenText
from codesum_pipeline.foundation.data_model.patterns import any_of
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, outlined_languages
from codesum_pipeline.foundation.settings.stage_settings import FilterSettings
from codesum_pipeline.texts.llm.plain_text import has_words, markup_of
from codesum_pipeline.texts.summaries.purposes import SHORT_FUNCTION

PLACEHOLDER_VERSION = "7"

# Calls of the language itself and of its built-in types: they do not leave the function.
_INNER_CALLS = word_set("inner_calls")


def is_short(name: str, line_count: int, complexity: int, settings: FilterSettings) -> bool:
    """Whether a function is trivial unless it does real work."""
    if line_count < settings.min_lines:
        return True
    return complexity < settings.min_complexity and any_of(settings.skip_patterns)(name)


def is_outward(callee: str) -> bool:
    """Whether a call leaves the function; what is called is given as written, and what it is called on is the same."""
    return callee.rpartition(".")[2] not in _INNER_CALLS


def is_empty(document: UpperInput, children: Sequence[ChildText]) -> bool:
    """Whether a class, file or folder with these children has nothing in it that a text could be about."""
    match document:
        case ClassInput():
            return not (children or document.fields or document.docstring)
        case FileInput():
            contents = document.docstring or document.literals
            return not (children or contents or document.imports or document.globals or document.exports)
        case TextFileInput():
            return not has_words(document.text, markup_of(document.name))
        case ModuleInput():
            has_readme = document.readme is not None and has_words(
                document.readme, markup_of(document.readme_name or "")
            )
            return not has_readme and all(child.is_placeholder for child in children)


def placeholder_text(document: AnyInput) -> WrittenText:
    """The template of each level, filled with the name, the place and, for a function, its author's words."""
    name = clip_text(make_printable(document.name), MAX_INTENT // 3) or "unnamed"
    path, _, _ = document.id.partition("::")
    summary, level = _template(document, name)
    return WrittenText(
        summary=clip_text(make_sentence(summary), MAX_SUMMARY),
        business_intent=clip_text(f"Part of {place_of(path)}.", MAX_INTENT),
        keywords=choose_keywords([(document.name, 1.0)], fallback=(path, level)),
    )


def _template(document: AnyInput, name: str) -> tuple[str, Level]:
    match document:
        case FunctionInput():
            return _function_template(document, name), Level.FUNCTION
        case ClassInput() if stands_for := _stands_for(document):
            return f"Type {name} stands for {stands_for}", Level.CLASS
        case ClassInput() if document.language in outlined_languages():
            # It need not be a class: its head says what it is.
            return make_printable(document.signature.replace('"', "")), Level.CLASS
        case ClassInput():
            bases = f", derived from {', '.join(map(make_printable, document.bases[:3]))}" if document.bases else ""
            kind = "Component" if is_component(document) else "Class"
            return f"{kind} {name} without members of its own{bases}", Level.CLASS
        case ModuleInput():
            return f"Folder {name} with nothing but empty files", Level.MODULE
        case TextFileInput() if document.text.strip():
            return f"File {name} without words", Level.FILE
        case _:
            return f"File {name} without content", Level.FILE


def _stands_for(class_: ClassInput) -> str:
    """What a type without members is another name of: `string` of `type Id = string`, and of Go's `type Id string`."""
    _, is_type, rest = f" {class_.signature}".partition(" type ")
    if not is_type:
        return ""
    depth = 0
    for place, sign in enumerate(rest):
        if sign == "=" and not depth and not rest.startswith("=>", place):
            return make_printable(rest[place + 1 :])
        depth += {"<": 1, "[": 1, "]": -1}.get(sign, 0) - (sign == ">" and not rest.endswith("=", 0, place))
    type_written = rest.removeprefix(class_.name) if has_trait(class_.language, Trait.TYPE_FOLLOWS_NAME) else ""
    return (
        make_printable(type_written).removesuffix("{}").rstrip()
        if type_written.strip() not in ("", "struct{}", "struct {}")
        else ""
    )


def _function_template(function: FunctionInput, name: str) -> str:
    if function.is_unnamed and (clause := clause_of_function(function)):
        return clause
    opening, _ = opening_of(docstring_of(function))
    owner = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    where = f" of {make_printable(owner)}" if owner else ""
    return f"{SHORT_FUNCTION}{name}{where}: {opening}" if opening else f"{SHORT_FUNCTION}{name}{where}"
