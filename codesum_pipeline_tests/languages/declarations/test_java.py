"""What is read from Java."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter, Symbol
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.java_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def one(source: str, name: str) -> Symbol:
    return symbols_by_name("java", source)[name]


def texts(facts: tuple[object, ...]) -> list[str]:
    return [fact.text for fact in facts]  # type: ignore[attr-defined]


def test_types_methods_bound_lambdas_and_anonymous_classes_are_symbols() -> None:
    found = symbols_by_name("java", SOURCE)

    assert {name: symbol.type.value for name, symbol in found.items()} == {
        "Store": "class",
        "Store::length": "function",
        "Store::BY_NAME": "class",
        "Store::BY_NAME::compare": "function",
        "Store::Store": "function",
        "Store::Store#858cc9": "function",
        "Store::find": "function",
        "Store::rank": "function",
        "Store::save": "function",
        "Store::save::later": "function",
        "Store::Kind": "class",
        "Store::Kind::BOOK": "class",
        "Store::Kind::BOOK::price": "function",
        "Store::Kind::Kind": "function",
        "Store::Kind::price": "function",
        "Store::Item": "class",
        "Store::Item::Item": "function",
        "Store::Finder": "class",
        "Store::Finder::find": "function",
        "Store::Finder::has": "function",
        "Store::Slow": "class",
        "Store::Slow::why": "function",
    }
    assert found["Store::Kind::BOOK::price"].parent_id == "file::Store::Kind::BOOK"
    assert found["Store::Kind::BOOK"].docstring == "On paper."
    assert found["Store"].docstring == "Keeps items in memory.\n\n@param <T> what is kept"


def test_a_signature_begins_after_the_annotations() -> None:
    found = symbols_by_name("java", SOURCE)

    assert {
        name: found[name].signature for name in ("Store", "Store::Store#858cc9", "Store::find", "Store::Slow::why")
    } == {
        "Store": "public abstract sealed class Store<T extends Comparable<T> & Cloneable> extends Base<T> "
        "implements Finder<T>, java.io.Serializable permits MemoryStore",
        "Store::Store#858cc9": "protected Store(int size, @Nullable Item... first) throws IOException",
        "Store::find": "public <R extends T> R find(String name)",
        "Store::Slow::why": 'String why() default ""',
    }
    assert found["Store::find"].start_line == SOURCE[: SOURCE.index("  @Override\n  public <R")].count("\n") + 1


def test_modifiers_are_as_written_and_members_of_interfaces_are_public() -> None:
    found = symbols_by_name("java", SOURCE)
    tested = one("class T { @org.junit.jupiter.api.Test void adds() {} @ParameterizedTest void all() {} }", "T::adds")

    assert {name: (symbol.modifiers, symbol.is_public) for name, symbol in found.items() if symbol.modifiers} == {
        "Store": (("public", "abstract", "sealed"), True),
        "Store::length": (("private", "final"), False),
        "Store::BY_NAME": (("static", "final"), False),
        "Store::BY_NAME::compare": (("public",), True),
        "Store::Store": (("protected",), True),
        "Store::Store#858cc9": (("protected",), True),
        "Store::find": (("public",), True),
        "Store::Kind::BOOK": (("public",), True),
        "Store::Finder": (("public",), True),
        "Store::Finder::find": (("public",), True),
        "Store::Finder::has": (("public", "default"), True),
        "Store::Slow::why": (("public",), True),
    }
    assert tested.modifiers == ("test",)


def test_bases_are_what_a_type_extends_and_implements() -> None:
    found = symbols_by_name("java", SOURCE + "interface Both extends Store.Finder<A>, B {}")

    assert {name: symbol.bases for name, symbol in found.items() if symbol.bases} == {
        "Store": ("Base<T>", "Finder<T>", "java.io.Serializable"),
        "Store::BY_NAME": ("Comparator<Item>",),
        "Store::Item": ("Comparable<Item>",),
        "Both": ("Store.Finder<A>", "B"),
    }


def test_parameters_of_all_kinds() -> None:
    source = "class A { int f(A this, final @X List<int[]> a, int b[], String... c) { F g = (x, y) -> x; return 1; } }"

    assert one(source, "A::f").facts.parameters == (
        Parameter("this", "A", None, "receiver"),
        Parameter("a", "List<int[]>", None, "positional"),
        Parameter("b", "int[]", None, "positional"),
        Parameter("c", "String", None, "var_positional"),
    )
    assert one(source, "A::f").facts.return_type == "int"
    assert one(source, "A::f::g").facts.parameters == (
        Parameter("x", None, None, "positional"),
        Parameter("y", None, None, "positional"),
    )


def test_facts_of_a_method() -> None:
    facts = one(SOURCE, "Store::save").facts

    assert texts(facts.calls) == [
        "open",
        "items.stream().map(T::name).map(Item::new).filter((a) -> a.price >= 0).forEach",
        "items.stream().map(T::name).map(Item::new).filter",
        "items.stream().map(T::name).map",
        "items.stream().map",
        "items.stream",
        "T::name",
        "new Item",
        "file::write",
        "later.run",
    ]
    assert texts(facts.writes) == ["sizes[0]", "sizes[0][1]"]
    assert texts(one(SOURCE, "Store::find").facts.raises) == ['new MissingItem("missing: " + name)']
    assert texts(one(SOURCE, "Store::length").facts.returned) == ["name.length()"]
    assert texts(one(SOURCE, "Store::Store#858cc9").facts.writes) == ["this.size"]


def test_fields_are_variables_record_components_and_enum_constants() -> None:
    found = symbols_by_name("java", SOURCE)

    assert {name: texts(symbol.facts.fields) for name, symbol in found.items() if symbol.facts.fields} == {
        "Store": [
            "MAX: int",
            "SIZES: int[]",
            "items: List<T>",
            "length: Function<String, Integer>",
            "BY_NAME: Comparator<Item>",
        ],
        "Store::Kind": ["BOOK", "FILM"],
        "Store::Item": ["name: String", "price: Integer"],
        "Store::Finder": ["NONE: String"],
    }


def test_branches_are_counted_once_each() -> None:
    found = symbols_by_name("java", SOURCE)

    assert {name: symbol.complexity for name, symbol in found.items() if symbol.complexity > 1} == {
        "Store": 12,
        "Store::find": 6,
        "Store::rank": 5,
        "Store::save": 3,
    }


def test_imports_and_package() -> None:
    facts = parse("java", SOURCE).facts

    assert facts.imports == (
        Import("java.util.Objects", 0, "requireNonNull", None, None, 6),
        Import("java.io", 0, "IOException", None, None, 8),
        Import("java.util", 0, "ArrayList", None, None, 9),
        Import("java.util", 0, "List", None, None, 10),
        Import("java.util.function", 0, "*", None, None, 11),
    )
    assert references_of(facts)["package"] == "com.example.store"


def test_a_package_file_is_documented_by_its_comment() -> None:
    facts = parse("java", "/* Copyright 2024 */\n\n/** Stores of items. */\n@NullMarked\npackage a.b;\n").facts

    assert (facts.docstring, references_of(facts)["package"]) == ("Stores of items.", "a.b")


def test_names_with_a_declared_type_and_calls_on_them_are_given_to_the_graph() -> None:
    source = """class A {
  Repo repo;
  void f(Item item, Item... more) {
    var made = new Store<Item>(item);
    for (Item each : more) each.go();
    try (Door door = open()) { this.repo.find(1); } catch (IOException | Broken e) { super.f(); }
    if (item instanceof Book book) { Outer.super.g(); new a.Shelf(book); }
    switch (item) { case Film film -> use(film); case Pair(Left left, var right) -> use(left); default -> this.h(); }
  }
}"""
    references = references_of(parse("java", source).facts)

    assert references["typed"] == [
        [0, "repo", "Repo"],
        [1, "item", "Item"],
        [1, "more", "Item[]"],
        [1, "made", "Store<Item>"],
        [1, "each", "Item"],
        [1, "door", "Door"],
        [1, "e", "IOException"],
        [1, "e", "Broken"],
        [1, "book", "Book"],
        [1, "film", "Film"],
        [1, "left", "Left"],
    ]
    assert references["calls"] == [
        [1, "", "Store", 1],
        [1, "each", "go", 0],
        [1, "", "open", 0],
        [1, "this.repo", "find", 0],
        [1, "super", "f", 0],
        [1, "Outer.super", "g", 0],
        [1, "a", "Shelf", 1],
        [1, "", "use", 0],
        [1, "", "use", 0],
        [1, "this", "h", 0],
    ]


def test_a_broken_method_leaves_the_others_readable() -> None:
    source = "class A {\n  void broken() { int x = ; }\n  int whole() { return 1; }\n}\nclass B { void m() {} }\n"
    parsed = parse("java", source)

    assert [(symbol.id, symbol.has_syntax_errors) for symbol in parsed.symbols] == [
        ("file::A", True),
        ("file::A::broken", True),
        ("file::A::whole", False),
        ("file::B", False),
        ("file::B::m", False),
    ]
    assert parsed.facts.syntax_errors == 1


def test_deep_nesting_and_long_chains_are_read() -> None:
    deep = "class A { int f() { return " + "(" * 10_000 + "1" + ")" * 10_000 + "; } }"
    chain = "class A { void f() { b()" + ".add(1)" * 3_000 + "; } }"

    assert list(symbols_by_name("java", deep)) == ["A", "A::f"]
    assert one(chain, "A::f").facts.calls[0].text == "….add"


def test_documentation_is_plain_text() -> None:
    source = """class A {
  /**
   * Adds {@code item} to the {@link Store} &amp; <b>all</b> others.
   *
   * <p>
   * @param item what is added
   */
  void add(Item item) {}
}"""

    assert one(source, "A::add").docstring == ("Adds item to the Store & all others.\n\n@param item what is added")
