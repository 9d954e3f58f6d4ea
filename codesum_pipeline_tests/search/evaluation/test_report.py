"""The tables that answers become."""

import json

from codesum_pipeline.search.evaluation.evaluate import Interval, QuestionResult
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.evaluation.report import (
    as_json,
    plain_interval,
    short_interval,
    signed_interval,
    summarize_answers,
    write_report,
)


def answer(id_, setup, measures, *, category="where", language="python", repo="shop", ms=2.0):
    question = Question(id_, "q", (AnswerPlace("a.py"),), category=category, language=language, repo=repo)
    return QuestionResult(question, setup, measures, ms, ())


BOTH = [
    answer("a", "all lanes", {"ndcg@10": 1.0, "function_mrr@10": 0.5}, ms=1.0),
    answer("b", "all lanes", {"ndcg@10": 1.0}, category="why", ms=3.0),
    answer("a", "lane code", {"ndcg@10": 0.5, "function_mrr@10": 0.5}, ms=2.0),
    answer("b", "lane code", {"ndcg@10": 0.5}, category="why", ms=2.0),
]


def sure(value):
    return Interval(value, value, value)


def test_each_way_of_asking_has_a_row_with_means_over_the_questions_that_have_a_measure():
    first, second = summarize_answers(BOTH).setups.rows

    assert (first.label, first.questions, first.latency_ms.p50) == ("all lanes", 2, 2.0)
    assert first.measures == {"ndcg@10": sure(1.0), "function_mrr@10": sure(0.5)}
    assert second.measures == {"ndcg@10": sure(0.5), "function_mrr@10": sure(0.5)}


def test_differences_are_from_the_first_way_and_over_what_both_answered():
    only_once = answer("c", "lane code", {"ndcg@10": 1.0}, ms=9.0)

    (row,) = summarize_answers([*BOTH, only_once]).differences.rows

    assert (row.label, row.questions, row.latency_ms.p50) == ("lane code", 2, 0.0)
    assert row.measures == {"ndcg@10": sure(-0.5), "function_mrr@10": sure(0.0)}


def test_two_repositories_may_ask_the_same_under_one_id():
    answers = [answer("a", "all", {"ndcg@10": 1.0}), answer("a", "all", {"ndcg@10": 0.0}, repo="copy")]

    assert summarize_answers(answers).setups.rows[0].measures["ndcg@10"].mean == 0.5


def test_answers_are_parted_by_what_their_questions_differ_in_and_by_nothing_else():
    (by_category,) = summarize_answers(BOTH).groups

    assert by_category.title == "all lanes, by category"
    assert [(row.label, row.questions) for row in by_category.rows] == [("where", 1), ("why", 1)]


def test_the_page_has_a_table_for_each_and_the_notes():
    page = write_report(summarize_answers(BOTH, notes=["2 questions for shop"]))

    assert page.startswith("# Retrieval evaluation\n- 2 questions for shop\n\n## Ways of asking\n")
    assert "|  | questions | ndcg@10 | function_mrr@10 | ms |\n| --- | ---: | ---: | ---: | ---: |\n" in page
    assert "| all lanes | 2 | 1.000 [1.000, 1.000] | 0.500 [0.500, 0.500] | 2.0 |\n" in page
    assert "## Differences from all lanes\n" in page
    assert "| lane code | 2 | -0.500 [-0.500, -0.500] * | +0.000 [+0.000, +0.000] | +0.0 |\n" in page
    assert "## All lanes, by category\n" in page


def test_a_category_cannot_break_the_table():
    answers = [answer("a", "all", {"ndcg@10": 1.0}, category="a|b"), answer("b", "all", {"ndcg@10": 1.0})]

    assert "| a/b | 1 |" in write_report(summarize_answers(answers))


def test_programs_get_every_measure_with_its_bounds():
    found = json.loads(json.dumps(as_json(summarize_answers(BOTH))))

    assert found["setups"][1] == {
        "label": "lane code",
        "questions": 2,
        "measures": {
            "ndcg@10": {"mean": 0.5, "low": 0.5, "high": 0.5},
            "function_mrr@10": {"mean": 0.5, "low": 0.5, "high": 0.5},
        },
        "latency_ms": {"p50": 2.0, "p95": 2.0},
    }
    assert [group["title"] for group in found["groups"]] == ["all lanes, by category"]


def test_no_answers_are_a_report_without_tables():
    report = summarize_answers([])

    assert (report.setups.rows, report.differences.rows, report.groups) == ((), (), ())


def test_numbers_are_written_with_their_bounds():
    found = Interval(0.8612, 0.838, 0.884)

    assert (plain_interval(found), short_interval(found)) == ("0.861 [0.838, 0.884]", "0.861 ±0.023")
    assert signed_interval(Interval(0.01, -0.002, 0.02)) == "+0.010 [-0.002, +0.020]"
    assert signed_interval(Interval(-0.01, -0.02, -0.002)) == "-0.010 [-0.020, -0.002] *"
