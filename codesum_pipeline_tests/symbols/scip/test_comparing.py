"""A document counts for the text that it was made from, and for no other."""

import time

import pytest

from codesum_pipeline.symbols.scip.comparing import (
    EncodedLines,
    IndexComparison,
    PositionEncoding,
    Span,
    compare_with_text,
)
from codesum_pipeline.symbols.scip.offering import message_class
from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol

_PATH = "shop/cart.py"
_SOURCE = """\
from shop.price import total as sum_up
import os.path


class Cart:
    def add(self, item):
        return sum_up(item)


def make():
    return Cart().add(1)
"""
_CART, _ADD = python_symbol("shop.cart", "Cart#"), python_symbol("shop.cart", "Cart#add().")
_MAKE, _TOTAL = python_symbol("shop.cart", "make()."), python_symbol("shop.price", "total().")


def _index(source: str = _SOURCE) -> HandMadeIndex:
    return (
        HandMadeIndex({_PATH: source})
        .module(_PATH, python_symbol("shop.cart"))
        .refer(_PATH, "shop.price", python_symbol("shop.price"))
        .refer(_PATH, "total", _TOTAL)
        .define(_PATH, "Cart", _CART, lines=3)
        .define(_PATH, "add", _ADD, lines=2)
        .refer(_PATH, "sum_up", _TOTAL, 1)
        .define(_PATH, "make", _MAKE, lines=2)
        .refer(_PATH, "Cart", _CART, 1)
        .refer(_PATH, "add", _ADD, 1)
    )


def _compared(index: HandMadeIndex, text: str) -> IndexComparison:
    (document,) = index.message().documents
    return compare_with_text(document.SerializeToString(), text)


def test_a_document_counts_for_the_text_that_it_was_made_from() -> None:
    found = _compared(_index(), _SOURCE)

    assert (found.problem, found.occurrences, found.misnamed.total()) == ("", 9, 0)
    assert [(one.named.text, one.first_line, one.last_line) for one in found.definitions] == [
        ("", 1, 1), ("Cart", 5, 7), ("add", 6, 7), ("make", 10, 11),
    ]  # fmt: skip
    assert [(one.text, one.span.line, one.span.start) for one in found.references] == [
        ("shop.price", 1, 5), ("total", 1, 23), ("sum_up", 7, 15), ("Cart", 11, 11), ("add", 11, 18),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param("\n" + _SOURCE, id="a line above"),
        pytest.param(_SOURCE.replace("import os.path\n", ""), id="a line less"),
        pytest.param(_SOURCE.replace("    def", "  def"), id="other margins"),
        pytest.param(_SOURCE.replace("def make", "def mark"), id="another name of the same length"),
        pytest.param(_SOURCE.replace("Cart().add", "Carts().add"), id="a longer name"),
        pytest.param("", id="nothing left"),
        pytest.param("x = 1\n", id="another file"),
        pytest.param("\0" * 50, id="no text at all"),
    ],
)
def test_a_document_does_not_count_for_another_text(changed: str) -> None:
    found = _compared(_index(), changed)

    assert found.problem
    assert (found.definitions, found.references) == ([], [])


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(_SOURCE + "\n\n# the end\n", id="a comment below"),
        pytest.param(_SOURCE.replace("add(1)", "add(2)"), id="another number"),
        pytest.param(_SOURCE.replace("import os.path", "import os.path  # for names"), id="a comment beside"),
    ],
)
def test_a_document_counts_where_all_that_it_says_still_stands(changed: str) -> None:
    assert not _compared(_index(), changed).problem


def test_a_reference_that_spells_something_else_is_passed_over_and_noted() -> None:
    found = _compared(_index(), _SOURCE.replace("Cart().add", "Cart().pop"))

    assert not found.problem
    assert dict(found.misnamed) == {_ADD: 1}
    assert [one.text for one in found.references] == ["shop.price", "total", "sum_up", "Cart"]


def test_what_is_generated_stands_where_it_is_made_from() -> None:
    getter = python_symbol("shop.cart", "Cart#getAdd().")

    found = _compared(_index().define(_PATH, "add", getter), _SOURCE)

    assert not found.problem
    assert [one.named.symbol for one in found.definitions if one.is_generated] == [getter]


@pytest.mark.parametrize(
    ("spelled", "symbol", "is_spelled"),
    [
        pytest.param("total", "p/total().", True, id="its name"),
        pytest.param("totals", "p/total().", False, id="another name"),
        pytest.param("sum_up", "p/total().", True, id="an alias that the file gives it"),
        pytest.param("renamed", "p/long().", True, id="an alias in a pattern"),
        pytest.param("'key'", "p/A#key.", True, id="a quoted key"),
        pytest.param("price", "p/A#`<get>price`().", True, id="what a getter stands for"),
        pytest.param("A", "p/A#`<constructor>`().", True, id="a class for its constructor"),
        pytest.param("A", "p/A#__init__().", True, id="a class for its __init__"),
        pytest.param("B", "p/A#__init__().", False, id="another class for it"),
        pytest.param("self", "p/A#", True, id="the receiver for its class"),
        pytest.param("key", "p/key12:", True, id="a numbered key of an object"),
        pytest.param("key1", "p/key12:", True, id="one that ends in a digit"),
        pytest.param("keys", "p/key12:", False, id="another key"),
        pytest.param("os.path", "`os.path`/__init__:", True, id="a module"),
        pytest.param("path", "`os.path`/__init__:", True, id="a module's last name"),
        pytest.param("os.walk", "`os.path`/__init__:", False, id="another module"),
        pytest.param(".price", "price/__init__:", True, id="a relative module"),
        pytest.param("'./price'", "src/`price.ts`/", True, id="a path"),
        pytest.param("'./price.js'", "src/`price.ts`/", True, id="a path with the ending of what is compiled"),
        pytest.param("'./other'", "src/`price.ts`/", False, id="another path"),
        pytest.param("'../src'", "src/`index.ts`/", True, id="the folder of an index file"),
        pytest.param("'@shop/price'", "lib/`main.d.ts`/", True, id="a package's main file"),
    ],
)  # fmt: skip
def test_a_symbol_is_spelled_as_languages_spell_it(spelled: str, symbol: str, is_spelled: bool) -> None:
    text = f"from p import total as sum_up\nlet {{long: renamed}} = p\n( {spelled} )\n"
    document = message_class("Document")()
    document.occurrences.add(range=[2, 2, 2 + len(spelled)], symbol=f"s m p 1 {symbol}")

    found = compare_with_text(document.SerializeToString(), text)

    assert (found.problem, len(found.references), found.misnamed.total()) == ("", int(is_spelled), int(not is_spelled))


@pytest.mark.parametrize("encoding", list(PositionEncoding))
@pytest.mark.parametrize("before", ["é", "日本", "🚀🚀"])
def test_columns_are_bytes_of_utf8_whatever_an_index_counts(encoding: PositionEncoding, before: str) -> None:
    text = f"x = '{before}' + total\n"
    width = {PositionEncoding.UTF8: "utf-8", PositionEncoding.UTF32: "utf-32-le"}.get(encoding, "utf-16-le")
    unit = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[width]
    start = len(text[: text.index("total")].encode(width)) // unit
    document = message_class("Document")(position_encoding=encoding)
    document.occurrences.add(range=[0, start, start + 5], symbol="s m p 1 total().")

    (found,) = compare_with_text(document.SerializeToString(), text).references

    assert text.encode()[found.span.start : found.span.end] == b"total"


@pytest.mark.parametrize(
    "range_",
    [
        [-1, 0, 1],
        [0, 5, 2],
        [0, 0, 2_000_000_000],
        [99, 0, 1],
        [0, -3, 1],
        [],
        [0],
        [0, 0],
        [5, 0, 4, 0],
        [0, 0, 99, 1],
    ],
    ids=str,
)
def test_a_place_that_the_text_does_not_have_is_the_mark_of_another_text(range_: list[int]) -> None:
    document = message_class("Document")()
    document.occurrences.add(range=range_, symbol="s m p 1 x().")

    assert compare_with_text(document.SerializeToString(), "x()\ny()\n").problem


def test_typed_ranges_are_read_like_plain_ones() -> None:
    document = message_class("Document")()
    one = document.occurrences.add(symbol="s m p 1 x().", symbol_roles=1)
    one.single_line_range.line, one.single_line_range.end_character = 0, 1
    one.multi_line_enclosing_range.end_line = 1

    (found,) = compare_with_text(document.SerializeToString(), "x(\n)\n").definitions

    assert (found.first_line, found.last_line) == (1, 2)


def test_a_document_of_broken_bytes_is_named() -> None:
    assert "cannot be read" in compare_with_text(b"\x12\x05\xff\xff\xff\xff\xff", "x\n").problem


def test_messages_within_messages_without_end_are_refused() -> None:
    signature = b""
    for _ in range(200):
        # A group within a group, which a parser would have to follow.
        signature = b"\x0b" + signature + b"\x0c"

    assert "cannot be read" in compare_with_text(signature, "x\n").problem


def test_a_long_line_is_not_read_for_each_of_its_places() -> None:
    lines = EncodedLines("ab " * 500_000, PositionEncoding.UTF8)

    begun = time.process_time()
    found = [lines.place((0, start, start + 2)) for start in range(0, 1_500_000, 75)]

    assert time.process_time() - begun < 1
    assert found[-1] == (Span(1, 1_499_925, 1_499_927), "ab", False)
