"""A search reads questions in the script of the code's documentation, and tells those without an answer."""

import tomllib
from pathlib import Path

import pytest

from benchmarks.scripts import QUESTIONS, open_index, rank_of
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query

SCRIPTS = ("chinese", "japanese", "korean", "thai", "russian", "greek", "arabic", "hindi")
LANGUAGES = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
NAMES = LANGUAGES["names"]


@pytest.fixture(scope="module", params=[*SCRIPTS, "english"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, PublishedIndex]:
    """A language, and the index of a small repository that is documented in it."""
    language: str = request.param
    return language, open_index(tmp_path_factory.mktemp(language), language, NAMES, LANGUAGES[language]["docs"])


def test_every_docstring_is_in_a_summary(asked: tuple[str, PublishedIndex]) -> None:
    language, index = asked
    summaries = [index.document(row)["summary"] for row in range(len(index))]

    bare = [doc.rstrip("。.।") for doc in LANGUAGES[language]["docs"]]

    assert [doc for doc in bare if not any(doc in summary for summary in summaries)] == []
    assert [summary for summary in summaries if "。." in summary or "।." in summary or "。。" in summary] == []


def test_a_question_finds_its_function_and_fits(asked: tuple[str, PublishedIndex]) -> None:
    language, index = asked
    answers = [answer_query([index], query, embedder=load_embedder("static")) for query in LANGUAGES[language]["right"]]

    assert [name for name, one in zip(NAMES, answers, strict=True) if rank_of(name, one) > 1] == []
    assert sum(not one.fits_well for one in answers) <= 2


def test_a_question_without_an_answer_does_not_fit(asked: tuple[str, PublishedIndex]) -> None:
    language, index = asked
    answers = [
        answer_query([index], query, embedder=load_embedder("static")) for query in LANGUAGES[language]["absent"]
    ]

    assert [query for query, one in zip(LANGUAGES[language]["absent"], answers, strict=True) if one.fits_well] == []


def test_a_question_in_another_script_than_the_codes_fits_only_by_its_names(tmp_path: Path) -> None:
    index, embedder = open_index(tmp_path, "english", NAMES, LANGUAGES["english"]["docs"]), load_embedder("static")

    assert not answer_query([index], "怎么从客户的银行卡扣款", embedder=embedder).fits_well
    assert answer_query([index], "charge_card 函数", embedder=embedder).fits_well
