"""A search for what is not there says that nothing fits well."""

import json

import pytest

NOTHING = "nothing fits well: the best hits have little to do with "


@pytest.mark.parametrize(
    "query",
    ["how does a telescope follow the moon", "garbage collection of young objects", "render_glyphs"],
)
def test_what_is_not_there_is_marked(codesum, shop, query):
    result = codesum(shop, "search", query)

    assert result.stderr == f"{NOTHING}{query!r}\n"
    assert (result.exit_code, bool(result.stdout)) == (0, True)
    assert json.loads(codesum(shop, "search", query, "--json").stdout)["fits_well"] is False


@pytest.mark.parametrize(
    "query",
    ["add up the prices of a basket with tax", "how is the card charged by the bank", "total_price", "OrderBook"],
)
def test_what_is_there_is_not(codesum, shop, query):
    result = codesum(shop, "search", query)

    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(codesum(shop, "search", query, "--json").stdout)["fits_well"] is True


def test_where_lanes_are_named_it_is_not_known(codesum, shop):
    result = codesum(shop, "search", "how does a telescope follow the moon", "--lane", "code", "--json")

    assert json.loads(result.stdout)["fits_well"] is None
