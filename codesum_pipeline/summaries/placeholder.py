"""Placeholders: short texts from a template, for documents that are too small to say much about.

A function is trivial that has fewer than `min_lines` canonical lines, or a
complexity below `min_complexity` and a name that matches a skip pattern,
unless it does real work: raises, writes or calls outward. Placeholders
are in the index, so that every document has its children, but in no dense lane.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codesum_pipeline.languages.profiles import Trait, has
from codesum_pipeline.llm.plain_text import has_words, markup_of
from codesum_pipeline.model.documents import Level, WrittenText
from codesum_pipeline.summaries.documentation.docstrings import docstring_of, opening_of
from codesum_pipeline.summaries.documentation.plain import clip, printable, sentence, word_set
from codesum_pipeline.summaries.extractive.composing import MAX_INTENT, MAX_SUMMARY
from codesum_pipeline.summaries.extractive.words import choose_keywords, place_of
from codesum_pipeline.summaries.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
)

if TYPE_CHECKING:
    from codesum_pipeline.settings.stages import FilterSettings

PLACEHOLDER_VERSION = "5"

# Calls of the language itself and of its built-in types: they do not leave the function.
_INNER_CALLS = word_set("inner_calls")


def is_short(name: str, line_count: int, complexity: int, settings: "FilterSettings") -> bool:
    """Whether a function is trivial unless it does real work."""
    if line_count < settings.min_lines:
        return True
    return complexity < settings.min_complexity and any(re.search(pattern, name) for pattern in settings.skip_patterns)


def is_outward(callee: str) -> bool:
    """Whether a call leaves the function; what is called is given as written, and what it is called on is the same."""
    return callee.rpartition(".")[2] not in _INNER_CALLS


def is_empty(given: UpperInput, children: Sequence[ChildText]) -> bool:
    """Whether a class, file or folder with these children has nothing in it that a text could be about."""
    match given:
        case ClassInput():
            return not (children or given.fields or given.docstring)
        case FileInput():
            said = given.docstring or given.literals
            return not (children or said or given.imports or given.globals or given.exports)
        case TextFileInput():
            return not has_words(given.text, markup_of(given.name))
        case ModuleInput():
            has_readme = given.readme is not None and has_words(given.readme, markup_of(given.readme_name or ""))
            return not has_readme and all(child.is_placeholder for child in children)


def placeholder_text(given: AnyInput) -> WrittenText:
    """The template of each level, filled with the name, the place and, for a function, its author's words."""
    name = clip(printable(given.name), MAX_INTENT // 3) or "unnamed"
    path, _, _ = given.id.partition("::")
    summary, level = _template(given, name)
    return WrittenText(
        summary=clip(sentence(summary), MAX_SUMMARY),
        business_intent=clip(f"Part of {place_of(path)}.", MAX_INTENT),
        keywords=choose_keywords([(given.name, 1.0)], fallback=(path, level)),
    )


def _template(given: AnyInput, name: str) -> tuple[str, Level]:
    match given:
        case FunctionInput():
            return _function_template(given, name), Level.FUNCTION
        case ClassInput() if stands_for := _stands_for(given):
            return f"Type {name} stands for {stands_for}", Level.CLASS
        case ClassInput():
            bases = f", derived from {', '.join(map(printable, given.bases[:3]))}" if given.bases else ""
            return f"Class {name} without members of its own{bases}", Level.CLASS
        case ModuleInput():
            return f"Folder {name} with nothing but empty files", Level.MODULE
        case TextFileInput() if given.text.strip():
            return f"File {name} without words", Level.FILE
        case _:
            return f"File {name} without content", Level.FILE


def _stands_for(given: ClassInput) -> str:
    """What a type without members is another name of: `string` of `type Id = string`, and of Go's `type Id string`."""
    _, is_type, rest = f" {given.signature}".partition(" type ")
    if not is_type:
        return ""
    depth = 0
    for place, sign in enumerate(rest):
        if sign == "=" and not depth and not rest.startswith("=>", place):
            return printable(rest[place + 1 :])
        depth += {"<": 1, "[": 1, "]": -1}.get(sign, 0) - (sign == ">" and not rest.endswith("=", 0, place))
    told = rest.removeprefix(given.name) if has(given.language, Trait.TYPE_FOLLOWS_NAME) else ""
    return printable(told).removesuffix("{}").rstrip() if told.strip() not in ("", "struct{}", "struct {}") else ""


def _function_template(given: FunctionInput, name: str) -> str:
    told, _ = opening_of(docstring_of(given))
    owner = given.qualified_name.rpartition(".")[0].rpartition(".")[2]
    where = f" of {printable(owner)}" if owner else ""
    return f"Short function {name}{where}: {told}" if told else f"Short function {name}{where}"
