"""Intervals: the same every time, as wide as the values are, and narrower in pairs."""

import numpy as np
import pytest

from codesum_pipeline.search.evaluation.evaluate import Interval, interval_of, paired_interval


def test_values_that_are_all_the_same_leave_nothing_open():
    assert interval_of([0.5] * 20) == Interval(0.5, 0.5, 0.5)
    assert interval_of([0.25]) == Interval(0.25, 0.25, 0.25)


def test_the_same_values_give_the_same_interval():
    values = np.random.default_rng(1).random(50).tolist()

    assert interval_of(values) == interval_of(list(values))


def test_an_interval_agrees_with_the_normal_one_over_many_values():
    values = np.random.default_rng(2).normal(0.6, 0.2, size=400)
    half = 1.96 * values.std() / 20

    found = interval_of(values.tolist())

    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.002)


def test_values_too_many_to_be_drawn_at_once_give_an_interval_as_well():
    values = np.random.default_rng(3).random(20_000)
    half = 1.96 * values.std() / np.sqrt(20_000)

    found = interval_of(values.tolist(), samples=1_000)

    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.001)


def test_a_small_gain_on_every_question_is_clear_in_pairs_though_the_questions_differ():
    before = np.random.default_rng(5).random(60)
    after = before + 0.01 + 0.001 * np.random.default_rng(6).random(60)

    found = paired_interval(before.tolist(), after.tolist())

    assert 0.01 < found.low < found.mean < found.high < 0.011
    assert found.is_clear
    assert interval_of(before.tolist()).high > interval_of(after.tolist()).low


def test_a_loss_is_negative_and_chance_is_not_clear():
    assert paired_interval([1.0, 1.0, 0.9], [0.0, 0.1, 0.0]).high < 0
    assert not paired_interval([0.0, 1.0] * 10, [1.0, 0.0] * 10).is_clear


def test_no_values_have_no_mean():
    with pytest.raises(ValueError, match="no values"):
        interval_of([])


def test_values_without_their_pair_are_refused():
    with pytest.raises(ValueError, match="2 values against 1"):
        paired_interval([0.1, 0.2], [0.1])
