"""Each way in which a provider behaves: how many calls it gets, and what the books and the message say."""

import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.ledger import Caps, open_ledger
from codesum_pipeline.texts.llm.pins import TokenUsage
from codesum_pipeline.texts.llm.prices import compute_cost_usd, price_of, tokens_upper
from codesum_pipeline.texts.llm.writing_run import TaskOutcome, write_all
from codesum_pipeline_tests.support.llm_requests import (
    KEY,
    KEY_VARIABLE,
    SHOWN,
    SOURCE,
    prompt_for,
    settings_for,
    templates,
)
from codesum_pipeline_tests.support.llm_server import (
    Answers,
    Behaviour,
    Counts,
    Fails,
    Hangs,
    ModelRequest,
    Says,
    ScriptedServer,
)
from codesum_pipeline_tests.support.llm_server.odd_providers import CASES, COUNTED, FREE, WORST, Case, answers_only
from codesum_pipeline_tests.texts.llm.making import cache_in, noon, task

_NO_CAP = Caps(documents_left=1_000, usd_left=None)
_ONCE = {"max_retries": 0, "concurrency": 1, "timeout_s": 20.0}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def run(
    folder: Path, settings: LlmSettings, count: int, *, caps: Caps = _NO_CAP, run_id: str = "run"
) -> tuple[list[TaskOutcome], list[LedgerRow]]:
    """A run of the real backend over so many documents: their outcomes, and all attempts of the books."""
    tasks = []
    for number in range(1, count + 1):
        prompt = prompt_for(Level.FUNCTION, SOURCE.replace("total", f"total{number}"))
        template = templates()[Level.FUNCTION]
        upper = tokens_upper(template.system, answer_tool(Level.FUNCTION).schema_bytes.decode(), prompt)
        tasks.append(
            task(number, template_blake3=template.digest, prompt=prompt, bounds=SHOWN, prompt_tokens_upper=upper)
        )
    with open_ledger(folder / "shop.sqlite", run_id=run_id, now=noon) as ledger:
        outcomes = write_all(
            tasks, new_backend=lambda: LiteLlmBackend(settings, templates()), ledger=ledger, cache=cache_in(folder),
            caps=caps, price_of=lambda model: price_of(model, settings), settings=settings,
        )  # fmt: skip
        return outcomes, ledger.rows()


def price_in_books(row: LedgerRow, settings: LlmSettings) -> str:
    """Whether an attempt is booked at what was counted, at the most it can cost, or at nothing."""
    if row.is_estimated:
        assert row.cost_usd == row.reserved_usd > 0
        return WORST
    if row.prompt_tokens:
        usage = TokenUsage(row.prompt_tokens, row.completion_tokens, row.cached_tokens)
        assert row.cost_usd == pytest.approx(compute_cost_usd(price_of(row.model, settings), usage))
        return COUNTED
    assert row.cost_usd == 0
    return FREE


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_provider_gets_no_pointless_call_and_each_one_is_in_the_books(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, case: Case
) -> None:
    with ScriptedServer(lambda _request: case.behaviour) as server, caplog.at_level(logging.INFO):
        seconds = 1.0 if case.failure == "timeout" else 20.0
        settings = settings_for(server, **{**_ONCE, "timeout_s": seconds})
        (outcome,), rows = run(tmp_path, settings, 1)

    found = {(row.outcome, row.failure, price_in_books(row, settings)) for row in rows}
    assert found == {(case.outcome, case.failure, case.price)}
    assert len(rows) == len(server.seen) == case.calls
    assert bool(outcome.text) is (case.failure is None)
    assert case.says in caplog.text
    assert case.failure in (None, "unusable-answer") or "answer was empty" not in caplog.text


@pytest.mark.parametrize("name", ["cut", "a filter", "a refusal"])
def test_a_request_that_would_end_alike_is_not_sent_again_by_the_next_run(tmp_path: Path, name: str) -> None:
    with ScriptedServer(lambda _request: CASES[name].behaviour) as server:
        settings = settings_for(server, **_ONCE)
        run(tmp_path, settings, 1)
        (outcome,), _ = run(tmp_path, settings, 1, run_id="later")
        assert (outcome.failure, len(server.seen)) == (CASES[name].failure, 1)

        server.script = lambda _request: Answers()
        (outcome,), _ = run(tmp_path, settings_for(server, **_ONCE, max_tokens=3000), 1, run_id="raised")
        assert outcome.text


def test_a_cap_holds_for_a_server_that_counts_no_tokens(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedServer(lambda _request: CASES["no usage"].behaviour) as server:
        settings = settings_for(server, **_ONCE)
        _, (first,) = run(tmp_path / "one", settings, 1)
        caps = Caps(1_000, 2.5 * first.reserved_usd)
        outcomes, rows = run(tmp_path / "many", settings, 12, caps=caps)

    assert len(server.seen) == 1 + 2
    assert sum(row.cost_usd for row in rows) <= 2.5 * first.reserved_usd
    assert sum(bool(outcome.text) for outcome in outcomes) == 2
    assert caplog.text.count("does not say how many tokens it counted") == 2


def test_a_server_that_bills_more_than_a_request_allows_passes_a_cap_once_and_not_with_each_call(
    tmp_path: Path,
) -> None:
    with ScriptedServer(lambda _request: Answers()) as server:
        _, (first,) = run(tmp_path / "one", settings_for(server, **_ONCE), 1)
    dear = Counts({"prompt_tokens": 6_000, "completion_tokens": 20_000, "total_tokens": 26_000})
    cap = 6 * first.reserved_usd
    with ScriptedServer(lambda _request: dear) as server:
        settings = settings_for(server, **{**_ONCE, "concurrency": 8})
        _, rows = run(tmp_path / "many", settings, 12, caps=Caps(1_000, cap))

    (cost,) = {row.cost_usd for row in rows}
    assert cost > 2 * first.reserved_usd
    assert cost * len(rows) <= max(cap, cost)


def test_what_is_sent_past_the_watch_is_booked_as_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment may have LiteLLM send through a client that says nothing of what leaves."""
    monkeypatch.setenv("DISABLE_AIOHTTP_TRANSPORT", "True")
    with ScriptedServer(lambda _request: Hangs()) as server:
        _, (row,) = run(tmp_path, settings_for(server, **_ONCE | {"timeout_s": 1.0}), 1)
        assert len(server.seen) == 1

    assert (row.outcome, row.failure) == (AttemptOutcome.FAILED, "timeout")
    assert row.cost_usd == row.reserved_usd > 0


def test_of_a_call_that_could_not_be_sent_in_time_nothing_is_booked(tmp_path: Path) -> None:
    """As while LiteLLM is imported on a slow disk."""
    with ScriptedServer() as server:
        settings = settings_for(server, **{**_ONCE, "timeout_s": 0.000001})
        _, rows = run(tmp_path, settings, 1)

    assert server.seen == []
    assert [(row.outcome.value, row.cost_usd) for row in rows] == [("not-sent", 0.0)]


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("most", [1, 3, 5])
def test_after_so_many_documents_without_a_text_no_call_is_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, most: int, concurrency: int
) -> None:
    with ScriptedServer(lambda _request: Answers("{}")) as server:
        settings = settings_for(server, **{**_ONCE, "concurrency": concurrency}, give_up_after=most)
        outcomes, _ = run(tmp_path, settings, 21)

    assert len(server.seen) == most * settings.max_attempts
    assert [outcome.failure for outcome in outcomes].count("gave-up") == 21 - most
    assert f"no more calls: {most} documents in a row (llm.give_up_after) got no text" in caplog.text
    assert "Set llm.model to another model, or llm.form to another form of answers." in caplog.text


def test_a_text_in_between_counts_the_documents_anew(tmp_path: Path) -> None:
    def every_third(request: ModelRequest) -> Behaviour:
        return Answers() if "total3(" in request.prompt or "total6(" in request.prompt else Fails(400)

    with ScriptedServer(every_third) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE, give_up_after=3), 9)

    assert [bool(outcome.text) for outcome in outcomes] == [number in (3, 6) for number in range(1, 10)]
    assert len(server.seen) == 9


def test_documents_whose_server_cannot_be_reached_count_for_the_next_level_of_a_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        base = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    with ScriptedServer() as server:
        _, rows = run(tmp_path, settings_for(server, **_ONCE, give_up_after=3, api_base=base), 9)

    assert [(row.outcome.value, row.failure) for row in rows] == [("not-sent", "connection")] * 3
    with open_ledger(tmp_path / "shop.sqlite", run_id="run", now=noon) as ledger:
        assert ledger.failed_in_a_row() == 3


_REFUSES_TOOLS = Fails(500, "tools param requires --jinja flag")
_REFUSES_NAMES = Fails(400, "Invalid tool_choice type: 'object'. Supported string values: none, auto, required")


@pytest.mark.parametrize(
    ("server_forms", "refuses", "expected"),
    [
        pytest.param(("named", "required"), None, ["named"] * 3, id="follows a name"),
        pytest.param(("required",), None, ["named", *["required"] * 3], id="ignores a name"),
        pytest.param(("required",), _REFUSES_NAMES, ["named", *["required"] * 3], id="refuses a name"),
        pytest.param(("json_schema",), None, ["named", "required", *["json_schema"] * 3], id="ignores tools"),
        pytest.param(("json_schema",), _REFUSES_TOOLS, ["named", "required", *["json_schema"] * 3], id="refuses tools"),
        pytest.param(("text",), None, ["named", "required", "json_schema", *["text"] * 3], id="knows no form"),
        pytest.param(("text",), _REFUSES_TOOLS, ["named", "required", "json_schema", *["text"] * 3], id="refuses all"),
    ],
)
@pytest.mark.parametrize("form", ["auto", "tool"])
def test_a_form_that_a_server_does_not_follow_is_left_once(
    tmp_path: Path, form: str, server_forms: tuple[str, ...], refuses: Behaviour | None, expected: list[str]
) -> None:
    with ScriptedServer(answers_only(*server_forms, refuses=refuses)) as server:
        outcomes, rows = run(tmp_path, settings_for(server, **_ONCE, form=form), 3)

    assert [request.form for request in server.seen] == expected
    assert all(outcome.text for outcome in outcomes)
    assert len(rows) == len(expected)


def test_many_calls_at_once_begin_when_the_form_is_known(tmp_path: Path) -> None:
    with ScriptedServer(answers_only("json_schema")) as server:
        outcomes, _ = run(tmp_path, settings_for(server, max_retries=0, concurrency=8), 20)

    assert [request.form for request in server.seen] == ["named", "required", *["json_schema"] * 20]
    assert all(outcome.text for outcome in outcomes)


def test_where_a_form_was_followed_words_are_the_fault_of_their_answer(tmp_path: Path) -> None:
    def words_about_the_second(request: ModelRequest) -> Behaviour:
        return Says("I would rather not.") if "total2(" in request.prompt else Answers()

    with ScriptedServer(words_about_the_second) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE), 3)

    assert [request.form for request in server.seen] == ["named"] * 5
    assert [bool(outcome.text) for outcome in outcomes] == [True, False, True]


def test_a_server_that_refuses_every_form_ends_the_run_at_the_first_document(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedServer(lambda _request: _REFUSES_TOOLS) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE), 9)

    assert [request.form for request in server.seen] == ["named", "required", "json_schema", "text"]
    assert {outcome.failure for outcome in outcomes} == {"form-refused"}
    assert "no more calls" in caplog.text


@pytest.mark.parametrize(
    ("header", "is_too_long"),
    [("30", True), ("0.05", False), ("Fri, 01 Jan 2100 00:00:00 GMT", True), ("Wed, 21 Oct 2015 07:28:00 GMT", False)],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_provider_is_waited_for_up_to_a_bound_beyond_which_the_run_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int, header: str, is_too_long: bool
) -> None:
    def busy_at_first(request: ModelRequest) -> Behaviour:
        return Fails(status, headers={"Retry-After": header}) if request.number == 1 else Answers()

    changes: dict[str, Any] = {**_ONCE, "max_retries": 1, "longest_wait_s": 5.0}
    with ScriptedServer(busy_at_first) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **changes), 3)

    assert len(server.seen) == (1 if is_too_long else 4)
    assert [bool(outcome.text) for outcome in outcomes] == [not is_too_long] * 3
    assert ("longer than llm.longest_wait_s: the next run goes on" in caplog.text) is is_too_long


def test_where_the_first_model_wants_a_long_wait_the_next_one_writes_and_the_first_is_not_tried_again(
    tmp_path: Path,
) -> None:
    def busy(request: ModelRequest) -> Behaviour:
        return Fails(429, headers={"Retry-After": "3600"}) if request.model == "gpt-4o-mini" else Answers()

    with ScriptedServer(busy) as server:
        settings = settings_for(server, **_ONCE, fallback_models=("openai/gpt-4o",), longest_wait_s=5.0)
        outcomes, _ = run(tmp_path, settings, 3)

    assert [request.model for request in server.seen] == ["gpt-4o-mini", *["gpt-4o"] * 3]
    assert all(outcome.text for outcome in outcomes)


def test_words_of_a_prompt_that_a_refusal_repeats_do_not_end_the_run(tmp_path: Path) -> None:
    repeated = "The request is not valid: " + "x" * 700 + " insufficient_quota, the tool is out of credits"
    with ScriptedServer(lambda _request: Fails(400, repeated)) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE), 3)

    assert [outcome.failure for outcome in outcomes] == ["refused"] * 3


@pytest.mark.parametrize("name", ["403 by moderation", "403 of a firewall", "400"])
def test_a_refusal_of_one_document_does_not_end_the_run(tmp_path: Path, name: str) -> None:
    def one_is_refused(request: ModelRequest) -> Behaviour:
        return CASES[name].behaviour if "total1(" in request.prompt else Answers()

    with ScriptedServer(one_is_refused) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE), 4)

    assert [bool(outcome.text) for outcome in outcomes] == [False, True, True, True]


@pytest.mark.parametrize("name", ["401", "403 of who may not", "a quota that is used up"])
def test_who_may_not_call_at_all_calls_once(tmp_path: Path, name: str) -> None:
    with ScriptedServer(lambda _request: CASES[name].behaviour) as server:
        outcomes, _ = run(tmp_path, settings_for(server, **_ONCE), 4)

    assert len(server.seen) == 1
    assert {outcome.failure for outcome in outcomes} == {"credentials"}
