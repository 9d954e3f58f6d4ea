"""`codesum search`: readable for people, fixed for programs."""

import json

import pytest

from codesum_pipeline_tests.support.homes import built_once

FIELDS = [
    "id", "type", "repo", "file_path", "start_line", "end_line", "qualified_name", "score", "summary",
    "signature_summary", "why", "line", "cell", "cell_line", "passage", "changed_since",
]  # fmt: skip


def test_people_get_rank_id_lines_signature_summary_and_why(codesum, shop):
    result = codesum(shop, "search", "charge_card", "--top", "1")

    head, *body = result.stdout.splitlines()
    assert head == "1. shop/payment.py::charge_card  lines 4-9  function"
    assert body[0] == "   def charge_card(card, amount): returns attempt"
    assert "money" in body[1]
    assert "symbol #1" in body[-1]
    assert result.exit_code == 0


def test_people_see_whom_a_function_calls_that_nobody_describes(codesum, tmp_path):
    code = "def crunch(n):\n    return chew(n)\n\n\ndef chew(n):\n    return n\n"
    home = built_once(tmp_path, {"a.py": code}) / "home"

    lines = codesum(home, "search", "crunch", "--top", "1").stdout.splitlines()

    assert "   Calls chew" in lines


def test_programs_get_one_object_with_fixed_fields(codesum, shop):
    hits = json.loads(codesum(shop, "search", "total_price", "--json").stdout)["hits"]

    assert [list(hit) for hit in hits] == [FIELDS] * len(hits)
    assert hits[0]["id"] == "shop/orders.py::total_price"
    assert hits[0]["repo"] == "shop"


@pytest.mark.parametrize("level", ["function", "class", "file", "module"])
def test_a_level_alone_is_searched(codesum, shop, level):
    hits = json.loads(codesum(shop, "search", "orders", "--level", level, "--json").stdout)["hits"]

    assert {hit["type"] for hit in hits} == {level}


def test_levels_add_up(codesum, shop):
    result = codesum(shop, "search", "orders", "--level", "class", "--level", "file", "--json")

    assert {hit["type"] for hit in json.loads(result.stdout)["hits"]} == {"class", "file"}


def test_a_lane_alone_ranks(codesum, shop):
    hits = json.loads(codesum(shop, "search", "charge_card", "--lane", "symbol", "--json").stdout)["hits"]

    assert hits[0]["id"] == "shop/payment.py::charge_card"
    assert all(hit["why"].startswith("symbol #") for hit in hits)


def test_top_limits_the_hits(codesum, shop):
    assert len(json.loads(codesum(shop, "search", "order", "--top", "2", "--json").stdout)["hits"]) == 2


def test_finding_nothing_is_said_and_is_no_failure(codesum, shop):
    result = codesum(shop, "search", "zzzzqqqq", "--lane", "symbol")

    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "nothing found for 'zzzzqqqq' in shop\n"


def test_a_question_needs_no_quotes(codesum, shop):
    quoted, plain = codesum(shop, "search", "total price"), codesum(shop, "search", "total", "price")

    assert (plain.exit_code, plain.stdout) == (0, quoted.stdout)


def test_an_unknown_repository_names_the_nearest(codesum, shop):
    result = codesum(shop, "search", "order", "--repo", "shpo")

    assert result.exit_code == 2
    assert "'shpo'" in result.stderr
    assert "'shop'" in result.stderr


def test_an_empty_home_says_how_to_fill_it(codesum, tmp_path):
    result = codesum(tmp_path / "empty", "search", "order")

    assert result.exit_code == 2
    assert "codesum index" in result.stderr
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize("arguments", [(), ("order", "--batch", "questions.jsonl")], ids=["neither", "both"])
def test_either_a_query_or_a_batch_is_asked(codesum, shop, arguments):
    result = codesum(shop, "search", *arguments)

    assert result.exit_code == 2
    assert "QUERY, or --batch FILE" in result.stderr


def test_a_batch_answers_each_line_in_order(codesum, shop, tmp_path):
    questions = tmp_path / "questions.jsonl"
    rows = [
        {"id": "a", "query": "total_price", "repo": "shop", "level": "function"},
        {"id": "b", "query": "card payment", "level": "file"},
    ]
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    answers = [json.loads(line) for line in codesum(shop, "search", "--batch", questions).stdout.splitlines()]

    assert [answer["id"] for answer in answers] == ["a", "b"]
    assert answers[0]["hits"][0]["id"] == "shop/orders.py::total_price"
    assert {hit["type"] for hit in answers[1]["hits"]} == {"file"}


@pytest.mark.parametrize("aids", [(), ("--context", "--excerpt", "2")], ids=["plain", "with aids"])
def test_a_line_of_a_batch_has_the_fields_of_json(codesum, shop, aids):
    question = json.dumps({"id": 7, "query": "total price"})

    single = json.loads(codesum(shop, "search", "total price", "--json", *aids).stdout)
    line = json.loads(codesum(shop, "search", "--batch", "-", *aids, stdin=question).stdout)

    assert line == {"id": 7, **single}
    assert list(single) == ["query", "repositories", "as_of", "fits_well", "hits"]
    assert single["repositories"] == ["shop"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        ("   ", "the query is empty"),
        ("\u3000", "the query is empty"),
        ("?!", "query '?!' has no word"),
        ("？" * 999, f"query '{'？' * 199}…' has no word"),
    ],
    ids=["empty", "white space", "wide white space", "punctuation", "much wide punctuation"],
)
def test_a_query_without_a_word_is_a_usage_error(codesum, shop, query, message):
    result = codesum(shop, "search", query)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"codesum: {message}: say what is looked for, in words or as a name\n"


def test_an_unknown_level_names_the_levels_and_the_nearest(codesum, shop):
    result = codesum(shop, "search", "order", "--level", "func")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "codesum: no level 'func': levels are function, class, file, module; did you mean 'function'?\n"
    )


def test_a_batch_can_come_from_stdin(codesum, shop):
    result = codesum(shop, "search", "--batch", "-", stdin='{"id": "a", "query": "order"}\n')

    assert json.loads(result.stdout)["id"] == "a"


def test_a_bad_line_of_a_batch_is_told_and_the_rest_is_answered(codesum, shop):
    result = codesum(shop, "search", "--batch", "-", stdin='{"id": "a"}\n{"id": "b", "query": "order"}\n')

    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["b"]
    assert result.exit_code == 1
    assert "line 1" in result.stderr
    assert "'query'" in result.stderr


def test_a_batch_file_that_is_not_there_is_a_usage_error(codesum, shop):
    result = codesum(shop, "search", "--batch", "missing.jsonl")

    assert result.exit_code == 2
    assert "missing.jsonl" in result.stderr


def test_a_removed_repository_is_asked_only_by_name(codesum, own_shop):
    codesum(own_shop, "remove", "shop")

    assert codesum(own_shop, "search", "order").exit_code == 2
    assert json.loads(codesum(own_shop, "search", "order", "--repo", "shop", "--json").stdout)["hits"]


def test_text_of_a_repository_cannot_act_on_the_terminal(codesum, shop):
    for arguments in (("search", "bank money"), ("search", "bank money", "--json"), ("show", "shop/payment.py")):
        shown = codesum(shop, *arguments).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_brackets_in_a_docstring_are_text_not_markup(codesum, shop):
    shown = codesum(shop, "show", "shop/payment.py::charge_card").stdout

    assert "[red]three times[/red]" in shown
