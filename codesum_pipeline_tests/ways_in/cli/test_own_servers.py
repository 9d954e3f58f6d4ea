"""Servers of one's own on the command line: what a message says to set, pasted into codesum.toml, works."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.toml_values import toml_value
from codesum_pipeline_tests.answers.question_answering.conftest import Shop, indexed_shop, shop
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, Fails, ScriptedServer
from codesum_pipeline_tests.support.llm_server.own_servers import MISTRAL, REASONING_MODEL, TakesNot, Unnamed
from codesum_pipeline_tests.support.llm_server.streaming import Streams
from codesum_pipeline_tests.support.repositories import GitRepo

__all__ = ["indexed_shop", "shop"]
KEY_ENV = "OWN_SERVER_KEY"
ALIAS = "openai/fast"
FILES = {"one.py": "def one(amount):\n    return amount + 1\n"}
# One for the function, and one for its file.
TEXTS = 2
FREE = [{"model": ALIAS, "input": 0, "output": 0}]


class OwnServer:
    """A home whose model is behind an alias, and the settings that were pasted so far."""

    def __init__(self, folder: Path, server: ScriptedServer, codesum: Any) -> None:
        self.codesum = codesum
        self.home = folder / "home"
        self.repo = GitRepo.create(folder / "repo", FILES)
        self.server = server
        self.home.mkdir()
        self.llm: dict[str, Any] = {
            "enabled": True,
            "model": ALIAS,
            "api_base": server.base,
            "api_key_env": KEY_ENV,
            "max_summaries_per_run": 100,
            "max_retries": 0,
            "prices": FREE,
        }

    def index(self) -> Any:
        self.write()
        return self.codesum(self.home, "index", self.repo.path)

    def write(self) -> None:
        lines = (f"{name} = {toml_value(value)}\n" for name, value in self.llm.items())
        (self.home / "codesum.toml").write_text(f"[llm]\n{''.join(lines)}")

    def paste(self, stderr: str, setting: str) -> None:
        """Take over what the message says to set."""
        self.llm |= suggested(stderr, setting)


def suggested(message: str, setting: str) -> dict[str, Any]:
    """The value of a setting in a message, as TOML: the longest one that can be read."""
    start = message.index(f"{setting} = ")
    line = message[start:].partition("\n")[0]
    for end in range(len(line), 0, -1):
        try:
            return dict(tomllib.loads(line[:end])["llm"])
        except tomllib.TOMLDecodeError:
            continue
    raise AssertionError(f"no TOML: {line}")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codesum: Any) -> Iterator[OwnServer]:
    monkeypatch.setenv(KEY_ENV, "sk-own-0123456789")
    with ScriptedServer() as server:
        yield OwnServer(tmp_path, server, codesum)


NAMES = [
    pytest.param(Answers(model="our-deployment"), id="another name"),
    pytest.param(Answers(model="two\nlines\tand \x1b[31mred\x07 \x7f\u202e \ufeff"), id="signs that steer"),
    pytest.param(Unnamed(None), id="no name"),
]


@pytest.mark.parametrize("behaviour", NAMES)
def test_the_name_that_answers_is_taken_once_the_setting_of_the_message_is_pasted(
    own: OwnServer, behaviour: Behaviour
) -> None:
    own.server.script = lambda _request: behaviour

    refused = own.index()
    own.paste(refused.stderr, "llm.echoed_names")
    calls = len(own.server.seen)
    taken = own.index()

    assert (refused.exit_code, calls, taken.exit_code) == (1, 1, 0), taken.stderr
    assert len(own.server.seen) == 1 + TEXTS
    assert "\x1b" not in refused.stderr


def test_the_model_that_answers_is_taken_once_it_is_set(own: OwnServer) -> None:
    own.server.script = lambda _request: Answers(model="slow")

    refused = own.index()
    own.paste(refused.stderr, "llm.model")
    own.llm["prices"] = [{**FREE[0], "model": "openai/slow"}]
    taken = own.index()

    assert own.llm["model"] == "openai/slow"
    assert (refused.exit_code, taken.exit_code) == (1, 0), taken.stderr
    assert [request.model for request in own.server.seen] == ["fast", *["slow"] * TEXTS]


def test_another_spelling_needs_no_setting(own: OwnServer) -> None:
    own.server.script = lambda _request: Answers(model="/models/Fast.gguf")

    assert own.index().exit_code == 0
    assert len(own.server.seen) == TEXTS


def test_a_reasoning_model_behind_an_alias_is_indexed_once_what_the_messages_say_is_pasted(own: OwnServer) -> None:
    own.server.script = lambda _request: TakesNot(REASONING_MODEL)
    changes: dict[str, Any] = {}

    for _ in REASONING_MODEL:
        refused = own.index()
        assert refused.exit_code == 1
        changes |= suggested(refused.stderr, "llm.parameters")["parameters"][ALIAS]
        own.llm["parameters"] = {ALIAS: changes}
    taken = own.index()

    assert changes == {"temperature": False, "max_tokens": "max_completion_tokens"}
    assert taken.exit_code == 0, taken.stderr
    assert own.server.seen[-1].body["max_completion_tokens"] == 2048


def test_parameters_can_be_set_in_the_environment(own: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODESUM_LLM__PARAMETERS", json.dumps({ALIAS: {"temperature": False}}))

    assert own.index().exit_code == 0
    assert "temperature" not in own.server.seen[-1].body


def test_a_text_stays_when_the_parameters_of_its_model_change(own: OwnServer) -> None:
    own.index()
    own.llm["parameters"] = {ALIAS: {"temperature": False, "max_tokens": "max_completion_tokens"}}

    assert own.index().exit_code == 0
    assert len(own.server.seen) == TEXTS


REFUSALS = [
    pytest.param(500, "tools param requires --jinja flag", "start the server with --jinja", id="llama.cpp"),
    pytest.param(
        400,
        "max_tokens is too large: 2048. This model supports at most 1000 completion tokens, whereas you provided 2048.",
        "set llm.max_tokens = 1000 or less",
        id="a limit of answers",
    ),
    pytest.param(
        400,
        f"{'x' * 900} This model's maximum context length is 8192 tokens. However, you asked for 9000 tokens.",
        "lower llm.max_prompt_chars or llm.max_tokens (now 2048): prompt and answer together may have 8192 tokens",
        id="a long prompt in many words",
    ),
    pytest.param(404, 'model "fast" not found, try pulling it first', "`ollama pull fast`", id="no such model"),
]


@pytest.mark.parametrize(("status", "words", "hint"), REFUSALS)
def test_a_refusal_comes_with_what_helps_and_is_not_tried_again(
    own: OwnServer, status: int, words: str, hint: str
) -> None:
    own.llm |= {"form": "json_text", "max_retries": 4}
    own.server.script = lambda _request: Fails(status, words)

    refused = own.index()

    assert refused.exit_code == 1
    assert f"; way out: {hint}" in refused.stderr
    assert f"way out: {hint}" in refused.stderr.splitlines()[-1], "the last line has it, too"
    assert len(own.server.seen) == TEXTS, "one call for each document"


def test_an_address_without_its_version_is_answered_by_the_right_one(own: OwnServer) -> None:
    own.llm["api_base"] = own.server.root

    refused = own.index()
    own.paste(refused.stderr, "llm.api_base")

    assert own.index().exit_code == 0
    assert own.llm["api_base"] == own.server.base


def test_a_recording_of_another_version_is_named_with_the_right_one(own: OwnServer, tmp_path: Path) -> None:
    own.llm |= {"backend": "record", "recording": str(tmp_path / "answers")}
    own.index()
    for file in (tmp_path / "answers").iterdir():
        file.write_text(json.dumps({**json.loads(file.read_text()), "version": 7}))
    own.llm["backend"] = "replay"
    own.home = tmp_path / "another home"
    own.home.mkdir()

    own.write()
    refused = fork_codesum("--home", own.home, "index", own.repo.path, cwd=own.home)

    assert refused.returncode == 1
    assert re.search(
        r"no more calls: .*answers/[0-9a-f]{64}\.json: it is a recording of version 7, "
        r"and this codesum reads version 1: record again",
        refused.stderr,
    )


BAD = [
    pytest.param({"form": "tools"}, "the nearest is 'tool'", id="a form"),
    pytest.param({"backend": "lite"}, "the nearest is 'litellm'", id="a backend"),
    pytest.param(
        {"prices": [{"model": ALIAS, "input": 1, "output": -2}]},
        "setting 'llm.prices.0.output' = -2: Input should be greater than or equal to 0",
        id="a price",
    ),
    pytest.param({"parameters": {ALIAS: {"temprature": False}}}, "the nearest is 'temperature'", id="a parameter"),
    pytest.param({"parameters": {"openai/fats": {"temperature": False}}}, f"the nearest is {ALIAS!r}", id="a model"),
    pytest.param({"llm": {"model": ALIAS}}, "below [llm] write 'model' without 'llm.'", id="a table in itself"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_bad_input_is_named_with_what_is_right_before_anything_is_done(
    own: OwnServer, settings: dict[str, Any], message: str
) -> None:
    own.llm |= settings

    refused = own.index()

    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())
    assert own.server.seen == []


def test_a_change_that_would_break_a_cap_is_refused_before_any_call(own: OwnServer) -> None:
    own.llm |= {"prices": [{"model": ALIAS, "input": 1, "output": 2}], "parameters": {ALIAS: {"max_tokens": False}}}

    refused = own.index()

    assert refused.exit_code != 0
    assert f"llm.parameters: {ALIAS!r}: max_tokens is left out, and the model costs money" in refused.stderr
    assert own.server.seen == []


def test_settings_before_their_heading_are_explained(own: OwnServer) -> None:
    own.write()
    file = own.home / "codesum.toml"
    file.write_text(f'llm.echoed_names = {{ "a" = "b" }}\n{file.read_text()}')

    refused = own.codesum(own.home, "status")

    assert refused.exit_code == 2
    assert "below [llm] write its settings without 'llm.'" in " ".join(refused.stderr.split())


def ask(codesum: Any, shop: Shop) -> Any:
    lines = (f"{name} = {toml_value(value)}\n" for name, value in shop.settings["llm"].items())
    (shop.home / "codesum.toml").write_text(f"[llm]\n{''.join(lines)}")
    return codesum(shop.home, "ask", "What is it?")


def test_a_question_is_answered_once_what_the_messages_say_is_pasted(codesum: Any, shop: Shop) -> None:
    llm = shop.settings["llm"]
    refused = {**REASONING_MODEL, **MISTRAL}
    shop.server.script = lambda _request: TakesNot(refused, Streams("It sells (`shop/orders.py:8`)."))
    changes: dict[str, Any] = {}

    for _ in refused:
        failed = ask(codesum, shop)
        changes |= suggested(failed.stderr, "llm.parameters")["parameters"][llm["model"]]
        llm["parameters"] = {llm["model"]: changes}
    done = ask(codesum, shop)

    assert changes == {"temperature": False, "max_tokens": "max_completion_tokens", "stream_options": False}
    assert (done.exit_code, done.stdout) == (0, "It sells (`shop/orders.py:8`).\n"), done.stderr


@pytest.mark.parametrize(
    "echoed",
    ["our-deployment", 'C:\\models\\own "one".gguf', "two\nlines\x1b[31m", "x" * 10_000],
    ids=["another", "a path", "signs that steer", "ten thousand letters"],
)
def test_the_name_that_answers_a_question_is_taken_once_the_setting_is_pasted(
    codesum: Any, shop: Shop, echoed: str
) -> None:
    shop.server.script = lambda _request: Streams("It sells (`shop/orders.py:8`).", model=echoed)

    failed = ask(codesum, shop)
    shop.settings["llm"] |= suggested(failed.stderr, "llm.echoed_names")
    done = ask(codesum, shop)

    assert failed.exit_code != 0
    assert (done.exit_code, done.stdout) == (0, "It sells (`shop/orders.py:8`).\n"), done.stderr


@pytest.mark.parametrize("echoed", ["GPT-4o-mini", "gpt-4o-mini:free", "/models/gpt-4o-mini.gguf", ""])
def test_another_spelling_answers_a_question_and_a_stream_without_a_name_does_too(
    codesum: Any, shop: Shop, echoed: str
) -> None:
    shop.server.script = lambda _request: Streams("It sells (`shop/orders.py:8`).", model=echoed)

    assert ask(codesum, shop).exit_code == 0


def test_too_long_an_answer_to_a_question_is_answered_by_its_own_setting(codesum: Any, shop: Shop) -> None:
    words = "max_tokens is too large: 4096. This model supports at most 1000 completion tokens, whereas you provided"
    shop.server.script = lambda _request: Fails(400, words)

    assert "set ask.max_tokens = 1000 or less" in " ".join(ask(codesum, shop).stderr.split())
