"""Which names count as the pinned one, and which are another model's."""

import json
import re
from itertools import takewhile

import pytest

from codesum_pipeline.texts.llm.echoed_names import is_dated_name_of, is_name_of
from codesum_pipeline.texts.llm.prices import _entries

SAME = [
    ("anthropic/claude-haiku-4-5", "claude-haiku-4-5-20251001"),
    ("anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5-20251001"),
    ("anthropic/claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
    ("openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
    ("gpt-4o", "gpt-4o-2024-11-20"),
    ("openai/gpt-4", "gpt-4-0613"),
    ("openai/gpt-3.5-turbo", "gpt-3.5-turbo-0125"),
    ("azure/gpt-4o", "gpt-4o-2024-08-06"),
    ("gemini/gemini-2.0-flash", "gemini-2.0-flash-001"),
    ("gemini/gemini-2.5-flash-preview", "gemini-2.5-flash-preview-09-2025"),
    ("vertex_ai/claude-haiku-4-5", "claude-haiku-4-5@20251001"),
    ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5-20251001"),
    ("bedrock/anthropic.claude-haiku-4-5-20251001", "anthropic.claude-haiku-4-5-20251001-v1:0"),
    ("bedrock/anthropic.claude-haiku-4-5", "anthropic.claude-haiku-4-5-20251001-v1:0"),
    ("bedrock/amazon.nova-pro", "amazon.nova-pro-v1:0"),
    ("openrouter/anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4.5-20251001"),
    ("openrouter/moonshotai/kimi-k2", "moonshotai/kimi-k2-0905"),
    ("mistral/mistral-large-latest", "mistral-large-2411"),
    ("mistral/codestral", "codestral-2508"),
    ("volcengine/doubao-seed", "doubao-seed-260215"),
]
OTHER = [
    ("anthropic/claude-haiku-4", "claude-haiku-4-5"),
    ("anthropic/claude-haiku-4", "claude-haiku-4-5-20251001"),
    ("anthropic/claude-haiku-4-5", "claude-haiku-4"),
    ("anthropic/claude-haiku-4-5", "claude-sonnet-4-5-20250929"),
    ("anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5"),
    ("anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5-20260101"),
    ("anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001-20260101"),
    ("openai/gpt-4o", "gpt-4o-mini"),
    ("openai/gpt-4o", "gpt-4o-mini-2024-07-18"),
    ("openai/gpt-4o", "gpt-4o-audio-preview-2024-12-17"),
    ("openai/gpt-4o-mini", "gpt-4o"),
    ("openai/gpt-4", "gpt-4-turbo"),
    ("openai/gpt-4", "gpt-4-32k"),
    ("openai/gpt-4", "gpt-4.1"),
    ("openai/gpt-4", "gpt-41"),
    ("openai/gpt-4-0613", "gpt-4-0314"),
    ("openai/gpt-4-0613", "gpt-4-0613-0314"),
    ("openai/gpt-5", "gpt-5-1"),
    ("openai/o1", "o1-2"),
    ("gemini/gemini-2.0-flash-001", "gemini-2.0-flash-002"),
    ("gemini/gemini-2.0-flash", "gemini-2.0-flash-lite-001"),
    ("openai/deepseek", "deepseek-v3"),
    ("openai/llama-3", "llama-3-405"),
    ("openai/llama-3", "llama-3-70b"),
    ("openai/model", "model-2048"),
    ("openai/model", "model-4096"),
    ("openai/model", "model-128"),
    ("openai/model", "model-1"),
    ("openai/model", "model-10"),
    ("openai/model", "model-12345678"),
    ("openai/model", "model-20250231"),
    ("openai/model", "model-2025-02-31"),
    ("openai/model", "model-20251301"),
    ("openai/model", "model-20251001-mini"),
    ("openai/model", "model20251001"),
    ("openai/model", "model-"),
    ("openai/model", "model-latest"),
    ("openai/model", "MODEL-20251001"),
    ("openai/model", "model-20251001 "),
    ("openai/model", "model-20251001\n"),
    ("openai/model", "model-\u0662\u0660\u0662\u0665\u0661\u0660\u0660\u0661"),
    ("openai/model", ""),
    ("", "-20251001x"),
    ("openai/model", "other/model-20251001"),
    ("bedrock/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0-20251001"),
    ("bedrock/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0-v2:0"),
]


@pytest.mark.parametrize(("pinned", "echoed"), SAME, ids=[" as ".join(pair) for pair in SAME])
def test_a_date_or_revision_added_to_the_pinned_name_is_the_same_model(pinned: str, echoed: str) -> None:
    assert is_dated_name_of(pinned, echoed)
    assert not is_name_of(pinned, echoed)


@pytest.mark.parametrize(("pinned", "echoed"), OTHER, ids=[json.dumps(" as ".join(pair)) for pair in OTHER])
def test_anything_else_is_another_model(pinned: str, echoed: str) -> None:
    assert not is_dated_name_of(pinned, echoed)
    assert not is_name_of(pinned, echoed)


def test_of_all_models_that_litellm_lists_none_is_taken_for_another_size_or_generation() -> None:
    names = sorted(_entries())
    suffixes = {
        echoed.removeprefix(pinned)
        for place, pinned in enumerate(names)
        for echoed in _beginning_with(pinned, names, place + 1)
        if is_dated_name_of(pinned, echoed)
    }

    assert len(suffixes) > 50
    for suffix in suffixes:
        assert not re.search(r"[a-uw-z.]", suffix, re.IGNORECASE), suffix
        assert re.search(r"\d{3}|-v\d+:\d+$", suffix), suffix


def _beginning_with(start: str, names: list[str], place: int) -> list[str]:
    """The sorted `names` from `place` on that begin so."""
    return list(takewhile(lambda name: name.startswith(start), names[place:]))
