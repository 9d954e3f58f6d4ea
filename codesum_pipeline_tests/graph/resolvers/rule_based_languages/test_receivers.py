"""Receivers and types that only their tokens tell: each case has two methods of one name, of which one is called."""

import ast
from pathlib import Path

import pytest

from codesum_pipeline.graph.resolvers import rule_based_languages as rule_based
from codesum_pipeline_tests.graph.sources import calls_of

JAVA = "class Item { void run() {} }\nclass Other { void run() {} }\n"
SWIFT = "class Item { func run() {} }\nclass Other { func run() {} }\n"
TYPESCRIPT = "class Item { run() {} }\nclass Other { run() {} }\n"
RUST = "pub struct Item;\nimpl Item { pub fn run(&self) {} }\npub struct Other;\nimpl Other { pub fn run(&self) {} }\n"
GO = "package p\n\ntype Item struct{}\n\nfunc (i *Item) run() {}\n\ntype Other struct{}\n\nfunc (o *Other) run() {}\n"
ZIG = (
    "const Item = struct {\n    pub fn run(self: *Item) void {}\n};\n"
    "const Other = struct {\n    pub fn run(self: *Other) void {}\n};\n"
)

CASES = {
    "an element of a list in Swift": ("a.swift", SWIFT + 'func f(items: [Item]) { items[0].run() }\n'),
    "a value of a map in Swift": ("a.swift", SWIFT + 'func f(items: [String: Item]) { items["a"]?.run() }\n'),
    "a forced cast in Swift": ("a.swift", SWIFT + "func f(x: Any) { (x as! Item).run() }\n"),
    "an optional cast in Swift": ("a.swift", SWIFT + "func f(x: Any) { (x as? Item)?.run() }\n"),
    "an element of an array in Go": ("a.go", GO + "func f(items [4]Item) { items[0].run() }\n"),
    "an element of a slice in Rust": ("a.rs", RUST + "pub fn f(items: &[Item]) { items[0].run(); }\n"),
    "an element of an array in Rust": ("a.rs", RUST + "pub fn f(items: [Item; 4]) { items[0].run(); }\n"),
    "an element behind a pointer in Zig": ("a.zig", ZIG + "fn f(items: [*]Item) void {\n    items[0].run();\n}\n"),
    "a map or nothing in TypeScript": (
        "a.ts", TYPESCRIPT + "function f(items: Map<string, Item> | null) { items.get('a').run(); }\n",
    ),
    "a cast of a call with a text in Java": (
        "A.java", JAVA + 'class A { void f(java.util.List<Object> all) { ((Item) all.get("a, b")).run(); } }\n',
    ),
    "values that are compared, by their number, in Java": (
        "A.java",
        JAVA + "class A { Item g(boolean a, boolean b) { return null; } Other g(boolean a) { return null; }\n"
        "  void f(int x, int y) { g(x < 1, y > 2).run(); } }\n",
    ),
    "a quote as a character in Java": (
        "A.java",
        JAVA + "class A { Item g(char a, int b) { return null; } Other g(char a) { return null; }\n"
        "  void f(int x) { g('\"', 1).run(); } }\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_call_is_found_by_the_tokens_of_what_it_is_called_on(case):
    path, source = CASES[case]

    called = {target for _, target in calls_of({path: source}) if target.endswith("::run")}

    assert called == {f"{path}::Item::run"}


def test_no_regular_expression_reads_what_the_resolver_follows():
    folder = Path(rule_based.__file__).parent
    readers = [
        "declared_members",
        "declared_names",
        "declared_resolver",
        "../../../foundation/data_model/scopes",
        "../../../foundation/data_model/possible_values",
    ]

    imported = {
        alias.name
        for name in readers
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }

    assert "re" not in imported
