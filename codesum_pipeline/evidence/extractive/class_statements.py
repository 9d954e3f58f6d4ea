"""The statements of a class's text, in their order: what is said of it by its author, its name and its members, and
what its own source adds where these only name things."""

import re
from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence
from codesum_pipeline.evidence.extractive.class_marks import MIGRATES, STORED, format_of_fields
from codesum_pipeline.evidence.extractive.class_members import (
    members_said,
    stand_in,
)
from codesum_pipeline.evidence.extractive.class_tellings import tellings
from codesum_pipeline.evidence.extractive.class_words import class_words
from codesum_pipeline.evidence.extractive.composing import lower_first
from codesum_pipeline.evidence.extractive.noun_phrases import is_phrase, is_plural, noun_phrase
from codesum_pipeline.evidence.extractive.typed_records import record_of_types
from codesum_pipeline.evidence.extractive.verb_forms import grammar_table
from codesum_pipeline.evidence.extractive.words import capitalize, name_in_words, name_words, telling_stems
from codesum_pipeline.evidence.inputs import ClassInput

_NAME_SENTENCE = class_words("name_sentence")
_DULL_BASES = class_words("dull_bases")
_TOLD_BASES = class_words("told_bases")
_INTERFACES = ("interface", "protocol", "trait")
_GENERAL = class_words("general_words")
# There a base is what a module uses.
_NO_BASES = frozenset(("elixir", "go", "rust"))
# What a framework writes before a class of its own.
_BOILERPLATE = re.compile(r"Interaction logic for [\w. ]{1,80}$")
_SETTINGS = tuple(f"Holds the {kind} of " for kind in {*grammar_table("settings").values()})


class ClassSaid(Struct, frozen=True):
    """What is said of a class by its author, its name, its members' headlines and its fields' names; "" for nothing."""

    opening: str
    clause: str
    theme: str
    held: str


def only_names(opening: str, name: str) -> bool:
    """Whether an author's sentence says no more than the name."""
    return telling_stems(opening) <= telling_stems(name) | _NAME_SENTENCE


def statements_of_class(class_: ClassInput, kind: str, fields: Sequence[str], said: ClassSaid) -> list[str]:
    """The sentences of its text; what only lists names gives way to what its own source says."""
    opening, clause, theme, held = said.opening, said.clause, said.theme, said.held
    if _BOILERPLATE.match(opening):
        opening = ""
    if double := "" if clause.startswith("Tests ") else stand_in(class_):
        typed = record_of_types(class_, fields)
        return [opening or make_sentence(double), make_sentence(typed) if typed else held]
    if clause.startswith("Tests ") or (opening and not only_names(opening, class_.name)):
        return [opening or make_sentence(clause), theme, held]
    told = tellings(class_, kind)
    if kind == "enum" and (told or any(": " not in one for one in class_.fields)):
        return [opening, told or make_sentence(clause), "" if told else theme]
    if told.startswith(MIGRATES):
        return [opening, told]
    if told.startswith("Handles "):
        theme = "" if theme.startswith("Handles a ") else theme
    if told.startswith("Asks for ") and clause.startswith("Asks to "):
        told = ""
    if clause and told.partition(" ")[0] == clause.partition(" ")[0]:
        clause = ""
    if clause and telling_stems(theme) <= telling_stems(clause):
        theme = ""
    return _with_members(class_, kind, fields, ClassSaid(opening, clause, theme, held), told)


def _with_members(class_: ClassInput, kind: str, fields: Sequence[str], said: ClassSaid, told: str) -> list[str]:
    """The sentences with what the class holds: of a record first, after the headline of one method alone."""
    opening, clause, theme, held = said.opening, said.clause, said.theme, said.held
    is_test = theme.startswith("Test")
    is_single = bool(theme) and "; " not in theme and not (clause or told or is_test)
    is_record = bool(held or (is_single and fields) or (opening and not theme))
    is_record = is_record or clause.startswith("Holds ") or told.startswith(STORED)
    typed = record_of_types(class_, fields) if is_record else ""
    base = "" if told or (clause and not clause.startswith("Holds ")) else base_phrase(class_, kind)
    if typed:
        held = make_sentence(typed) if is_single else ""
        clause = clause if is_single else _with_types(clause, typed, "" if theme else base)
        theme = "" if told.startswith(STORED) else theme
        told = told or format_of_fields(class_)
    if base and theme:
        theme = f"{capitalize(base)}: {lower_first(theme)}"
    is_base_said = bool(base) and not theme and not clause
    first = make_sentence(f"Is {base}") if is_base_said else ""
    is_thin = not (clause or told or held or is_test) and "; " not in theme
    return [opening, make_sentence(clause), told, first, theme, members_said(class_, kind, theme) if is_thin else held]


def _with_types(clause: str, typed: str, base: str) -> str:
    """A clause about what a class holds, with the types of that."""
    listed = typed.removeprefix("Holds ")
    if listed == typed:
        return typed
    if clause.startswith(_SETTINGS):
        return f"{clause.partition(': ')[0]}: {listed}"
    if clause and not clause.startswith("Holds "):
        return f"{clause}; holds {listed}"
    return f"Is {base} with {listed}" if base else typed


def base_phrase(class_: ClassInput, kind: str) -> str:
    """`a media session service`, of what extends one; "" where the class's own name says it, or it says nothing."""
    if class_.language in _NO_BASES or kind == "module" or not class_.bases:
        return ""
    bare = class_.bases[0].partition("<")[0].partition("(")[0].partition("[")[0]
    last = name_in_words(bare.replace("::", ".").replace("\\", ".").rpartition(".")[2]).lower().split(" ")
    words = tuple(word for word in last if word not in _GENERAL)
    # What implements an interface is none.
    is_told = (
        not words
        or words[-1] in _TOLD_BASES
        or words[-1] in _INTERFACES
        or set(words) <= {*name_words(class_.name)} | _DULL_BASES
    )
    phrase = "" if is_told or not is_phrase(words) or is_plural(words[-1]) else noun_phrase(words, article="a")
    return phrase if phrase.startswith(("a ", "an ")) or words[-1:] == ("data",) else ""
