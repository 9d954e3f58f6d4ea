"""What is read from Elixir."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.elixir_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def test_modules_implementations_functions_macros_callbacks_and_tests_are_found() -> None:
    found = symbols_by_name("elixir", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Shop::Cart": ("class", None),
        "Shop::Cart::price": ("function", "file::Shop::Cart"),
        "Shop::Cart::start_link": ("function", "file::Shop::Cart"),
        "Shop::Cart::add#50ed32": ("function", "file::Shop::Cart"),
        "Shop::Cart::add": ("function", "file::Shop::Cart"),
        "Shop::Cart::<~>": ("function", "file::Shop::Cart"),
        "Shop::Cart::twice": ("function", "file::Shop::Cart"),
        "Shop::Cart::valid?": ("function", "file::Shop::Cart"),
        "Shop::Cart::is_small": ("function", "file::Shop::Cart"),
        "Shop::Cart::size": ("function", "file::Shop::Cart"),
        "Shop::Cart::Enumerable::Shop::Cart": ("class", "file::Shop::Cart"),
        "Shop::Cart::Enumerable::Shop::Cart::count": ("function", "file::Shop::Cart::Enumerable::Shop::Cart"),
        "Shop::CartTest": ("class", None),
        "Shop::CartTest::add/2::adds it": ("function", "file::Shop::CartTest"),
    }


def test_clauses_with_the_same_number_of_arguments_are_one_function() -> None:
    found = symbols_by_name("elixir", SOURCE)
    add, shorter = found["Shop::Cart::add#50ed32"], found["Shop::Cart::add"]

    assert add.signature == "def add(cart, item)"
    assert add.docstring == "Adds an item.\n\n  Twice, if it must be."
    assert add.canonical_source.split("\n")[-1] == "def add(_, nil), do: nil"
    assert add.modifiers == ("impl",)
    # Two bodies, two clauses of `case` besides the default, `if`, `rescue`.
    assert add.complexity == 6
    assert shorter.canonical_source == "def add(cart), do: add(cart, nil)"
    assert [fact.text for fact in shorter.facts.calls] == ["add"]
    assert shorter.facts.parameters == (Parameter("cart", None, None, "positional"),)


def test_what_a_function_says_about_itself() -> None:
    found = symbols_by_name("elixir", SOURCE)
    start, add, price = found["Shop::Cart::start_link"], found["Shop::Cart::add#50ed32"], found["Shop::Cart::price"]

    assert start.signature == r"def start_link(opts \\ [])"
    assert start.docstring == "Starts a cart."
    assert start.facts.parameters == (Parameter("opts", None, "[]", "positional"),)
    assert start.facts.return_type == "GenServer.on_start()"
    assert [fact.text for fact in start.facts.returned] == ["GenServer.start_link(__MODULE__, opts, name: __MODULE__)"]
    assert [fact.text for fact in add.facts.raises] == ['raise ArgumentError, "bad"', "reraise error, __STACKTRACE__"]
    assert [fact.text for fact in add.facts.calls] == [
        "Enum.sort_by",
        "Enum.map",
        "R.insert",
        "Logger.warning",
        "inspect",
    ]
    assert price.facts.parameters == (
        Parameter("item", "Item.t()", None, "positional"),
        Parameter("keyword", None, None, "positional"),
    )
    assert price.facts.return_type == "integer | nil"


def test_what_a_module_says_about_itself() -> None:
    found = symbols_by_name("elixir", SOURCE)
    cart = found["Shop::Cart"]

    assert cart.signature == "defmodule Shop.Cart"
    assert cart.docstring == "Keeps items.\n\n    iex> Shop.Cart.new()"
    assert cart.bases == ("GenServer", "Shop.Store")
    assert [fact.text for fact in cart.facts.fields] == ["@timeout", "@type t", "owner", "items"]
    assert cart.facts.calls == ()
    assert found["Shop::Cart::Enumerable::Shop::Cart"].bases == ("Enumerable",)
    assert {name for name, symbol in found.items() if not symbol.is_public} == {
        "Shop::Cart::<~>",
        "Shop::Cart::is_small",
    }
    assert found["Shop::CartTest::add/2::adds it"].modifiers == ("test",)


def test_blocks_clauses_and_functions_without_a_name_are_laid_out_by_what_is_in_them() -> None:
    found = symbols_by_name("elixir", SOURCE)

    assert found["Shop::Cart::<~>"].canonical_source == (
        "defp left <~> right do\n"
        "    Enum.reduce(left, right, fn\n"
        "        {:x, 1}, total -> total\n"
        "        _, total ->\n"
        "            y = 1\n"
        "            total + y\n"
        "    end)\n"
        "end"
    )
    assert found["Shop::Cart::valid?"].canonical_source == (
        "def valid?(cart) do\n"
        "    with {:ok, owner} <- owner(cart), limit = @timeout do\n"
        "        owner.limit < limit and not cart.closed\n"
        "    else\n"
        "        nil -> false\n"
        "        _ -> true\n"
        "    end\n"
        "    unless cart do\n"
        "        send(self(), {:closed, ~w(a b)a})\n"
        "    else\n"
        '        <<first :: 8, _ :: binary>> = "abc"\n'
        "        cond do\n"
        "            first > 1 -> &valid? / 1\n"
        "            true -> (first + 1) * 2\n"
        "        end\n"
        "    end\n"
        "end"
    )


def test_parentheses_and_signs_keep_their_meaning() -> None:
    source = "f -1\nf - 1\nif (a) do\n    b\nend\nf (a), b\nmap(x, & &1.y)\nx[:a]\nf [a]\n%S{a: 1}\nA.{B}\n"

    assert parse("elixir", source).facts.source == source.removesuffix("\n")


def test_imports_name_modules_or_functions() -> None:
    cart, test = "file::Shop::Cart", "file::Shop::CartTest"

    assert parse("elixir", SOURCE).facts.imports == (
        Import("GenServer", 0, "*", None, cart, 10),
        Import("Shop.Item", 0, None, None, cart, 11),
        Import("Shop.Price", 0, None, None, cart, 11),
        Import("Shop.Repo", 0, None, "R", cart, 12),
        Import("Enum", 0, "map", None, cart, 13),
        Import("Enum", 0, "sum", None, cart, 13),
        Import("Kernel", 0, "*", None, cart, 14),
        Import("Logger", 0, None, None, cart, 15),
        Import("ExUnit.Case", 0, "*", None, test, 109),
    )


def test_calls_and_structs_are_told_to_the_graph_and_types_are_no_calls() -> None:
    references = references_of(parse("elixir", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    add = names.index("Shop::Cart::add#50ed32")

    assert [typed[1:] for typed in references["typed"] if typed[0] == add] == [["cart", "__MODULE__"], ["item", "Item"]]
    assert [call[1:] for call in references["calls"] if call[0] == names.index("Shop::Cart")] == []
    assert [call[1:] for call in references["calls"] if call[0] == names.index("Shop::CartTest::add/2::adds it")] == [
        ["", "assert", 0],
        ["Shop.Cart", "add", 0],
    ]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    source = 'def good(), do: 1\n\ndef bad(, do: %{\nend\n\n@doc "Fine."\ndef fine(), do: good()\n'
    parsed = parse("elixir", source)

    assert parsed.facts.syntax_errors > 0
    assert "good" in {symbol.name for symbol in parsed.symbols}
