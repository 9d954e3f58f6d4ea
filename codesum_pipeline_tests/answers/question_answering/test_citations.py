"""Citations are held against the sources at the index's commit."""

from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.question_answering.citations import CheckedText, RepositoryFiles, check_citations
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex


@pytest.fixture(scope="module")
def sources(indexed_shop: Path) -> RepositoryFiles:
    layout = HomeLayout(indexed_shop)
    index = PublishedIndex.open(layout.published("shop"))
    return RepositoryFiles(
        SourceReader(IndexCatalogue.of(load_settings({"home": indexed_shop}, environ={})), [index], print),
        load_embedder("static"),
    )


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        pytest.param(
            "In `shop/orders.py:8-24`.", CheckedText("In `shop/orders.py:8-24`.", 1, 0), id="lines that are there"
        ),
        pytest.param("In shop/orders.py:8.", CheckedText("In shop/orders.py:8.", 1, 0), id="before a full stop"),
        pytest.param("In ./shop/orders.py:L8.", CheckedText("In ./shop/orders.py:L8.", 1, 0), id="written otherwise"),
        pytest.param("Cards (`shop/orders.py:99`) here.", CheckedText("Cards here.", 0, 1), id="past the end"),
        pytest.param("Cards [shop/orders.py:9-3] here.", CheckedText("Cards here.", 0, 1), id="backwards"),
        pytest.param("Cards shop/nowhere.py:3 here.", CheckedText("Cards here.", 0, 1), id="no such file"),
        pytest.param("Line 0: orders.py:0.", CheckedText("Line 0:.", 0, 1), id="a language's file that is not there"),
        pytest.param(
            "Two (`shop/orders.py:8`, `shop/orders.py:99`).",
            CheckedText("Two (`shop/orders.py:8`).", 1, 1),
            id="one of two",
        ),
        pytest.param(
            "At http://127.0.0.1:8080/x, 10:30, localhost:3000, python:3.",
            CheckedText("At http://127.0.0.1:8080/x, 10:30, localhost:3000, python:3.", 0, 0),
            id="ports and times are none",
        ),
        pytest.param("", CheckedText("", 0, 0), id="nothing"),
    ],
)
def test_a_citation_stays_where_its_lines_are_there(sources: RepositoryFiles, text: str, checked: CheckedText) -> None:
    assert check_citations(text, sources) == checked
