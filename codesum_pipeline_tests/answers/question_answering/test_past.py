"""Questions of before, for those who only read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codesum_pipeline.answers.question_answering.past_questions import PastTurns
from codesum_pipeline.answers.question_answering.question_store import (
    AskStore,
    MessagePart,
    PartKind,
    Speaker,
    Status,
    open_store,
)
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.texts.llm.ledger import AttemptResult, CallAttempt, open_ledger

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[AskStore]:
    with open_store(home, now=lambda: NOON) as found:
        yield found


def ask(store: AskStore, question: str, *repos: str, minute: int = 0) -> str:
    store.now = lambda: NOON + timedelta(minutes=minute)
    return store.begin_turn(store.begin_conversation(repos or ("zoo",)), question, model="m")


def test_the_newest_come_first_and_older_ones_are_reached_by_the_last_moment(home, store):
    for number in range(5):
        store.end_turn(ask(store, f"{number}?", minute=number), answer="yes")
    past = PastTurns(home)
    first = past.newest(NOON, limit=3)

    assert [turn.question for turn in first] == ["4?", "3?", "2?"]
    assert [turn.question for turn in past.newest(NOON, before=first[-1].started_at, limit=3)] == ["1?", "0?"]


def test_each_has_its_end_its_answer_and_what_it_cost(home, store):
    answered, capped, dead = ask(store, "a?"), ask(store, "b?"), ask(store, "c?")
    store.end_turn(answered, answer="yes")
    store.end_turn(capped, answer="hits", failed="cost-cap")
    alive = ask(store, "d?", minute=10)
    with open_ledger(store.path, run_id=answered, now=lambda: NOON) as ledger:
        for cost in (0.25, None):
            number = ledger.reserve(CallAttempt(answered, "ask", "hash", "m", 1, 2.0))
            ledger.settle(number, AttemptResult(AttemptOutcome.GOOD, cost, 0.1))
    turns = {turn.id: turn for turn in PastTurns(home).newest(NOON + timedelta(minutes=12), limit=9)}

    assert {id_: (turn.status, turn.reason, turn.answer, turn.usd) for id_, turn in turns.items()} == {
        answered: (Status.COMPLETE, None, "yes", 2.25),
        capped: (Status.FAILED, "cost-cap", "hits", 0.0),
        dead: (Status.FAILED, "abandoned", None, 0.0),
        alive: (Status.STREAMING, None, None, 0.0),
    }


def test_where_some_repositories_are_served_questions_about_others_are_not_told(home, store):
    for repos in (("zoo",), ("evil",), ("zoo", "evil")):
        ask(store, "?".join(repos), *repos, minute=len(repos))
    hidden = PastTurns(home).newest(NOON, limit=9)[0]
    past = PastTurns(home, {"zoo", "shop"})

    assert [turn.repositories for turn in past.newest(NOON, limit=9)] == [("zoo",)]
    assert past.one(NOON, hidden.id) is None


def test_the_steps_of_a_turn_are_its_calls_results_and_synthesis_in_order(home, store):
    turn = ask(store, "a?")
    parts = [
        MessagePart(PartKind.STEP_START, {"step": 1}),
        MessagePart(PartKind.TOOL_CALL, {"name": "search", "arguments": "{}"}),
        MessagePart(PartKind.TEXT, "x"),
    ]
    store.add_message(turn, Speaker.ASSISTANT, parts)
    store.add_message(turn, Speaker.TOOL, [MessagePart(PartKind.TOOL_RESULT, {"name": "search", "text": "found"})])
    ask(store, "b?")

    assert [(step.kind, step.content["name"]) for step in PastTurns(home).steps(turn)] == [
        (PartKind.TOOL_CALL, "search"),
        (PartKind.TOOL_RESULT, "search"),
    ]


def test_where_nothing_was_asked_nothing_is_made(tmp_path):
    past = PastTurns(tmp_path)

    assert (past.newest(NOON, limit=9), past.one(NOON, "x"), past.steps("x")) == ([], None, [])
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_named_by_who_reads_and_who_writes(tmp_path):
    (tmp_path / "ask.sqlite").write_bytes(b"no database" * 1000)

    with pytest.raises(BrokenStore, match="ask.sqlite cannot be read"):
        PastTurns(tmp_path).newest(NOON, limit=9)
    with pytest.raises(BrokenStore, match="ask.sqlite is damaged"), open_store(tmp_path, now=lambda: NOON):
        pass


def test_whoever_asks_with_a_token_sees_what_was_asked_with_it(tmp_path: Path) -> None:
    with open_store(tmp_path, now=lambda: NOON) as store:
        own = store.begin_turn(store.begin_conversation(["zoo"], asker="keeper"), "Mine?", model="m")
        store.begin_turn(store.begin_conversation(["zoo"], asker="seller"), "Another's?", model="m")
        talk = store.begin_conversation(["zoo"])
        store.begin_turn(talk, "Nobody's?", model="m")
        continued = store.repositories_of(talk), store.repositories_of(talk, asker="keeper")

    assert [turn.id for turn in PastTurns(tmp_path, ["zoo"], "keeper").newest(NOON, limit=9)] == [own]
    assert PastTurns(tmp_path, [], "keeper").newest(NOON, limit=9) == []
    assert len(PastTurns(tmp_path).newest(NOON, limit=9)) == 3
    assert continued == (["zoo"], None)
