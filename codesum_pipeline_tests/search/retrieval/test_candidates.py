import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.shelf import Candidates, Shelf
from codesum_pipeline.search.retrieval.weights import ScoredDocuments

SHOPS = 3
ROWS = 13


def numbers_of(some: set[int]) -> np.ndarray:
    return np.array(sorted(some), dtype=np.int64)


@given(st.lists(st.sets(st.integers(0, SHOPS * ROWS - 1)), max_size=3))
def test_candidates_are_what_is_named_and_its_files(shop: PublishedIndex, named: list[set[int]]) -> None:
    candidates = Candidates.of(Shelf([shop] * SHOPS), [numbers_of(set()), *map(numbers_of, named)])

    def file_of(number: int) -> int:
        row = int(shop.arrays["file_row"][number % ROWS])
        return row + number // ROWS * ROWS if row >= 0 else -1

    some = set().union(*named)
    numbers = sorted(some | {file_of(number) for number in some} - {-1})
    assert candidates.numbers.tolist() == numbers
    assert candidates.places(candidates.numbers).tolist() == list(range(len(numbers)))
    expected = [numbers.index(file) if (file := file_of(number)) >= 0 else -1 for number in numbers]
    assert candidates.files.tolist() == expected
    for name in ("importance", "is_test", "is_vendored", "only_reexports"):
        gathered = [shop.arrays[name][number % ROWS] for number in numbers]
        assert getattr(candidates, name).tolist() == gathered


@given(st.sets(st.integers(0, 2 * ROWS - 1)), st.sets(st.integers(0, 2 * ROWS - 1)))
def test_a_candidate_is_among_some_where_they_have_its_number(
    shop: PublishedIndex, named: set[int], some: set[int]
) -> None:
    candidates = Candidates.of(Shelf([shop, shop]), [numbers_of(named)])

    expected = [number in some for number in candidates.numbers.tolist()]
    assert candidates.are_among(numbers_of(some)).tolist() == expected


SCORES = st.dictionaries(st.integers(0, 2 * ROWS - 1), st.sampled_from([0.5, 1.0, 1 / 3, 2.0]))


@given(st.lists(SCORES, max_size=4), st.integers(1, 9), st.integers(1, 2))
def test_rankings_go_by_score_then_importance_then_number(
    shop: PublishedIndex, rankings: list[dict[int, float]], limit: int, shops: int
) -> None:
    of_shops = [{number: scores[number] for number in sorted(scores) if number < shops * ROWS} for scores in rankings]
    found = {
        key: ScoredDocuments(np.array([*scores], dtype=np.int64), np.array([*scores.values()], dtype=np.float32))
        for key, scores in enumerate(of_shops)
    }
    candidates = Candidates.of(Shelf([shop] * shops), [numbers_of(set()), *(each.numbers for each in found.values())])

    ranked = candidates.rank_all(found, limit=limit)

    for key, scores in enumerate(of_shops):

        def sort_key(number: int, scores: dict[int, float] = scores) -> tuple[float, float, int]:
            return (-scores[number], -shop.arrays["importance"][number % ROWS], number)

        expected = sorted(scores, key=sort_key)[:limit]
        assert candidates.numbers[ranked[key].places].tolist() == expected
        assert ranked[key].scores.tolist() == [np.float32(scores[number]) for number in expected]
