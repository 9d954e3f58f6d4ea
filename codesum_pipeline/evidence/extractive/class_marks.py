"""What a class declares with marks and calls that its framework reads: tables, routes, formats of its fields, and the
changes of a schema."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence
from codesum_pipeline.evidence.extractive.words import in_a_row, name_in_words
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.evidence.own_sources import is_cut
from codesum_pipeline.evidence.packaged_tables import packaged_table

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
