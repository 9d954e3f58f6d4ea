"""What a worker paid for, others find: also where it was killed before it could commit."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.errors import LeaseLost
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.bucket_record import spending_of_all
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.foundation.store.repository_record import RepositoryRecord
from codesum_pipeline.texts.llm.ledger import CallAttempt, Ledger, open_ledger
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline_tests.support.bucket_workers import taken_over
from codesum_pipeline_tests.texts.llm.test_ledger import GOOD, KEPT

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def now() -> datetime:
    return NOON


def cache_of(worker: Home) -> AnswerCache:
    shared = OPENED_HOMES.objects(worker.layout.bucket)
    return AnswerCache(worker.layout.home / "cache", now=now, shared=shared)


def ledger_of(worker: Home, record: RepositoryRecord, *, run_id: str) -> AbstractContextManager[Ledger]:
    return open_ledger(worker.layout.state("shop"), run_id=run_id, now=now, record=record)


def pay(worker: Home, record: RepositoryRecord, *, run_id: str, request: str = "blake3:r") -> None:
    """Ask a model twice: the second answer has not come yet."""
    with ledger_of(worker, record, run_id=run_id) as ledger:
        paid = ledger.reserve(CallAttempt("a.py::f", "function", request, "m", 1, 0.5))
        ledger.reserve(CallAttempt("a.py::g", "function", "blake3:other", "m", 1, 0.25))
        ledger.settle(paid, GOOD, KEPT)


def test_what_a_killed_worker_paid_for_is_found_by_the_next_one(one, other, objects):
    with pytest.raises(LeaseLost), hold_repository(one.layout, "shop", run_id="killed") as record:
        pay(one, record, run_id="killed")
        taken_over(objects)

    with (
        hold_repository(other.layout, "shop", run_id="next") as record,
        ledger_of(other, record, run_id="next") as ledger,
    ):
        assert ledger.good_answer("blake3:r").cost_usd == GOOD.cost_usd
        assert ledger.spent_today() == GOOD.cost_usd + 0.25
        assert ledger.recover() == 1
        assert ledger.deliver(cache_of(other).put_many) == 1
    assert [info.name for info in objects.infos("journal/")] == []
    assert spending_of_all(objects, day=NOON.date()) == pytest.approx(GOOD.cost_usd + 0.25)
    assert cache_of(one).find_many([(KEPT.exact_key, KEPT.body_key)]) == {KEPT.exact_key: (KEPT,)}


def test_a_ledger_follows_its_repository_from_worker_to_worker(one, other):
    with hold_repository(one.layout, "shop", run_id="first") as record:
        pay(one, record, run_id="first")
    with hold_repository(other.layout, "shop", run_id="second") as record:
        pay(other, record, run_id="second")

    with (
        hold_repository(one.layout, "shop", run_id="third") as record,
        ledger_of(one, record, run_id="third") as ledger,
    ):
        ledger.recover()
        found = [(row.run_id, row.sequence, row.outcome) for row in ledger.rows()]
    good, cut_off = AttemptOutcome.GOOD, AttemptOutcome.INTERRUPTED
    assert found == [("first", 1, good), ("first", 2, cut_off), ("second", 3, good), ("second", 4, cut_off)]


def test_two_workers_that_believed_they_held_one_repository_are_both_in_the_books(one, other, objects):
    with pytest.raises(LeaseLost), hold_repository(one.layout, "shop", run_id="slow") as record:
        pay(one, record, run_id="slow")
        taken_over(objects)
        with hold_repository(other.layout, "shop", run_id="quick") as others_record:
            pay(other, others_record, run_id="quick")
        pay(one, record, run_id="slow", request="blake3:later")

    with (
        hold_repository(other.layout, "shop", run_id="third") as record,
        ledger_of(other, record, run_id="third") as ledger,
    ):
        ledger.recover()
        rows = ledger.rows()
    assert sorted((row.run_id, row.request_hash) for row in rows if row.outcome is AttemptOutcome.GOOD) == [
        ("quick", "blake3:r"),
        ("slow", "blake3:later"),
        ("slow", "blake3:r"),
    ]
