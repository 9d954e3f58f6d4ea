"""Matches in groups of near-duplicates."""

import random
from collections.abc import Sequence

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, IntentMatch
from codesum_pipeline.notifications.matching import grouping
from codesum_pipeline.notifications.matching.grouping import group_matches


def _match(
    id_: str, summary: str, *, score: float = 0.9, gone: bool = False, level: Level = Level.FUNCTION
) -> IntentMatch:
    path, _, name = id_.partition("::")
    state = DocumentState(name or path, path, "c" * 40, "hash", summary, start_line=1, end_line=3)
    before, after = (state, None) if gone else (None, state)
    return IntentMatch("asked", DocumentChange("shop", id_, level, "python", before, after, None), score)


def _ids(groups: Sequence[Sequence[IntentMatch]]) -> list[list[str]]:
    return [[found.change.document_id for found in some] for some in groups]


_CHARGE = "Charge a card once and keep the receipt of it."
_SOME = [
    _match("a.py::charge_card", _CHARGE, score=0.8),
    _match("copy/a.py::charge_card", _CHARGE, score=0.7),
    _match("b.py::charge_cards", _CHARGE.replace("card once", "cards once"), score=0.9),
    _match("b.py::read_table", _CHARGE),
    _match("c.py::charge_card", "Open a socket and listen until somebody hangs up.", score=0.6),
    _match("d.py::charge_card", _CHARGE, gone=True),
    _match("e.py::charge_card", _CHARGE, level=Level.CLASS, score=0.5),
]


def test_what_has_alike_names_and_texts_is_one_group_and_the_best_of_it_comes_first() -> None:
    assert _ids(group_matches(_SOME)) == [
        ["b.py::charge_cards", "a.py::charge_card", "copy/a.py::charge_card"],
        ["b.py::read_table"],
        ["d.py::charge_card"],
        ["c.py::charge_card"],
        ["e.py::charge_card"],
    ]


def test_the_order_of_matches_does_not_count() -> None:
    shuffled = list(_SOME)
    for seed in range(20):
        random.Random(seed).shuffle(shuffled)
        assert group_matches(shuffled) == group_matches(_SOME)


def test_groups_hang_together_by_what_is_between_them() -> None:
    words = [f"word{number}" for number in range(16)]
    steps = [_match(f"{k}.py::walk", " ".join([*["changed"] * k, *words[k:]])) for k in range(4)]
    assert len(group_matches([steps[0], steps[3]])) == 2
    assert len(group_matches(steps)) == 1


def test_nothing_is_grouped_to_nothing() -> None:
    assert group_matches([]) == []


@pytest.mark.slow
def test_ten_thousand_matches_are_grouped() -> None:
    """A copy of a library in twenty places, each a little edited, and as many functions that have nothing in common."""
    words = [f"word{k}" for k in range(500)]
    chance = random.Random(7)
    names = ["_".join(chance.sample(words, 3)) for _ in range(250)]
    texts = [" ".join(chance.sample(words, 40)) for _ in range(250)]
    copies = [
        _match(f"vendor{copy}/{k}.py::{name}", f"{text} {copy}")
        for copy in range(20)
        for k, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    others = [
        _match(f"own/{k}.py::{'_'.join(chance.sample(words, 3))}", " ".join(chance.sample(words, 40)))
        for k in range(5_000)
    ]
    found = group_matches([*copies, *others])
    assert sorted(map(len, found)) == [1] * 5_000 + [20] * 250


@pytest.mark.parametrize("at_once", [1, 2, 1_000])
def test_groups_are_the_same_however_many_are_compared_at_one_time(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    usual = _ids(group_matches(_SOME))
    monkeypatch.setattr(grouping, "_AT_ONCE", at_once)

    assert _ids(group_matches(_SOME)) == usual
