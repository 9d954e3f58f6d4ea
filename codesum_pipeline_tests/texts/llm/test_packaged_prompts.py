"""The packaged system prompt teaches by examples that the package itself would take."""

import re

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.llm.checking import AnswerBounds, read_answer
from codesum_pipeline.texts.llm.litellm_door import litellm_client
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryResponse
from codesum_pipeline.texts.llm.templates import render_system

SYSTEM = render_system(None, "default", language="English")
EXAMPLES = SYSTEM.partition("# Three worked examples")[2].split("## Example ")[1:]


def _block(example: str, language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)\n```", example, re.S)[0]


def _context_names(material: str) -> tuple[str, ...]:
    return tuple(
        name for line in re.findall(r"^(?:called by|calls): (.*)$", material, re.M) for name in line.split(", ")
    )


@pytest.mark.parametrize(
    ("place", "level"),
    [
        pytest.param(0, Level.FUNCTION, id="a pure function"),
        pytest.param(1, Level.FUNCTION, id="a method with side effects"),
        pytest.param(2, Level.CLASS, id="a class that is mostly its constructor"),
    ],
)
def test_a_worked_example_is_an_answer_that_is_taken(place: int, level: Level) -> None:
    material, claim = _block(EXAMPLES[place], "text"), _block(EXAMPLES[place], "json")
    numbers = [int(number) for number in re.findall(r"^(\d+)\| ", material, re.M)]
    shown = AnswerBounds(
        level,
        line_count=len(numbers) or None,
        child_names=tuple(re.findall(r"^(\w+) \(function\): ", material, re.M)),
        hidden_names=_context_names(material),
    )

    written = read_answer(
        SummaryResponse(claim=claim, has_tool_call=True, usage=None, model_name_echoed="m"), AnswerForm.TOOL, shown
    )

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(written.summary) >= 150
    assert len(EXAMPLES) == 3


def test_the_system_prompt_is_long_enough_for_every_providers_prompt_cache() -> None:
    litellm = litellm_client()

    assert litellm.token_counter(model="gpt-4o-mini", text=SYSTEM) >= 5_000
    assert litellm.token_counter(model="claude-haiku-4-5-20251001", text=SYSTEM) >= 5_000
