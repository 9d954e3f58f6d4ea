from pathlib import Path

import bm25s
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats.bm25 import K1, B, Bm25Index, TokenCounts, build_bm25
from codesum_pipeline.indexes.lanes.sparse import count_tokens

TEXTS = ["cart price tax", "cart cart article", "session user password", "price", "", "tax rate of an article price"]


def build(texts: list[str], levels: list[int]) -> Bm25Index:
    return build_bm25(count_tokens(pa.chunked_array([texts], pa.string())), np.array(levels, dtype=np.int8))


def oracle(texts: list[str], query: list[str]) -> list[float]:
    retriever = bm25s.BM25(k1=K1, b=B, method="lucene")
    retriever.index([text.split() for text in texts], show_progress=False)
    scores: list[float] = retriever.get_scores(query).tolist()
    return scores


@pytest.mark.parametrize("query", [["price"], ["cart", "tax"], ["article", "article"]], ids=" ".join)
def test_scores_are_those_of_bm25s(query: list[str]) -> None:
    assert build(TEXTS, [0] * 6).score(query) == pytest.approx(oracle(TEXTS, query), abs=1e-5)


def test_each_level_has_its_own_statistics() -> None:
    both = build([*TEXTS, *TEXTS[:3]], [0] * 6 + [1] * 3).score(["price", "cart"])

    assert both[:6] == pytest.approx(oracle(TEXTS, ["price", "cart"]), abs=1e-5)
    assert both[6:] == pytest.approx(oracle(TEXTS[:3], ["price", "cart"]), abs=1e-5)


def test_an_unknown_word_scores_nothing() -> None:
    assert not build(TEXTS, [0] * 6).score(["kubernetes"]).any()


def test_what_is_written_is_mapped_again_and_scipy_reads_it(tmp_path: Path) -> None:
    index = build(TEXTS, [0] * 6)
    index.write(tmp_path / "index.npz")

    assert Bm25Index.map_file(tmp_path / "index.npz").score(["tax"]).tolist() == index.score(["tax"]).tolist()
    matrix = scipy.sparse.load_npz(tmp_path / "index.npz")
    column = index.vocabulary.find("tax")
    assert matrix.shape == (6, len(index.vocabulary))
    assert matrix[:, [column]].toarray().ravel().tolist() == index.score(["tax"]).tolist()


@pytest.mark.parametrize("texts", [[], [""], ["", ""]], ids=["no documents", "one empty", "two empty"])
def test_nothing_to_index_gives_an_index_that_answers(texts: list[str], tmp_path: Path) -> None:
    build(texts, [0] * len(texts)).write(tmp_path / "index.npz")

    assert Bm25Index.map_file(tmp_path / "index.npz").score(["price"]).tolist() == [0.0] * len(texts)


# A word that a text has more often than one byte can say, too.
TEXT = st.lists(st.sampled_from(["cart", "price", "tax", "é", "z9", "user", " ".join(["a"] * 300)]), max_size=4).map(
    " ".join
)


def counted(texts: list[str]) -> TokenCounts:
    return count_tokens(pa.chunked_array([texts], pa.string()))


@given(st.lists(TEXT, max_size=8), st.lists(st.tuples(st.booleans(), TEXT), max_size=8))
def test_counts_with_some_texts_anew_are_those_of_all_texts(before: list[str], after: list[tuple[bool, str]]) -> None:
    kept = [*range(sum(is_kept for is_kept, _ in after))][: len(before)]
    left = iter(kept)
    places = [next(left, -1) if is_kept else -1 for is_kept, _ in after]
    texts = [before[place] if place >= 0 else text for place, (_, text) in zip(places, after, strict=True)]
    anew = [row for row, place in enumerate(places) if place < 0]
    rows = np.full(len(before), -1)
    rows[[place for place in places if place >= 0]] = [row for row, place in enumerate(places) if place >= 0]
    index = build_bm25(counted(before), np.zeros(len(before), dtype=np.int8))

    found = TokenCounts.of_index(index).with_texts(
        rows, counted([texts[row] for row in anew]), np.array(anew, dtype=np.int64), len(texts)
    )

    every = counted(texts)
    assert found.vocabulary == every.vocabulary
    for name in ("columns", "rows", "counts", "lengths"):
        assert getattr(found, name).tolist() == getattr(every, name).tolist(), name


def test_a_count_has_as_many_bytes_as_the_largest_needs() -> None:
    assert build(["a", "b " * 255], [0, 0]).times.dtype == np.uint8
    assert build(["a", "b " * 256], [0, 0]).times.dtype == np.uint16
