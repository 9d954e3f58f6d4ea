from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.adjustments import RaisedScores, raise_callers
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline.search.retrieval.shelf import Filters, Shelf, WhichTests
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, Weights
from codesum_pipeline_tests.support.synthetic_indexes import Definition, Files, make_index_workspace, publish

# In row order. `checkout` says nothing of invoices and calls both that do.
NAMES = ("audit", "checkout", "log", "post", "stamp", "test_post", "zero")
CALLS = {"audit": ("log",), "checkout": ("post", "stamp"), "post": ("log",), "stamp": ("log",), "test_post": ("post",)}
SUMMARIES = {"log": "Write a line.", "post": "Send an invoice to a customer.", "stamp": "Number an invoice."}


def definition(name: str) -> Definition:
    calls = tuple(f"bank.py::{called}" for called in CALLS.get(name, ()))
    return Definition(name, SUMMARIES.get(name, "Finish it."), f"def {name}(): ...", calls=calls)


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    of_tests, others = (
        tuple(definition(name) for name in NAMES if name.startswith("test") == is_test) for is_test in (True, False)
    )
    files: Files = {"bank.py": others, "test_bank.py": of_tests}
    workspace = make_index_workspace(Path(tmp_path_factory.mktemp("bank")), files)
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("shop"))


def names_in_row_order(bank: PublishedIndex) -> list[str]:
    return [bank.ids[row].rpartition("::")[2] for row in range(len(NAMES))]


def raised(bank: PublishedIndex, scores: dict[str, float], weights: Weights = DEFAULT_WEIGHTS) -> dict[str, float]:
    """The scores of some functions after the best of them gave to their callers; tests count half."""
    rows = {row: name for row, name in enumerate(names_in_row_order(bank)) if name in scores}
    found = raise_callers(
        Shelf([bank]),
        np.array([*rows], dtype=np.int64),
        np.array([scores[name] for name in rows.values()]),
        factors=np.array([0.5 if name.startswith("test") else 1.0 for name in rows.values()]),
        weights=weights,
    )
    return {name: round(score, 6) for name, score in zip(rows.values(), found.scores.tolist(), strict=True)}


def test_what_is_found_shares_a_part_of_its_score_out_among_its_callers(bank: PublishedIndex) -> None:
    scores = {"post": 0.8, "stamp": 0.6, "checkout": 0.1, "test_post": 0.1}

    # `post` is called by two, `stamp` by one; a test is given half as much.
    assert raised(bank, scores) == {
        "post": 0.8,
        "stamp": 0.6,
        "checkout": pytest.approx(0.1 + 0.2 * (0.8 / 2 + 0.6)),
        "test_post": pytest.approx(0.1 + 0.2 * (0.8 / 2) / 2),
    }


def test_a_caller_comes_up_to_four_fifths_of_the_best_that_it_calls_and_never_falls(bank: PublishedIndex) -> None:
    assert raised(bank, {"post": 0.5, "checkout": 0.39}) == {"post": 0.5, "checkout": 0.4}
    assert raised(bank, {"post": 0.5, "checkout": 0.41}) == {"post": 0.5, "checkout": 0.41}


def test_what_was_not_found_is_given_nothing(bank: PublishedIndex) -> None:
    assert raised(bank, {"post": 0.8, "zero": 0.1}) == {"post": 0.8, "zero": 0.1}
    assert raised(bank, {}) == {}


def test_only_the_best_share(bank: PublishedIndex) -> None:
    scores = {"zero": 0.9, "post": 0.8, "checkout": 0.1}

    assert raised(bank, scores, replace(DEFAULT_WEIGHTS, sharing=1)) == scores


@given(st.lists(st.tuples(st.integers(0, 2 * 13 - 1), st.floats(0.01, 2)), unique_by=lambda pair: pair[0]))
def test_of_several_indexes_each_gives_to_its_own(bank: PublishedIndex, found: list[tuple[int, float]]) -> None:
    """Numbers of the second index are those of the first, and as many more as that has documents."""
    size = len(bank)
    numbered = {number % size % len(NAMES) + number // size % 2 * size: score for number, score in found}
    numbers = np.array(sorted(numbered), dtype=np.int64)
    scores = np.array([numbered[number] for number in sorted(numbered)])

    def raised_in(indexes: list[PublishedIndex], numbers: np.ndarray, scores: np.ndarray) -> RaisedScores:
        weights = replace(DEFAULT_WEIGHTS, sharing=100)
        return raise_callers(Shelf(indexes), numbers, scores, factors=np.ones(len(scores)), weights=weights)

    both = raised_in([bank, bank], numbers, scores).scores.tolist()

    first = numbers < size
    alone = [raised_in([bank], numbers[part] % size, scores[part]).scores.tolist() for part in (first, ~first)]
    assert both == alone[0] + alone[1]


def functions(bank: PublishedIndex, embedder: Embedder, text: str, **options: object) -> dict[str, Hit]:
    hits = search_indexes([bank], text, embedder=embedder, levels=[Level.FUNCTION], **options)  # type: ignore[arg-type]
    return {hit.id.rpartition("::")[2]: hit for hit in hits}


def test_a_function_is_found_by_what_it_calls_and_says_so(bank: PublishedIndex, embedder: Embedder) -> None:
    text = "how does an invoice get to the customer"
    found = functions(bank, embedder, text)
    unmoved = functions(bank, embedder, text, weights=replace(DEFAULT_WEIGHTS, caller_share=0.0))

    assert [*found][:3] == ["post", "stamp", "checkout"]
    assert found["checkout"].score > unmoved["checkout"].score
    assert found["checkout"].why.endswith("; calls post; calls stamp")
    assert found["post"] == unmoved["post"]
    assert "calls" not in "".join(hit.why for hit in unmoved.values())


def test_callers_that_are_filtered_out_stay_out(bank: PublishedIndex, embedder: Embedder) -> None:
    text = "send an invoice to the customer"

    assert "calls post" in functions(bank, embedder, text)["test_post"].why
    assert "test_post" not in functions(bank, embedder, text, filters=Filters(tests=WhichTests.OUT))


def test_who_asks_for_a_name_gets_no_callers_of_it(bank: PublishedIndex, embedder: Embedder) -> None:
    assert "calls" not in "".join(hit.why for hit in functions(bank, embedder, "post").values())
