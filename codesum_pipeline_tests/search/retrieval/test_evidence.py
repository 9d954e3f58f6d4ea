import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.search.retrieval.weights import earlier_of_group, highest_sums, sums_by_file


def ranked(documents: list[tuple[int, float]], decay: float = 0.6) -> list[int]:
    best_first = sorted(documents, key=lambda document: -document[1])
    files = np.array([file for file, _ in best_first], dtype=np.int64)
    (sums,) = sums_by_file([files], [np.array([score for _, score in best_first])], [decay], count=7)
    return highest_sums(sums).places.tolist()


def test_several_good_documents_beat_the_single_best() -> None:
    assert ranked([(1, 1.0), (2, 0.9), (2, 0.8)]) == [2, 1]


def test_many_weak_documents_do_not_beat_one_that_is_good() -> None:
    assert ranked([(1, 1.0), *((2, 0.3) for _ in range(1000))]) == [1, 2]


def test_what_stands_in_no_file_is_evidence_for_none() -> None:
    assert ranked([(-1, 9.0), (4, 1.0), (-1, 2.0)]) == [4]


def test_ties_break_by_number_and_nothing_gives_nothing() -> None:
    assert ranked([(5, 1.0), (3, 1.0), (4, 1.0)]) == [3, 4, 5]
    assert ranked([]) == []


DOCUMENTS = st.lists(st.tuples(st.integers(-1, 5), st.sampled_from([0.25, 0.5, 1.0])), max_size=9)


@given(st.lists(DOCUMENTS, min_size=1, max_size=4))
def test_rankings_together_give_the_files_that_each_gives_alone(rankings: list[list[tuple[int, float]]]) -> None:
    best_first = [sorted(documents, key=lambda document: -document[1]) for documents in rankings]
    files = [np.array([file for file, _ in documents], dtype=np.int64) for documents in best_first]
    scores = [np.array([score for _, score in documents]) for documents in best_first]

    decays = [0.6, 0.4, 0.6, 0.5][: len(rankings)]
    together = [highest_sums(sums).places.tolist() for sums in sums_by_file(files, scores, decays, count=7)]

    assert together == [ranked(documents, decay) for documents, decay in zip(rankings, decays, strict=True)]


@given(st.lists(st.integers(0, 5)))
def test_each_place_knows_how_many_of_its_group_come_before(groups: list[int]) -> None:
    expected = [groups[:place].count(group) for place, group in enumerate(groups)]

    assert earlier_of_group(np.array(groups, dtype=np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(-1, 6), st.floats(0.01, 1))))
def test_a_file_adds_up_its_documents_each_for_less_than_the_one_before(documents: list[tuple[int, float]]) -> None:
    best_first = sorted(documents, key=lambda document: -document[1])
    files = np.array([file for file, _ in best_first], dtype=np.int64)
    (sums,) = sums_by_file([files], [np.array([score for _, score in best_first])], [0.6], count=7)

    of_files = [[score for file, score in best_first if file == wanted] for wanted in range(7)]
    assert sums.tolist() == pytest.approx(
        [sum(score * 0.6**earlier for earlier, score in enumerate(scores)) for scores in of_files]
    )
