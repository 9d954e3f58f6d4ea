"""The statements of a class's text, in their order: what is said of it by its author, its name and its members, and
what its own source adds where these only name things."""

from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import make_sentence
from codesum_pipeline.texts.summaries.extractive.class_tellings import tellings, values_of_fields
from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_phrase, is_plural, noun_phrase
from codesum_pipeline.texts.summaries.extractive.type_phrases import one_of
from codesum_pipeline.texts.summaries.extractive.typed_records import record_of_types
from codesum_pipeline.texts.summaries.extractive.verb_forms import grammar_table
from codesum_pipeline.texts.summaries.extractive.words import name_in_words, name_words, telling_stems
from codesum_pipeline.texts.summaries.inputs import ClassInput

# Words of an author's sentence that say no more than what kind of thing a name is of.
_KINDS = frozenset(
    "class interface struct enum object type record module definition command matcher represent describ hold implement contain "
    "defin provid abstract base main internal this is a an the of for to by file".split()
)
_DULL_BASES = frozenset((
    "object", "model", "base", "record", "struct", "enum", "component", "mixin", "sized", "debug", "default", "clone",
    "string", "int", "class", "serializable", "parcelable", "hashable", "equatable", "codable", "protocol", "any",
    "attribute", "application", "meta", "cloneable", "comparable", "closeable", "disposable", "ui", "ns", "i",
))  # fmt: skip
# What an error is, its clause says.
_TOLD_BASES = frozenset(("exception", "error", "migration", "enum", "case", "test"))
# There it is what a module uses.
_NO_BASES = frozenset(("elixir", "go", "rust"))
_SETTINGS = tuple(f"Holds the {kind} of " for kind in {*grammar_table("settings").values()})
_GENERAL = frozenset(("base", "abstract", "default", "generic"))


class ClassSaid(Struct, frozen=True):
    """What is said of a class by its author, its name, its members' headlines and its fields' names; "" for nothing."""

    opening: str
    clause: str
    theme: str
    held: str


def only_names(opening: str, name: str) -> bool:
    """Whether an author's sentence says no more than the name."""
    return telling_stems(opening) <= telling_stems(name) | _KINDS


def told_of_class(class_: ClassInput, kind: str, fields: Sequence[str], said: ClassSaid) -> list[str]:
    """The sentences of its text; what only lists names gives way to what its own source says."""
    opening, clause, theme, held = said.opening, said.clause, said.theme, said.held
    if clause.startswith("Tests ") or (opening and not only_names(opening, class_.name)):
        return [opening or make_sentence(clause), theme, held]
    told = tellings(class_, kind)
    if kind == "enum":
        return [opening, told or make_sentence(clause), "" if told else theme]
    is_record = bool(held) or clause.startswith("Holds ") or (bool(opening) and not theme)
    typed = record_of_types(class_, fields) if is_record else ""
    base = "" if told or (clause and not typed) else base_phrase(class_, kind)
    if told.startswith("Handles "):
        clause, theme = ("" if one.startswith("Handles a ") else one for one in (clause, theme))
    if typed:
        clause, held = _with_types(clause, typed, base), ""
    elif held and (values := values_of_fields(class_, fields)):
        held = values
    if base and theme:
        theme = f"{base}: {theme[:1].lower()}{theme[1:]}"
    is_base_said = base and not theme and not typed
    return [opening, make_sentence(clause), told, f"Is {base[:1].lower()}{base[1:]}." if is_base_said else "", theme, held]


def _with_types(clause: str, typed: str, base: str) -> str:
    """A clause about what a class holds, with the types of that."""
    listed = typed.removeprefix("Holds ")
    if listed == typed:
        return typed
    if clause.startswith(_SETTINGS):
        return f"{clause.partition(': ')[0]}: {listed}"
    if clause and not clause.startswith("Holds "):
        return f"{clause}; holds {listed}"
    return f"Is {base[:1].lower()}{base[1:]} with {listed}" if base else typed


def base_phrase(class_: ClassInput, kind: str) -> str:
    """`A media session service`, of what extends one; "" where the class's own name says it, or it says nothing."""
    own = name_words(class_.name)
    if class_.language in _NO_BASES or kind == "module":
        return ""
    for base in class_.bases[:1]:
        bare = base.partition("<")[0].partition("(")[0].partition("[")[0].replace("::", ".").replace("\\", ".").split(".")
        words = tuple(word for word in name_words(name_in_words(bare[-1]).replace(" ", "_")) if word not in _GENERAL)
        if not words or words[-1] in _TOLD_BASES or set(words) <= set(own) | _DULL_BASES or not is_phrase(words) or is_plural(words[-1]):
            continue
        phrase = noun_phrase(words, article="a")
        return f"{phrase[:1].upper()}{phrase[1:]}" if phrase.startswith(("a ", "an ")) else ""
    return ""
