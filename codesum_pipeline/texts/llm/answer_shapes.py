"""What a model has to answer: one shape per level, and the tool that asks for it.

The bounds are in the schema, so that a model knows them before it answers.
Every field is required and nothing else is allowed: strict modes of providers
take the schema as it is. Models fill fields in their order: first statements,
then what they rest on, last the citations. The schema has no `$schema`, titles or
references, and its bytes are always the same: they are part of the key of a
provider's prompt cache.
"""

import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.llm.pins import blake3_of

TOOL_NAME = "emit_symbol_summary"
# More than the default `max_tokens` can fill, in any script.
MAX_OUTPUT_BYTES = 64 * 1024
EFFECT_VERBS = ("reads", "writes", "emits", "raises", "mutates")

_NOUNS = {Level.FUNCTION: "function or method", Level.CLASS: "class", Level.FILE: "file", Level.MODULE: "folder"}
_EFFECT = "|".join(f"[{verb[0].upper()}{verb[0]}]{verb[1:]}" for verb in EFFECT_VERBS)

Purpose = Annotated[str, Field(min_length=30, max_length=400)]
Intent = Annotated[str, Field(min_length=10, max_length=300, description="What it is for, in words of its domain.")]
Keyword = Annotated[str, Field(min_length=2, max_length=60)]
Keywords = Annotated[list[Keyword], Field(min_length=3, max_length=12)]
SideEffect = Annotated[str, Field(min_length=10, max_length=200, pattern=rf"\b({_EFFECT})\b")]
Invariant = Annotated[str, Field(min_length=10, max_length=300)]
CitedField = Literal["purpose", "inputs", "returns", "side_effects", "invariants"]


class AnswerPart(BaseModel):
    """An answer or a part of one: all of its fields are there, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class InputAnswer(AnswerPart):
    name: str = Field(min_length=1, max_length=200)
    type: str = Field(max_length=200, description="As declared, or as the code shows; empty if neither.")
    description: str = Field(min_length=20, max_length=200)


class ReturnsAnswer(AnswerPart):
    type: str = Field(max_length=200, description="As declared, or as the code shows; empty if neither.")
    type_summary: str = Field(min_length=10, max_length=80)
    details: str = Field(min_length=20, max_length=400)


class CitationAnswer(AnswerPart):
    field: CitedField
    start_line: int = Field(ge=1, description="A number at the head of a line that was shown.")
    end_line: int = Field(ge=1)


class FunctionAnswer(AnswerPart):
    """The answer for a function or method; each filled field of `CitedField` is cited at least once."""

    purpose: Purpose = Field(description="What it does. Does not open with 'This function', 'This method' …")
    business_intent: Intent
    keywords: Keywords
    inputs: list[InputAnswer] = Field(description="Its parameters; an empty list if it has none.")
    returns: ReturnsAnswer | None = Field(description="null if nothing comes back.")
    side_effects: list[SideEffect] = Field(
        description="Each with one of reads, writes, emits, raises, mutates; an empty list if none."
    )
    invariants: list[Invariant] | None = Field(description="What holds before or after; null if nothing is checked.")
    citations: list[CitationAnswer] = Field(min_length=1, description="The lines that support each filled field.")


class ResponsibilityAnswer(AnswerPart):
    text: str = Field(min_length=10, max_length=200)
    children: list[Annotated[str, Field(min_length=1)]] = Field(
        min_length=1, max_length=12, description="The parts that do it, by their names as listed."
    )


class UpperAnswer(AnswerPart):
    """The answer for a class, a file or a folder."""

    summary: str = Field(min_length=30, max_length=600)
    business_intent: Intent
    keywords: Keywords
    responsibilities: list[ResponsibilityAnswer] = Field(
        max_length=8, description="What it does through its parts; an empty list if no parts are listed."
    )


class AnswerTool(Struct, frozen=True):
    """A tool that a model is made to call; `schema_bytes` are the JSON of `schema` without spaces, fields in order."""

    name: str
    description: str
    schema: Mapping[str, Any]
    schema_bytes: bytes
    schema_blake3: str


def answer_model(level: Level) -> type[FunctionAnswer] | type[UpperAnswer]:
    """The shape of a level's answer."""
    return FunctionAnswer if level is Level.FUNCTION else UpperAnswer


@cache
def answer_tool(level: Level) -> AnswerTool:
    """The tool that a model of this level is made to call."""
    description = f"Give the summary of the {_NOUNS[level]}. Call this tool once, with every field."
    return tool_for(answer_model(level), name=TOOL_NAME, description=description)


def tool_for(shape: type[BaseModel], *, name: str, description: str) -> AnswerTool:
    """The tool whose arguments have a shape."""
    raw = shape.model_json_schema()
    # The tool's description is in the schema too, so that the digest that requests pin covers it.
    value = {"description": description, **_plain(raw, raw.get("$defs", {}))}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return AnswerTool(name, description, json.loads(text), text.encode(), blake3_of(text))


def _plain(part: Any, shapes: dict[str, Any]) -> Any:
    """A schema with its references filled in, without names that only pydantic gives.

    Keys are sorted, but the fields of an object.
    """
    if isinstance(part, list):
        return [_plain(one, shapes) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _plain(shapes[part["$ref"].rpartition("/")[2]], shapes)
    plain = {name: _plain(value, shapes) for name, value in sorted(part.items()) if name not in ("$defs", "title")}
    if "properties" in part:
        plain["properties"] = {name: _plain(value, shapes) for name, value in part["properties"].items()}
        plain.pop("description", None)
    return plain


# What models and servers put in front of a tool's name with an underscore, as others do with a dot.
_PREFIX = re.compile(r"^(?:functions?|tools?|default_?api|api|mcp)_+(?=.)", re.IGNORECASE)
# No tool's name has any of these.
_SEPARATOR = re.compile(r"[^\w-]+|__+")
_NO_LETTER = re.compile(r"[\W_]+")


def find_tool(written: str, names: Collection[str]) -> str | None:
    """The tool that a written name means: upper and lower case, blanks, hyphens, a prefix and a number behind it do not
    count. An empty name means the only tool. None if it means none of them, or several."""
    if written in names:
        return written
    if not written.strip() and len(names) == 1:
        return next(iter(names))
    by_letters = {_letters(name): name for name in names}
    parts = (written, _PREFIX.sub("", written.strip()), *_SEPARATOR.split(written))
    meant = {by_letters[letters] for letters in map(_letters, parts) if letters in by_letters}
    return meant.pop() if len(meant) == 1 else None


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name).casefold()
