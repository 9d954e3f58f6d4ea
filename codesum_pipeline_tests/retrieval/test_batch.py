import json
from pathlib import Path

import pytest

from codesum_pipeline.indexes.embedders import Embedder
from codesum_pipeline.retrieval.batch import Answer, BadRow, Question, answer_batch, parse_question
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import search
from codesum_pipeline_tests.indexes.synthetic import Definition, make_index_workspace, publish


def answers(lines: list[str], indexes: list[PublishedIndex], embedder: Embedder) -> list[Answer | BadRow]:
    return list(answer_batch(lines, indexes, embedder=embedder))


def test_a_row_is_answered_as_a_search_is(shop: PublishedIndex, embedder: Embedder) -> None:
    (answer,) = answers(['{"id": "q1", "query": "total price"}'], [shop], embedder)

    assert isinstance(answer, Answer)
    row = json.loads(answer.line)
    assert row["id"] == "q1"
    assert [result["id"] for result in row["results"]] == [
        hit.id for hit in search([shop], "total price", embedder=embedder)
    ]
    assert set(row["results"][0]) == {
        "id", "type", "repo", "file_path", "start_line", "end_line", "qualified_name", "score", "summary",
        "signature_summary", "why",
    }  # fmt: skip


def test_absent_fields_are_left_out(shop: PublishedIndex, embedder: Embedder) -> None:
    (answer,) = answers(['{"id": "q1", "query": "cart", "level": "file"}'], [shop], embedder)

    assert isinstance(answer, Answer)
    for result in json.loads(answer.line)["results"]:
        assert set(result) == {"id", "type", "repo", "file_path", "score", "summary", "why"}
        assert result["type"] == "file"


@pytest.mark.parametrize("repo", ["bank", "acme/bank"])
def test_a_repository_is_named_by_key_or_by_owner_and_name(
    shop: PublishedIndex, tmp_path: Path, embedder: Embedder, repo: str
) -> None:
    files = {"bank.py": (Definition("transfer", "Move money from a cart.", "def transfer(): ..."),)}
    workspace = make_index_workspace(tmp_path, files, key="bank", slug="acme/bank")
    publish(workspace)
    bank = PublishedIndex.open(workspace.layout.published("bank"))

    (answer,) = answers([json.dumps({"id": "q", "query": "cart", "repo": repo})], [shop, bank], embedder)

    assert isinstance(answer, Answer)
    assert {result["repo"] for result in json.loads(answer.line)["results"]} == {"bank"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: not JSON: Expecting property name"),
        ("[1]", "line 2: not an object but list"),
        ('{"query": "x"}', "line 2: field 'id': is missing"),
        ('{"id": "q", "query": ""}', "line 2: field 'query': '' is no text"),
        ('{"id": [7], "query": "x"}', "line 2: field 'id': [7] is no text"),
        (
            '{"id": "q", "query": "x", "level": "chapter"}',
            "line 2: field 'level': 'chapter' is none of function, class",
        ),
        ('{"id": "q", "query": "x", "repo": "shed"}', "line 2: field 'repo': 'shed' is not indexed; indexed are: shop"),
    ],
    ids=["no json", "no object", "no id", "empty query", "id of another type", "unknown level", "unknown repo"],
)
def test_a_bad_row_is_named_and_the_others_are_answered(
    shop: PublishedIndex, embedder: Embedder, line: str, reason: str
) -> None:
    good = '{"id": "q", "query": "cart"}'

    first, bad, last = answers([good, line, good], [shop], embedder)

    assert isinstance(first, Answer)
    assert first == last
    assert str(bad).startswith(reason)


def test_empty_lines_are_passed_over_and_counted(shop: PublishedIndex, embedder: Embedder) -> None:
    assert answers(["", "  ", "{"], [shop], embedder)[0] == BadRow(
        3, "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    )


def test_a_question_is_known_by_a_number_as_well_and_empty_filters_are_none() -> None:
    question = parse_question('{"id": 7, "query": "carts", "repo": "", "level": ""}')

    assert question == Question(id=7, query="carts", repo=None, level=None)
