"""Many documents: in order, within the caps, each paid once, whatever goes wrong."""

import asyncio
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate, TextContext
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CallFailure,
    CannotWrite,
    ConfigurationError,
    ModelNotInAllowlist,
    SummaryCallFailed,
)
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.texts.llm.backend import RefusedAnswer
from codesum_pipeline.texts.llm.checking import read_answer
from codesum_pipeline.texts.llm.ledger import Caps, Ledger, open_ledger
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.writing_run import GAVE_UP, TaskOutcome, write_all
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.support.small_disk import files_of_at_most
from codesum_pipeline_tests.texts.llm.making import (
    CALL_USD,
    CONTEXT,
    MODEL,
    SETTINGS,
    WORST_USD,
    FakeBackend,
    cache_in,
    function_answer,
    noon,
    price_of,
    respond_well,
    responding,
    task,
)

NO_CAP = Caps(documents_left=1_000, usd_left=None)
BAD = function_answer(purpose="Too short.")


class Home:
    """A ledger and a cache, and runs over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = 0
        self.cache = cache_in(folder)
        self.backend = FakeBackend()

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        with open_ledger(self.folder / "shop.sqlite", run_id=f"run {self.runs}", now=noon) as ledger:
            yield ledger

    def write(
        self, *tasks: Any, respond: Callable[..., SummaryResponse] = respond_well, **changed: Any
    ) -> list[TaskOutcome]:
        """One run; what it asked is in `backend`."""
        self.runs += 1
        self.backend = FakeBackend(respond)
        arguments = {"caps": NO_CAP, "price_of": price_of, "settings": SETTINGS, "cache": self.cache, **changed}
        with self.ledger() as ledger:
            return write_all(tasks, new_backend=self._make, ledger=ledger, **arguments)

    def _make(self) -> FakeBackend:
        self.backend.was_made = True
        return self.backend

    def rows(self) -> list[tuple[str, int, AttemptOutcome, float]]:
        """Every attempt: document, number, outcome, dollars."""
        with self.ledger() as ledger:
            return [(each.id, each.attempt, each.outcome, each.cost_usd) for each in ledger.rows()]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


TEXT = read_answer(responding(function_answer()), AnswerForm.TOOL, task().bounds)


def written(number: int, **changed: Any) -> TaskOutcome:
    values = {"model": MODEL, "cost_usd": CALL_USD, "calls": 1, "written_with": CONTEXT}
    return TaskOutcome(f"a.py::f{number}", TEXT, **{**values, **changed})


def found(number: int) -> TaskOutcome:
    return written(number, cost_usd=0.0, calls=0, from_cache=True)


def twin(number: int) -> TaskOutcome:
    """The text of the same body elsewhere."""
    return replace(found(number), is_same_body=True)


def stopped(number: int, gate: Gate, failure: str | None = None, **changed: Any) -> TaskOutcome:
    return TaskOutcome(f"a.py::f{number}", None, gate=gate, failure=failure, **changed)


def failing(failure: CallFailure, **changed: Any) -> Callable[..., SummaryResponse]:
    def respond(_request: SummaryRequest, _number: int) -> SummaryResponse:
        raise SummaryCallFailed("as scripted", failure=failure, **changed)

    return respond


def test_documents_are_asked_for_in_their_order_and_the_books_say_so(home: Home) -> None:
    outcomes = home.write(task(1), task(2))

    assert outcomes == [written(1), written(2)]
    assert home.backend.prompts == ["Write about f1.", "Write about f2."]
    assert home.backend.is_closed
    assert home.rows() == [
        ("a.py::f1", 1, AttemptOutcome.GOOD, CALL_USD),
        ("a.py::f2", 1, AttemptOutcome.GOOD, CALL_USD),
    ]


def test_what_was_paid_is_not_paid_again(home: Home) -> None:
    home.write(task(1), task(2))

    assert home.write(task(1), task(2), task(3)) == [found(1), found(2), written(3)]
    assert home.backend.prompts == ["Write about f3."]


def test_a_moved_function_costs_no_call(home: Home) -> None:
    home.write(task(1))

    assert home.write(task(2, body_key="body-1")) == [twin(2)]
    assert home.backend.requests == []


def test_the_same_body_twice_in_a_run_is_asked_for_once(home: Home) -> None:
    outcomes = home.write(task(1), task(2, body_key="body-1"), task(3), settings=changed(SETTINGS, concurrency=3))

    assert outcomes == [written(1), twin(2), written(3)]
    assert len(home.backend.requests) == 2


def test_a_text_that_was_written_with_a_context_too_different_is_written_again(home: Home) -> None:
    other = TextContext((), (), (), ())
    home.write(task(1))

    def accepts(wanted: Any, kept: Any) -> bool:
        return wanted.context == kept.context

    again = home.write(task(1, context=other), task(2, context=other, body_key="body-1"), accepts=accepts)

    assert again == [written(1, written_with=other), replace(twin(2), written_with=other)]


def test_the_cap_in_documents_keeps_the_most_important(home: Home) -> None:
    home.write(task(4))

    outcomes = home.write(task(1), task(4), task(2), task(3), caps=Caps(documents_left=2, usd_left=None))

    assert outcomes == [written(1), found(4), written(2), stopped(3, Gate.CAP)]


def test_a_cap_of_none_asks_nothing_and_finds_what_is_there(home: Home) -> None:
    home.write(task(1))

    assert home.write(task(1), task(2), caps=Caps(0, None)) == [found(1), stopped(2, Gate.CAP)]
    assert home.backend.requests == []


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_the_run_stops_before_the_attempt_that_would_pass_the_cap(home: Home, concurrency: int) -> None:
    # Three calls cost 0.09; a fourth could have cost 0.3048 more.
    cap = 3 * CALL_USD + WORST_USD - 0.01
    tasks = [task(number) for number in range(1, 9)]

    outcomes = home.write(*tasks, caps=Caps(100, cap), settings=changed(SETTINGS, concurrency=concurrency))

    assert outcomes == [*map(written, (1, 2, 3)), *(stopped(number, Gate.CAP) for number in range(4, 9))]
    assert sum(cost for *_, cost in home.rows()) <= cap


def test_a_call_that_does_not_fit_is_skipped_for_a_cheaper_one_and_takes_no_place_of_the_count(home: Home) -> None:
    dear = replace(task(2), prompt_tokens_upper=10 * task(2).prompt_tokens_upper)

    outcomes = home.write(task(1), dear, task(3), caps=Caps(2, 2 * CALL_USD + WORST_USD))

    assert outcomes == [written(1), stopped(2, Gate.CAP), written(3)]


def test_what_a_cap_left_over_is_written_by_the_next_run(home: Home) -> None:
    tasks = [task(number) for number in range(1, 4)]
    home.write(*tasks, caps=Caps(2, None))

    assert home.write(*tasks, caps=Caps(2, None)) == [found(1), found(2), written(3)]


def test_a_model_without_a_price_is_refused_before_anything_is_asked(home: Home) -> None:
    def unknown(model: str) -> Any:
        raise ConfigurationError(f"llm.model {model!r}: its price is not known")

    with pytest.raises(ConfigurationError):
        home.write(task(1), price_of=unknown)

    assert (home.backend.requests, home.backend.is_closed) == ([], True)


def test_a_bad_answer_goes_back_with_what_is_wrong_and_the_next_is_taken(home: Home) -> None:
    def respond(_request: SummaryRequest, number: int) -> SummaryResponse:
        return responding(BAD if number == 1 else "Sorry!" if number == 2 else function_answer())

    outcomes = home.write(task(1), respond=respond)

    assert outcomes == [written(1, cost_usd=3 * CALL_USD, calls=3)]
    last = home.backend.requests[-1].sources
    assert last[0::2][:-1] == ("Write about f1.", home.backend.requests[1].sources[2])
    assert last[1] == json.dumps(BAD)
    assert "purpose: String should have at least 30 characters" in last[2]
    assert last[3] == "Sorry!"
    assert "Call the tool emit_symbol_summary" in last[4]
    assert [row[1:3] for row in home.rows()] == [
        (1, AttemptOutcome.INVALID), (2, AttemptOutcome.INVALID), (3, AttemptOutcome.GOOD)
    ]  # fmt: skip


def test_answers_that_are_never_right_fail_and_are_not_paid_for_again(home: Home) -> None:
    first = home.write(task(1), task(2), respond=lambda request, _number: responding(BAD))
    second = home.write(task(1), respond=lambda request, _number: responding(BAD))

    assert first == [stopped(n, Gate.FAILED, "unusable-answer", cost_usd=3 * CALL_USD, calls=3) for n in (1, 2)]
    assert second == [stopped(1, Gate.FAILED, "unusable-answer")]
    assert home.backend.requests == []


def test_a_recording_gets_every_answer_of_a_conversation(home: Home) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        return responding(BAD) if len(request.sources) == 1 else respond_well(request, number)

    home.write(task(1), respond=respond, settings=changed(SETTINGS, max_attempts=1))
    home.write(task(1), respond=respond, settings=changed(SETTINGS, backend=BackendName.RECORD))

    assert [len(request.sources) for request in home.backend.requests] == [1, 3]


def test_what_is_known_to_fail_takes_nobodys_place(home: Home) -> None:
    home.write(task(1), respond=lambda request, _number: responding(BAD))

    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        return responding(BAD) if request.sources[0] == "Write about f1." else respond_well(request, number)

    outcomes = home.write(task(1), task(2), task(3), respond=respond, caps=Caps(1, None))

    assert outcomes == [stopped(1, Gate.FAILED, "unusable-answer"), written(2), stopped(3, Gate.CAP)]


def test_a_failed_body_is_not_asked_for_under_another_name(home: Home) -> None:
    same = task(2, body_key="body-1", prompt="Write about f1.")

    outcomes = home.write(task(1), same, respond=lambda request, _number: responding(BAD))

    assert outcomes[1] == stopped(2, Gate.FAILED, "unusable-answer")
    assert len(home.backend.requests) == SETTINGS.max_attempts


def test_an_answer_by_another_model_is_paid_for_and_not_taken(home: Home) -> None:
    def respond(_request: SummaryRequest, _number: int) -> SummaryResponse:
        raise RefusedAnswer("another model answered", responding(function_answer(), model_name_echoed="other"))

    outcomes = home.write(task(1), respond=respond)

    assert outcomes == [stopped(1, Gate.FAILED, "refused-answer", cost_usd=CALL_USD, calls=1)]
    assert home.write(task(1)) == [written(1)]


def test_a_passing_failure_is_tried_again_each_time_with_a_row_of_its_own(home: Home) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        if number < 3:
            raise SummaryCallFailed("slow down", failure=CallFailure.RATE_LIMIT, retry_after_s=0.0)
        return respond_well(request, number)

    outcomes = home.write(task(1), respond=respond, settings=changed(SETTINGS, max_retries=4))

    assert outcomes == [written(1, calls=3)]
    assert home.rows() == [
        ("a.py::f1", 1, AttemptOutcome.FAILED, 0.0),
        ("a.py::f1", 2, AttemptOutcome.FAILED, 0.0),
        ("a.py::f1", 3, AttemptOutcome.GOOD, CALL_USD),
    ]


def test_a_call_that_may_have_been_answered_counts_with_the_most_that_it_can_cost(home: Home) -> None:
    outcomes = home.write(task(1), respond=failing(CallFailure.TIMEOUT))

    assert outcomes == [stopped(1, Gate.FAILED, "timeout", cost_usd=pytest.approx(WORST_USD), calls=1)]


def test_what_was_not_sent_is_no_call(home: Home) -> None:
    def respond(_request: SummaryRequest, _number: int) -> SummaryResponse:
        raise ModelNotInAllowlist("writer-1 is not in llm.allowlist")

    assert home.write(task(1), respond=respond) == [stopped(1, Gate.FAILED, "model-not-allowed")]
    assert home.rows() == [("a.py::f1", 1, AttemptOutcome.NOT_SENT, 0.0)]


def test_where_calls_of_a_model_fail_the_next_one_is_asked_with_its_own_pins(home: Home) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        if request.model_name == MODEL:
            raise SummaryCallFailed("down", failure=CallFailure.SERVER)
        return respond_well(request, number)

    outcomes = home.write(task(1), respond=respond, settings=changed(SETTINGS, fallback_models=("openai/second",)))

    assert outcomes == [written(1, model="openai/second", calls=2)]
    assert [request.model_name for request in home.backend.requests] == [MODEL, "openai/second"]
    assert home.write(task(1)) == [replace(found(1), model="openai/second")]


def test_missing_credentials_stop_the_run_without_a_call(home: Home) -> None:
    respond = failing(CallFailure.CREDENTIALS, was_sent=False)

    outcomes = home.write(
        task(1), task(2), respond=respond, settings=changed(SETTINGS, fallback_models=("openai/second",))
    )

    assert outcomes == [stopped(n, Gate.NO_CREDENTIALS, "credentials") for n in (1, 2)]
    assert len(home.backend.requests) == 1


def test_credentials_that_are_lost_in_mid_run_leave_what_was_written(home: Home) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        return (respond_well if number < 3 else failing(CallFailure.CREDENTIALS))(request, number)

    outcomes = home.write(*map(task, range(1, 6)), respond=respond)

    assert outcomes == [
        written(1),
        written(2),
        stopped(3, Gate.NO_CREDENTIALS, "credentials", calls=1),
        stopped(4, Gate.NO_CREDENTIALS, "credentials"),
        stopped(5, Gate.NO_CREDENTIALS, "credentials"),
    ]
    assert home.write(*map(task, range(1, 4))) == [found(1), found(2), written(3)]


def test_an_outage_ends_the_run_before_every_document_has_waited_for_it(home: Home) -> None:
    most = SETTINGS.give_up_after
    tasks = [task(number) for number in range(1, most + 3)]

    outcomes = home.write(*tasks, respond=failing(CallFailure.SERVER))

    assert len(home.backend.requests) == most
    assert outcomes[most - 1 :] == [
        stopped(most, Gate.FAILED, "server", calls=1),
        stopped(most + 1, Gate.FAILED, GAVE_UP),
        stopped(most + 2, Gate.FAILED, GAVE_UP),
    ]


def test_failures_here_and_there_do_not_end_the_run(home: Home) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        return (failing(CallFailure.REFUSED) if number % 2 else respond_well)(request, number)

    outcomes = home.write(*map(task, range(1, 41)), respond=respond)

    assert [bool(outcome.text) for outcome in outcomes] == [False, True] * 20


@pytest.mark.parametrize("name", [BackendName.REPLAY, BackendName.NOOP])
def test_what_asks_nobody_needs_no_cap_no_price_and_no_books(home: Home, name: BackendName) -> None:
    def respond(request: SummaryRequest, number: int) -> SummaryResponse:
        if request.sources[0] == "Write about f2.":
            raise BackendNotConfigured("no answer to this request")
        return respond_well(request, number)

    def no_price(model: str) -> Any:
        raise ConfigurationError(f"llm.model {model!r}: its price is not known")

    outcomes = home.write(
        task(1), task(2), task(3, body_key="body-1"), respond=respond, caps=Caps(0, 0.0), price_of=no_price,
        settings=changed(SETTINGS, backend=name),
    )  # fmt: skip

    assert outcomes == [found(1), stopped(2, Gate.FAILED, "no-backend"), found(3)]
    assert home.rows() == []


class Hanging(FakeBackend):
    """Answers the first request and never the second, during which `interrupt` happens."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        super().__init__()
        self._interrupt = interrupt

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        answer = await super().summarize(request)
        if len(self.requests) == 2:
            asyncio.get_running_loop().call_soon(self._interrupt)
            await asyncio.sleep(60)
        return answer


def must_settle_and_go_on(home: Home) -> None:
    """The one call that was under way is closed and counted, and the next run pays for nothing twice."""
    assert [row[2] for row in home.rows()] == [AttemptOutcome.GOOD, AttemptOutcome.INTERRUPTED]
    assert home.rows()[1][3] == pytest.approx(WORST_USD)
    assert home.write(task(1), task(2)) == [found(1), written(2)]


def test_an_interrupt_leaves_no_attempt_open_and_loses_nothing(home: Home) -> None:
    backend = Hanging(lambda: signal.raise_signal(signal.SIGINT))

    with home.ledger() as ledger, pytest.raises(KeyboardInterrupt):
        write_all(
            [task(1), task(2), task(3)], new_backend=lambda: backend, ledger=ledger, cache=home.cache, caps=NO_CAP,
            price_of=price_of, settings=SETTINGS,
        )  # fmt: skip

    assert backend.is_closed
    must_settle_and_go_on(home)


def test_a_full_disk_ends_the_run_and_loses_no_more_than_what_was_in_flight(home: Home) -> None:
    tasks = [task(number) for number in range(1, 61)]

    with files_of_at_most(300_000), pytest.raises(CannotWrite):
        home.write(*tasks, settings=changed(SETTINGS, concurrency=4))
    before = len(home.backend.requests)
    outcomes = home.write(*tasks)

    assert 0 < before < 60
    assert all(outcome.text for outcome in outcomes)
    assert len(home.backend.requests) + before <= 60 + 4


def test_paid_texts_outlive_a_cache_that_cannot_be_written(home: Home) -> None:
    class Full:
        def find_many(self, _keys: Any) -> dict[str, Any]:
            return {}

        def put_many(self, _texts: Any) -> None:
            raise CannotWrite("the cache cannot be written: no space left on device")

    with pytest.raises(CannotWrite):
        home.write(task(1), cache=Full())

    assert home.write(task(1)) == [found(1)]
    assert home.backend.requests == []


def test_where_nothing_is_to_be_asked_no_backend_is_made(home: Home) -> None:
    home.write(task(1))

    assert home.backend.was_made
    assert (home.write(), home.backend.was_made) == ([], False)
    assert (home.write(task(1)), home.backend.was_made) == ([found(1)], False)
    assert (home.write(task(2), caps=Caps(0, None)), home.backend.was_made) == ([stopped(2, Gate.CAP)], False)
