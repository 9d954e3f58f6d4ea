import json
from pathlib import Path

import pytest

from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import (
    BadRow,
    BatchQuestion,
    RoutedQuestion,
    parse_question,
    read_batch,
)
from codesum_pipeline_tests.support.synthetic_indexes import Definition, make_index_workspace, publish


def test_a_row_without_a_repository_asks_all(shop: PublishedIndex) -> None:
    (row,) = read_batch(['{"id": "q1", "query": "total price"}'], [shop], [shop])

    assert row == RoutedQuestion(BatchQuestion(id="q1", query="total price", repo=None, level=None), [shop])


@pytest.mark.parametrize("repo", ["bank", "acme/bank"])
def test_a_repository_is_named_by_key_or_by_owner_and_name(shop: PublishedIndex, tmp_path: Path, repo: str) -> None:
    files = {"bank.py": (Definition("transfer", "Move money from a cart.", "def transfer(): ..."),)}
    workspace = make_index_workspace(tmp_path, files, key="bank", slug="acme/bank")
    publish(workspace)
    bank = PublishedIndex.open(workspace.layout.published("bank"))

    (row,) = read_batch([json.dumps({"id": "q", "query": "cart", "repo": repo})], [shop, bank], [shop, bank])

    assert isinstance(row, RoutedQuestion)
    assert row.indexes == [bank]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: not JSON: Expecting property name"),
        ("[1]", "line 2: not an object but list"),
        ('{"query": "x"}', "line 2: field 'id': is missing"),
        ('{"id": "q", "query": ""}', "line 2: field 'query': '' is no text"),
        ('{"id": "q", "query": "?!"}', "line 2: field 'query': query '?!' has no word"),
        ('{"id": [7], "query": "x"}', "line 2: field 'id': [7] is no text"),
        (
            '{"id": "q", "query": "x", "level": "chapter"}',
            "line 2: field 'level': 'chapter' is none of function, class",
        ),
        ('{"id": "q", "query": "x", "repo": "shed"}', "line 2: field 'repo': 'shed' is not indexed; indexed are: shop"),
    ],
    ids=[
        "no json",
        "no object",
        "no id",
        "empty query",
        "no word",
        "id of another type",
        "unknown level",
        "unknown repo",
    ],
)
def test_a_bad_row_is_named_and_the_others_are_answered(shop: PublishedIndex, line: str, reason: str) -> None:
    good = '{"id": "q", "query": "cart"}'

    first, bad, last = read_batch([good, line, good], [shop], [shop])

    assert isinstance(first, RoutedQuestion)
    assert first == last
    assert str(bad).startswith(reason)


def test_empty_lines_are_passed_over_and_counted(shop: PublishedIndex) -> None:
    assert next(read_batch(["", "  ", "{"], [shop], [shop])) == BadRow(
        3, "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    )


def test_a_question_is_known_by_a_number_as_well_and_empty_filters_are_none() -> None:
    question = parse_question('{"id": 7, "query": "carts", "repo": "", "level": ""}')

    assert question == BatchQuestion(id=7, query="carts", repo=None, level=None)
