import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.retrieval.lookup import inner_products
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import parse_query
from codesum_pipeline.search.retrieval.shelf import Shelf
from codesum_pipeline.search.retrieval.weights import Signal, needs_vector, signals_of
from codesum_pipeline_tests.search.retrieval.rankings import rank_documents


def ranked(index: PublishedIndex, embedder: Embedder, text: str, signal: Signal, level: Level) -> list[str]:
    query = parse_query(text, embedder=embedder)
    return [index.ids[row] for row in rank_documents(Shelf([index]), query, signal, [level], limit=10).numbers]


@pytest.mark.parametrize("signal", list(Signal)[1:], ids=str)
def test_each_signal_finds_a_function_by_itself(shop: PublishedIndex, embedder: Embedder, signal: Signal) -> None:
    found = ranked(shop, embedder, "total price with tax of all articles", signal, Level.FUNCTION)

    assert found[0] == "shop/cart.py::total_price"


@pytest.mark.parametrize("signal", list(Signal), ids=str)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_ranking_names_documents_of_its_level_once(
    shop: PublishedIndex, embedder: Embedder, signal: Signal, level: Level
) -> None:
    found = ranked(shop, embedder, "shop cart.py add_item LoginHandler", signal, level)

    assert len(found) == len(set(found))
    rows = [row for id_ in found if (row := shop.row(id_)) is not None]
    assert len(rows) == len(found)
    assert {shop.level_of(row) for row in rows} <= {level}


def test_placeholders_are_ranked_by_words_and_names_and_never_by_vectors(
    shop: PublishedIndex, embedder: Embedder
) -> None:
    with_it = {
        signal
        for signal in Signal
        if "shop/auth.py::get_user" in ranked(shop, embedder, "get_user", signal, Level.FUNCTION)
    }

    assert with_it == {Signal.SYMBOL, Signal.CODE_WORDS, Signal.SUMMARY_WORDS, Signal.KEYWORDS}


def test_exact_names_come_before_prefixes(shop: PublishedIndex, embedder: Embedder) -> None:
    assert ranked(shop, embedder, "cart", Signal.SYMBOL, Level.FILE) == ["shop/cart.py"]
    assert ranked(shop, embedder, "auth", Signal.SYMBOL, Level.FUNCTION) == ["shop/auth.py::LoginHandler::authenticate"]
    assert ranked(shop, embedder, "test", Signal.SYMBOL, Level.FILE) == ["tests/test_cart.py"]


def test_a_name_is_found_in_another_case_and_spelling(shop: PublishedIndex, embedder: Embedder) -> None:
    for text in ("loginhandler.AUTHENTICATE", "LoginHandler::authenticate", "authenticate"):
        found = ranked(shop, embedder, text, Signal.SYMBOL, Level.FUNCTION)
        assert found[0] == "shop/auth.py::LoginHandler::authenticate"
    assert ranked(shop, embedder, "total price", Signal.SYMBOL, Level.FUNCTION)[0] == "shop/cart.py::total_price"


def test_rankings_of_several_indexes_are_one_ranking_by_score(shop: PublishedIndex, embedder: Embedder) -> None:
    query = parse_query("total price", embedder=embedder)

    shelf = Shelf([shop, shop])

    both = rank_documents(shelf, query, Signal.KEYWORDS, [Level.FUNCTION], limit=3)

    row = shop.row("shop/cart.py::total_price")
    assert row is not None
    assert both.numbers[:2].tolist() == [row, len(shop) + row]
    assert [(shelf[number].index, shelf[number].row) for number in both.numbers[:2].tolist()] == [
        (shop, row),
        (shop, row),
    ]
    assert both.scores[0] == both.scores[1] >= both.scores[2]
    assert len(both.numbers) == 3


def test_a_document_knows_its_file_in_any_index(shop: PublishedIndex) -> None:
    shelf = Shelf([shop, shop])
    ids = ("shop/cart.py::total_price", "shop/cart.py", "shop")
    rows = [row for id_ in ids if (row := shop.row(id_)) is not None]
    numbers = np.array([*rows, *(shelf.starts[1] + row for row in rows)])

    files = shelf.files(numbers).tolist()

    file = rows[1]
    assert files == [file, file, -1, len(shop) + file, len(shop) + file, -1]


def test_words_that_nothing_has_rank_nothing(shop: PublishedIndex, embedder: Embedder) -> None:
    assert ranked(shop, embedder, "kubernetes", Signal.CODE_WORDS, Level.FUNCTION) == []


def test_only_dense_lanes_need_a_vector() -> None:
    assert {lane for lane in LANES if needs_vector(signals_of([lane]))} == {Lane.SUMMARY, Lane.FUSED}
    assert signals_of([Lane.KEYWORDS, Lane.CODE]) == (Signal.CODE_WORDS, Signal.KEYWORDS)


@given(count=st.integers(0, 90), dimensions=st.sampled_from([1, 3, 256, 3072]), seed=st.integers(0, 9))
def test_a_vector_has_the_same_product_wherever_it_stands(count: int, dimensions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count, dimensions), dtype=np.float32)
    query = random.standard_normal(dimensions, dtype=np.float32)

    found = inner_products(vectors, query)

    assert found == pytest.approx(vectors.astype(np.float64) @ query, abs=1e-3)
    assert [inner_products(vectors[k : k + 1], query)[0] for k in range(count)] == found.tolist()
