"""The shape of an answer: the bounds, and bytes that a provider's cache can go by."""

import json
import re

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.llm.answer_shapes import FunctionAnswer, UpperAnswer, answer_tool
from codesum_pipeline.texts.llm.pins import blake3_of
from codesum_pipeline.texts.llm.templates import resolve_template


def keys_of(value: object) -> set[str]:
    """Every key at any depth."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if isinstance(value, dict):
        return set(value) | set().union(*map(keys_of, value.values()))
    return set()


@pytest.mark.parametrize("level", list(Level))
def test_a_tools_schema_is_whole_and_without_names_of_ours(level: Level) -> None:
    tool = answer_tool(level)

    assert tool.name == "emit_symbol_summary"
    assert json.loads(tool.schema_bytes) == tool.schema
    assert tool.schema_bytes == json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":")).encode()
    assert tool.schema_blake3 == blake3_of(tool.schema_bytes.decode())
    assert keys_of(tool.schema).isdisjoint({"$schema", "$defs", "$ref", "title", "default"})


@pytest.mark.parametrize("level", list(Level))
def test_a_schema_asks_first_for_what_is_said_and_last_for_its_proof(level: Level) -> None:
    schema = json.loads(answer_tool(level).schema_bytes)
    first, last = ("purpose", "citations") if level is Level.FUNCTION else ("summary", "responsibilities")

    fields = list(schema["properties"])
    assert (fields[0], fields[-1], fields) == (first, last, schema["required"])
    if level is not Level.FUNCTION:
        assert list(schema["properties"]["responsibilities"]["items"]["properties"]) == ["text", "children"]


@pytest.mark.parametrize("level", list(Level))
def test_the_worked_examples_answer_in_the_order_of_the_schema(level: Level) -> None:
    system = resolve_template(None, level, language="English").system
    examples = [json.loads(block) for block in re.findall(r"```json\n(\{.*?\n\})\n```", system, re.DOTALL)]
    fields = list(answer_tool(level).schema["properties"])

    assert [list(one) for one in examples if fields[0] in one] == [fields] * (1 + (level is Level.FUNCTION))


@pytest.mark.parametrize("level", list(Level))
def test_every_field_is_required_and_no_other_allowed(level: Level) -> None:
    schema = answer_tool(level).schema

    assert sorted(schema["required"]) == sorted(schema["properties"])
    assert schema["additionalProperties"] is False


def test_the_bounds_of_a_functions_answer_stand_in_the_schema() -> None:
    fields = answer_tool(Level.FUNCTION).schema["properties"]
    returns = fields["returns"]["anyOf"][0]["properties"]
    invariants = fields["invariants"]["anyOf"][0]["items"]

    def bounds(part: dict[str, int]) -> tuple[int, int]:
        return part["minLength"], part["maxLength"]

    assert bounds(fields["purpose"]) == (30, 400)
    assert bounds(fields["business_intent"]) == (10, 300)
    assert (fields["keywords"]["minItems"], fields["keywords"]["maxItems"]) == (3, 12)
    assert bounds(fields["inputs"]["items"]["properties"]["description"]) == (20, 200)
    assert bounds(returns["type_summary"]) == (10, 80)
    assert bounds(returns["details"]) == (20, 400)
    assert bounds(fields["side_effects"]["items"]) == (10, 200)
    assert bounds(invariants) == (10, 300)
    assert fields["citations"]["minItems"] == 1


def test_the_bounds_of_an_upper_levels_answer_stand_in_the_schema() -> None:
    fields = answer_tool(Level.MODULE).schema["properties"]
    text = fields["responsibilities"]["items"]["properties"]["text"]

    assert (fields["summary"]["minLength"], fields["summary"]["maxLength"]) == (30, 600)
    assert (text["minLength"], text["maxLength"]) == (10, 200)
    assert fields["responsibilities"]["maxItems"] == 8


def test_the_worked_examples_of_the_packaged_template_keep_every_bound() -> None:
    system = resolve_template(None, Level.FUNCTION, language="English").system
    examples = [json.loads(block) for block in re.findall(r"```json\n(\{.*?\n\})\n```", system, re.DOTALL)]

    assert len(examples) == 3
    for example in examples:
        (FunctionAnswer if "purpose" in example else UpperAnswer).model_validate(example)
