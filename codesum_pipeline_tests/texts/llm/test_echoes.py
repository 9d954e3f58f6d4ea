"""Which names count as the pinned one, and which are another model's."""

import json
import re
from itertools import takewhile

import pytest

from codesum_pipeline.texts.llm.echoed_names import NO_NAME, is_name_of, is_same_model, shown_name
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
SPELLED = [
    ("openai/qwen2.5-7b-instruct", "Qwen2.5-7B-Instruct"),
    ("openai/Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct"),
    ("openai/llama3.2", "llama3.2:latest"),
    ("openai/llama3.2:latest", "llama3.2"),
    ("openai/LLAMA3.2", "llama3.2:latest"),
    ("openrouter/meta-llama/llama-3:free", "meta-llama/llama-3"),
    ("openrouter/meta-llama/llama-3", "meta-llama/llama-3:free"),
    ("openrouter/meta-llama/llama-3:nitro", "meta-llama/llama-3:floor"),
    ("openrouter/meta-llama/llama-3:exacto", "Meta-Llama/Llama-3"),
    ("openrouter/anthropic/claude-3.5-sonnet:beta", "anthropic/claude-3.5-sonnet"),
    ("openrouter/openai/gpt-3.5:extended", "openai/gpt-3.5"),
    ("openrouter/meta-llama/llama-3:free", "OPENROUTER/META-LLAMA/LLAMA-3:FREE"),
    ("openai/gemini-2.0-flash", "models/gemini-2.0-flash"),
    ("gemini/gemini-2.0-flash", "models/gemini-2.0-flash-001"),
    ("openai/models/gemini-2.0-flash", "gemini-2.0-flash"),
    ("openai/llama-v3p1-8b-instruct", "accounts/fireworks/models/llama-v3p1-8b-instruct"),
    ("fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-v3p1-8b-instruct"),
    ("openai/llama-3-8b", "meta-llama/Llama-3-8B"),
    ("openai/meta-llama/llama-3-8b", "llama-3-8b"),
    ("openai/meta-llama/llama-3-8b", "openai/meta-llama/llama-3-8b"),
    ("openai/llama-3-8b", "openrouter/meta-llama/llama-3-8b:free"),
    ("openai/llama-3-8b", "@cf/meta/llama-3-8b"),
    ("gpt-4o", "azure/gpt-4o-2024-08-06"),
    ("openai/model", "other/model-20251001"),
    ("openai/model", "MODEL-20251001"),
    ("openai/claude-haiku-4-5", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
    ("bedrock/converse/us.anthropic.claude-haiku-4-5", "anthropic.claude-haiku-4-5"),
    ("openai/smollm2-135m-instruct", "/models/SmolLM2-135M-Instruct.gguf"),
    ("openai/SmolLM2-135M-Instruct", "C:\\models\\smollm2-135m-instruct.GGUF"),
    ("openai/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct.gguf"),
    ("openai/HuggingFaceTB/SmolLM2-135M-Instruct", "../our models/SmolLM2-135M-Instruct.gguf"),
    ("openai/SmolLM2-135M-Instruct.gguf", "SmolLM2-135M-Instruct"),
    ("openai/qwen-72b", "/models/Qwen-72B-00001-of-00004.gguf"),
    ("openai/qwen-72b", "/models/Qwen-72B.safetensors"),
    ("openai/llama-3-8b", "/models/Llama-3-8B/"),
    ("openai/llama-3-8b", "file:///models/llama-3-8b.bin"),
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
    ("openai/model", "model-20251301"),
    ("openai/model", "model-20251001-mini"),
    ("openai/model", "model20251001"),
    ("openai/model", "model-"),
    ("openai/model", "model-latest"),
    ("openai/model", "model-20251001 "),
    ("openai/model", "model-20251001\n"),
    ("openai/model", "model-\u0662\u0660\u0662\u0665\u0661\u0660\u0660\u0661"),
    ("openai/model", ""),
    ("", "-20251001x"),
    ("openai/llama3.2", "llama3.2:1b"),
    ("openai/llama3.2:1b", "llama3.2:3b"),
    ("openai/llama3.2:1b", "llama3.2"),
    ("openai/llama3.2:1b", "llama3.2:latest"),
    ("openai/llama3.2", "llama3.2:"),
    ("openai/llama3.2", "llama3.2:newest"),
    ("openai/llama3.2", "llama-3.2"),
    ("openrouter/anthropic/claude-3.7-sonnet", "anthropic/claude-3.7-sonnet:thinking"),
    ("openrouter/openai/gpt-4o", "openai/gpt-4o:online"),
    ("openrouter/meta-llama/llama-3", "nousresearch/llama-3"),
    ("openai/meta-llama/llama-3-8b", "/models/nous/llama-3-8b"),
    ("openai/meta-llama/llama-3", "meta-llama/llama-3/adapter"),
    ("openai/meta-llama/llama-3", "meta-llama"),
    ("openai/gpt-4o-mini", "openai"),
    ("openai/gpt-4o-mini", "ft:gpt-4o-mini-2024-07-18:acme::8x1"),
    ("openai/llama-3-8b", "/models/Llama-3-8B-Q4_K_M.gguf"),
    ("openai/llama-3-8b-Q4_K_M", "/models/Llama-3-8B-Q8_0.gguf"),
    ("openai/llama-3-8b", "/models/Llama-3-70B.gguf"),
    ("openai/llama-3-8b", "/models/Llama-3-8B.gguf.part"),
    ("openai/llama-3-8b", "/models/llama-3-8b/model.gguf"),
    ("openai/llama-3-8b", "/models/.gguf"),
    ("openai/llama-3-8b", "/"),
    ("openai/llama-3-8b", "llama-3-8b\n"),
    ("openai/llama-3-8b", NO_NAME),
    ("bedrock/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0-20251001"),
    ("bedrock/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0-v2:0"),
]


@pytest.mark.parametrize(("pinned", "echoed"), SAME, ids=[" as ".join(pair) for pair in SAME])
def test_a_date_or_revision_added_to_the_pinned_name_is_the_same_model(pinned: str, echoed: str) -> None:
    assert is_same_model(pinned, echoed)
    assert not is_name_of(pinned, echoed)


@pytest.mark.parametrize(("pinned", "echoed"), SPELLED, ids=[json.dumps(" as ".join(pair)) for pair in SPELLED])
def test_another_spelling_of_the_pinned_name_is_the_same_model(pinned: str, echoed: str) -> None:
    assert is_same_model(pinned, echoed)


@pytest.mark.parametrize(("pinned", "echoed"), OTHER, ids=[json.dumps(" as ".join(pair)) for pair in OTHER])
def test_anything_else_is_another_model(pinned: str, echoed: str) -> None:
    assert not is_same_model(pinned, echoed)
    assert not is_name_of(pinned, echoed)


@pytest.mark.parametrize("echoed", ["", " ", "\n\t", "\u00a0"])
def test_a_name_of_blanks_is_shown_as_none(echoed: str) -> None:
    assert shown_name(echoed) == NO_NAME


def test_a_name_is_shown_in_a_bounded_length_and_without_half_characters() -> None:
    assert shown_name("x" * 10_000) == "x" * 200 + "…"
    assert shown_name("half \ud800") == "half \ufffd"


def test_of_all_models_that_litellm_lists_none_is_taken_for_another_size_or_generation() -> None:
    names = sorted(_entries())
    suffixes = {
        echoed.removeprefix(pinned)
        for place, pinned in enumerate(names)
        for echoed in _beginning_with(pinned, names, place + 1)
        if is_same_model(pinned, echoed)
    }

    assert len(suffixes) > 50
    for suffix in suffixes:
        assert not re.search(r"[a-uw-z.]", suffix, re.IGNORECASE), suffix
        assert re.search(r"\d{3}|-v\d+:\d+$", suffix), suffix


def _beginning_with(start: str, names: list[str], place: int) -> list[str]:
    """The sorted `names` from `place` on that begin so."""
    return list(takewhile(lambda name: name.startswith(start), names[place:]))
