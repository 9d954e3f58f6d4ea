import pytest

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([9], [[9]]),
        ([2, 2, 1, 1], [[2, 2, 1], [1]]),
        ([1, 9, 1], [[1], [9], [1]]),
        ([0, 0, 0, 0], [[0, 0, 0], [0]]),
    ],
)
def test_items_are_together_while_they_fit(sizes: list[int], batches: list[list[int]]) -> None:
    assert [*bounded_batches(sizes, int, most=5, most_items=3)] == batches
