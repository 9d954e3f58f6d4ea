"""What is read from Zig."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.zig_case import SOURCE


def test_types_bound_to_names_their_methods_and_tests_are_found() -> None:
    found = symbols_by_name("zig", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "StoreError": ("class", None),
        "Kind": ("class", None),
        "Kind::isRound": ("function", "file::Kind"),
        "Value": ("class", None),
        "Point": ("class", None),
        "Point::init": ("function", "file::Point"),
        "Point::length": ("function", "file::Point"),
        "List": ("function", None),
        "List::get": ("function", "file::List"),
        "puts": ("function", None),
        "add": ("function", None),
        '@"odd name"': ("function", None),
        "test points are made": ("function", None),
    }


def test_docs_signatures_and_visibility() -> None:
    found = symbols_by_name("zig", SOURCE)

    assert found["Point::init"].docstring == "Makes a point\non the axis."
    assert found["Point"].signature == "pub const Point = struct"
    assert found["Point::length"].signature == "pub fn length(self: *const Point, scale: ?f32) !f32"
    assert found["puts"].signature == 'extern "c" fn puts(s: [*:0]const u8) c_int'
    assert {name for name, symbol in found.items() if symbol.is_public} == {
        "StoreError",
        "Kind",
        "Kind::isRound",
        "Point",
        "Point::init",
        "Point::length",
        "List",
        "add",
    }
    assert found["test points are made"].modifiers == ("test",)
    assert parse("zig", SOURCE).facts.docstring == "A store of named points."


def test_what_a_method_says_about_itself() -> None:
    length = symbols_by_name("zig", SOURCE)["Point::length"]

    assert length.facts.parameters == (
        Parameter("self", "*const Point", None, "receiver"),
        Parameter("scale", "?f32", None, "positional"),
    )
    assert length.facts.return_type == "!f32"
    assert [fact.text for fact in length.facts.calls] == ["std.debug.print"]
    assert [fact.text for fact in length.facts.returned][:2] == ["StoreError.Full", "self.x * factor"]
    assert length.complexity == 8


def test_fields_imports_and_globals() -> None:
    found, facts = symbols_by_name("zig", SOURCE), parse("zig", SOURCE).facts

    assert [fact.text for fact in found["Point"].facts.fields] == ["x: f32", "y: f32"]
    assert [fact.text for fact in found["StoreError"].facts.fields] == ["Full", "NotFound"]
    assert [fact.text for fact in found["Value"].facts.fields] == ["number: i32", "none: void"]
    assert facts.imports == (
        Import("std", 0, None, "std", None, 3),
        Import("shapes.zig", 0, None, "shapes", None, 5),
        Import("shapes.zig", 0, "Circle", "Circle", None, 6),
    )
    assert facts.globals == ("Allocator", "limit", "count")


def test_calls_and_typed_names_are_told_to_the_graph() -> None:
    references = references_of(parse("zig", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    test = names.index("test points are made")

    assert [call[1:] for call in references["calls"] if call[0] == test] == [
        ["Point", "init", 0],
        ["std.testing", "expectEqual", 0],
        ["point", "length", 0],
    ]
    assert [typed[1:] for typed in references["typed"] if typed[0] == test] == [["point", "Point"]]


def test_a_type_that_a_condition_chooses_is_a_class_with_what_all_its_branches_define() -> None:
    source = (
        "pub const Ctx = if (fast) Other else if (slow) 1 else struct {\n    name: u8,\n    pub fn end() void {}\n};\n"
        "const Both = if (fast) struct {\n    fn one() void {}\n} else struct {\n    fn two() void {}\n};\n"
        "const Pipe = switch (os) {\n    .a => Other,\n    else => struct {\n        fn open() void {}\n    },\n};\n"
        "const count = if (fast) 1 else 2;\nconst mode = switch (os) {\n    else => 1,\n};\n"
    )

    parsed = parse("zig", source)
    found = symbols_by_name("zig", source)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Ctx": ("class", None),
        "Ctx::end": ("function", "file::Ctx"),
        "Both": ("class", None),
        "Both::one": ("function", "file::Both"),
        "Both::two": ("function", "file::Both"),
        "Pipe": ("class", None),
        "Pipe::open": ("function", "file::Pipe"),
    }
    assert found["Ctx"].signature == "pub const Ctx = if (fast) Other else if (slow) 1 else struct"
    assert [fact.text for fact in found["Ctx"].facts.fields] == ["name: u8"]
    assert parsed.facts.globals == ("count", "mode")


def test_a_string_in_lines_ends_with_its_line() -> None:
    source = "const text =\n    \\\\one\n    \\\\two\n;\nfn after() void {}\n"

    once = parse("zig", source)
    again = parse("zig", once.facts.source)

    assert once.facts.syntax_errors == again.facts.syntax_errors == 0
    assert again.facts.source == once.facts.source
    assert [symbol.name for symbol in once.symbols] == ["after"]


def test_a_condition_without_branches_is_no_type() -> None:
    assert parse("zig", "const a = if ();\nconst b = switch (x) {};\nconst c = if (x) else;\n").symbols == ()


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("zig", "fn good() void {}\nfn bad() void { x y z; }\n/// Fine.\nfn fine() void { good(); }\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}
