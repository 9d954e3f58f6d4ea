"""A call's arguments: read, mended where a model is known to write them otherwise, and validated."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

# Some models write Python's words where JSON has its own.
_WORDS = {"true": True, "false": False}


class InvalidArguments(Exception):
    """Arguments that a tool does not take; the message says which, and what it takes."""


def read_arguments(model: type[BaseModel], written: str) -> BaseModel:
    """The arguments of a call; raises `InvalidArguments`."""
    try:
        values = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"the arguments are no JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidArguments(f"the arguments are a {type(values).__name__}, and have to be a JSON object")
    schema = model.model_json_schema()
    try:
        return model.model_validate(_mended(values, schema, schema.get("$defs", {})))
    except ValidationError as error:
        raise InvalidArguments(_told(error, schema)) from error


def _mended(value: Any, schema: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    """The value with each `"True"` and `"False"` that stands where the schema has a boolean made one."""
    if "$ref" in schema:
        schema = named.get(str(schema["$ref"]).rpartition("/")[2], {})
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return {name: _mended(part, fields.get(name, {}), named) for name, part in value.items()}
    if isinstance(value, list):
        return [_mended(part, schema.get("items", {}), named) for part in value]
    if isinstance(value, str) and value.strip().lower() in _WORDS and _takes(schema, "boolean"):
        return value if _takes(schema, "string") else _WORDS[value.strip().lower()]
    return value


def _takes(schema: Mapping[str, Any], kind: str) -> bool:
    return schema.get("type") == kind or any(_takes(part, kind) for part in schema.get("anyOf", ()))


def _told(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """Each fault with its value, and the names that there are."""
    faults = "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']} (got {str(fault['input'])[:100]!r})"
        for fault in error.errors(include_url=False)
    )
    return f"{faults}. Arguments: {', '.join(schema.get('properties', {})) or 'none'}"
