from pathlib import Path

import bm25s
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats import bm25, bm25_updates
from codesum_pipeline.indexes.file_formats.bm25 import K1, B, Bm25Index, TokenCounts, build_bm25
from codesum_pipeline.indexes.file_formats.bm25_updates import MovedTexts, update_bm25
from codesum_pipeline.indexes.lanes.sparse import count_tokens

# Six texts of two words on average, as are the first three of six: nothing is to be rounded.
TEXTS = ["cart price tax", "cart cart", "password", "price", "", "tax rate of an article"]


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


@given(
    st.lists(TEXT, max_size=8), st.lists(st.tuples(st.booleans(), TEXT), max_size=8), st.sampled_from([0, 1, 10]),
    st.sampled_from([1, 3, 1 << 16]), st.sampled_from([0, 1 << 16]),
)  # fmt: skip
def test_an_index_with_some_texts_anew_is_that_of_all_texts(
    before: list[str], after: list[tuple[bool, str]], digits: int, at_once: int, few: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        # With few digits, sizes of levels stay the same though texts change.
        patched.setattr(bm25, "_DIGITS", digits)
        patched.setattr(bm25, "_AT_ONCE", at_once)
        patched.setattr(bm25_updates, "_FEW", few)
        half = len(after) // 2
        levels_before = np.array([number >= half for number in range(len(before))], dtype=np.int8)
        levels = np.array([number >= half for number in range(len(after))], dtype=np.int8)
        places = np.array([k if kept and k < len(before) else -1 for k, (kept, _) in enumerate(after)], dtype=np.int64)
        texts = [before[place] if place >= 0 else text for place, (_, text) in zip(places, after, strict=True)]
        anew = np.flatnonzero(places < 0)
        rows = np.full(len(before), -1)
        rows[places[places >= 0]] = np.flatnonzero(places >= 0)

        found = update_bm25(
            build_bm25(counted(before), levels_before),
            MovedTexts(rows, levels_before, anew),
            counted([texts[row] for row in anew]),
            levels,
        )

        every = build_bm25(counted(texts), levels)
        assert found.vocabulary.to_list() == every.vocabulary.to_list()
        for name in ("data", "indices", "indptr", "times", "lengths"):
            assert getattr(found, name).dtype == getattr(every, name).dtype, name
            assert getattr(found, name).tolist() == getattr(every, name).tolist(), name


def test_texts_that_come_and_go_between_others_leave_the_index_of_all_texts() -> None:
    before = ["a b", "b c", "c d d", "d", "x y", "y z z"]
    texts = ["aa b", "b c", "d", "c", "y b", "x y", "c", "d d"]
    levels_before, levels = np.array([0, 0, 0, 0, 1, 1], dtype=np.int8), np.array([0] * 4 + [1] * 4, dtype=np.int8)
    moved = MovedTexts(np.array([-1, 1, -1, 2, 5, -1]), levels_before, np.array([0, 3, 4, 6, 7]))

    found = update_bm25(
        build_bm25(counted(before), levels_before), moved, counted(["aa b", "c", "y b", "c", "d d"]), levels
    )

    every = build_bm25(counted(texts), levels)
    assert found.vocabulary.to_list() == every.vocabulary.to_list() == ["aa", "b", "c", "d", "x", "y"]
    for name in ("data", "indices", "indptr", "times", "lengths"):
        assert getattr(found, name).tolist() == getattr(every, name).tolist(), name


def test_scores_of_untouched_texts_stay_while_a_level_grows_by_little() -> None:
    texts = [f"word{number % 7} other{number % 5}" for number in range(1000)]
    before = build([*texts, "cart"], [0] * 1001)
    after = build([*texts, "cart", "tax"], [0] * 1002)

    assert after.score(["word3", "other1"])[:1000].tolist() == before.score(["word3", "other1"])[:1000].tolist()
    assert bm25.rarity_of(np.array([1]), np.array([1001])) == bm25.rarity_of(np.array([1]), np.array([1008]))


@pytest.mark.parametrize("number", [0, 1, 63, 127, 128, 1000, 12345, 0.3, 2.667])
def test_a_size_is_rounded_up_by_less_than_a_64th(number: float) -> None:
    (rounded,) = bm25._rounded_up(np.array([number]))

    assert number <= rounded <= number * (1 + 1 / 64)
    assert rounded == number or number > 128 or number % 1


def test_a_count_has_as_many_bytes_as_the_largest_needs() -> None:
    assert build(["a", "b " * 255], [0, 0]).times.dtype == np.uint8
    assert build(["a", "b " * 256], [0, 0]).times.dtype == np.uint16
