"""Symbols of SCIP, in the grammar of `scip.proto`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.symbols.scip.symbol_names import Descriptor, Suffix, SymbolName, parse_symbol


def test_a_symbol_is_a_scheme_a_package_and_descriptors() -> None:
    assert parse_symbol("scip-typescript npm chai 5.1.0 lib/`chai.js`/Assertion#use(+1).(fn)") == SymbolName(
        scheme="scip-typescript",
        package=("npm", "chai"),
        descriptors=(
            Descriptor("lib", Suffix.NAMESPACE),
            Descriptor("chai.js", Suffix.NAMESPACE),
            Descriptor("Assertion", Suffix.TYPE),
            Descriptor("use", Suffix.METHOD),
            Descriptor("fn", Suffix.PARAMETER),
        ),
        key="scip-typescript npm chai . lib/`chai.js`/Assertion#use(+1).(fn)",
        owner="scip-typescript npm chai . lib/`chai.js`/Assertion#use(+1).",
    )


@pytest.mark.parametrize(
    ("descriptor", "expected"),
    [
        pytest.param("a/", Descriptor("a", Suffix.NAMESPACE), id="namespace"),
        pytest.param("A#", Descriptor("A", Suffix.TYPE), id="type"),
        pytest.param("a.", Descriptor("a", Suffix.TERM), id="term"),
        pytest.param("a().", Descriptor("a", Suffix.METHOD), id="method"),
        pytest.param("a(x1).", Descriptor("a", Suffix.METHOD), id="overloaded method"),
        pytest.param("a!", Descriptor("a", Suffix.MACRO), id="macro"),
        pytest.param("a:", Descriptor("a", Suffix.META), id="meta"),
        pytest.param("[T]", Descriptor("T", Suffix.TYPE_PARAMETER), id="type parameter"),
        pytest.param("(p)", Descriptor("p", Suffix.PARAMETER), id="parameter"),
        pytest.param("`a``b c`#", Descriptor("a`b c", Suffix.TYPE), id="escaped name"),
    ],
)
def test_what_ends_a_name_says_what_it_names(descriptor: str, expected: Descriptor) -> None:
    name = parse_symbol(f"s m p 1 {descriptor}")

    assert name is not None
    assert name.descriptors == (expected,)


def test_two_spaces_are_one_letter_of_a_word_of_the_head() -> None:
    name = parse_symbol("s m my  package 1  2 a/b#")

    assert name is not None
    assert (name.package, name.key) == (("m", "my package"), "s m my  package . a/b#")


def test_a_key_can_be_parsed_again() -> None:
    name = parse_symbol("s m my  package v1 a/b#c().")

    assert name is not None
    again = parse_symbol(name.key)
    assert again == name
    assert parse_symbol(name.owner) is not None


@pytest.mark.parametrize("symbol", ["", "x", "a b c", "a b c d", "a b c d e", " m p 1 a#", "s m p 1 a(", "s m p 1 `a#"])
def test_what_is_no_symbol_has_no_names(symbol: str) -> None:
    assert parse_symbol(symbol) is None


def test_a_local_symbol_has_its_number_alone() -> None:
    name = parse_symbol("local 12")

    assert name is not None
    assert (name.is_local, name.key, name.last.name) == (True, "local 12", "")


@given(st.text(max_size=80))
def test_any_text_is_a_symbol_or_none(text: str) -> None:
    name = parse_symbol(text)

    assert name is None or name.is_local or parse_symbol(name.key) == name
