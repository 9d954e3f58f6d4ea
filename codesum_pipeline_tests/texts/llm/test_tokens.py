"""How many tokens a text has: about, and at most."""

import base64
import hashlib
from pathlib import Path

import pytest

from codesum_pipeline.texts.llm.litellm_door import litellm_client
from codesum_pipeline.texts.llm.marking import number_lines
from codesum_pipeline.texts.llm.prices import predict_tokens, tokens_upper
from codesum_pipeline_tests.support.llm_requests import MODEL, templates

OWN = Path(__file__).parents[3] / "codesum_pipeline"
NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(100))
TEXTS = {
    "system prompt": next(iter(templates().values())).system,
    "python": "\n".join(number_lines(path.read_text()) for path in sorted((OWN / "llm").glob("*.py"))),
    "base64": base64.b64encode(NOISE).decode(),
    "hex": NOISE.hex(),
    "han": "".join(chr(0x4E00 + NOISE[at] * 64 + NOISE[at + 1] % 64) for at in range(0, 3000, 2)),
    "emoji": "🙂🧪🛰️" * 200,
    "punctuation": "!?#$%^&*(){}[]" * 200,
    "spaces": " \n\t" * 500,
}


def counted(text: str) -> int:
    return int(litellm_client().token_counter(model=MODEL, text=text))


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_no_text_has_more_tokens_than_the_bound(text: str) -> None:
    assert counted(text) <= tokens_upper(text)


@pytest.mark.parametrize("name", ["system prompt", "python"])
def test_a_prompt_has_about_as_many_tokens_as_predicted(name: str) -> None:
    assert predict_tokens(TEXTS[name]) == pytest.approx(counted(TEXTS[name]), rel=0.15)


def test_the_bound_of_a_prompt_is_less_than_four_times_what_is_counted() -> None:
    assert tokens_upper(TEXTS["system prompt"]) < 4 * counted(TEXTS["system prompt"])
