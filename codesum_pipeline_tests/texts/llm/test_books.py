"""Entries of many tasks share a transaction, and none is given up half-way."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.texts.llm.attempts import Books
from codesum_pipeline.texts.llm.ledger import Ledger, open_ledger
from codesum_pipeline_tests.texts.llm.making import noon
from codesum_pipeline_tests.texts.llm.test_ledger import GOOD, attempt


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "shop.sqlite", run_id="run 1", now=noon) as opened:
        yield opened


def reserve(ledger: Ledger) -> int:
    return ledger.reserve(attempt())


def test_each_task_gets_what_its_own_entry_gave(ledger: Ledger) -> None:
    async def both_ways() -> list[int]:
        books = Books(ledger)

        async def one() -> int:
            sequence = await books.enter(reserve)
            await books.enter(lambda open_ledger: open_ledger.settle(sequence, GOOD))
            return sequence

        with books.open():
            return await asyncio.gather(*[one() for _ in range(200)])

    sequences = asyncio.run(both_ways())

    assert sorted(sequences) == list(range(1, 201))
    assert [row.sequence for row in ledger.rows()] == list(range(1, 201))


def test_an_entry_is_finished_though_its_task_is_cancelled_which_it_hears_of_afterwards(ledger: Ledger) -> None:
    heard: list[int] = []

    async def cancelled_while_writing() -> None:
        books = Books(ledger)

        async def one() -> None:
            heard.append(await books.enter(reserve))
            await asyncio.sleep(60)

        with books.open():
            task = asyncio.create_task(one())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled_while_writing())

    assert heard == [1]
    assert ledger.recover() == 1


def test_an_entry_that_cannot_be_written_fails_the_task_that_waits_for_it(ledger: Ledger) -> None:
    def broken(_ledger: Ledger) -> None:
        raise sqlite3.OperationalError("no such table")

    async def failing() -> None:
        books = Books(ledger)
        with books.open():
            await books.enter(broken)

    with pytest.raises(sqlite3.OperationalError):
        asyncio.run(failing())

    assert ledger.recover() == 0


def test_what_is_entered_alone_reads_only_what_is_on_disk(ledger: Ledger, tmp_path: Path) -> None:
    def on_disk(_ledger: Ledger) -> int:
        with sqlite3.connect(tmp_path / "shop.sqlite") as reader:
            found: int = reader.execute("SELECT count(*) FROM llm_attempts").fetchone()[0]
        return found

    async def entries() -> list[int]:
        books = Books(ledger)
        with books.open():
            return await asyncio.gather(
                books.enter(reserve), books.enter(on_disk, is_alone=True), books.enter(reserve), books.enter(on_disk)
            )

    first, alone, second, shared = asyncio.run(entries())

    assert (first, alone, second, shared) == (1, 1, 2, 1)
