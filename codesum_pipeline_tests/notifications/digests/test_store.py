"""The store: one pending match of a document, what is handled, and files that are no store."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import BrokenStore, CannotWrite, ConfigurationError
from codesum_pipeline.foundation.data_model.standing_question import ChangeKind, DocumentChange
from codesum_pipeline.foundation.store.sqlite_tables import read_json, to_json
from codesum_pipeline.notifications.digests.digest_rows import (
    DigestKind,
    DigestState,
    TickFailure,
    TickOutcome,
    TickRow,
)
from codesum_pipeline.notifications.digests.digest_store import DigestStore, PurgeCounts, open_digests
from codesum_pipeline_tests.support.digest_making import INTENT, change, digest, match, state

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
OTHER = "anything that touches billing"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "digests.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[DigestStore]:
    with open_digests(path, now=lambda: NOON) as found:
        yield found


def tick(id_: str = "t1", **other: Any) -> TickRow:
    moments = {"due_at": None, "started_at": "2026-11-23T12:00:00.000Z", "ended_at": "2026-11-23T12:00:01.000Z"}
    return TickRow(
        **{"id": id_, "intent_name": INTENT, "repository": None, "outcome": TickOutcome.QUEUED, **moments} | other
    )


def pending(store: DigestStore, intent: str = INTENT) -> list[tuple[str | None, str | None, float | None]]:
    """Text before, text after and score of what waits."""
    changes = [(kept.match.change, kept.match.score) for kept in store.pending(intent)]
    return [
        (each.before.summary if each.before else None, each.after.summary if each.after else None, score)
        for each, score in changes
    ]


def test_a_document_that_changed_twice_waits_once_from_its_earliest_to_its_latest_text(store: DigestStore) -> None:
    store.add_matches([match("one", "two", score=0.8)])
    store.add_matches([match("two", "three", score=0.6)])

    assert pending(store) == [("one", "three", 0.8)]


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (("one", "two"), ("two", "one"), []),
        ((None, "two"), ("two", None), []),
        (("one", None), (None, "one"), []),
        (("one", None), (None, "two"), [ChangeKind.CHANGED]),
        ((None, "one"), ("one", "two"), [ChangeKind.ADDED]),
        (("one", "two"), ("two", None), [ChangeKind.REMOVED]),
    ],
    ids=[
        "changed and changed back is nothing",
        "added and removed is nothing",
        "removed and added as it was is nothing",
        "removed and added otherwise is a change",
        "added and changed is added",
        "changed and removed is removed",
    ],
)
def test_two_changes_before_a_digest_are_one(
    store: DigestStore, first: tuple[Any, Any], second: tuple[Any, Any], left: list[ChangeKind]
) -> None:
    store.add_matches([match(*first)])
    store.add_matches([match(*second)])

    assert [kept.match.change.kind for kept in store.pending(INTENT)] == left
    assert store.count_pending() == ({INTENT: 1} if left else {})


def test_a_change_that_was_undone_and_came_again_is_told_from_the_first_text(store: DigestStore) -> None:
    for before, after in (("one", "two"), ("two", "one"), ("one", "three")):
        store.add_matches([match(before, after)])

    assert pending(store) == [("one", "three", 0.5)]


def test_what_waits_follows_a_document_that_is_renamed(store: DigestStore) -> None:
    store.add_matches([match("one", "two", document="old")])
    store.add_matches([], changes=[change("two", "three", document="new", renamed_from="old")])

    [kept] = store.pending(INTENT)
    assert pending(store) == [("one", "three", 0.5)]
    assert (kept.match.change.document_id, kept.match.change.renamed_from) == ("new", "old")
    store.add_matches([match("three", "one", document="old", renamed_from="new")])
    assert pending(store) == []
    store.add_matches([match("one", "four", document="new", renamed_from="old")])
    assert pending(store) == [("one", "four", 0.5)]


def test_a_document_renamed_while_its_digest_was_written_is_told_as_renamed_by_the_next_one(
    store: DigestStore,
) -> None:
    store.add_matches([match("one", "two", document="old")])
    kept = store.pending(INTENT)
    store.add_matches([match("two", "three", document="new", renamed_from="old")])

    store.record(tick(), digest(), handled=kept)

    [left] = store.pending(INTENT)
    assert pending(store) == [("two", "three", 0.5)]
    assert (left.match.change.document_id, left.match.change.renamed_from) == ("new", "old")


def test_what_waits_follows_its_document_though_the_newest_change_matches_no_more(store: DigestStore) -> None:
    store.add_matches([match("one", "two", score=0.8), match("one", "two", intent=OTHER)])

    newest = change("two", "three")
    store.add_matches([match("two", "three", intent=OTHER, score=0.9)], changes=[newest])

    assert pending(store) == [("one", "three", 0.8)]
    assert pending(store, OTHER) == [("one", "three", 0.9)]


def test_the_same_comparison_kept_twice_is_kept_once(store: DigestStore) -> None:
    store.add_matches([match("one", "two")], repository="shop", comparison="v1 to v2")
    for _ in range(2):
        store.add_matches([match("two", "one")], repository="shop", comparison="v2 to v3")

    assert pending(store) == []
    store.add_matches([match(None, "x", repository="other")], repository="other", comparison="v2 to v3")
    assert pending(store) == [(None, "x", 0.5)]


def test_what_is_written_is_read_back_a_path_that_is_no_utf8_too(store: DigestStore) -> None:
    odd = "src/\udcff.py::f"
    written = match("öne\x00", "tw\ud800", document=odd, score=None)
    store.add_matches([written])
    store.add_matches([match("a", "b", document=odd, score=0.25)])

    [kept] = store.pending(INTENT)
    assert kept.match.change.document_id == odd
    assert kept.match.change.before == written.change.before
    assert kept.match.score == 0.25
    assert read_json(to_json(written.change), DocumentChange) == written.change


def test_handled_matches_wait_no_more_and_the_digest_is_read_back_as_it_was_written(store: DigestStore) -> None:
    store.add_matches([match("one", "two"), match("x", "y", repository="other"), match("p", "q", intent=OTHER)])

    kept = store.pending(INTENT, "shop")
    store.record(tick(digest_id="d1"), digest(), handled=kept)

    assert store.digests() == [store.digest("d1")] == [digest()]
    assert [each.match.change.repository for each in store.pending(INTENT)] == ["other"]
    assert store.count_pending() == {OTHER: 1, INTENT: 1}
    assert store.count_pending("shop") == {OTHER: 1}
    assert store.ticks() == [tick(digest_id="d1")]


@pytest.mark.parametrize(
    ("newer", "left"),
    [
        (("two", "three"), [("two", "three", 0.5)]),
        (("two", "one"), [("two", "one", 0.5)]),
        (("two", None), [("two", None, 0.5)]),
    ],
    ids=["changed again", "changed back", "removed"],
)
def test_what_changed_while_its_digest_was_written_is_told_by_the_next_one(
    store: DigestStore, newer: tuple[Any, Any], left: list[Any]
) -> None:
    store.add_matches([match("one", "two")])
    kept = store.pending(INTENT)
    store.add_matches([match(*newer)])

    store.record(tick(), digest(), handled=kept)

    assert pending(store) == left


def test_a_digest_that_cannot_be_recorded_handles_nothing(store: DigestStore) -> None:
    store.add_matches([match("one", "two")])
    store.record(None, digest())

    with pytest.raises(sqlite3.IntegrityError):
        store.record(tick(), digest(), handled=store.pending(INTENT))

    assert pending(store) == [("one", "two", 0.5)]
    assert store.ticks() == []


def test_digests_are_found_by_intent_kind_and_time(store: DigestStore) -> None:
    rows = [
        digest("d1", created_at="2026-11-01T00:00:00.000Z"),
        digest("d2", created_at="2026-11-02T00:00:00.000Z", kind=DigestKind.ROLLUP),
        digest(
            "d3", created_at="2026-11-03T00:00:00.000Z", intent=OTHER, result=replace(digest().result, citations=())
        ),
    ]
    for row in reversed(rows):
        store.record(None, row)

    def ids(*criteria: Any, **named: Any) -> list[str]:
        return [row.id for row in store.digests(*criteria, **named)]

    assert ids() == ["d1", "d2", "d3"]
    assert ids(INTENT) == ["d1", "d2"]
    assert ids(None, "2026-11-02", "2026-11-03T00:00:00.000Z") == ["d2"]
    assert ids(kind=DigestKind.DIGEST) == ["d1", "d3"]
    with pytest.raises(ConfigurationError, match="there is no digest 'd9': `codesum digest list`"):
        store.digest("d9")


def test_a_digest_is_unfinished_until_it_is_queued_and_told(store: DigestStore) -> None:
    for id_, its_state in (("d1", DigestState.WRITTEN), ("d2", DigestState.VETOED), ("d3", DigestState.UNSENT)):
        store.record(None, digest(id_, state=its_state))

    assert [row.id for row in store.unfinished()] == ["d1", "d3"]
    assert store.unfinished(OTHER) == []
    store.mark_hooks_called("d3")
    store.mark_queued("d1")
    store.mark_queued("d2")
    assert [(row.id, row.state) for row in store.unfinished()] == [("d1", DigestState.QUEUED)]
    store.mark_hooks_called("d1")
    assert store.unfinished() == []
    assert store.digest("d2").state is DigestState.VETOED


def test_forgetting_an_intent_keeps_its_digests(store: DigestStore) -> None:
    store.add_matches([match("one", "two")])
    store.record(tick(), digest(), handled=store.pending(INTENT))
    store.add_matches([match("two", "three"), match("two", "three", intent=OTHER)])

    assert store.forget_pending(INTENT) == 1
    assert store.count_pending() == {OTHER: 1}
    assert [row.id for row in store.digests()] == ["d1"]


def test_purging_a_repository_keeps_the_digests_of_several(store: DigestStore) -> None:
    store.add_matches([match("one", "two"), match("x", "y", repository="other")], repository="shop", comparison="1")
    store.record(tick(repository="shop", digest_id="d1"), digest(), handled=store.pending(INTENT, "shop"))
    store.record(tick("t2", digest_id="d2"), digest("d2", repositories=("other", "shop")))
    store.add_matches([match("two", "three")])

    assert store.purge_repository("shop") == PurgeCounts(matches=2, digests=1)
    assert [row.id for row in store.digests()] == ["d2"]
    assert [row.id for row in store.ticks()] == ["t2"]
    assert store.count_pending() == {INTENT: 1}
    store.add_matches([match("one", "two")], repository="shop", comparison="1")
    assert store.count_pending("shop") == {INTENT: 1}


def test_details_are_kept_for_ninety_days_and_digests_for_ever(path: Path) -> None:
    with open_digests(path, now=lambda: NOON) as store:
        store.add_matches([match("one", "two")])
        store.record(tick(), digest(), handled=store.pending(INTENT))
    with open_digests(path, now=lambda: NOON + timedelta(days=91)) as store:
        store.record(tick("t2", started_at="2027-02-22T12:00:00.000Z"))

        assert [row.id for row in store.ticks()] == ["t2"]
        assert [row.id for row in store.digests()] == ["d1"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM matches").fetchone() == (0,)


def test_no_state_that_is_none_can_be_written(store: DigestStore, path: Path) -> None:
    store.record(tick(outcome=TickOutcome.HELD, failure=TickFailure.MODEL, reason="no answer \udcff"), digest())
    assert store.ticks()[0].reason == "no answer \\udcff"
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "UPDATE digests SET state = 'lost'",
            "UPDATE digests SET written_by = 'nobody'",
            "UPDATE ticks SET outcome = 'sent'",
            "UPDATE ticks SET failure = NULL",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
                connection.execute(statement)


def test_bringing_the_file_up_to_date_twice_changes_nothing_and_keeps_the_ledger(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE llm_attempts (sequence INTEGER)")

    def schema() -> list[Any]:
        with open_digests(path, now=lambda: NOON) as store:
            return store.connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()

    assert schema() == schema()
    assert "llm_attempts" in dict(schema())


def test_a_file_that_is_no_store_is_named_and_left_as_it_is(path: Path) -> None:
    def refusal() -> str:
        with pytest.raises(BrokenStore) as refused, open_digests(path, now=lambda: NOON):
            pass
        return str(refused.value)

    path.write_bytes(b"no database at all" * 100)
    assert refusal() == f"{path} is damaged (file is not a database): move it away to begin a new one"
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE matches (home TEXT, guest TEXT)")
        connection.execute("INSERT INTO matches VALUES ('Ajax', 'PSV')")
        connection.commit()
    assert refusal() == f"{path} is a database of another program: move it away to begin a new one"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM matches").fetchall() == [("Ajax", "PSV")]
    path.unlink()
    path.mkdir()
    assert "cannot be opened" in refusal()


def test_damage_that_shows_later_is_named_too(path: Path) -> None:
    with open_digests(path, now=lambda: NOON) as store:
        store.add_matches([match("one", "two" * 5_000, document=f"d{number}") for number in range(20)])
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 2))

    with pytest.raises(BrokenStore, match=r"digests\.sqlite is damaged"), open_digests(path, now=lambda: NOON) as store:
        store.pending(INTENT)
        store.count_pending()
        store.add_matches([match("two", "three", document="d7")])


def test_a_file_that_may_not_be_written_says_so(path: Path, store: DigestStore) -> None:
    store.connection.execute("PRAGMA query_only = ON")

    with pytest.raises(CannotWrite, match=r"digests\.sqlite cannot be written: it is read-only; make it writable"):
        store.add_matches([match("one", "two")])


ADD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.digest_making import match
sys.stdin.readline()
for number in range(40):
    with open_digests(Path(sys.argv[1]), now=lambda: datetime.now(UTC)) as store:
        store.add_matches([match("one", f"{sys.argv[2]} {number}", document=f"d{number % 20}")])
"""


def test_processes_that_add_at_once_lose_nothing(path: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", ADD, str(path), name], stdin=subprocess.PIPE) for name in ("a", "b")
    ]
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.close()

    assert [program.wait(timeout=120) for program in programs] == [0, 0]
    with open_digests(path, now=lambda: NOON) as store:
        kept = [each.match.change for each in store.pending(INTENT)]
    assert len(kept) == 20
    assert {each.before for each in kept} == {state("one")}
