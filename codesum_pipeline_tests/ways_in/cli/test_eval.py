"""`codesum eval`: tables for people, every measure for programs, and nothing left out in silence."""

import json

import pytest

TOTAL = {
    "id": "total",
    "query": "add up the prices of a basket",
    "relevant": [{"file_path": "shop/orders.py"}],
    "cited_symbols": [{"file_path": "shop/orders.py", "symbol": "total_price", "start_line": 24, "end_line": 29}],
    "category": "how",
    "repo": "shop",
}
CARD = {
    "id": "card",
    "query": "charge_card",
    "relevant": [{"file_path": "shop/payment.py"}],
    "category": "symbol",
    "commit": "f" * 40,
    "repo": "shop",
}
ELSEWHERE = {"id": "else", "query": "q", "relevant": [{"file_path": "a.py"}], "repo": "acme/bank"}


@pytest.fixture
def questions(tmp_path):
    def write(*rows):
        path = tmp_path / "questions.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return path

    return write


def rows_of(found, table="setups"):
    return {row["label"]: row for row in found[table]}


def test_people_get_a_table_by_way_of_asking_and_by_category(codesum, shop, questions):
    result = codesum(shop, "eval", questions(TOTAL, {**CARD, "commit": None}))

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split()[:5] == ["ways", "of", "asking", "questions", "ndcg@10"]
    assert lines[1].startswith("all lanes ") and "1.000 ±0.000" in lines[1]
    assert any(line.startswith("functions and classes ") for line in lines)
    assert any(line.startswith("all lanes, by category ") for line in lines)
    assert result.stderr == "2 questions for shop\nquestions: 4 of 4\n"


def test_programs_get_every_measure_with_its_interval(codesum, shop, questions):
    found = json.loads(codesum(shop, "eval", questions(TOTAL, CARD), "--json").stdout)

    everything, symbols = rows_of(found)["all lanes"], rows_of(found)["functions and classes"]
    assert everything["questions"] == 2
    assert everything["measures"]["file_mrr@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert symbols["measures"]["function_recall@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert set(everything["latency_ms"]) == {"p50", "p95"}


def test_each_lane_and_each_level_is_asked_alone(codesum, shop, questions):
    found = json.loads(codesum(shop, "eval", questions(CARD), "--each-lane", "--each-level", "--json").stdout)

    lanes, levels = ["code", "summary", "fused", "keywords", "symbol"], ["function", "class", "file", "module"]
    alone = [*(f"lane {lane}" for lane in lanes), *(f"level {level}" for level in levels)]
    assert list(rows_of(found)) == ["all lanes", *alone]
    assert list(rows_of(found, "differences")) == alone
    assert rows_of(found)["level module"]["measures"]["module_recall@10"]["mean"] == 1.0


def test_lanes_and_levels_can_be_chosen(codesum, shop, questions):
    arguments = ("--lane", "code", "--lane", "keywords", "--level", "file", "--json")

    found = json.loads(codesum(shop, "eval", questions(TOTAL), *arguments).stdout)

    assert list(rows_of(found)) == ["code + keywords, file"]
    assert found["setups"][0]["measures"]["function_hit@20"]["mean"] == 0.0


def test_questions_about_what_is_not_indexed_are_counted_and_named(codesum, shop, questions):
    result = codesum(shop, "eval", questions(TOTAL, ELSEWHERE, {**ELSEWHERE, "id": "again"}), "--json")

    assert result.exit_code == 0
    assert "2 questions left out, about repositories that are not searched: acme/bank (2)" in result.stderr
    assert json.loads(result.stdout)["notes"][1].startswith("2 questions left out")


def test_an_index_of_another_commit_is_told(codesum, shop, questions):
    assert (
        "shop: 1 question written for commit ffffffffff, the index is of "
        in codesum(shop, "eval", questions(CARD)).stderr
    )


def test_the_report_is_a_page_of_markdown(codesum, shop, questions, tmp_path):
    codesum(shop, "eval", questions(TOTAL, CARD), "--report", tmp_path / "report.md")

    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert page.startswith("# Retrieval evaluation\n- 2 questions for shop\n- shop: 1 question written for commit")
    assert "| all lanes | 2 | 1.000 [1.000, 1.000] |" in page


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(
            [ELSEWHERE],
            "no question is about a repository that is searched (shop); the questions are about acme/bank",
            id="none",
        ),
        pytest.param([{"id": "a"}], "questions.jsonl:1: field 'query'", id="a wrong row"),
        pytest.param([], "holds no question", id="an empty file"),
    ],
)
def test_what_cannot_be_evaluated_is_wrong_usage(codesum, shop, questions, rows, message):
    result = codesum(shop, "eval", questions(*rows))

    assert result.exit_code == 2
    assert message in result.stderr


def test_questions_of_levels_that_are_not_asked_are_wrong_usage(codesum, shop, questions):
    result = codesum(shop, "eval", questions({**CARD, "level": "function"}), "--level", "module")

    assert result.exit_code == 2
    assert "no question can be asked at level module" in result.stderr


def test_a_file_that_is_not_there_and_a_repository_that_is_unknown_are_wrong_usage(codesum, shop, questions):
    assert codesum(shop, "eval", "missing.jsonl").exit_code == 2
    assert "'shpo'" in codesum(shop, "eval", questions(TOTAL), "--repo", "shpo").stderr


def test_without_a_file_the_repository_asks_what_its_docstrings_say(codesum, shop):
    result = codesum(shop, "eval", "--json")

    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["notes"] == ["shop: questions of its own: docstring (4)"]
    assert rows_of(found)["all lanes"]["questions"] == 4
    assert 0 < rows_of(found)["all lanes"]["measures"]["function_hit@10"]["mean"] <= 1


def test_the_ledger_shows_texts_beside_code_alone(codesum, shop, questions, tmp_path):
    result = codesum(shop, "eval", questions(TOTAL, CARD, ELSEWHERE), "--lift", "--report", tmp_path / "lift.md")

    lines = result.stdout.splitlines()
    assert (lines[0], result.exit_code) == ("## shop", 0)
    assert lines[2].startswith("| level | questions | texts | score |")
    assert [line.split(" | ")[1:3] for line in lines[4:6]] == [["2", "code only"], ["2", "extractive texts"]]
    assert (tmp_path / "lift.md").read_text(encoding="utf-8").rstrip() == result.stdout.rstrip()


def test_the_ledger_for_programs_has_gains_with_bounds(codesum, shop, questions):
    rows = json.loads(codesum(shop, "eval", questions(CARD), "--lift", "--json").stdout)["lift"]["shop"]

    assert [(row["texts"], row["gain"]) for row in rows[:2]] == [
        ("code only", None),
        ("extractive texts", {"mean": 0.0, "low": 0.0, "high": 0.0}),
    ]


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        pytest.param([TOTAL], ["--each-lane"], "leave out --lane", id="ways of asking of its own"),
        pytest.param([ELSEWHERE], [], "no question is about shop", id="nothing to ask"),
    ],
)
def test_a_ledger_that_cannot_be_is_wrong_usage(codesum, shop, questions, rows, arguments, message):
    result = codesum(shop, "eval", questions(*rows), "--lift", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
