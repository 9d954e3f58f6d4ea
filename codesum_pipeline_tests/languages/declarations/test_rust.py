"""What is read from Rust."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.rust_case import SOURCE


def test_traits_types_impl_blocks_macros_modules_and_named_closures_are_found() -> None:
    found = symbols_by_name("rust", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Area": ("class", None),
        "Area::area": ("function", "file::Area"),
        "Area::is_larger": ("function", "file::Area"),
        "Circle": ("class", None),
        "Unit": ("class", None),
        "Pair": ("class", None),
        "Shape": ("class", None),
        "Circle::new": ("function", "file::Circle"),
        "Circle::fetch": ("function", "file::Circle"),
        "Circle::fetch::twice": ("function", "file::Circle::fetch"),
        "Circle::area": ("function", "file::Circle"),
        "Unit::fmt": ("function", "file::Unit"),
        "square": ("function", None),
        "inner::Scale": ("class", None),
        "inner::Scale::half": ("function", "file::inner::Scale"),
        "puts": ("function", None),
        "tests::a_square_is_larger": ("function", None),
    }


def test_attributes_and_docs_above_a_definition_belong_to_it() -> None:
    found = symbols_by_name("rust", SOURCE)
    circle, new = found["Circle"], found["Circle::new"]

    assert circle.docstring == "A circle.\n\nRound."
    assert circle.signature == "pub struct Circle<'a, T: Copy = f64> where T: Into<f64>,"
    assert SOURCE.split("\n")[circle.start_line - 1] == "#[derive(Debug, Clone, PartialEq)]"
    assert new.docstring == "Makes a circle."
    assert new.canonical_source == (
        "/// Makes a circle.\n#[inline]\n#[must_use]\npub fn new(radius: T, name: &'a str) -> Self {\n"
        "    Circle { radius, name}\n}"
    )
    assert new.line_count == 5
    assert found["tests::a_square_is_larger"].modifiers == ("test",)


def test_what_a_method_says_about_itself() -> None:
    fetch = symbols_by_name("rust", SOURCE)["Circle::fetch"]

    assert fetch.modifiers == ("pub(crate)", "async")
    assert fetch.is_public
    assert fetch.complexity == 8
    assert fetch.facts.is_async
    assert fetch.facts.parameters == (
        Parameter("self", "mut self", None, "receiver"),
        Parameter("sizes", "[u8; 3]", None, "positional"),
        Parameter("f", "impl Fn(f64) -> f64", None, "positional"),
    )
    assert fetch.facts.return_type == "Result<f64, Box<dyn std::error::Error>>"
    assert [fact.text for fact in fetch.facts.returned] == [
        "Ok(f(*value))",
        'Ok(twice(r#"raw "text""#.len() as f64))',
    ]
    assert [fact.text for fact in fetch.facts.raises] == ['panic!("no {}", self.name)', "unreachable!()"]
    assert fetch.facts.writes == (Fact("self.total", 13, ("self", "total"), Form.NAME, when="*n > 3"),)


def test_a_function_of_c_may_take_any_number_of_arguments() -> None:
    (function,) = parse("rust", 'extern "C" {\n    fn show(format: *const u8, ...) -> i32;\n}\n').symbols

    assert [(one.name, one.kind) for one in function.facts.parameters] == [
        ("format", "positional"),
        ("...", "var_positional"),
    ]


def test_fields_variants_and_bases() -> None:
    found = symbols_by_name("rust", SOURCE)

    assert [fact.text for fact in found["Circle"].facts.fields] == ["radius: T", "name: &'a str"]
    assert [fact.text for fact in found["Shape"].facts.fields] == ["Circle", "Square", "side: f64", "Nothing"]
    assert found["Area"].bases == ("Send", "Show")


def test_use_trees_give_one_import_a_name() -> None:
    facts = parse("rust", SOURCE).facts

    assert facts.imports == (
        Import("std::collections", 0, "HashMap", None, None, 7),
        Import("std", 0, "fmt", None, None, 8),
        Import("std::fmt", 0, "Display", "Show", None, 8),
        Import("std::fmt", 0, "Write", "_", None, 8),
        Import("crate::errors", 0, "*", None, None, 10),
        Import("self::inner", 0, "Scale", None, None, 11),
        Import("self", 0, "helpers", None, None, 13),
        Import("super", 0, "*", None, None, 130),
    )
    assert facts.globals == ("LIMIT", "COUNT")
    assert facts.docstring == "Shapes, and what can be asked about them.\n\nNothing here allocates."


def test_calls_and_typed_names_are_told_to_the_graph() -> None:
    references = references_of(parse("rust", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    fetch = names.index("Circle::fetch")

    assert [call[1:] for call in references["calls"] if call[0] == fetch] == [
        ["HashMap", "new", 0],
        ["self", "look", 0],
        ["sizes", "len", 0],
        ["found.get(1)", "filter", 0],
        ["found", "get", 0],
        ["", "Ok", 0],
        ["", "f", 0],
        ["", "panic!", 0],
        ["sizes.iter(0).enumerate(0)", "skip", 0],
        ["sizes.iter(0)", "enumerate", 0],
        ["sizes", "iter", 0],
        ["", "unreachable!", 0],
        ["", "Ok", 0],
        ["", "twice", 0],
        ["?", "len", 0],
    ]
    assert [typed[1:] for typed in references["typed"] if typed[0] == fetch] == [
        ["sizes", "u8[]"],
        ["f", "?"],
        ["cache", "HashMap"],
    ]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("rust", "fn good() -> i32 { 1 }\nfn bad( { let x = ; }\n/// Fine.\nfn fine() { good() }\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}


def test_what_a_trait_asks_for_is_as_public_as_the_trait() -> None:
    found = symbols_by_name(
        "rust",
        "pub trait Shape { fn area(&self) -> f64; }\n"
        "trait Hidden { fn area(&self) -> f64; }\n"
        "impl Shape for Circle { fn area(&self) -> f64 { self.r } }\n"
        "impl Circle { fn half(&self) -> f64 { self.r / 2.0 } }\n",
    )

    assert {name: symbol.is_public for name, symbol in found.items() if "::" in name} == {
        "Shape::area": True,
        "Hidden::area": False,
        "Circle::area": True,
        "Circle::half": False,
    }


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("flags! {\n    pub struct A: u32 {\n        const B = 1;\n    }\n}\n", ["A"], id="a set of flags"),
        pytest.param(
            "pin! {\n    pub struct A<T> {\n        #[pin]\n        b: T,\n    }\n}\n", ["A"], id="an attribute"
        ),
        pytest.param(
            "if_cfg! {\n  if #[cfg(unix)] {\n    fn f() {}\n  } else {\n    fn f() {}\n    struct B;\n  }\n}\n",
            ["f", "f", "B"],
            id="branches",
        ),
        pytest.param("own!(\n    pub fn f() {}\n);\n", ["f"], id="round brackets"),
        pytest.param("own![ fn f() {} ];\n", ["f"], id="square brackets on one line"),
        pytest.param("own! { fn f(a: u8) -> bool { true } }\n", ["f"], id="one line"),
        pytest.param("newtype!(pub struct A(u32););\n", ["A"], id="a type on one line"),
        pytest.param("a::own! { #[derive(Debug)] pub enum A { B, C } }\n", ["A"], id="a path and an attribute"),
        pytest.param(
            "check! {\n    #[test]\n    fn f(x in 0..9u32, s in any::<(u8, u8)>()) {\n        g();\n    }\n}\n",
            ["f"],
            id="drawn arguments",
        ),
        pytest.param("own! {\n    struct A;\n    impl A {\n        fn f() {}\n    }\n}\n", ["A", "A.f"], id="an impl"),
        pytest.param("rt! {\n    pub mod a;\n    mod b {\n      struct C { d: u8 }\n    }\n}\n", ["b.C"], id="modules"),
        pytest.param("async fn f() {\n    a::choose! {\n        x = b() => {}\n    }\n}\n", ["f"], id="no items"),
        pytest.param("macro_rules! m { ($a:ident) => { fn $a() {} struct B; } }\n", ["m"], id="a template"),
        pytest.param('fn f() { println!("fn x() {}"); vec![g(), h]; }\n', ["f"], id="expressions and texts"),
        pytest.param("impl own!(A, B) { fn f(&self) {} }\n", ["f"], id="a type that a macro makes has no name"),
    ],
)
def test_items_in_the_brackets_of_a_macro_are_found(source: str, names: list[str]) -> None:
    assert [symbol.qualified_name for symbol in parse("rust", source).symbols] == names


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("const B = {\n            #[cfg(unix)] { 1 }\n        };", id="braces in braces"),
        pytest.param("// It's a }.\n        const B = 1;\n", id="a comment"),
        pytest.param("/* { */ const B = 1;\n\n", id="a block comment"),
        pytest.param("const B = '}' as u32;\n\n", id="a character"),
        pytest.param('#[doc = "} /*"]\n        const B = 1;\n', id="a text"),
    ],
)
def test_a_set_of_flags_ends_at_its_own_brace(body: str) -> None:
    source = f"flags! {{\n    pub struct A: u32 {{\n        {body}\n    }}\n}}\n"

    found = symbols_by_name("rust", source)["A"]

    assert (found.start_line, found.end_line, found.signature) == (2, 6, "pub struct A : u32")


@pytest.mark.parametrize(("length", "end"), [(400, 5), (401, 3)])
def test_a_brace_at_the_end_of_a_longer_comment_ends_a_set_of_flags(length: int, end: int) -> None:
    comment = f"//{'}'.rjust(length)}"
    source = f"flags! {{\n    pub struct A: u32 {{\n        {comment}\n        const B = 1;\n    }}\n}}\n"

    assert symbols_by_name("rust", source)["A"].end_line == end
