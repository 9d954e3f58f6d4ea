"""What a class's own source says besides its name: messages of its values, tables and routes, what a module provides,
texts that its methods give back, what its methods do."""

import re
from collections.abc import Callable, Iterable, Sequence

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import make_printable, make_sentence
from codesum_pipeline.texts.summaries.extractive.code_facts import message_in_words
from codesum_pipeline.texts.summaries.extractive.member_heads import (
    MethodHead,
    methods_of,
    one_or_list,
    said_event,
    said_method,
)
from codesum_pipeline.texts.summaries.extractive.type_phrases import TypePhrase, many_of, one_of, type_phrase
from codesum_pipeline.texts.summaries.extractive.words import name_in_words, name_words, telling_stems
from codesum_pipeline.texts.summaries.inputs import ClassInput

_TEXT = r'"((?:[^"\\\n]|\\.){1,160})"'
# The message of a value: an error's attribute, a text that a constant is made with, a text that it stands for.
_ERROR = re.compile(rf"#\[(?:error|fail|snafu|display)\((?:display ?= ?|display\()?{_TEXT}")
_MADE_WITH = re.compile(rf"(?<![\w.@#(\[])[A-Z][A-Z0-9_]{{1,50}}\s?\([^()\"\n]{{0,60}}{_TEXT}")
_STANDS_FOR = re.compile(rf"(?<![\w.])(?:case )?([A-Za-z]\w{{1,50}}) ?= ?{_TEXT}(?=\s*[,;\n)}}]|$)")
_MAX_MESSAGES, _MAX_METHODS = 4, 3


def messages_of_values(class_: ClassInput, kind: str) -> str:
    """`Errors: failed to read a secret; no secret selected.`, of an enumeration whose values have texts."""
    if kind != "enum":
        return ""
    source = class_.own_source
    errors = list(dict.fromkeys(filter(None, map(message_in_words, _ERROR.findall(source)))))
    if errors:
        return _counted("Errors", errors, ";")
    said = [message_in_words(text) for text in _MADE_WITH.findall(source)]
    said = [text for text in said if " " in text]
    return _counted("Says", [f'"{text}"' for text in dict.fromkeys(said)], ",") if len(said) > 1 else ""


def _counted(lead: str, texts: Sequence[str], sign: str) -> str:
    more = len(texts) - _MAX_MESSAGES
    listed = [*texts[:_MAX_MESSAGES], *([f"{more} more"] if more > 0 else [])]
    return make_sentence(f"{lead}: {f'{sign} '.join(listed)}")


_TABLES = (
    re.compile(rf"@Entity\([^)\n]{{0,200}}?tableName ?= ?{_TEXT}"),
    re.compile(rf"@Table\([^)\n]{{0,200}}?name ?= ?{_TEXT}"),
    re.compile(rf"\[Table\({_TEXT}"),
    re.compile(r"(?:^|\n) {4}(?:__tablename__|db_table|self\.table_name|protected \$table|public \$table) ?= ?[\"']([\w.]{1,60})[\"']"),
    re.compile(rf"(?:^|\n) {{4}}schema {_TEXT}"),
)  # fmt: skip
_ROUTES = (
    re.compile(rf"@(?:RestController|Controller|RequestMapping|Path)\((?:(?:value|path) ?= ?)?{_TEXT}"),
    re.compile(rf"\[Route\({_TEXT}"),
)
_REQUESTS = re.compile(rf"@(GET|POST|PUT|DELETE|PATCH|HEAD)\({_TEXT}\)")
_ELEMENT = re.compile(rf"(?:^|\n) {{4}}selector: {_TEXT}")
_ATTRIBUTES = re.compile(r"\n {4}(attribute|attributes|has_many|belongs_to|has_one|validates|scope|field) :(\w{1,60})")


def declared(class_: ClassInput, kind: str) -> str:
    """The table of rows, the route of a controller, the element of a component, the attributes of a resource."""
    source = class_.own_source
    for table in _TABLES:
        if found := table.search(source):
            return make_sentence(f'Is stored in the table "{make_printable(found[1])}"')
    if requests := _REQUESTS.findall(source):
        said = list(dict.fromkeys(f"{method} {path}" for method, path in requests))
        return _counted("Requests", said, ",").replace(":", "", 1)
    if found := next(filter(None, (route.search(source) for route in _ROUTES)), None):
        return make_sentence(f'Answers requests at "{make_printable(found[1])}"')
    if found := _ELEMENT.search(source):
        return make_sentence(f'Is the component of the element "{make_printable(found[1])}"')
    return _attributes(source)


_OF_ATTRIBUTES = {
    "attribute": "has the attributes", "attributes": "has the attributes", "field": "has the fields",
    "has_many": "has many", "has_one": "has one", "belongs_to": "belongs to",
}  # fmt: skip


def _attributes(source: str) -> str:
    """`Has the attributes ID, email and name; belongs to a user.`, of a class that calls its framework so."""
    found: dict[str, list[str]] = {}
    for call, name in _ATTRIBUTES.findall(source):
        if call in _OF_ATTRIBUTES:
            spoken = name_in_words(name)
            is_one = call in ("has_one", "belongs_to")
            found.setdefault(_OF_ATTRIBUTES[call], []).append(one_of(spoken) if is_one else spoken)
    parts = [f"{lead} {_and(names[:_MAX_MESSAGES], len(names))}" for lead, names in found.items()]
    return make_sentence(_upper("; ".join(parts))) if parts else ""


def _upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _and(parts: Sequence[str], count: int) -> str:
    rest = count - len(parts)
    parts = [*parts, *([f"{rest} more"] if rest > 0 else [])]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


_BOUND = re.compile(r"@Binds\b")
_PROVIDED = re.compile(r"@Provides\b|@Bean\b")
_USED_MODULES = re.compile(r"@(?:Component|Subcomponent)\b[^\n]{0,300}?modules ?= ?[\[{]([^\]}\n]{1,200})[\]}]")
_CLASS_NAME = re.compile(r"([A-Z]\w{1,60})(?:::class|\.class)")


def provided(class_: ClassInput, methods: Sequence[MethodHead]) -> str:
    """What a module of injected things provides, and what a component injects into."""
    bound, given = [], []
    for method in methods:
        result = type_phrase(method.gives)
        taken = type_phrase(method.takes[0][1]) if len(method.takes) == 1 else None
        if result is None:
            continue
        if _BOUND.search(method.before) and taken and taken.said != result.said:
            bound.append(f"{one_or_list(taken)} as {one_or_list(result)}")
        elif _BOUND.search(method.before) or _PROVIDED.search(method.before):
            given.append(one_or_list(result))
    parts = [f"provides {_and(given[:_MAX_METHODS], len(given))}"] if given else []
    parts += [f"binds {_and(bound[:_MAX_METHODS], len(bound))}"] if bound else []
    into = [one_or_list(found) for one in methods if one.name == "inject" and one.takes and (found := type_phrase(one.takes[0][1]))]
    parts += [f"injects into {_and(into[:_MAX_METHODS], len(into))}"] if into else []
    if modules := _USED_MODULES.search(class_.own_source):
        names = [name_in_words(name) for name in _CLASS_NAME.findall(modules[1])]
        parts += [f"assembles its objects from {_and([f'the {name}' for name in names[:_MAX_METHODS]], len(names))}"] if names else []
    return make_sentence(_upper("; ".join(parts))) if parts else ""


_OF_TYPES = re.compile(r"(?:[\w.]{1,60}\.)?(\w{1,60})<\s?((?:[^<>]|<[^<>]{0,80}>){1,160})>")
_CONVERTS = frozenset(("mapper", "converter", "transformer"))
# What a class does with the first type that its base is of.
_DONE = {
    "validator": "Checks {one}", "comparator": "Compares {many}", "comparer": "Compares {many}", "request": "Asks for {one}",
    "query": "Asks for {one}", "consumer": "Consumes {one}", "listener": "Listens to {one}", "observer": "Observes {one}",
    "repository": "Gives access to {many}", "dao": "Gives access to {many}", "supplier": "Gives {one}",
    "provider": "Gives {one}", "handler": "Handles {one}", "serializer": "Serializes {one}",
    "deserializer": "Reads {one} from serialized data", "parser": "Parses {one}", "specification": "Selects {many}",
}  # fmt: skip


def of_types(class_: ClassInput, methods: Sequence[MethodHead]) -> str:
    """`Maps a response to feature toggles.`, `Handles a query, and answers with a list of rates.`: by the types that
    its base is of, or by its only method."""
    for base in class_.bases[:2]:
        found = _OF_TYPES.fullmatch(base)
        parts = [part.strip().rstrip("?") for part in re.split(r",(?![^<]*>)", found[2])] if found else []
        types = [type_phrase(part) for part in parts[:2]]
        if found and _is_other_handler(name_words(found[1])):
            continue
        if found and types and types[0] and not (types[0].is_basic or name_words(found[1])[-1:] == name_words(parts[0])):
            if told := _done(name_words(found[1])[-1], types[0], types[1] if types[1:] else None):
                return make_sentence(told)
    is_only = len(methods) == 1 and methods[0].name in ("map", "convert", "transform") and len(methods[0].takes) == 1
    taken, given = (type_phrase(methods[0].takes[0][1]), type_phrase(methods[0].gives)) if is_only else (None, None)
    return make_sentence(_done("mapper", taken, given)) if taken and given else ""


def _is_other_handler(words: Sequence[str]) -> bool:
    """Whether a base handles something else than the first type that it is of."""
    return words[-1:] == ("handler",) and not _HANDLED.issuperset(words)


_HANDLED = frozenset("i request notification query command event message domain integration async handler".split())


def _done(role: str, first: TypePhrase, second: TypePhrase | None) -> str:
    if role in _CONVERTS:
        is_told = second is not None and first.said != second.said
        return f"{'Maps' if role == 'mapper' else 'Converts'} {one_or_list(first)} to {one_or_list(second)}" if second and is_told else ""
    if role not in _DONE:
        return ""
    said = _DONE[role].format(one=one_or_list(first), many=many_of(first))
    return f"{said}, and answers with {one_or_list(second)}" if role == "handler" and second else said


_MIGRATION = re.compile(r"Migration\b")
_STEPS = (
    (re.compile(r"\b(?:add_column|add_reference|add_index)[ (]:(\w{1,60}), :(\w{1,60})"), "adds {2} to {1}"),
    (re.compile(r"\bremove_(?:column|reference)[ (]:(\w{1,60}), :(\w{1,60})"), "removes {2} from {1}"),
    (re.compile(r"\brename_column[ (]:(\w{1,60}), :(\w{1,60})"), "renames {2} of {1}"),
    (re.compile(r"\bchange_column(?:_null|_default)?[ (]:(\w{1,60}), :(\w{1,60})"), "changes {2} of {1}"),
    (re.compile(r"\b(?:create_table|Schema::create|create table)\s?\(?[:\"'](\w{1,60})"), "creates the table {1}"),
    (re.compile(r"\b(?:Schema::table|alter table)\(?[:\"'](\w{1,60})"), "alters the table {1}"),
)  # fmt: skip


def schema_change(class_: ClassInput) -> str:
    """`Adds locked at to projects.`, by what a migration of a schema calls."""
    source = class_.own_source
    if not _MIGRATION.search(source[:200]):
        return ""
    said: list[str] = []
    for line in source.split("\n"):
        for call, told in _STEPS:
            if found := call.search(line):
                said.append(told.format("", *map(name_in_words, found.groups())))
    said = list(dict.fromkeys(said))
    # What undoes it follows.
    return make_sentence(_upper(_and(said[:_MAX_METHODS], len(said)))) if said else ""


_GIVES_TEXTS = re.compile(r"\n {8}return [^\"\n]{0,30}[\"'`]([^\"\n]{8,160})[\"'`]")
_TOLD_BY = re.compile(r"(?i)\b(\w*(?:description|help|usage|summary|arguments?|syntax|shortdoc|title|label|name))\s?\([^\n]{0,80}\n {8}return [^\"\n]{0,30}\"([^\"\n]{4,200})\"")
_SHORT = re.compile(rf"\n {{4}}(?:@shortdoc|desc|description|help|short_help|summary|protected \$description|help_text)(?: ?= ?|\\(| )(?:_\\()?{_TEXT}")
_MIN_WORDS = 3


def texts_given(class_: ClassInput) -> str:
    """The sentence in which a class describes itself to its users."""
    if found := _SHORT.search(class_.own_source):
        return _as_sentence(found[1])
    told = {name.lower(): text for name, text in _TOLD_BY.findall(class_.own_source)}
    text = next((text for name, text in told.items() if name.endswith(("description", "help", "summary"))), "")
    return _as_sentence(text)


def _as_sentence(text: str) -> str:
    said = message_in_words(text)
    return make_sentence(_upper(said)) if said.count(" ") + 1 >= _MIN_WORDS and "…" not in said else ""


def does(class_: ClassInput, kind: str, methods: Sequence[MethodHead]) -> str:
    """`Interface that gets events and deletes a report.`, by the methods that it asks for."""
    events = [said for one in methods if (said := said_event(one))]
    if events and len(events) * 2 >= len(methods):
        listed = [f'"{one}"' for one in events]
        types = [found for one in methods for _, written in one.takes if (found := type_phrase(written))]
        taken = list(dict.fromkeys(one_or_list(found) for found in types if not found.is_basic))
        carried = f", with {_and(taken[:_MAX_METHODS], len(taken))}" if taken else ""
        lead = f"Receives the event{'s' * (len(events) > 1)}"
        return make_sentence(f"{lead} {_and(listed[:_MAX_METHODS], len(listed))}{carried}")
    said = list(dict.fromkeys(filter(None, map(said_method, methods))))
    accessors = sum(name_words(one.name)[:1] in (("get",), ("set",), ("is",)) and not one.takes[1:] for one in methods)
    if accessors * 2 > len(methods) > _MAX_METHODS:
        return ""
    if not said or len(said) * 2 < len(methods):
        return ""
    return make_sentence(f"{_upper(kind)} that {_and(said[:_MAX_METHODS], len(methods) if len(said) > _MAX_METHODS else len(said))}")


_VALUE = re.compile(r"(?<!\w)([A-Za-z_]\w{0,60})(?:\s?:\s?[\w<>?.]{1,40})?\s?=\s?(?:\"([^\"\\\n]{2,60})\"|'([^'\\\n]{2,60})')\s?[;,]?\s*$", re.M)


def values_of_fields(class_: ClassInput, fields: Sequence[str]) -> str:
    """`Sets template name to "admin/resend.html".`, of fields with texts that say more than their names."""
    values = {name: double or single for name, double, single in _VALUE.findall(class_.own_source)}
    told = []
    for name in fields:
        value = message_in_words(values.get(name, ""))
        if value and "…" not in value and not telling_stems(value) <= telling_stems(name):
            told.append(f'{name_in_words(name)} to "{value}"')
    is_told = told and (len(told) * 2 >= len(fields) or len(fields) <= _FEW)
    return make_sentence(f"Sets {_and(told[:_MAX_METHODS], len(told))}") if is_told else ""


_FEW = 6
_ASKS = frozenset(("interface", "protocol", "trait"))


def tellings(class_: ClassInput, kind: str) -> str:
    """The first of these that there is; "" where none is certain."""
    if not class_.own_source:
        return ""
    methods = methods_of(class_)
    kind = "protocol" if "protocol " in class_.signature[:40] else kind
    told: Iterable[Callable[[], str]] = (
        lambda: texts_given(class_),
        lambda: messages_of_values(class_, kind),
        lambda: declared(class_, kind),
        lambda: provided(class_, methods),
        lambda: schema_change(class_),
        lambda: of_types(class_, methods),
        lambda: does(class_, kind, methods) if kind in _ASKS and not is_made(class_) else "",
    )
    return next(filter(None, (one() for one in told)), "")


def is_made(class_: ClassInput) -> bool:
    """Whether a field holds what it does: an interface of values is told by them."""
    return bool(class_.fields)
