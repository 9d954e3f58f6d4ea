import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.retrieval.evidence import earlier_of_group, rank_files


def ranked(documents: list[tuple[int, float]], decay: float = 0.6) -> list[int]:
    best_first = sorted(documents, key=lambda document: -document[1])
    files = np.array([file for file, _ in best_first], dtype=np.int64)
    return rank_files(files, np.array([score for _, score in best_first]), decay=decay).tolist()


def test_several_good_documents_beat_the_single_best() -> None:
    assert ranked([(1, 1.0), (2, 0.9), (2, 0.8)]) == [2, 1]


def test_many_weak_documents_do_not_beat_one_that_is_good() -> None:
    assert ranked([(1, 1.0), *((2, 0.3) for _ in range(1000))]) == [1, 2]


def test_what_stands_in_no_file_is_evidence_for_none() -> None:
    assert ranked([(-1, 9.0), (4, 1.0), (-1, 2.0)]) == [4]


def test_ties_break_by_number_and_nothing_gives_nothing() -> None:
    assert ranked([(5, 1.0), (3, 1.0), (4, 1.0)]) == [3, 4, 5]
    assert ranked([]) == []


@given(st.lists(st.integers(0, 5)))
def test_each_place_knows_how_many_of_its_group_come_before(groups: list[int]) -> None:
    expected = [groups[:place].count(group) for place, group in enumerate(groups)]

    assert earlier_of_group(np.array(groups, dtype=np.int64)).tolist() == expected
