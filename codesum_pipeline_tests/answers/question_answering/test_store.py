"""The store: constrained kinds, a migration that can be repeated, two processes at once, and a sweep."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codesum_pipeline.answers.question_answering.question_store import (
    STORE_FILE,
    AskStore,
    MessagePart,
    PartKind,
    Speaker,
    open_store,
)
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.texts.llm.ledger import CallAttempt, open_ledger
from codesum_pipeline_tests.support.commands import environment

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

# As a file was made before there was a synthesis.
EARLIER = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, repositories TEXT NOT NULL, started_at TEXT NOT NULL);
CREATE TABLE turns (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, question TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT, started_at TEXT NOT NULL, touched_at TEXT NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, turn_id TEXT NOT NULL, sequence INTEGER NOT NULL, role TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT, started_at TEXT NOT NULL, touched_at TEXT NOT NULL);
CREATE TABLE parts (message_id TEXT NOT NULL, sequence INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('text', 'tool_call', 'tool_result', 'reasoning', 'step_start')),
    content TEXT NOT NULL, PRIMARY KEY (message_id, sequence));
INSERT INTO conversations VALUES ('c', '["shop"]', '2026-01-01');
INSERT INTO turns VALUES ('t', 'c', 'What?', 'complete', NULL, '2026-01-01', '2026-01-01');
INSERT INTO messages VALUES ('m', 't', 1, 'user', 'complete', NULL, '2026-01-01', '2026-01-01');
INSERT INTO parts VALUES ('m', 1, 'text', '"What?"');
"""


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / STORE_FILE)) as connection:
        return connection.execute(query).fetchall()


def schema_of(path: Path) -> list[tuple[object, ...]]:
    with AskStore.opened(path, now=utc_now) as store:
        return store.connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_a_part_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path, now=utc_now) as store:
        connection = store.connection
        connection.execute("PRAGMA foreign_keys = OFF")
        for place, kind in enumerate(PartKind):
            connection.execute("INSERT INTO parts VALUES ('m', ?, ?, '1')", (place, kind))
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            connection.execute("INSERT INTO parts VALUES ('m', 99, 'guess', '1')")


def test_a_file_of_before_takes_the_new_kind_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / STORE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(EARLIER)

    once = schema_of(path)
    twice = schema_of(path)

    assert once == twice
    assert rows(tmp_path, "SELECT message_id, sequence, kind, content FROM parts") == [("m", 1, "text", '"What?"')]
    with open_store(tmp_path, now=lambda: NOON) as store:
        store.add_parts("m", [MessagePart(PartKind.SYNTHESIS, {"text": "A shop."})])
    assert rows(tmp_path, "SELECT kind FROM parts") == [("text",), ("synthesis",)]


@pytest.mark.parametrize(
    "earlier", [pytest.param(False, id="a new file", marks=pytest.mark.slow), pytest.param(True, id="a file of before")]
)
def test_processes_that_start_at_once_make_one_store(tmp_path: Path, earlier: bool) -> None:
    if earlier:
        with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
            connection.executescript(EARLIER)
    program = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path\n"
        "from codesum_pipeline.answers.question_answering.question_store import open_store\n"
        "sys.stdin.readline()\n"
        "for _ in range(5):\n"
        "    with open_store(Path(sys.argv[1]), now=lambda: datetime.now(UTC)) as store:\n"
        "        talk = store.begin_conversation(['shop'])\n"
        "        store.end_turn(store.begin_turn(talk, 'What?', model='m'), answer='This.')\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        for _ in range(3)
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=120) for process in processes]

    assert [(process.returncode, end[1]) for process, end in zip(processes, ends, strict=True)] == [(0, "")] * 3
    assert rows(tmp_path, "SELECT count(*) FROM turns WHERE answer = 'This.'") == [(15,)]


def test_what_a_killed_process_left_is_closed_after_five_minutes_and_not_before(tmp_path: Path) -> None:
    with open_store(tmp_path, now=lambda: NOON) as store:
        turn = store.begin_turn(store.begin_conversation(["shop"]), "What?", model="m")
        store.begin_message(turn, Speaker.ASSISTANT)
        with open_ledger(store.path, run_id=turn, now=lambda: NOON) as ledger:
            ledger.reserve(CallAttempt(turn, "ask", "hash", "m", 1, 0.25))

    with open_store(tmp_path, now=lambda: NOON + timedelta(minutes=4)):
        before = rows(tmp_path, "SELECT status FROM turns")
    with open_store(tmp_path, now=lambda: NOON + timedelta(minutes=6)):
        after = rows(tmp_path, "SELECT status, reason FROM turns UNION ALL SELECT status, reason FROM messages")

    assert before == [("streaming",)]
    assert after == [("failed", "abandoned"), ("complete", None), ("failed", "abandoned")]
    assert rows(tmp_path, "SELECT outcome, cost_usd FROM llm_attempts") == [("interrupted", 0.25)]


def test_a_turn_that_says_that_it_lives_is_left_alone(tmp_path: Path) -> None:
    now = [NOON]
    with open_store(tmp_path, now=lambda: now[0]) as store:
        turn = store.begin_turn(store.begin_conversation(["shop"]), "What?", model="m")
        now[0] += timedelta(minutes=4)
        store.touch(turn)
        now[0] += timedelta(minutes=4)
        swept = store.sweep()

    assert swept == []


def test_a_final_state_stays_but_for_that_of_a_sweep(tmp_path: Path) -> None:
    now = [NOON]
    with open_store(tmp_path, now=lambda: now[0]) as store:
        ended, swept = (store.begin_turn(store.begin_conversation(["shop"]), "What?", model="m") for _ in range(2))
        store.end_turn(ended, answer="This.")
        store.end_turn(ended, answer=None, failed="error")
        now[0] += timedelta(minutes=6)
        store.sweep()
        # Its process had slept.
        store.end_turn(swept, answer="That.")

    assert rows(tmp_path, "SELECT status, answer FROM turns ORDER BY answer") == [
        ("complete", "That."),
        ("complete", "This."),
    ]
