"""Which rows of the history stay."""

import random

import pytest

from codesum_pipeline.builds.maintenance.appended_tables import kept_sequences
from codesum_pipeline.foundation.data_model.document import Cause, HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.texts.summaries.text_history import explain_text

EVER = ""
NEVER = "9999"


def row(
    sequence: int,
    id_: str,
    event: HistoryEvent = HistoryEvent.WRITTEN,
    *,
    text: str = "",
    causes: tuple[str, ...] = (),
    usd: float = 0.0,
) -> HistoryRow:
    return HistoryRow(
        sequence=sequence,
        id=id_,
        level=Level.FUNCTION,
        event=event,
        cause=Cause.CONTENT if causes else None,
        cause_ids=causes,
        writer="extractive/1",
        written_by=WrittenBy.EXTRACTIVE,
        summary_hash=f"input {sequence}",
        text_hash=text or f"text {sequence}",
        run_id=f"run {sequence}",
        commit="0" * 40,
        written_at=f"2026-01-{sequence:02d}T00:00:00.000Z",
        cost_usd=usd,
    )


def test_of_a_text_that_was_rewritten_often_the_newest_rows_stay() -> None:
    history = [row(number, "a") for number in range(1, 21)]

    assert kept_sequences(history, newest=3, since=EVER) == {18, 19, 20}


def test_rows_before_the_moment_go_but_for_the_one_that_wrote_the_standing_text() -> None:
    history = [row(1, "a"), row(2, "a"), row(3, "b"), row(4, "c")]

    assert kept_sequences(history, newest=10, since=NEVER) == {2, 3, 4}


def test_a_text_that_was_looked_at_again_and_again_keeps_the_row_that_wrote_it() -> None:
    looks = [row(number, "a", HistoryEvent.SAME_TEXT, text="text 1") for number in range(2, 20)]

    assert kept_sequences([row(1, "a"), *looks], newest=2, since=EVER) == {1, 18, 19}


def test_what_was_paid_for_the_text_that_stands_stays() -> None:
    back_and_forth = [row(1, "a", text="x", usd=0.5), row(2, "a", text="y", usd=0.5), row(3, "a", text="x")]

    assert kept_sequences(back_and_forth, newest=1, since=EVER) == {1, 3}


def test_a_document_that_is_gone_leaves_nothing_in_the_end_but_the_last_number() -> None:
    history = [
        row(1, "a"),
        row(2, "b"),
        row(3, "b", HistoryEvent.REMOVED),
        row(4, "c"),
        row(5, "c", HistoryEvent.REMOVED),
    ]

    assert kept_sequences(history, newest=10, since=NEVER) == {1, 5}


@pytest.mark.parametrize("seed", range(20))
def test_whatever_goes_every_standing_text_is_explained_as_before(seed: int) -> None:
    chance = random.Random(seed)
    history = [_random_row(chance, number) for number in range(1, 28)]
    kept = kept_sequences(history, newest=1, since=NEVER)

    standing = {each.id for each in history} - {
        id_ for id_ in {each.id for each in history} if _last(history, id_).event is HistoryEvent.REMOVED
    }
    pruned = [each for each in history if each.sequence in kept]

    assert {id_: _explained(pruned, id_) for id_ in standing} == {id_: _explained(history, id_) for id_ in standing}
    assert kept_sequences(pruned, newest=1, since=NEVER) == kept


def _random_row(chance: random.Random, number: int) -> HistoryRow:
    event = chance.choices(list(HistoryEvent)[:3], weights=(5, 1, 2))[0]
    causes = tuple(sorted(chance.sample("abcdef", chance.randrange(3))))
    return row(number, chance.choice("abcdef"), event, text=f"text {chance.randrange(4)}", causes=causes)


def _last(history: list[HistoryRow], id_: str) -> HistoryRow:
    return [each for each in history if each.id == id_][-1]


def _explained(history: list[HistoryRow], id_: str) -> object:
    return explain_text(_Told(history), id_)  # type: ignore[arg-type]


class _Told:
    """A workspace as far as an explanation reads one: the rows of the history."""

    key = "shop"
    layout = HomeLayout

    def __init__(self, history: list[HistoryRow]) -> None:
        self._history = history

    @property
    def tables(self) -> "_Told":
        return self

    def read_rows(self, _table: str, _repo: str, _type: type[HistoryRow]) -> list[HistoryRow]:
        return self._history
