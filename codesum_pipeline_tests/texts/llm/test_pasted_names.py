"""Under whatever name a server answers: the setting that the message gives can be pasted, and works."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.toml_values import toml_value
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backend import AnotherModel
from codesum_pipeline.texts.llm.pins import SummaryResponse
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, MODEL, ask, request_for, settings_for
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ScriptedServer
from codesum_pipeline_tests.support.llm_server.own_servers import ABSENT, Unnamed

LETTERS = "ten thousand letters"
NAMES = {
    "another name": Answers(model="our-deployment"),
    "the path of another model's file": Answers(model="/models/Llama-3-8B-Q4_K_M.gguf"),
    "a backslash and quotation marks": Answers(model='C:\\models\\own "one".gguf'),
    "signs that steer": Answers(model="two\nlines\tand \x1b[31mred\x07 \x7f\u202e \ufeff"),
    "other letters": Answers(model="größer-模型-🙂"),
    "half a letter": Answers(model="half \ud800 a letter"),
    LETTERS: Answers(model="x" * 10_000),
    "a number": Unnamed(5),
    "an empty name": Unnamed(""),
    "blanks": Unnamed(" \n"),
    "null": Unnamed(None),
    "no name": Unnamed(ABSENT),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer() as running:
        yield running


def suggested(message: str, setting: str) -> dict[str, Any]:
    """What a message says to set, as TOML."""
    rest = message[message.index(f"{setting} = ") :]
    line = rest.partition("; ")[0] if setting == "llm.model" else rest
    return dict(tomllib.loads(line)["llm"])


@pytest.mark.parametrize("behaviour", NAMES.values(), ids=NAMES)
def test_a_name_is_taken_once_it_is_set_as_the_message_says(server: ScriptedServer, behaviour: Behaviour) -> None:
    server.script = lambda _request: behaviour
    (refused,) = ask(settings_for(server), request_for())
    assert isinstance(refused, AnotherModel)
    pasted = suggested(str(refused), "llm.echoed_names")

    (taken,) = ask(settings_for(server, **pasted), request_for())

    assert isinstance(taken, SummaryResponse)
    assert len(taken.model_name_echoed) <= 201
    assert [*pasted["echoed_names"].values()] == [MODEL]
    assert str(refused).isprintable()
    assert len(str(refused)) < 1000
    assert 'llm.model = "openai/"' not in str(refused)
    assert '""' not in str(refused)


@pytest.mark.parametrize("behaviour", NAMES.values(), ids=NAMES)
def test_in_compaction_no_setting_makes_another_name_the_pinned_one(
    server: ScriptedServer, behaviour: Behaviour
) -> None:
    server.script = lambda _request: behaviour
    (refused,) = ask(settings_for(server), request_for())
    pasted = suggested(str(refused), "llm.echoed_names")

    (error,) = ask(settings_for(server, **pasted), request_for(job_id="1"))

    assert isinstance(error, AnotherModel)
    assert "pin the name that answers" in str(error) or "ask a server that says which model answers" in str(error)
    assert "echoed_names" not in str(error)
    assert 'llm.model = "openai/"' not in str(error)


@pytest.mark.parametrize(
    "echoed",
    ["GPT-4O-MINI", "gpt-4o-mini:latest", "openai/gpt-4o-mini:free", "models/gpt-4o-mini", "C:\\m\\GPT-4o-mini.gguf"],
)
def test_another_spelling_is_taken_when_indexing_and_not_in_compaction(server: ScriptedServer, echoed: str) -> None:
    server.script = lambda _request: Answers(model=echoed)

    taken, refused = ask(settings_for(server), request_for(), request_for(job_id="1"))

    assert isinstance(taken, SummaryResponse)
    assert taken.model_name_echoed == echoed
    assert isinstance(refused, AnotherModel)


def test_names_that_were_taken_before_stay_in_the_suggested_setting(server: ScriptedServer) -> None:
    server.script = lambda _request: Answers(model="theirs")
    (refused,) = ask(settings_for(server, echoed_names={"ours": MODEL}), request_for())

    assert suggested(str(refused), "llm.echoed_names") == {"echoed_names": {"ours": MODEL, "theirs": MODEL}}


def test_one_name_can_be_that_of_several_models(server: ScriptedServer) -> None:
    server.script = lambda _request: Unnamed(None)
    both = (MODEL, "openai/slow")
    pasted: dict[str, Any] = {}

    for model in both:
        (refused,) = ask(settings_for(server, fallback_models=both[1:], **pasted), request_for(model_name=model))
        pasted = LlmSettings.model_validate(suggested(str(refused), "llm.echoed_names")).model_dump(
            include={"echoed_names"}
        )
    taken = ask(
        settings_for(server, fallback_models=both[1:], **pasted), *(request_for(model_name=model) for model in both)
    )

    assert pasted == {"echoed_names": {"(no name)": both}}
    assert [type(response) for response in taken] == [SummaryResponse, SummaryResponse]


def test_the_model_that_answers_can_be_taken_as_the_message_says(server: ScriptedServer) -> None:
    server.script = lambda _request: Answers(model="gpt-4o")
    (refused,) = ask(settings_for(server), request_for())

    pasted = suggested(str(refused), "llm.model")
    (taken,) = ask(settings_for(server, **pasted), request_for(model_name=pasted["model"]))

    assert pasted == {"model": "openai/gpt-4o"}
    assert isinstance(taken, SummaryResponse)


def test_where_a_fallback_was_answered_by_another_model_the_fallbacks_are_named(server: ScriptedServer) -> None:
    server.script = lambda _request: Answers(model="gpt-4o")
    llm = settings_for(server, model="openai/first", fallback_models=("openai/second", MODEL))
    (refused,) = ask(llm, request_for())

    assert suggested(str(refused).replace("; if it", "\nif it").partition("\n")[0], "llm.fallback_models") == {
        "fallback_models": ["openai/second", "openai/gpt-4o"]
    }


def test_an_allowlist_is_to_have_the_model_that_is_taken(server: ScriptedServer) -> None:
    server.script = lambda _request: Answers(model="gpt-4o")
    (refused,) = ask(settings_for(server, allowlist=(MODEL,)), request_for())

    assert 'set llm.model = "openai/gpt-4o", and add it to llm.allowlist; if it is the same one' in str(refused)


@pytest.mark.parametrize(
    "value", ["", 'a "b" \\ c', "\x00\x1f\x7f\x85\u2028\ufeff🙂", True, 2.5, ["a", "b"], {"a b": {"": 1}}]
)
def test_values_are_written_as_toml_reads_them(value: object) -> None:
    line = f"value = {toml_value(value)}"

    assert tomllib.loads(line) == {"value": value}
    assert line.isprintable()


def test_the_settings_take_what_is_suggested_for_no_name() -> None:
    assert LlmSettings(echoed_names={"(no name)": MODEL}).echoed_names == {"(no name)": MODEL}
