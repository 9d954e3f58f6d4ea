"""The statements of a class's text, in their order: what is said of it by its author, its name and its members, and
what its own source adds where these only name things."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence, split_sentences
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.composing import bare_name, lower_first, names_of_children
from codesum_pipeline.evidence.extractive.member_heads import MethodHead, methods_of, said_method
from codesum_pipeline.evidence.extractive.name_grammar import (
    PREPOSITIONS,
    grammar_table,
    is_phrase,
    is_plural,
    noun_phrase,
)
from codesum_pipeline.evidence.extractive.themes import headline_of
from codesum_pipeline.evidence.extractive.type_phrases import class_words, record_of_types
from codesum_pipeline.evidence.extractive.words import (
    capitalize,
    in_a_row,
    list_names,
    make_fact,
    name_in_words,
    name_words,
    telling_stems,
)
from codesum_pipeline.evidence.inputs import ChildText, ClassInput
from codesum_pipeline.evidence.own_sources import is_cut
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.language_facts.writing_systems import sets_no_blanks

MAX_NAMES, MAX_PARTS = 4, 3
TEXT = r'"((?:[^"\\\n]|\\.){1,160})"'
# How the sentences begin about what is kept in a database, and about what changes one.
STORED, MIGRATES = "Is stored in a database, in the table", "Is a migration that"
_MARKS = {
    name: [re.compile(pattern) for pattern in patterns]
    for name, patterns in packaged_table(__package__, "class_words")["marks"].items()
}


def list_some(parts: list[str], most: int, source: str = "", joint: str = " and ") -> str:
    """The first of some parts, and how many more there are, if all of the own source that they are from was read."""
    more = len(parts) - most
    left = "more" if is_cut(source) else f"{more} more"
    return in_a_row([*parts[:most], *([left] if more > 0 else [])], joint)


def declared(class_: ClassInput) -> str:
    """The table of rows, the route of a controller."""
    source = class_.own_source
    if found := next(filter(None, (table.search(source) for table in _MARKS["tables"])), None):
        return make_sentence(f"{STORED} {name_in_words(found[1]).removesuffix(' table')}")
    if found := next(filter(None, (route.search(source) for route in _MARKS["routes"])), None):
        return make_sentence(f'Answers requests at "{make_printable(found[1])}"')
    return ""


_JSON = re.compile(
    r"@SerializedName\(|@Json\(name|@JsonProperty\(|\[JsonPropertyName\(|`[^`\n]{0,120}?\bjson:\"", re.ASCII
)


def format_of_fields(class_: ClassInput) -> str:
    """What reads or writes a record, by the marks of its fields."""
    return "Is read or written as JSON." if _JSON.search(class_.own_source) else ""


_STEPS = [
    (re.compile(pattern), told)
    for told, patterns in packaged_table(__package__, "class_words")["migrations"].items()
    for pattern in patterns
]
_COLUMN = re.compile(r"\n {8,20}(?:add\(?|t\.\w{1,30}|\$table->\w{1,30}\()\s?[:\"'](\w{1,60})")


def schema_change(class_: ClassInput) -> str:
    """`Is a migration that adds locked at to projects.`, by what a migration of a schema calls."""
    source = class_.own_source
    if "Migration" not in "".join(source.split("\n", 2)[:2]):
        return ""
    found = (
        told.format("", *map(name_in_words, match.groups()))
        for line in source.split("\n")
        for call, told in _STEPS
        for match in call.finditer(line)
    )
    said = list(dict.fromkeys(found))
    columns = [name_in_words(name) for name in dict.fromkeys(_COLUMN.findall(source))]
    if len(said) == 1 and said[0].startswith(("creates the table", "alters")) and columns:
        noun = "columns" if columns[1:] else "column"
        said = [f"{said[0]} with the {noun} {list_some(columns, MAX_NAMES, source)}"]
    return make_sentence(f"{MIGRATES} {list_some(said, MAX_PARTS, source)}") if said else ""


_NAME_SENTENCE = class_words("name_sentence")
_DULL_BASES = class_words("dull_bases")
_TOLD_BASES = class_words("told_bases")
_INTERFACES = ("interface", "protocol", "trait")
_GENERAL = class_words("general_words")
# There a base is what a module uses.
_NO_BASES = frozenset(("elixir", "go", "rust"))
_SETTINGS = tuple(f"Holds the {kind} of " for kind in {*grammar_table("settings").values()})


# What is said of a class by its author, its name, its members' headlines and its fields' names; "" for nothing.
ClassSaid = tuple[str, str, str, str]


def only_names(opening: str, name: str) -> bool:
    """Whether an author's sentence says no more than the name."""
    return telling_stems(opening) <= telling_stems(name) | _NAME_SENTENCE


def statements_of_class(class_: ClassInput, kind: str, fields: Sequence[str], said: ClassSaid) -> list[str]:
    """The sentences of its text; what only lists names gives way to what its own source says."""
    opening, clause, theme, held = said
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
    return _with_members(class_, kind, fields, (opening, clause, theme, held), told)


def _with_members(class_: ClassInput, kind: str, fields: Sequence[str], said: ClassSaid, told: str) -> list[str]:
    """The sentences with what the class holds: of a record first, after the headline of one method alone."""
    opening, clause, theme, held = said
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
    return (
        _description(class_)
        or (_messages_of_values(class_) if kind == "enum" else "")
        or declared(class_)
        or schema_change(class_)
        or (_asked_for(class_, kind, methods) if kind in _ASKING and not class_.fields else "")
    )


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
    return make_sentence(f"Errors: {list_some(errors, MAX_NAMES, class_.own_source, '; ')}") if errors else ""


_ACCESSORS = (("get",), ("set",), ("is",))


def _asked_for(class_: ClassInput, kind: str, methods: Sequence[MethodHead]) -> str:
    """`Interface that gets events and deletes a report.`, by the methods that it asks for."""
    accessors = sum(name_words(one.name)[:1] in _ACCESSORS and not one.takes[1:] for one in methods)
    said = list(dict.fromkeys(filter(None, map(said_method, methods))))
    is_bare = " " not in said[0] and not said[1:] if said else True
    if is_bare or len(said) * 2 < len(methods) or accessors * 2 > len(methods) > MAX_PARTS:
        return ""
    return make_sentence(f"{capitalize(kind)} that {list_some(said, MAX_PARTS, class_.own_source)}")


_FIXED = class_words("fixed_methods")
_RUNNING = class_words("running_methods")
_DOUBLES = class_words("test_doubles")
_OF_INTERFACES = class_words("of_interfaces")
_FOR_TESTS = re.compile(
    r"(?:^|/)(?:__mocks__|mocks?|fakes?|stubs?|[\w.-]{0,40}(?:tests?|testing|fixtures?|spec))/", re.I
)
_NOT_DONE = re.compile(r"\bnot[ -](?:yet )?(?:implemented|supported exception)\b", re.I)


def telling_children(class_: ClassInput) -> list[ChildText]:
    """The children whose headlines say what it does, and not only what every such class has to have."""
    return [child for child in class_.children if not _says_nothing(child, class_.name)]


def _says_nothing(child: ChildText, owner: str) -> bool:
    name, said = bare_name(child), telling_stems(headline_of(child))
    is_fixed = name in _FIXED and said <= telling_stems(name)
    is_run = name.lower() in _RUNNING
    only_runs = is_run and said <= telling_stems(f"{name} {owner}")
    is_missing = _NOT_DONE.search(child.summary) is not None and " when " not in child.summary
    return child.level is Level.FUNCTION and (is_fixed or only_runs or is_missing)


def stand_in(class_: ClassInput) -> str:
    """`Stands in for the real review manager.`, of a test double that its base or its place confirms."""
    path = class_.id.partition("::")[0]
    words = name_words(class_.name)
    rest = [word for word in words if word not in _DOUBLES]
    if not rest or rest[-1] == "class" or _DOUBLES.isdisjoint((words[0], words[-1])):
        return ""
    bases = (set(name_words(one.partition("<")[0].rpartition(".")[2])) - _OF_INTERFACES for one in class_.bases)
    is_of_base = any(base and (base <= set(rest) or set(rest) <= base) for base in bases)
    is_sure = is_of_base or _FOR_TESTS.search(path) is not None
    spoken = [word for word in name_in_words(class_.name).split(" ") if word.lower() not in _DOUBLES]
    return f"Stands in for the real {' '.join(spoken)}" if is_sure else ""


_MAX_INNER = 120


def members_said(class_: ClassInput, kind: str, theme: str) -> str:
    """What a class has within it: what a part of it holds, what its methods say by their heads."""
    nested = names_of_children(class_.children, Level.CLASS)
    parts = [child for child in class_.children if child.level is Level.CLASS and not child.is_placeholder]
    inner = next(iter(split_sentences(parts[0].summary, limit=1)), "") if len(parts) == 1 else ""
    if inner.startswith("Holds ") and len(inner) < _MAX_INNER:
        return make_sentence(f"Holds {_names(nested)} with {inner.removeprefix('Holds ').rstrip('.')}")
    return make_sentence(f"Holds {_names(nested)}") if nested and not theme else _methods_said(class_, kind)


def _names(names: Sequence[str]) -> str:
    return list_some([*map(name_in_words, names)], MAX_NAMES)


def _methods_said(class_: ClassInput, kind: str) -> str:
    is_asked = kind in ("interface", "protocol", "trait")
    functions = [child for child in class_.children if child.level is Level.FUNCTION]
    known = {bare_name(one) for one in functions if headline_of(one) or _says_nothing(one, class_.name)}
    heads = [one for one in methods_of(class_) if is_asked or one.name not in _FIXED | known]
    said = list(dict.fromkeys(said for one in heads if " " in (said := said_method(one))))
    said = [one for one in said if is_asked or not one.startswith("gives ")]
    return make_sentence(capitalize("; ".join(said[:MAX_PARTS]))) if said else ""


_HEAD = "component "
_EVENT, _SLOT = "event ", "slot "
_HOLDS, _TAKES = "Holds ", "Takes "
_MOST_EVENTS = 6


def is_component(class_: ClassInput) -> bool:
    """Whether a class is a component."""
    return class_.signature.startswith(_HEAD)


def with_properties_alone(class_: ClassInput) -> ClassInput:
    """A component whose fields are its properties; any other class as it is."""
    if not is_component(class_):
        return class_
    return replace(class_, fields=tuple([one for one in class_.fields if not one.startswith((_EVENT, _SLOT))]))


def events_of(class_: ClassInput) -> list[str]:
    """The names of a component's events; none of any other class."""
    fields = class_.fields if is_component(class_) else ()
    return [one.removeprefix(_EVENT).partition(": ")[0] for one in fields if one.startswith(_EVENT)]


def statements_of_component(class_: ClassInput, statements: Sequence[str]) -> list[str]:
    """The sentences about a class, as they are said of a component; those about any other as they are."""
    if not is_component(class_):
        return [*statements]
    taken = [f"{_TAKES}{one.removeprefix(_HOLDS)}" if one.startswith(_HOLDS) else one for one in statements]
    events = list_names(events_of(class_), _MOST_EVENTS, are_all=True)
    return [*taken, make_fact("Emits", events)]
