"""What a class declares with marks and calls that its framework reads: tables, routes, elements, attributes, formats of
its fields, and the changes of a schema."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence
from codesum_pipeline.evidence.extractive.class_words import class_table
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.type_phrases import one_of
from codesum_pipeline.evidence.extractive.words import capitalize, in_a_row, name_in_words, name_words
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.evidence.own_sources import is_cut

MAX_NAMES, MAX_PARTS = 4, 3
TEXT = r'"((?:[^"\\\n]|\\.){1,160})"'
# How the sentences begin about what is kept in a database, and about what changes one.
STORED, MIGRATES = "Is stored in a database, in the table", "Is a migration that"
_TABLES = (
    re.compile(rf"@Entity\([^)\n]{{0,200}}?tableName ?= ?{TEXT}"),
    re.compile(rf"@Table\([^)\n]{{0,200}}?name ?= ?{TEXT}"),
    re.compile(rf"\[Table\({TEXT}"),
    re.compile(
        r"\n {4}(?:__tablename__|db_table|self\.table_name|(?:protected|public) \$table) ?= ?[\"']([\w.]{1,60})[\"']"
    ),
    re.compile(rf"\n {{4}}schema {TEXT}"),
)
_ROUTES = (
    re.compile(rf"@(?:RestController|Controller|RequestMapping|Path)\((?:(?:value|path) ?= ?)?{TEXT}"),
    re.compile(rf"\[Route\({TEXT}"),
)
_REQUESTS = re.compile(rf"@(GET|POST|PUT|DELETE|PATCH|HEAD)\({TEXT}\)")
_ELEMENT = re.compile(rf"\n {{4}}selector: {TEXT}")
_ATTRIBUTES = class_table("attributes")
_ATTRIBUTE = re.compile(rf"\n {{4}}({'|'.join(_ATTRIBUTES)}) :(\w{{1,60}})")


def list_some(parts: list[str], most: int, source: str = "", joint: str = " and ") -> str:
    """The first of some parts, and how many more there are, if all of the own source that they are from was read."""
    more = len(parts) - most
    left = "more" if is_cut(source) else f"{more} more"
    return in_a_row([*parts[:most], *([left] if more > 0 else [])], joint)


def declared(class_: ClassInput) -> str:
    """The table of rows, the route of a controller, the element of a component, the attributes of a resource."""
    source = class_.own_source
    if found := next(filter(None, (table.search(source) for table in _TABLES)), None):
        return make_sentence(f"{STORED} {name_in_words(found[1]).removesuffix(' table')}")
    if requests := _REQUESTS.findall(source):
        said = list(dict.fromkeys(f"{method} {path}" for method, path in requests))
        return make_sentence(f"Requests {list_some(said, MAX_NAMES, source)}")
    if found := next(filter(None, (route.search(source) for route in _ROUTES)), None):
        return make_sentence(f'Answers requests at "{make_printable(found[1])}"')
    if found := _ELEMENT.search(source):
        noun = "directive of the attribute" if found[1].startswith("[") else "component of the element"
        return make_sentence(f'Is the {noun} "{make_printable(found[1].strip("[]"))}"')
    return _attributes(source)


def _attributes(source: str) -> str:
    """`Has the attributes ID, email and name; belongs to a user.`, of a class that calls its framework so."""
    found: dict[str, list[str]] = {}
    for call, name in _ATTRIBUTE.findall(source):
        spoken = name_in_words(name)
        found.setdefault(_ATTRIBUTES[call], []).append(one_of(spoken) if call in ("has_one", "belongs_to") else spoken)
    parts = [f"{lead} {list_some(names, MAX_NAMES, source)}" for lead, names in found.items()]
    return make_sentence(capitalize("; ".join(parts))) if parts else ""


_JSON = re.compile(
    r"@SerializedName\(|@Json\(name|@JsonProperty\(|\[JsonPropertyName\(|`[^`\n]{0,120}?\bjson:\"", re.ASCII
)
_HEADER = re.compile(r"`[^`\n]{0,80}?\bheader:\"([^\"\n]{1,40})\"")


def format_of_fields(class_: ClassInput) -> str:
    """What reads or writes a record, by the marks of its fields."""
    headers = [f'"{message_in_words(one)}"' for one in dict.fromkeys(_HEADER.findall(class_.own_source))]
    is_table = any(" " in one for one in headers) or name_words(class_.name)[-1:] == ("table",)
    if headers[1:] and is_table:
        return make_sentence(
            f"Is a row of a table with the column headers {list_some(headers, MAX_NAMES, class_.own_source)}"
        )
    return "Is read or written as JSON." if _JSON.search(class_.own_source) else ""


_NAMES = r"\(model_name=[\"'](\w{1,60})[\"'], name=[\"'](\w{1,60})"
_COLUMN_OF = r"[ (]:(\w{1,60}), :(\w{1,60})"
_STEPS = (
    (re.compile(r"\badd_index[ (]:(\w{1,60}), \[?:(\w{1,60})"), "indexes {1} by {2}"),
    (re.compile(rf"\b(?:add_column|add_reference){_COLUMN_OF}"), "adds {2} to {1}"),
    (re.compile(rf"\bremove_(?:column|reference){_COLUMN_OF}"), "removes {2} from {1}"),
    (re.compile(rf"\brename_table{_COLUMN_OF}"), "renames the table {1} to {2}"),
    (re.compile(rf"\brename_column{_COLUMN_OF}"), "renames {2} of {1}"),
    (re.compile(rf"\bchange_column(?:_null|_default)?{_COLUMN_OF}"), "changes {2} of {1}"),
    (re.compile(r"\b(?:create_table|Schema::create|create table)\s?\(?[:\"'](\w{1,60})"), "creates the table {1}"),
    (re.compile(rf"\bAddField{_NAMES}"), "adds {2} to {1}"),
    (re.compile(rf"\bRemoveField{_NAMES}"), "removes {2} from {1}"),
    (re.compile(rf"\bAlterField{_NAMES}"), "changes {2} of {1}"),
    (re.compile(r"\bCreateModel\(name=[\"'](\w{1,60})"), "creates the model {1}"),
    (re.compile(r"\bDeleteModel\(name=[\"'](\w{1,60})"), "deletes the model {1}"),
    (re.compile(r"\bAlter(?:Index|Unique)Together\(name=[\"'](\w{1,60})"), "changes the indexes of {1}"),
    (re.compile(r"\bAlterModelOptions\(name=[\"'](\w{1,60})"), "changes the options of {1}"),
    (re.compile(r"\b(?:Schema::table|alter table)\(?[:\"'](\w{1,60})"), "alters the table {1}"),
)
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
