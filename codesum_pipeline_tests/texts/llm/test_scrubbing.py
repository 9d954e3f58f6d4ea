"""A key that comes back from a provider goes no further, in whatever form it comes."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from codesum_pipeline.foundation.data_model.errors import SummaryCallFailed
from codesum_pipeline.texts.llm.litellm_door import keys_in_use, without_keys
from codesum_pipeline_tests.support.llm_requests import CLAUDE, KEY_VARIABLE, MODEL, ask, request_for, settings_for
from codesum_pipeline_tests.support.llm_server import Answers, Fails, ScriptedServer

# Signs that addresses, JSON and HTML write otherwise.
KEY = "sk-a/b+c=<d>&0123456789_\u00e9"
ASCII_KEY = "sk-a/b+c=<d>&0123456789"


def escaped(key: str) -> str:
    """Every character as JSON may write it."""
    return "".join(f"\\u{ord(sign):04x}" for sign in key)


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in an address": lambda key: quote(key, safe=""),
    "in a path": quote,
    "in a query": quote_plus,
    "in an address, in small letters": lambda key: re.sub("%..", lambda found: found[0].lower(), quote(key)),
    "in html": html.escape,
    "in base64": lambda key: b64encode(key.encode()).decode(),
    "in quotes": lambda key: f'"{key}"',
    "after its scheme": lambda key: f"Bearer {key}",
}


@pytest.mark.parametrize("write", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("key", [KEY, ASCII_KEY, f"{ASCII_KEY}\n"], ids=["letters", "ascii", "a line end"])
def test_no_form_of_a_key_is_left_in_a_text_or_in_json(write: Callable[[str], str], key: str) -> None:
    form = write(key.strip())
    claim = json.dumps({"purpose": f"Adds {form} up.", form: [form]})

    for text in (form, claim, claim.replace("/", "\\/")):
        clean = without_keys(text, [key])
        assert key.strip() not in clean
        assert form not in clean
        assert "\u2026" in clean
    assert all(key.strip() not in part for part in _strings(json.loads(without_keys(claim, [key]))))


def test_a_key_in_escapes_of_json_is_taken_out_and_the_rest_stays() -> None:
    claim = f'{{"a": "x {escaped(KEY)} \\n y", "b": [1, null]}}'

    assert json.loads(without_keys(claim, [KEY])) == {"a": "x \u2026 \n y", "b": [1, None]}


def test_what_holds_no_key_stays_byte_for_byte() -> None:
    claim = '{"a":  "\\u0041 \\/ none"}'

    assert without_keys(claim, [KEY, "", "none"]) == claim


@pytest.mark.parametrize(
    ("variable", "is_key"),
    [
        ("OPENAI_API_KEY", True),
        ("ANTHROPIC_API_KEY", True),
        ("ANTHROPIC_AUTH_TOKEN", True),
        ("GEMINI_API_KEY", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("AWS_SESSION_TOKEN", True),
        ("SOME_NEW_PROVIDER_API_KEY", True),
        ("KEYBOARD", False),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", False),
        ("HOME_KEY_FOLDER", False),
    ],
)
def test_the_keys_that_litellm_finds_by_itself_are_known(
    variable: str, is_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "value-of-a-variable")

    assert ("value-of-a-variable" in keys_in_use()) == is_key


@pytest.mark.parametrize("write", [str, quote_plus], ids=["as it is", "in an address"])
@pytest.mark.parametrize("model", [MODEL, CLAUDE], ids=["openai's format", "anthropic's format"])
@pytest.mark.parametrize("is_named", [True, False], ids=["api_key_env", "the provider's own name"])
def test_a_key_inside_a_good_answer_and_in_the_echoed_name_is_in_no_response(
    write: Callable[[str], str], model: str, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_root = model == CLAUDE
    variable = KEY_VARIABLE if is_named else "ANTHROPIC_API_KEY" if at_root else "OPENAI_API_KEY"
    monkeypatch.setenv(variable, ASCII_KEY)
    behaviour = Answers(echoes_key=True, written=write)
    with ScriptedServer(lambda _call: behaviour) as server:
        base = server.root if at_root else server.base
        settings = settings_for(server, model=model, api_base=base, api_key_env=KEY_VARIABLE if is_named else None)
        good, named = ask(settings, request_for(model_name=model), request_for(model_name=model, job_id="1"))
        server.script = lambda _call: Answers(model=ASCII_KEY)
        (renamed,) = ask(settings, request_for(model_name=model))
        server.script = lambda _call: Fails(400, f"{write(ASCII_KEY)} refused", echoes_key=True)
        (failed,) = ask(settings, request_for(model_name=model))

    assert "\u2026" in good.claim
    for found in (good, named, renamed, getattr(renamed, "response", None), failed):
        assert ASCII_KEY not in repr(found)
        assert write(ASCII_KEY) not in repr(found)
    assert all(ASCII_KEY not in part for part in _strings(json.loads(good.claim)))
    assert isinstance(failed, SummaryCallFailed)


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []
