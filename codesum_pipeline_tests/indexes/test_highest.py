import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats.highest_scores import Numbers, find_highest, highest_above_zero

NUMBERS = st.lists(st.integers(-3, 9)).map(lambda numbers: np.array(numbers, dtype=np.int64))


@given(NUMBERS, st.integers(1, 5))
def test_the_highest_are_all_that_are_as_good_as_the_last_one_kept(numbers: Numbers, limit: int) -> None:
    scores = numbers.astype(np.float64)
    lowest = sorted(scores.tolist(), reverse=True)[:limit][-1:]

    assert find_highest(scores, limit).tolist() == [place for place, score in enumerate(scores) if score >= lowest[0]]


@given(NUMBERS, st.integers(1, 5))
def test_the_highest_above_zero_are_the_highest_of_what_is_above_zero(numbers: Numbers, limit: int) -> None:
    scores = numbers.astype(np.float64)
    positive = (scores > 0).nonzero()[0]

    assert highest_above_zero(scores, limit).tolist() == positive[find_highest(scores[positive], limit)].tolist()


@given(
    seed=st.integers(0, 99),
    count=st.sampled_from([100, 5_000, 90_000]),
    limit=st.sampled_from([10, 400]),
    different=st.sampled_from([2, 50, 1_000_000]),
    share_above_zero=st.sampled_from([0.0, 0.003, 0.3, 1.0]),
    is_sorted=st.booleans(),
)
def test_of_many_scores_the_highest_are_found_by_a_sample_whatever_they_are(
    seed: int, count: int, limit: int, different: int, share_above_zero: float, is_sorted: bool
) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(1, different, count).astype(np.float32)
    scores[random.random(count) >= share_above_zero] *= -(seed % 2)
    scores = np.sort(scores) if is_sorted else scores

    best = np.sort(scores[scores > 0])[::-1][:limit]
    expected = (scores >= best[-1]).nonzero()[0] if len(best) else np.zeros(0)

    assert highest_above_zero(scores, limit).tolist() == expected.tolist()
