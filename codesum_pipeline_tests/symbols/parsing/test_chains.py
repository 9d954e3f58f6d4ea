"""Receivers and types become structure while a file is parsed: steps with counts of arguments, names with arguments."""

import json
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.expression import (
    ExpressionStep,
    TypeName,
    chain_from_json,
    chain_to_json,
    type_from_json,
    type_to_json,
)
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing.chains import read_chain, read_type
from codesum_pipeline.symbols.parsing.parsers import parse_file

# Tokens as parsing gives them, parted by blanks, and the steps in them.
CHAINS = {
    "a name": ("items", ["items"]),
    "fields": ("self . config . path", ["self", "config", "path"]),
    "a path": ("shop::Store", ["shop", "Store"]),
    "a path in one token": ("\\Shop\\Store", ["Shop", "Store"]),
    "a call with arguments": ("find ( a , g ( b , c ) )", [["find", 2]]),
    "a comma in a text": ('find ( "a, (b" )', [["find", 1]]),
    "a comma in a text of several tokens": ('find ( " a, (b " )', [["find", 1]]),
    "a bracket as a character": ("find ( '(' , 1 )", [["find", 2]]),
    "types among the arguments": ("find ( new Map < A , B > ( ) )", [["find", 1]]),
    "values that are compared": ("find ( a < b , c > d )", [["find", 2]]),
    "a call with types": ("find < Item > ( 1 )", [["find", 1]]),
    "a path through a type with arguments": ("Vec :: < Item > :: new ( )", ["Vec", ["new", 0]]),
    "a new object": ("new Item ( 1 )", [["Item", 1, 1]]),
    "a new object of a nested class": ("new shop . Item ( 1 )", [["shop", -2, 1], ["Item", 1]]),
    "an awaited call": ("await load ( )", [["load", 0]]),
    "a function named as a word before others": ("move ( a )", [["move", 1]]),
    "brackets around": ("( ( a . b ) )", ["a", "b"]),
    "what a pointer points to": ("( * item )", ["item"]),
    "an element": ("rows [ 0 ] . cells", ["rows", "[]", "cells"]),
    "what is in a result": ("load ( ) ?", [["load", 0], "?"]),
    "a safe step": ("a ?. b", ["a", "b"]),
    "a safe step of two tokens": ("a ? . b", ["a", "b"]),
    "a safe step of Ruby": ("a &. b", ["a", "b"]),
    "a value that is there": ("a !! . b", ["a", "b"]),
    "a method with a mark": ("rows . empty? ( )", ["rows", ["empty?", 0]]),
    "a macro": ("vec ! ( 1 )", [["vec!", 1]]),
    "a field of the object": ("@items", ["@items"]),
    "a cast": ("( ( Item ) rows . get ( 1 ) )", [[":", ["Item"]]]),
    "a cast to a type with arguments": ("( ( List < Item > ) rows )", [[":", ["List", ["Item"]]]]),
    "a cast by a word": ("( row as Item )", [[":", ["Item"]]]),
    "a cast that may fail": ("( row as? Item )", [[":", ["Item"]]]),
    "nothing": ("", None),
    "a text": ('"name"', None),
    "a number": ("1", None),
    "a sum": ("a + b", None),
    "a bracket that nothing closes": ("a ( b", None),
    "types that nothing closes": ("a :: < b", None),
    "a call of a call": ("a ( ) ( )", None),
    "what its type arguments say": ("parse :: < Item > ( text )", None),
    "a step without a name": ("a .", None),
}


@pytest.mark.parametrize("case", CHAINS)
def test_an_expression_is_read_as_the_steps_that_lead_to_it(case):
    tokens, steps = CHAINS[case]

    assert chain_to_json(read_chain(tuple(f" {token}" for token in tokens.split(" ")))) == steps


TYPES = {
    "a name": ("Item", ["Item"]),
    "a path": ("std :: vec :: Vec", ["std", "vec", "Vec"]),
    "a path in one token": ("shop.Item", ["shop", "Item"]),
    "a name that says all of itself": ("\\Shop\\Item", ["\\", "Shop", "Item"]),
    "words and marks before": ("& 'a mut dyn Item", ["Item"]),
    "words and marks after": ("Item const * &", ["Item"]),
    "a type named as a word before others": ("static", ["static"]),
    "arguments": ("Map < Key , List < Item >>", ["Map", ["Key"], ["List", ["Item"]]]),
    "arguments in brackets": ("Map [ Key , Item ]", ["Map", ["Key"], ["Item"]]),
    "an argument without a name": ("Result < ( ) , Error >", ["Result", None, ["Error"]]),
    "arguments left to be told": ("Adapter < >", ["Adapter"]),
    "a lifetime among the arguments": ("Cow < 'a , str >", ["Cow", ["str"]]),
    "a list": ("Item [ ] [ ]", ["[]", ["[]", ["Item"]]]),
    "a list of so many": ("Item [ 3 ]", ["[]", ["Item"]]),
    "a list by what is before": ("[ 4 ] * Item", ["[]", ["Item"]]),
    "a list by what is around": ("[ Item ]", ["[]", ["Item"]]),
    "a list around, of so many": ("& [ Item ; 3 ]", ["[]", ["Item"]]),
    "any number": ("Item ...", ["[]", ["Item"]]),
    "a map by what is around": ("[ Key : Item ]", ["Dictionary", ["Key"], ["Item"]]),
    "a map of Go": ("map [ string ] * Item", ["map", ["string"], ["Item"]]),
    "or nothing": ("Item | null", ["Item"]),
    "arguments or nothing": ("Promise < Item | undefined > | null", ["Promise", ["Item"]]),
    "the first result": ("( item * Item , err error )", ["Item"]),
    "a bound": ("Item + Send", ["Item"]),
    "the file itself": ("@This ( )", ["@This()"]),
    "one of two": ("Item | Other", None),
    "a function": ("( Item ) => Other", None),
    "nothing": ("void", None),
}


@pytest.mark.parametrize("case", TYPES)
def test_a_type_is_read_as_its_names_and_arguments(case):
    tokens, names = TYPES[case]

    assert type_to_json(read_type(tuple(f" {token}" for token in tokens.split(" ")))) == names


def test_deeply_nested_arguments_are_no_types():
    nested = read_type(("A", "<") * 40 + ("B",) + (">",) * 40)

    depth = 0
    while nested is not None and nested.arguments:
        nested, depth = nested.arguments[0], depth + 1
    assert nested is None
    assert depth < 20


@pytest.mark.parametrize(
    "chain",
    [
        None,
        (),
        (ExpressionStep("a"), ExpressionStep("b", 2), ExpressionStep("C", -1, is_new=True)),
        (ExpressionStep(":", type=TypeName(("a", "B"))), ExpressionStep("?")),
    ],
)
def test_steps_come_back_from_json(chain):
    assert chain_from_json(json.loads(json.dumps(chain_to_json(chain)))) == chain


@pytest.mark.parametrize(
    "type_", [None, TypeName(("A",)), TypeName(("a", "B"), (None, TypeName(("[]",), (TypeName(("C",)),))))]
)
def test_types_come_back_from_json(type_):
    assert type_from_json(json.loads(json.dumps(type_to_json(type_)))) == type_


def references(source: str, language: str) -> dict[str, Any]:
    parsed = parse_file("a", language, source.encode(), blob="0", hash_policy=HashPolicy.CANONICAL)
    read: dict[str, Any] = json.loads(parsed.facts.references)
    return read


def receivers_of(name: str, source: str, language: str) -> list[Any]:
    read = references(source, language)
    return [read["receivers"][receiver] for _, receiver, called, _ in read["calls"] if called == name]


# One call each of `load` on an element of a field, and the receiver of it.
RECEIVERS = {
    "javascript": ("function f(a) { a?.rows[0].load(1); }", ["a", "rows", "[]"]),
    "typescript": ("function f(a: A) { a!.rows[0].load(1); }", ["a", "rows", "[]"]),
    "tsx": ("function f(a: A) { return <p>{a.rows[0].load(1)}</p>; }", ["a", "rows", "[]"]),
    "go": ("package p\nfunc f(a A) { a.rows[0].load(1) }", ["a", "rows", "[]"]),
    "rust": ("fn f(a: A) { a.rows()?[0].load(1); }", ["a", ["rows", 0], "?", "[]"]),
    "java": ("class A { void f() { a.rows[0].load(1); } }", ["a", "rows", "[]"]),
    "c": ("void f(A *a) { a->rows[0].load(1); }", ["a", "rows", "[]"]),
    "cpp": ("void f(A *a) { (*a).rows()[0].load(1); }", None),
    "c-sharp": ("class A { void F() { a?.rows[0]!.load(1); } }", ["a", "rows", "[]"]),
    "ruby": ("def f(a)\n  @a&.rows[0].load(1)\nend\n", ["@a", "rows", "[]"]),
    "php": ("<?php function f($a) { $a->rows[0]->load(1); }", ["$a", "rows", "[]"]),
    "kotlin": ("fun f(a: A) { a!!.rows[0].load(1) }", ["a", "rows", "[]"]),
    "swift": ("func f(a: A) { a.rows[0].load(1) }", ["a", "rows", "[]"]),
    "scala": ("def f(a: A): Int = { a.rows.load(1) }", ["a", "rows"]),
    "lua": ("function f(a) a.rows[0]:load(1) end", ["a", "rows", "[]"]),
    "zig": ("fn f(a: A) void { a.rows[0].load(1); }", ["a", "rows", "[]"]),
    "elixir": ("defmodule A do\n  def f(a), do: Shop.Rows.load(a)\nend\n", ["Shop", "Rows"]),
    "haskell": ("module A where\nf a = Shop.Rows.load a\n", ["Shop", "Rows"]),
}


@pytest.mark.parametrize("language", RECEIVERS)
def test_a_receiver_is_structure_in_each_language(language):
    source, steps = RECEIVERS[language]

    assert receivers_of("load", source, language) == [steps]


# The type of a parameter or field `items`.
TYPED = {
    "typescript": ("function f(items: Array<shop.Item> | null) {}", ["Array", ["shop", "Item"]]),
    "go": ("package p\nfunc f(items map[string][]*shop.Item) {}", ["map", ["string"], ["[]", ["shop", "Item"]]]),
    "rust": ("fn f(items: &'a [Box<dyn Item>]) {}", ["[]", ["Box", ["Item"]]]),
    "java": ("class A { void f(Map<String, List<Item>> items) {} }", ["Map", ["String"], ["List", ["Item"]]]),
    "c": ("void f(const struct item *items) {}", ["item"]),
    "cpp": ("void f(const std::vector<Item> &items) {}", ["std", "vector", ["Item"]]),
    "c-sharp": ("class A { void F(List<Item?>[] items) {} }", ["[]", ["List", ["Item"]]]),
    "php": ("<?php function f(?\\Shop\\Item $items) {}", ["\\", "Shop", "Item"]),
    "kotlin": ("fun f(items: List<shop.Item?>?) {}", ["List", ["shop", "Item"]]),
    "swift": ("func f(items: [String: Item]) {}", ["Dictionary", ["String"], ["Item"]]),
    "scala": ("def f(items: Map[String, Item]): Int = 1", ["Map", ["String"], ["Item"]]),
    "zig": ("fn f(items: []const shop.Item) void {}", ["[]", ["shop", "Item"]]),
    "elixir": ("defmodule A do\n  def f(%Shop.Item{} = items), do: items\nend\n", ["Shop", "Item"]),
    "ruby": ("def f\n  items = Shop::Item.new\nend\n", ["Shop", "Item"]),
    "lua": ("local items = Item.new()", ["Item"]),
    "javascript": ("const items = new shop.Item();", ["shop", "Item"]),
}


@pytest.mark.parametrize("language", TYPED)
def test_a_type_is_structure_in_each_language(language):
    source, names = TYPED[language]

    types = {name.lstrip("$"): type_ for _, name, type_ in references(source, language)["typed"]}

    assert types["items"] == names


def test_bases_and_results_are_structure():
    read = references("class A extends shop.Base<Item> implements B { C[] f() { return null; } }", "java")

    bases, returned = [["shop", "Base", ["Item"]], ["B"]], ["[]", ["C"]]
    assert [symbol[3:] for symbol in read["symbols"]] == [[bases, None], [[], returned]]


def test_what_stands_in_a_text_that_is_one_token_is_structure_too():
    source = 'class A { def f(a: A) = s"${a.rows(1).load(2)}" }'

    assert receivers_of("load", source, "scala") == [["a", ["rows", 1]]]
