"""What is read from C#."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Import, Parameter
from codesum_pipeline_tests.languages.declarations.c_sharp_case import SOURCE
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of

FOUND = symbols_by_name("c-sharp", SOURCE)


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_all_kinds_of_definitions_are_symbols() -> None:
    assert {name: symbol.type.value for name, symbol in FOUND.items()} == {
        "Store": "class",
        "Store::_rank": "function",
        "Store::Count": "function",
        "Store::Size": "function",
        "Store::this": "function",
        "Store::Store": "function",
        "Store::~Store": "function",
        "Store::operator +": "function",
        "Store::operator int": "function",
        "Store::Find": "function",
        "Store::Find::Twice": "function",
        "Store::Ranks": "function",
        "Store::Adds": "function",
        "Handler": "class",
        "Item": "class",
        "Point": "class",
        "Point::Sum": "function",
        "IFinder": "class",
        "IFinder::Has": "function",
        "IFinder::Forget": "function",
        "Kind": "class",
    }


def test_signatures_are_as_written_without_annotations_and_body() -> None:
    assert {name: symbol.signature for name, symbol in FOUND.items()} == {
        "Store": "public abstract partial class Store<T> : Base<T>, IFinder where T : class, new()",
        "Store::_rank": "private Func<T, int> _rank = item",
        "Store::Count": "public int Count",
        "Store::Size": "public int Size",
        "Store::this": "public T this[int index]",
        "Store::Store": "protected Store(string name, params T[] first) : base(name)",
        "Store::~Store": "~Store()",
        "Store::operator +": "public static Store<T> operator +(Store<T> left, Store<T> right)",
        "Store::operator int": "public static implicit operator int(Store<T> store)",
        "Store::Find": 'T IFinder.Find<TKey>(out TKey key, ref int? count, string name = "none") where TKey : struct',
        "Store::Find::Twice": "int Twice(int number)",
        "Store::Ranks": "public async IAsyncEnumerable<int> Ranks(Kind kind)",
        "Store::Adds": "internal void Adds()",
        "Handler": "public delegate void Handler<in T>(object sender, T item)",
        "Item": "public record Item(string Name, int Price = 0) : Thing(Name)",
        "Point": "internal readonly struct Point(int x, int y)",
        "Point::Sum": "public int Sum",
        "IFinder": "internal interface IFinder",
        "IFinder::Has": "bool Has(string name)",
        "IFinder::Forget": "void Forget()",
        "Kind": "public enum Kind : byte",
    }


def test_modifiers_are_as_written() -> None:
    assert {name: symbol.modifiers for name, symbol in FOUND.items() if symbol.modifiers} == {
        "Store": ("public", "abstract", "partial"),
        "Store::_rank": ("private",),
        "Store::Count": ("public",),
        "Store::Size": ("public",),
        "Store::this": ("public",),
        "Store::Store": ("protected",),
        "Store::operator +": ("public", "static"),
        "Store::operator int": ("public", "static"),
        "Store::Ranks": ("public", "async"),
        "Store::Adds": ("test", "internal"),
        "Handler": ("public",),
        "Item": ("public",),
        "Point": ("internal", "readonly"),
        "Point::Sum": ("public",),
        "IFinder": ("internal",),
        "IFinder::Has": ("public",),
        "IFinder::Forget": ("public",),
        "Kind": ("public",),
    }


def test_what_others_may_use_is_public() -> None:
    assert [name for name, symbol in FOUND.items() if symbol.is_public] == [
        "Store",
        "Store::Count",
        "Store::Size",
        "Store::this",
        "Store::Store",
        "Store::operator +",
        "Store::operator int",
        "Store::Ranks",
        "Handler",
        "Item",
        "Point::Sum",
        "IFinder::Has",
        "IFinder::Forget",
        "Kind",
    ]


def test_bases_are_as_written() -> None:
    assert {name: symbol.bases for name, symbol in FOUND.items() if symbol.bases} == {
        "Store": ("Base<T>", "IFinder"),
        "Item": ("Thing",),
    }


def test_doc_comments_document_what_comes_after_them() -> None:
    assert {name: symbol.docstring for name, symbol in FOUND.items() if symbol.docstring} == {
        "Store": "Keeps T in memory & finds them by name.\nT: What is kept.",
        "Store::Store": "An empty store.",
        "IFinder": "Finds items; see Example.Store.Item.",
        "IFinder::Has": "Returns: Whether there is one.",
    }


def test_each_branch_counts_once() -> None:
    assert {name: symbol.complexity for name, symbol in FOUND.items() if symbol.complexity > 1} == {
        "Store": 12,
        "Store::Find": 7,
        "Store::Ranks": 6,
    }


def test_the_fields_of_a_class() -> None:
    assert {name: texts(symbol.facts.fields) for name, symbol in FOUND.items() if symbol.facts.fields} == {
        "Store": [
            "_items: List<T>",
            "_old: List<T>",
            "_rank: Func<T, int>",
            "Max: int",
            "Changed: EventHandler",
            "Name: string",
        ],
        "Item": ["Name: string", "Price: int"],
        "Point": ["x: int", "y: int"],
        "IFinder": ["Found: int"],
        "Kind": ["Book", "Film"],
    }


def test_what_a_function_returns() -> None:
    assert {name: texts(symbol.facts.returned) for name, symbol in FOUND.items() if symbol.facts.returned} == {
        "Store::_rank": ["item.Rank + 1"],
        "Store::Count": ["_items.Count"],
        "Store::Size": ["_size"],
        "Store::this": ["_items[index]"],
        "Store::operator +": ["left.Join(right)"],
        "Store::operator int": ["store.Count"],
        "Store::Find": ["(T) book", "Twice(_items[^1].Rank) > 1 ? default(T) : null"],
        "Store::Find::Twice": ["number * 2"],
        "Store::Ranks": ['await Ask(new Item("a") { Price = 1 })'],
        "Point::Sum": ["x + y"],
    }


def test_what_a_function_raises() -> None:
    assert {name: texts(symbol.facts.raises) for name, symbol in FOUND.items() if symbol.facts.raises} == {
        "Store::Store": ["new ArgumentNullException(nameof(name))"],
        "Store::Ranks": ["new InvalidOperationException()"],
    }


def test_what_a_function_writes() -> None:
    assert {name: texts(symbol.facts.writes) for name, symbol in FOUND.items() if symbol.facts.writes} == {
        "Store::Store": ["this.name"]
    }


def test_parameters_of_all_kinds() -> None:
    assert {name: list(symbol.facts.parameters) for name, symbol in FOUND.items() if symbol.facts.parameters} == {
        "Store::_rank": [Parameter("item", None, None, "positional")],
        "Store::this": [Parameter("index", "int", None, "positional")],
        "Store::Store": [
            Parameter("name", "string", None, "positional"),
            Parameter("first", "T[]", None, "var_positional"),
        ],
        "Store::operator +": [
            Parameter("left", "Store<T>", None, "positional"),
            Parameter("right", "Store<T>", None, "positional"),
        ],
        "Store::operator int": [Parameter("store", "Store<T>", None, "positional")],
        "Store::Find": [
            Parameter("key", "out TKey", None, "positional"),
            Parameter("count", "ref int?", None, "positional"),
            Parameter("name", "string", '"none"', "positional"),
        ],
        "Store::Find::Twice": [Parameter("number", "int", None, "positional")],
        "Store::Ranks": [Parameter("kind", "Kind", None, "positional")],
        "IFinder::Has": [Parameter("name", "string", None, "positional")],
    }


def test_return_types() -> None:
    assert {name: symbol.facts.return_type for name, symbol in FOUND.items() if symbol.facts.return_type} == {
        "Store::Count": "int",
        "Store::Size": "int",
        "Store::this": "T",
        "Store::operator +": "Store<T>",
        "Store::operator int": "int",
        "Store::Find": "T",
        "Store::Find::Twice": "int",
        "Store::Ranks": "IAsyncEnumerable<int>",
        "Store::Adds": "void",
        "Point::Sum": "int",
        "IFinder::Has": "bool",
        "IFinder::Forget": "void",
    }


def test_generators_and_async_functions() -> None:
    assert [
        (name, symbol.facts.is_generator, symbol.facts.is_async)
        for name, symbol in FOUND.items()
        if symbol.facts.is_generator or symbol.facts.is_async
    ] == [("Store::Ranks", True, True)]


def test_imports_and_package() -> None:
    facts = parse("c-sharp", SOURCE).facts

    assert facts.imports == (
        Import("System", 0, "*", None, None, 3),
        Import("System.Collections.Generic", 0, "*", None, None, 4),
        Import("System.Math", 0, "*", None, None, 5),
        Import("Newtonsoft.Json.Linq", 0, "JObject", "Json", None, 6),
    )
    assert references_of(facts)["package"] == "Example.Store"


def test_names_with_a_known_class_are_given_to_the_graph() -> None:
    references = references_of(parse("c-sharp", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], name, type_) for number, name, type_ in references["typed"] if number >= 0] == [
        ("Store", "_items", "List<T>"),
        ("Store", "_old", "List<T>"),
        ("Store", "_rank", "Func<T, int>"),
        ("Store", "Max", "int"),
        ("Store", "Changed", "EventHandler"),
        ("Store", "Name", "string"),
        ("Store", "Count", "int"),
        ("Store", "Size", "int"),
        ("Store::this", "index", "int"),
        ("Store::Store", "name", "string"),
        ("Store::operator +", "left", "Store<T>"),
        ("Store::operator +", "right", "Store<T>"),
        ("Store::operator int", "store", "Store<T>"),
        ("Store::Find", "key", "TKey"),
        ("Store::Find", "count", "int"),
        ("Store::Find", "name", "string"),
        ("Store::Find", "i", "int"),
        ("Store::Find", "j", "int"),
        ("Store::Find", "item", "T"),
        ("Store::Find", "book", "Book"),
        ("Store::Find", "error", "IOException"),
        ("Store::Find::Twice", "number", "int"),
        ("Store::Ranks", "kind", "Kind"),
        ("Store::Ranks", "all", "Dictionary<string, int[]>"),
        ("Handler", "sender", "object"),
        ("Handler", "item", "T"),
        ("Item", "Name", "string"),
        ("Item", "Price", "int"),
        ("Point", "x", "int"),
        ("Point", "y", "int"),
        ("Point", "Sum", "int"),
        ("IFinder", "Found", "int"),
        ("IFinder::Has", "name", "string"),
    ]


def test_calls_are_given_to_the_graph() -> None:
    references = references_of(parse("c-sharp", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], *call) for number, *call in references["calls"] if number >= 0] == [
        ("Store", "", "List", 1),
        ("Store", "", "List", 1),
        ("Store::Store", "", "base", 0),
        ("Store::Store", "", "ArgumentNullException", 1),
        ("Store::Store", "", "nameof", 0),
        ("Store::~Store", "", "Close", 0),
        ("Store::operator +", "left", "Join", 0),
        ("Store::Find", "", "Open", 0),
        ("Store::Find", "_items", "Clear", 0),
        ("Store::Find", "", "Log", 0),
        ("Store::Find", "", "Log", 0),
        ("Store::Find", "", "Twice", 0),
        ("Store::Ranks", "", "Log", 0),
        ("Store::Ranks", "", "Ask", 0),
        ("Store::Ranks", "", "Item", 1),
        ("Store::Ranks", "", "Dictionary", 1),
        ("Store::Ranks", "", "InvalidOperationException", 1),
        ("Store::Adds", "Assert", "Equal", 0),
        ("Store::Adds", "Names(0).Where(1)", "First", 0),
        ("Store::Adds", "Names(0)", "Where", 0),
        ("Store::Adds", "", "Names", 0),
    ]


def test_a_class_in_parts_has_several_ids_and_its_members_one_name() -> None:
    source = "partial class A { void F() {} }\npartial class A { void G() {} void F(int x) {} }\n"
    found = symbols_by_name("c-sharp", source)

    assert {name: symbol.parent_id for name, symbol in found.items()} == {
        "A": None,
        "A::F": "file::A",
        "A#8b17bf": None,
        "A::G": "file::A#8b17bf",
        "A::F#7b49bf": "file::A#8b17bf",
    }


def test_members_with_code_are_functions_and_those_that_hold_a_value_are_fields() -> None:
    source = """class A {
  int Held { get; set; } = 1;
  int Made => 1;
  int Both { get { return 1; } set { Save(value); } }
  event Action Raised;
  event Action Kept { add { Add(value); } remove { } }
}"""
    found = symbols_by_name("c-sharp", source)

    assert list(found) == ["A", "A::Made", "A::Both", "A::Kept"]
    assert texts(found["A"].facts.fields) == ["Held: int", "Raised: Action"]
    assert texts(found["A::Both"].facts.calls) == ["Save"]


def test_an_extension_method_has_a_receiver() -> None:
    found = symbols_by_name("c-sharp", "static class Names { static int Size(this string name) => name.Length; }")

    assert found["Names::Size"].facts.parameters == (Parameter("name", "string", None, "receiver"),)


def test_top_level_statements_belong_to_the_file_and_its_functions_are_symbols() -> None:
    parsed = parse("c-sharp", "namespace A.B;\n\nRun(1);\n\nint Run(int x) => x;\n\nclass C { void M() => Run(2); }\n")
    references = references_of(parsed.facts)

    assert [symbol.id for symbol in parsed.symbols] == ["file::Run", "file::C", "file::C::M"]
    assert references["package"] == "A.B"
    assert references["calls"] == [[-1, "", "Run", 0], [2, "", "Run", 0]]


def test_both_branches_of_a_condition_are_read() -> None:
    source = "class A {\n#if NET\n  int F() { return 1; }\n#else\n  int F() { return 2; }\n  int G() => 3;\n#endif\n}\n"
    parsed = parse("c-sharp", source)

    assert [symbol.id for symbol in parsed.symbols] == ["file::A", "file::A::F", "file::A::F#4052a7", "file::A::G"]
    assert parsed.facts.source.split("\n")[1:6] == [
        "    #if NET",
        "    int F() {",
        "        return 1;",
        "    }",
        "    #else",
    ]


def test_calls_in_a_text_are_read() -> None:
    found = symbols_by_name("c-sharp", 'class A { string F(string x) => $"<{x.Trim(),5:N2} {{b}} {G()}>"; }')

    assert texts(found["A::F"].facts.calls) == ["x.Trim", "G"]
    assert found["A::F"].canonical_source == 'string F(string x) => $"<{x.Trim(),5:N2} {{b}} {G()}>";'


def test_an_expression_that_returns_nothing_is_no_result() -> None:
    found = symbols_by_name("c-sharp", "class A { A() => F(); void F() => G(); int G() => 1; }")

    assert {name: texts(symbol.facts.returned) for name, symbol in found.items()} == {
        "A": [],
        "A::A": [],
        "A::F": [],
        "A::G": ["1"],
    }


def test_a_broken_method_leaves_the_others_readable() -> None:
    parsed = parse("c-sharp", "class A {\n  void Broken() { int x = ; }\n  int Whole() { return 1; }\n}\n")

    assert [(symbol.id, symbol.has_syntax_errors) for symbol in parsed.symbols] == [
        ("file::A", True),
        ("file::A::Broken", True),
        ("file::A::Whole", False),
    ]
    assert parsed.facts.syntax_errors == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("extension(string s) { public int F() => 1; }", ["F"], id="a block"),
        pytest.param(
            "extension<T>(IEnumerable<T> s) where T : new()\n{\npublic bool P => true;\n}", ["P"], id="generic"
        ),
        pytest.param("extension(Point)\n{\npublic static Point Q => new();\n}", ["Q"], id="a type alone"),
        pytest.param('extension(ref S s) { string F() => "}"; } void G() { }', ["F", "G"], id="a brace in a text"),
        pytest.param(
            f'extension(S s) {{ string F() => "{"{" * 2000}"; }} void G() {{ }}', ["F", "G"], id="a long text of braces"
        ),
        pytest.param("extension(S s) { char F() => '\"'; } void G() { }", ["F", "G"], id="a quote as a character"),
        pytest.param("int extension(int x) { return 1; } void G() { extension(1); }", ["extension", "G"], id="a name"),
        pytest.param("extension(A a) { void F() { } } extension(B b) { void G() { } }", ["F", "G"], id="two blocks"),
    ],
)
def test_members_of_an_extension_block_belong_to_the_class_around_it(source: str, names: list[str]) -> None:
    parsed = parse("c-sharp", "static class A {\n" + source + "\n}\n")

    assert [symbol.id for symbol in parsed.symbols] == ["file::A", *(f"file::A::{name}" for name in names)]
    assert parsed.facts.syntax_errors == 0


def test_an_extension_block_stays_in_the_canonical_source() -> None:
    source = "static class A\n{\n    // One.\n    extension(string s)\n    {\n        int F() => 1;\n    }\n}\n"

    assert (
        parse("c-sharp", source).facts.source == "static class A {\n    extension(string s) {\n    int F() => 1; }\n}"
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param(
            "#if X\nint F() { return 1; }\n#else\nint F() { return 2; }\n#endif\n", [3, 5], id="whole members"
        ),
        pytest.param("#if X\nint F()\n#else\nlong F()\n#endif\n{ return 1; }\n", [3], id="heads of one body"),
        pytest.param("#if X\nint F() {\n#else\nlong F() {\n#endif\n}\n", [3], id="heads with their braces"),
        pytest.param("int F() {\n#if X\nif (a) {\n#else\nif (b) {\n#endif\n}\n}\n", [2], id="amid a body"),
        pytest.param("int F(\n#if X\nint a\n#else\nlong a\n#endif\n) { return 1; }\n", [2], id="parameters"),
        pytest.param("#if X\n[Old]\n#endif\nint F() { return 1; }\n", [2], id="an attribute"),
        pytest.param(
            "#if X\nint F() => 1;\n#elif Y\nint F() => 2;\n#else\nint F() => 3;\n#endif\n"
            "int G(int a\n#if X\n, int b\n#endif\n) => 1;\n",
            [3, 5, 7],
            id="beside a torn one",
        ),
    ],
)
def test_both_twins_of_a_condition_are_read_where_they_are_whole(source: str, lines: list[int]) -> None:
    parsed = parse("c-sharp", "class A {\n" + source + "}\n")

    assert [symbol.start_line for symbol in parsed.symbols if symbol.name == "F"] == lines
    assert parsed.facts.syntax_errors == 0


def test_an_operator_that_assigns_has_its_whole_sign() -> None:
    found = symbols_by_name(
        "c-sharp", "class A { public void operator +=(int x) { } static A operator +(A a, A b) => a; }"
    )

    assert list(found) == ["A", "A::operator +=", "A::operator +"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('$@"a ""{p}"""', id="a quoted value at the end"),
        pytest.param('@$"a ""{p}"""', id="the marks the other way round"),
        pytest.param('$@"""{p}"""', id="a quoted value alone"),
        pytest.param('$@"a ""{p}"" b ""{q}"""', id="two of them"),
        pytest.param('$@"a\n  ""{p}"""', id="over two lines"),
        pytest.param('$@"{d["k"]}"', id="a text in a value"),
    ],
)
def test_a_text_that_ends_with_quotes_hides_nothing(text: str) -> None:
    parsed = parse("c-sharp", f"class A {{\n  void F() {{ var x = {text}; G(); }}\n  void H() {{ }}\n}}\n")

    assert [symbol.name for symbol in parsed.symbols] == ["A", "F", "H"]
    assert text.partition("\n")[0] in parsed.facts.source
    assert parsed.facts.syntax_errors == 0


@pytest.mark.parametrize(
    ("member", "name"),
    [
        pytest.param("IEnumerator IEnumerable.GetEnumerator() { return null; }", "GetEnumerator", id="a method"),
        pytest.param("IEnumerator<T> IEnumerable<T>.GetEnumerator() => null;", "GetEnumerator", id="of a generic"),
        pytest.param("int System.Collections.ICollection.Count => 1;", "Count", id="a property"),
        pytest.param("object IList.this[int i] { get { return 1; } }", "this", id="an indexer"),
        pytest.param("event E I.Changed { add { } remove { } }", "Changed", id="an event"),
    ],
)
def test_a_member_that_implements_an_interface_by_its_name_has_its_own_name_alone(member: str, name: str) -> None:
    assert [symbol.qualified_name for symbol in parse("c-sharp", f"class A {{ {member} }}\n").symbols] == [
        "A",
        f"A.{name}",
    ]
