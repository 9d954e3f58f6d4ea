"""What of an answer's object is put right by a rule, without asking the model again.

| a model gave | where | it is |
|---|---|---|
| a field that the schema lacks | an object | left out |
| nothing | a list, or what may be null | an empty list, null |
| null | a list | an empty list |
| `"null"`, `"None"`, `""` | what may be null and is no text | null |
| JSON in a string | a list or an object | read |
| a whole number in a string, or `12.0` | a number | the number |
| control characters, escape sequences, invisible characters | a text | left out |
| runs of white space, line feeds | a text | one space |
| upper-case letters | a keyword | lower-case letters |
| an entry for `self`, `cls`, `this` or another receiver | the inputs | left out |
| the same item twice (upper and lower case alike) | a list of texts | kept once |
| `true`, `"True"` | a number, a list or an object | refused |
| a number, `true`, null, a list | a text | refused |
| anything else that is not of the schema | | refused |
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.texts.llm.answer_objects import decode_json

_WHOLE_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_MOST_ENCODINGS = 3
_SAYS_NULL = ("", "null", "none")


def repair_value(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value, repaired where the table says so; the check refuses the rest."""
    if "anyOf" in schema:
        (filled,) = (option for option in schema["anyOf"] if option.get("type") != "null")
        says_null = value is None or (isinstance(value, str) and value.strip().lower() in _SAYS_NULL)
        return None if says_null else repair_value(value, filled)
    match schema.get("type"):
        case "object":
            return _object(_from_text(value, dict), schema)
        case "array":
            return _list(_from_text(value, list), schema)
        case "integer" if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
            return int(value)
        case "integer":
            return int(value) if isinstance(value, float) and value.is_integer() else value
        case _:
            return one_line(value) if isinstance(value, str) else value


def _object(value: Any, schema: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    wanted = schema["properties"]
    empty = {name: None for name, part in wanted.items() if "anyOf" in part or part.get("type") == "array"}
    return {name: _field(name, part, wanted[name]) for name, part in (empty | value).items() if name in wanted}


def _field(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    found = repair_value(value, schema)
    if name != "keywords" or not isinstance(found, list):
        return found
    return [one.lower() if isinstance(one, str) else one for one in found]


def _list(value: Any, schema: Mapping[str, Any]) -> Any:
    if value is None:
        return []
    if not isinstance(value, list):
        return value
    items = [repair_value(item, schema["items"]) for item in value]
    distinct = {item.casefold() if isinstance(item, str) else place: item for place, item in enumerate(reversed(items))}
    return list(reversed(distinct.values()))


def _from_text(value: Any, wanted: type) -> Any:
    """A list or object that was given as JSON in a string."""
    read = value
    with suppress(ValueError, RecursionError):
        for _ in range(_MOST_ENCODINGS):
            if isinstance(read, str):
                read = decode_json(read)
    return read if isinstance(read, wanted) else value
