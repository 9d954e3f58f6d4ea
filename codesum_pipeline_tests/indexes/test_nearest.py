from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from codesum_pipeline.indexes.file_formats.nearest_vectors import (
    NearestVectors,
    SortedVectors,
    is_sampled,
    write_nearest,
)
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


def vectors_in_groups(count: int, *, seed: int = 0) -> Vectors:
    """Unit vectors around a few directions, as texts about a few subjects have."""
    random = np.random.default_rng(seed)
    subjects = random.normal(size=(40, 32))
    found = subjects[random.integers(len(subjects), size=count)] + 0.7 * random.normal(size=(count, 32))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


SAMPLED = is_sampled(map(str, range(30_000)))


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return vectors_in_groups(30_000)


@pytest.fixture(scope="module")
def nearest(vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> NearestVectors:
    path = tmp_path_factory.mktemp("nearest") / "vectors.ivf"
    write_nearest(path, vectors, SAMPLED)
    return NearestVectors.map_file(path)


def test_the_same_vectors_give_the_same_bytes_on_any_number_of_threads(tmp_path: Path, vectors: Vectors) -> None:
    before = faiss.omp_get_max_threads()
    for threads in (1, 2):
        faiss.omp_set_num_threads(threads)
        write_nearest(tmp_path / str(threads), vectors, SAMPLED)
        assert faiss.omp_get_max_threads() == threads
    faiss.omp_set_num_threads(before)

    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_most_of_the_nearest_are_among_the_candidates(nearest: NearestVectors, vectors: Vectors) -> None:
    queries = vectors_in_groups(20, seed=0)
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :100]

    found = [nearest.candidates(query, 100, among=slice(0, len(vectors))) for query in queries]

    recalls = [len(np.intersect1d(some, best)) / 100 for some, best in zip(found, exact, strict=True)]
    assert np.mean(recalls) > 0.95
    assert all(np.array_equal(some, np.unique(some)) and len(some) == 150 for some in found)


def test_candidates_keep_to_a_span_and_to_a_mask(nearest: NearestVectors, vectors: Vectors) -> None:
    query = vectors[7]
    is_wanted = np.zeros(len(vectors), dtype=np.bool_)
    is_wanted[5:9_000:3] = True

    of_span = nearest.candidates(query, 50, among=slice(100, 2_100))
    of_mask = nearest.candidates(query, 50, among=is_wanted)

    assert (len(of_span), len(of_mask)) == (75, 75)
    assert of_span.min() >= 100 and of_span.max() < 2_100
    assert is_wanted[of_mask].all()


def test_where_fewer_pass_than_are_asked_for_these_are_all(nearest: NearestVectors, vectors: Vectors) -> None:
    is_wanted = np.zeros(len(vectors), dtype=np.bool_)
    row = int(np.argmax(vectors @ vectors[11]))
    is_wanted[row] = True

    assert nearest.candidates(vectors[11], 50, among=is_wanted).tolist() == [row]


def test_a_file_stays_readable_when_it_is_deleted(tmp_path: Path, vectors: Vectors) -> None:
    path = tmp_path / "vectors.ivf"
    write_nearest(path, vectors, SAMPLED)
    opened = NearestVectors.map_file(path)
    path.unlink()

    assert len(opened) == len(vectors)
    assert len(opened.candidates(vectors[0], 10, among=slice(0, len(vectors)))) == 15


def test_one_in_eight_is_sampled_by_its_id() -> None:
    assert 0.11 < SAMPLED.mean() < 0.14
    assert is_sampled(["12", "7"]).tolist() == [SAMPLED[12], SAMPLED[7]]


def _sorted_again(tmp_path: Path, vectors: Vectors, sampled: Mask, places: Numbers) -> tuple[bytes, bytes]:
    """The cells of vectors, of which those at `places` were sorted before; and their cells made anew."""
    write_nearest(tmp_path / "before", vectors_in_groups(30_000), SAMPLED)
    last = SortedVectors(NearestVectors.map_file(tmp_path / "before"), SAMPLED, places)
    write_nearest(tmp_path / "again", vectors, sampled, last)
    write_nearest(tmp_path / "anew", vectors, sampled)
    return (tmp_path / "again").read_bytes(), (tmp_path / "anew").read_bytes()


@pytest.mark.parametrize("of", [SAMPLED, ~SAMPLED], ids=["a sampled one", "another"])
def test_an_edited_vector_leaves_the_others_in_the_cells_that_all_have_anew(
    tmp_path: Path, vectors: Vectors, of: Mask
) -> None:
    edited, places, row = vectors.copy(), np.arange(len(vectors)), int(np.flatnonzero(of)[7])
    edited[row], places[row] = vectors[row + 1], -1

    again, anew = _sorted_again(tmp_path, edited, SAMPLED, places)

    assert again == anew


def test_vectors_that_come_and_go_leave_the_others_in_their_cells(tmp_path: Path, vectors: Vectors) -> None:
    places = np.delete(np.arange(len(vectors)), np.flatnonzero(~SAMPLED)[:3])
    places = np.insert(places, 100, [-1, -1])
    mixed = np.where(places[:, np.newaxis] < 0, vectors[3], vectors[places])
    sampled = (places >= 0) & SAMPLED[places]

    again, anew = _sorted_again(tmp_path, mixed, sampled, places)

    assert again == anew


def test_a_vector_is_in_the_cell_that_it_would_be_in_alone(tmp_path: Path, vectors: Vectors) -> None:
    write_nearest(tmp_path / "all", vectors, SAMPLED)
    nearest = NearestVectors.map_file(tmp_path / "all")
    places = np.arange(len(vectors))
    places[np.flatnonzero(~SAMPLED)[::2]] = -1

    write_nearest(tmp_path / "half", vectors, SAMPLED, SortedVectors(nearest, SAMPLED, places))

    assert (tmp_path / "half").read_bytes() == (tmp_path / "all").read_bytes()


def test_too_small_a_sample_is_replaced_by_all(tmp_path: Path, vectors: Vectors) -> None:
    none = np.zeros(len(vectors), dtype=np.bool_)
    write_nearest(tmp_path / "none", vectors, none)
    write_nearest(tmp_path / "all", vectors, ~none)

    assert (tmp_path / "none").read_bytes() == (tmp_path / "all").read_bytes()
