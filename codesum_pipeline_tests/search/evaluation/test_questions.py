"""Ground truth is read whole or not at all, and a wrong line is named."""

import json

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, read_questions, write_questions

FULL = Question(
    id="shop/1",
    query="where is tax added? — überall",
    relevant=(AnswerPlace("shop/cart.py", 4, 9), AnswerPlace("shop/tax.py", secondary=True)),
    cited_symbols=(AnswerPlace("shop/cart.py", 4, 9, "Cart.total", "function"),),
    category="where",
    language="python",
    level=Level.FUNCTION,
    source="by hand",
    repo="acme/shop",
    commit="c" * 40,
    scope="shop",
)
BARE = Question(id="shop/2", query="what is it?", relevant=(AnswerPlace("README.md"),))

ROW = {"id": "a", "query": "q", "relevant": [{"file_path": "a.py"}]}


def write(path, *rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_questions_that_were_written_are_read_as_they_were(tmp_path):
    write_questions(tmp_path / "q.jsonl", [FULL, BARE])

    assert read_questions(tmp_path / "q.jsonl") == [FULL, BARE]


def test_fields_of_other_makers_are_passed_over(tmp_path):
    row = {**ROW, "difficulty": 3, "relevant": [{"file_path": "a.py", "mentions": 2, "spans": [[1, 2]]}]}

    assert read_questions(write(tmp_path / "q.jsonl", row)) == [Question("a", "q", (AnswerPlace("a.py"),))]


def test_a_number_is_an_id_and_empty_lines_are_none(tmp_path):
    found = read_questions(write(tmp_path / "q.jsonl", {**ROW, "id": 7}, "", {**ROW, "id": 8}))

    assert [question.id for question in found] == ["7", "8"]


def test_the_symbols_are_those_that_are_cited_else_what_lies_within_files():
    assert FULL.symbols == FULL.cited_symbols
    assert BARE.symbols == ()
    assert Question("a", "q", (AnswerPlace("a.py", 1, 2), AnswerPlace("b.py"))).symbols == (AnswerPlace("a.py", 1, 2),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("{", "not JSON", id="not JSON"),
        pytest.param("[1]", "not an object but list", id="no object"),
        pytest.param({**ROW, "query": ""}, "field 'query'", id="an empty query"),
        pytest.param({"id": "a", "query": "q"}, "field 'relevant': Field required", id="nothing relevant"),
        pytest.param({**ROW, "relevant": []}, "field 'relevant'", id="an empty list"),
        pytest.param({**ROW, "relevant": [{"file_path": 3}]}, "field 'relevant.0.file_path'", id="a path of no text"),
        pytest.param({**ROW, "relevant": [{"file_path": "a", "start_line": 3}]}, "given together", id="half of a span"),
        pytest.param(
            {**ROW, "relevant": [{"file_path": "a", "start_line": 3, "end_line": 2}]},
            "end_line 2 lies before start_line 3",
            id="a span backwards",
        ),
        pytest.param({**ROW, "level": "line"}, "field 'level'", id="an unknown level"),
        pytest.param({**ROW, "id": "first"}, "'first' was given to an earlier question", id="an id twice"),
    ],
)
def test_a_wrong_line_is_named_with_its_field(tmp_path, line, message):
    path = write(tmp_path / "q.jsonl", {**ROW, "id": "first"}, line)

    with pytest.raises(ConfigurationError) as raised:
        read_questions(path)

    assert str(raised.value).startswith(f"{path}:2: ")
    assert message in str(raised.value)


def test_a_file_without_questions_is_no_evaluation(tmp_path):
    with pytest.raises(ConfigurationError, match="holds no question"):
        read_questions(write(tmp_path / "q.jsonl", ""))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="missing.jsonl"):
        read_questions(tmp_path / "missing.jsonl")
