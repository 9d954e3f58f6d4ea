"""Questions asked of a real index, in several ways."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    EACH_LANE,
    SETUPS,
    EvaluationSetup,
    ask_questions,
    indexes_of,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.synthetic_indexes import Definition, make_index_workspace, publish

TOTAL = Question(
    id="total",
    query="sum of all prices with tax",
    relevant=(AnswerPlace("shop/cart.py"),),
    cited_symbols=(AnswerPlace("shop/cart.py", symbol="total_price"),),
    repo="shop",
)
BY_NAME = Question(id="by name", query="total_price", relevant=(AnswerPlace("shop/cart.py"),), repo="acme/shop")
LOGIN = Question(id="login", query="who is a customer", relevant=(AnswerPlace("shop/auth.py"),), level=Level.CLASS)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    return index(tmp_path_factory.mktemp("home"))


def index(home: Path, *files, **names) -> PublishedIndex:
    workspace = make_index_workspace(home, *files, **names)
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published(workspace.key))


def ask(indexes, questions, *setups, **more):
    return ask_questions(indexes, questions, embedder=load_embedder("static"), setups=setups or [ALL], **more)


def test_each_answer_has_what_was_found_and_how_good_it_is(shop):
    total, by_name = ask([shop], [TOTAL, BY_NAME])

    assert total.top[0] in ("shop/cart.py", "shop/cart.py::total_price")
    assert (total.measures["file_mrr@10"], total.measures["function_recall@10"]) == (1.0, 1.0)
    assert by_name.top[0] == "shop/cart.py::total_price"
    assert by_name.measures["ndcg@10"] == 1.0
    assert total.latency_ms > 0


def test_setups_are_asked_one_after_the_other_in_the_order_of_the_questions(shop):
    found = ask([shop], [TOTAL, BY_NAME], ALL, EACH_LANE[0])

    assert [(answer.setup, answer.question.id) for answer in found] == [
        (setup, question) for setup in ("all lanes", "lane code") for question in ("total", "by name")
    ]


def test_a_question_is_asked_at_its_level_and_only_by_setups_that_have_it(shop):
    at_classes, at_functions = (
        EvaluationSetup("classes", levels=(Level.CLASS,)),
        EvaluationSetup("functions", levels=(Level.FUNCTION,)),
    )

    found = ask([shop], [LOGIN], ALL, at_functions, at_classes)

    assert [answer.setup for answer in found] == ["all lanes", "classes"]
    assert {answer.top for answer in found} == {("shop/auth.py::LoginHandler",)}


def test_code_alone_and_every_lane_and_level_are_setups_of_their_own():
    assert [(setup.lanes, setup.levels) for setup in SETUPS] == [
        (LANES, LEVELS),
        ((Lane.CODE, Lane.SYMBOL), LEVELS),
        *(((lane,), LEVELS) for lane in Lane),
        *((LANES, (level,)) for level in Level),
    ]


def test_a_repository_is_named_by_key_or_by_owner_and_name_and_unnamed_all_are_asked(shop, tmp_path):
    bank = index(tmp_path, {"bank.py": (Definition("withdraw", "Take money."),)}, key="bank", slug=None)

    named = [Question("q", "q", (AnswerPlace("a"),), repo=repo) for repo in ("bank", "acme/shop", None, "acme/none")]

    assert [[found.repo for found in indexes_of([bank, shop], question)] for question in named] == [
        ["bank"],
        ["shop"],
        ["bank", "shop"],
        [],
    ]


def test_a_question_about_what_is_not_indexed_is_refused(shop):
    with pytest.raises(ConfigurationError, match="question 'q': repository 'acme/none' is not indexed"):
        ask([shop], [TOTAL, Question("q", "q", (AnswerPlace("a"),), repo="acme/none")])


def test_progress_counts_every_question_of_every_setup(shop):
    steps = []

    ask(
        [shop],
        [TOTAL, LOGIN],
        ALL,
        EvaluationSetup("files", levels=(Level.FILE,)),
        progress=lambda *step: steps.append(step),
    )

    assert steps == [("questions", done, 4) for done in (1, 2, 3, 4)]
