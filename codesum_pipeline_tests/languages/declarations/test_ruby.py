"""What is read from Ruby."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.ruby_case import SOURCE


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_definitions_nest_and_blocks_with_a_name_are_functions() -> None:
    found = symbols_by_name("ruby", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Shop": ("class", None),
        "Shop::Line": ("class", "file::Shop"),
        "Shop::Line::to_s": ("function", "file::Shop::Line"),
        "Shop::Error": ("class", "file::Shop"),
        "Shop::Order": ("class", "file::Shop"),
        **{
            f"Shop::Order::{name}": ("function", "file::Shop::Order")
            for name in (
                "open", "empty", "<<", "[]", "[]=", "state=", "size", "each", "total", "kind", "save", "full?", "query",
                "compare", "close!",
            )
        },
        "double": ("function", None),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("class A::B < C; end\nclass A::B; end\n", ["A::B#1a7674", "A::B"], id="reopened"),
        pytest.param("class A\n  def A.x; end\n  def self.y; end\nend\n", ["A", "A::x", "A::y"], id="own methods"),
        pytest.param("def Store.open; end\n", ["Store::open"], id="owner outside"),
        pytest.param("B = Class.new(A) do\n  def x; end\nend\n", ["B", "B::x"], id="Class.new"),
        pytest.param("S = Struct.new(:a)\n", ["S"], id="Struct.new without a block"),
        pytest.param("F = lambda { |x| x }\ng = proc do |x| x end\n", ["F", "g"], id="lambda and proc"),
        *[
            pytest.param(
                f"class A\n  def f(a, b)\n    {shift}\n    b\n  end\n  def g; end\nend\n",
                ["A", "A::f", "A::g"],
                id=shift,
            )
            for shift in ("a<<b", "a <<B", "@a <<-1", "a<<'b c'", 'a <<"b #{c}"', "a <<b; puts <<~C\n  def x\n    C")
        ],
        pytest.param("RSpec.describe A do\n  it('x') { a }\nend\n", [], id="blocks of tests have no name"),
    ],
)
def test_what_counts_as_a_definition(source: str, names: list[str]) -> None:
    assert list(symbols_by_name("ruby", source)) == names


def test_docs_signatures_modifiers_and_visibility() -> None:
    found = symbols_by_name("ruby", SOURCE)

    assert parse("ruby", SOURCE).facts.docstring == "Orders, and how they are paid."
    assert {name: symbol.docstring for name, symbol in found.items() if symbol.docstring} == {
        "Shop": "Only for those who look.",
        "Shop::Line": "A line of an order.",
        "Shop::Order": "One order.\n\n@see Shop::Line",
        "Shop::Order::<<": "Adds a line.",
    }
    assert {name: symbol.modifiers for name, symbol in found.items() if symbol.modifiers} == {
        "Shop::Order::empty": ("self",),
        "Shop::Order::full?": ("private",),
        "Shop::Order::query": ("private",),
        "Shop::Order::compare": ("protected", "private"),
        "Shop::Order::close!": ("private",),
    }
    assert {name for name, symbol in found.items() if not symbol.is_public} == {
        f"Shop::Order::{name}" for name in ("full?", "query", "compare", "close!")
    }
    assert [found[name].signature for name in ("Shop::Line", "Shop::Order", "Shop::Order::each", "double")] == [
        "Line = Struct.new(:name, :price, keyword_init: true)",
        "class Order < Base::Record",
        "define_method :each",
        "double = ->(x, y = 2)",
    ]
    assert found["Shop::Order::open"].signature == "def open(lines = [], *more, limit: LIMIT, **options, &block)"


def test_bases_are_the_class_above_and_what_is_mixed_in() -> None:
    found = symbols_by_name("ruby", SOURCE)

    assert found["Shop::Order"].bases == ("Base::Record", "Comparable", "Enumerable", "Rounding")
    assert found["Shop::Line"].bases == ("Struct",)
    assert symbols_by_name("ruby", "class A < Struct.new(:x)\nend\n")["A"].bases == ("Struct",)


def test_what_definitions_say_about_themselves() -> None:
    found = symbols_by_name("ruby", SOURCE)
    order = found["Shop::Order"].facts

    assert texts(order.fields) == ["lines", "state", "LIMIT", "length: alias of size", "add: alias of <<"]
    assert texts(found["Shop::Line"].facts.fields) == ["name", "price"]
    assert found["Shop::Order::open"].facts.parameters == (
        Parameter("lines", None, "[]", "positional"),
        Parameter("more", None, None, "var_positional"),
        Parameter("limit", None, "LIMIT", "keyword"),
        Parameter("options", None, None, "var_keyword"),
        Parameter("&block", None, "nil", "keyword"),
    )
    add = found["Shop::Order::<<"].facts
    assert texts(add.raises) == ['raise Error, "too many: #{lines.size}"']
    assert texts(add.returned) == ["self"]
    assert texts(add.calls) == ["lines.size", "full?"]
    assert texts(found["Shop::Order::state="].facts.writes) == ["@state"]
    assert not found["Shop::Order::state="].facts.is_generator
    assert [found[f"Shop::Order::{name}"].complexity for name in ("total", "kind", "save", "<<")] == [4, 4, 3, 2]


def test_calls_in_the_text_of_a_here_document_are_found() -> None:
    assert "Time.now" in texts(symbols_by_name("ruby", SOURCE)["Shop::Order::save"].facts.calls)


def test_a_here_document_belongs_to_the_method_of_one_line_that_it_follows() -> None:
    first = symbols_by_name("ruby", "def a = <<~X\n  one\nX\ndef b = 1\n")
    other = symbols_by_name("ruby", "def a = <<~X\n  two\nX\ndef b = 1\n")

    assert first["a"].canonical_source == "def a = <<~X\n  one\nX"
    assert first["a"].content_hash != other["a"].content_hash
    assert first["b"].content_hash == other["b"].content_hash


def test_what_may_be_written_in_several_ways_stays_as_it_is() -> None:
    source = 'a = %w[x y], %Q(b "c"), /d/i, :"e f", `ls`, %r{g}, ?h, 1r\nraise ::A, -"" if b[0]\n'

    assert parse("ruby", source).facts.source == source.removesuffix("\n")


def test_imports_and_globals() -> None:
    assert parse("ruby", SOURCE).facts.imports == (
        Import("set", 0, None, None, None, 5),
        Import("money/rounding", 1, None, None, None, 6),
        Import("shop/tax", 0, "Tax", None, "file::Shop", 12),
    )
    assert parse("ruby", "A = 1\n$b = 2\nc = 3\n").facts.globals == ("A", "$b")


def test_calls_and_typed_names() -> None:
    source = "def f(x)\n  y = A::B.new(x)\n  @z = C.new\n  y.go&.stop\n  helper\n  y\nend\n"
    references = references_of(parse("ruby", source).facts)

    assert [typed[1:] for typed in references["typed"]] == [["y", "A.B"], ["@z", "C"]]
    assert [call[1:] for call in references["calls"]] == [
        ["A", "B", 1],
        ["", "C", 1],
        ["y.go", "stop", 0],
        ["y", "go", 0],
        ["", "helper", 0],
    ]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("ruby", "def good\n  1\nend\ndef bad(\n  x = = 1\nend\n# Fine.\ndef fine\n  good\nend\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}
