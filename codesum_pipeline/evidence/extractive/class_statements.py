"""The statements of a class's text, in their order: what is said of it by its author, its name and its members, and
what its own source adds where these only name things."""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence
from codesum_pipeline.evidence.extractive.class_marks import (
    MAX_NAMES,
    MAX_PARTS,
    MIGRATES,
    STORED,
    TEXT,
    declared,
    format_of_fields,
    list_some,
    schema_change,
)
from codesum_pipeline.evidence.extractive.class_members import members_said, stand_in
from codesum_pipeline.evidence.extractive.class_words import class_words
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.composing import lower_first
from codesum_pipeline.evidence.extractive.member_heads import MethodHead, methods_of, said_method
from codesum_pipeline.evidence.extractive.noun_phrases import PREPOSITIONS, is_phrase, is_plural, noun_phrase
from codesum_pipeline.evidence.extractive.typed_records import record_of_types
from codesum_pipeline.evidence.extractive.verb_forms import grammar_table
from codesum_pipeline.evidence.extractive.words import capitalize, name_in_words, name_words, telling_stems
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.foundation.language_facts.writing_systems import sets_no_blanks

_NAME_SENTENCE = class_words("name_sentence")
_DULL_BASES = class_words("dull_bases")
_TOLD_BASES = class_words("told_bases")
_INTERFACES = ("interface", "protocol", "trait")
_GENERAL = class_words("general_words")
# There a base is what a module uses.
_NO_BASES = frozenset(("elixir", "go", "rust"))
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


# The message of an error.
_ERROR = re.compile(rf"#\[(?:error|fail|snafu|display)\((?:display ?= ?|display\()?{TEXT}")
_ASKING = ("interface", "protocol", "trait")


def tellings(class_: ClassInput, kind: str) -> str:
    """The first of these sentences that there is; "" where none is certain."""
    if not class_.own_source:
        return ""
    methods = methods_of(class_)
    kind = "protocol" if "protocol " in class_.signature else kind
    told: Iterable[Callable[[], str]] = (
        lambda: _description(class_),
        lambda: _messages_of_values(class_) if kind == "enum" else "",
        lambda: declared(class_),
        lambda: schema_change(class_),
        lambda: _asked_for(class_, kind, methods) if kind in _ASKING and not class_.fields else "",
    )
    return next(filter(None, (one() for one in told)), "")


_MIN_WORDS = 3
# A text that ends so goes on in the next line.
_GOES_ON = PREPOSITIONS | {"the", "a", "an", "and", "or", "that", "which", "is", "are"}
_DESCRIBED_BY = re.compile(
    r"(?i)\b\w{0,40}(?:description|help|summary)\s?\([^\n]{0,80}\n {8}return [^\"\n]{0,30}\"([^\"\n]{4,200})\""
)
_DESCRIPTION = re.compile(
    rf"\n {{4}}(?:@shortdoc|desc|description|help|short_help|summary|protected \$description|help_text)"
    rf"(?: ?= ?|\(| )(?:_\()?{TEXT}"
)


def _description(class_: ClassInput) -> str:
    """The sentence in which a class describes itself to its users."""
    found = _DESCRIPTION.search(class_.own_source) or _DESCRIBED_BY.search(class_.own_source)
    said = message_in_words(found[1]) if found else ""
    is_whole = "…" not in said and said.rpartition(" ")[2].lower() not in _GOES_ON
    is_long = said.count(" ") + 1 >= _MIN_WORDS or sets_no_blanks(said)
    return make_sentence(capitalize(said)) if is_whole and is_long else ""


def _messages_of_values(class_: ClassInput) -> str:
    """`Errors: failed to read a secret; no secret selected.`, of an enumeration whose values have texts."""
    errors = list(dict.fromkeys(filter(None, map(message_in_words, _ERROR.findall(class_.own_source)))))
    if errors:
        return make_sentence(f"Errors: {list_some(errors, MAX_NAMES, class_.own_source, '; ')}")
    return ""


_ACCESSORS = (("get",), ("set",), ("is",))


def _asked_for(class_: ClassInput, kind: str, methods: Sequence[MethodHead]) -> str:
    """`Interface that gets events and deletes a report.`, by the methods that it asks for."""
    accessors = sum(name_words(one.name)[:1] in _ACCESSORS and not one.takes[1:] for one in methods)
    said = list(dict.fromkeys(filter(None, map(said_method, methods))))
    is_bare = " " not in said[0] and not said[1:] if said else True
    if is_bare or len(said) * 2 < len(methods) or accessors * 2 > len(methods) > MAX_PARTS:
        return ""
    return make_sentence(f"{capitalize(kind)} that {list_some(said, MAX_PARTS, class_.own_source)}")
