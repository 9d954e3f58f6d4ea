"""Schemas as agents pay for them: without what says nothing to a caller."""

from typing import Any

from pydantic import BaseModel

# Titles repeat names; sizes are told where they are exceeded.
_DROPPED = ("title", "maxLength", "minLength", "maxItems", "minItems")
_SAYS_NOTHING: tuple[Any, ...] = ("", [], {})


def input_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """What a tool takes; a class's docstring is for readers of its code."""
    schema: dict[str, Any] = _compact(arguments.model_json_schema())
    schema.pop("description", None)
    return schema


def output_schema(page: type[BaseModel]) -> dict[str, Any]:
    """What a tool's structured content is: fields with their default are left out of it."""
    schema: dict[str, Any] = _compact(page.model_json_schema(mode="validation"))
    return schema


def structured(page: BaseModel) -> dict[str, Any]:
    """The content that `output_schema` describes."""
    return page.model_dump(mode="json", exclude_defaults=True)


def _compact(value: Any, *, is_properties: bool = False) -> Any:
    """Of a schema; among the properties of an object, names are names and no keywords."""
    if isinstance(value, list):
        return [_compact(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {
        name: _compact(each, is_properties=name in ("properties", "$defs"))
        for name, each in value.items()
        if is_properties or not (name in _DROPPED or (name == "default" and each in _SAYS_NOTHING))
    }
    return kept
