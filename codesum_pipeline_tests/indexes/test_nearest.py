from pathlib import Path

import faiss
import numpy as np
import pytest

from codesum_pipeline.indexes.file_formats.nearest_vectors import NearestVectors, write_nearest
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors


def vectors_in_groups(count: int, *, seed: int = 0) -> Vectors:
    """Unit vectors around a few directions, as texts about a few subjects have."""
    random = np.random.default_rng(seed)
    subjects = random.normal(size=(40, 32))
    found = subjects[random.integers(len(subjects), size=count)] + 0.7 * random.normal(size=(count, 32))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return vectors_in_groups(30_000)


@pytest.fixture(scope="module")
def nearest(vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> NearestVectors:
    path = tmp_path_factory.mktemp("nearest") / "vectors.ivf"
    write_nearest(path, vectors)
    return NearestVectors.map_file(path)


def test_the_same_vectors_give_the_same_bytes_on_any_number_of_threads(tmp_path: Path, vectors: Vectors) -> None:
    before = faiss.omp_get_max_threads()
    for threads in (1, 2):
        faiss.omp_set_num_threads(threads)
        write_nearest(tmp_path / str(threads), vectors)
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
    write_nearest(path, vectors)
    opened = NearestVectors.map_file(path)
    path.unlink()

    assert len(opened) == len(vectors)
    assert len(opened.candidates(vectors[0], 10, among=slice(0, len(vectors)))) == 15
