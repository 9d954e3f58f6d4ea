"""`codesum search` among less than everything."""

import json

import pytest


def ids(codesum, home, *arguments):
    result = codesum(home, "search", *arguments, "--top", "50", "--json")
    assert result.exit_code == 0, result.stderr
    return {hit["id"] for hit in json.loads(result.stdout)["hits"]}


def test_paths_narrow_a_search(codesum, shop):
    found = ids(codesum, shop, "orders", "--path", "shop/", "--path", "!payment.py")

    assert {id_.partition("::")[0] for id_ in found} == {"shop", "shop/__init__.py", "shop/orders.py"}


def test_a_language_narrows_a_search(codesum, shop):
    assert ids(codesum, shop, "orders", "--language", "md", "--level", "file") == {"README.md"}


def test_filters_hold_for_every_line_of_a_batch(codesum, shop):
    result = codesum(
        shop, "search", "--batch", "-", "--path", "payment.py", stdin='{"id": "a", "query": "orders of cards"}\n'
    )

    assert {hit["file_path"] for hit in json.loads(result.stdout)["hits"]} == {"shop/payment.py"}


def test_nothing_among_what_is_let_through_is_said(codesum, shop):
    result = codesum(shop, "search", "order", "--tests", "only")

    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "nothing found for 'order' in shop among what the filters let through\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--language", "pyhton"), "codesum: unknown language 'pyhton'; the nearest is 'python'\n"),
        (("--language", "go"), "codesum: nothing in shop is in 'go'; languages are: markdown, python\n"),
        (("--path", "shpo/"), "codesum: path 'shpo/' matches nothing in shop; nearest: shop/\n"),
        (("--path", "\x1b[31mshop"), "codesum: path '\\x1b[31mshop' matches nothing in shop; nearest: shop/\n"),
    ],
    ids=["unknown language", "no such language here", "path that matches nothing", "escapes"],
)
def test_a_filter_that_names_nothing_is_wrong_usage(codesum, shop, arguments, message):
    result = codesum(shop, "search", "order", *arguments)

    assert (result.stdout, result.exit_code, result.stderr) == ("", 2, message)


def test_tests_are_in_or_out_or_only(codesum, shop):
    result = codesum(shop, "search", "order", "--tests", "maybe")

    assert result.exit_code == 2
    assert all(value in result.stderr for value in ("'in'", "'out'", "'only'"))
