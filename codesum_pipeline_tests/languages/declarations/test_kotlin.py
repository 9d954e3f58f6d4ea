"""What is read from Kotlin."""

from codesum_pipeline.foundation.data_model.symbol import Fact, Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.kotlin_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of

FOUND = symbols_by_name("kotlin", SOURCE)


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_all_kinds_of_definitions_are_symbols() -> None:
    assert {name: symbol.type.value for name, symbol in FOUND.items()} == {
        "Store": "class",
        "Store::isEmpty": "function",
        "Store::title": "function",
        "Store::rank": "function",
        "Store::compare": "function",
        "Store::listener": "class",
        "Store::listener::close": "function",
        "Store::constructor": "function",
        "Store::create": "function",
        "Store::Cursor": "class",
        "Store::Cursor::next": "function",
        "Store::find": "function",
        "Store::plus": "function",
        "Store::forget": "function",
        "Store::finds what was added": "function",
        "Store::finds what was added::check": "function",
        "Item": "class",
        "Shape": "class",
        "Shape::Empty": "class",
        "Shape::Circle": "class",
        "Kind": "class",
        "Kind::BOOK": "class",
        "Kind::BOOK::price": "function",
        "Kind::price": "function",
        "Registry": "class",
        "Registry::names": "function",
        "String::rankedAs": "function",
        "List::total": "function",
        "make": "function",
        "Store::empty": "function",
    }


def test_signatures_are_as_written_without_annotations_and_body() -> None:
    assert {name: symbol.signature for name, symbol in FOUND.items()} == {
        "Store": "abstract class Store<out T : Comparable<T>>(private val repo: Repo<T>, var size: Int = MAX, name: "
        "String) : Base<T>(name), Finder by repo where T : Any",
        "Store::isEmpty": "val isEmpty",
        "Store::title": 'var title: String = "store"',
        "Store::rank": "val rank",
        "Store::compare": "val compare: (T, T) -> Int = fun(left: T, right: T): Int",
        "Store::listener": "private val listener = object : Listener(), Closeable",
        "Store::listener::close": "override fun close()",
        "Store::constructor": 'constructor(repo: Repo<T>) : this(repo, 0, "empty")',
        "Store::create": "fun create(vararg names: String, block: suspend (Int) -> Unit = {}): Store<Item>?",
        "Store::Cursor": "inner class Cursor",
        "Store::Cursor::next": "fun next(): T?",
        "Store::find": "override suspend fun <R : T> find(name: String, limit: Int?): R where R : Any",
        "Store::plus": "operator fun plus(other: Store<T>)",
        "Store::forget": "abstract fun forget(name: String)",
        "Store::finds what was added": "fun `finds what was added`()",
        "Store::finds what was added::check": "fun check(item: Item)",
        "Item": "data class Item(val name: String, val price: Int = 0)",
        "Shape": "sealed interface Shape",
        "Shape::Empty": "object Empty : Shape",
        "Shape::Circle": "class Circle(val radius: Double) : Shape",
        "Kind": "enum class Kind(val label: String) : Named",
        "Kind::BOOK": 'BOOK("book")',
        "Kind::BOOK::price": "override fun price()",
        "Kind::price": "abstract fun price(): Int",
        "Registry": "object Registry : Named",
        "Registry::names": "internal fun names(): List<String>",
        "String::rankedAs": "infix fun String?.rankedAs(rank: Int): Item",
        "List::total": "val List<Item>.total: Int",
        "make": "inline fun <reified T> make(crossinline block: () -> T): T",
        "Store::empty": "fun Store.Companion.empty()",
    }


def test_modifiers_are_as_written() -> None:
    assert {name: symbol.modifiers for name, symbol in FOUND.items() if symbol.modifiers} == {
        "Store": ("abstract",),
        "Store::listener": ("private",),
        "Store::listener::close": ("override",),
        "Store::Cursor": ("inner",),
        "Store::find": ("override", "suspend"),
        "Store::plus": ("operator",),
        "Store::forget": ("abstract",),
        "Store::finds what was added": ("test",),
        "Item": ("data",),
        "Shape": ("sealed",),
        "Kind": ("enum",),
        "Kind::BOOK::price": ("override",),
        "Kind::price": ("abstract",),
        "Registry::names": ("internal",),
        "String::rankedAs": ("infix",),
        "make": ("inline",),
    }


def test_what_others_may_use_is_public() -> None:
    assert [name for name, symbol in FOUND.items() if symbol.is_public] == [
        "Store",
        "Store::isEmpty",
        "Store::title",
        "Store::rank",
        "Store::compare",
        "Store::listener::close",
        "Store::constructor",
        "Store::create",
        "Store::Cursor",
        "Store::Cursor::next",
        "Store::find",
        "Store::plus",
        "Store::forget",
        "Store::finds what was added",
        "Store::finds what was added::check",
        "Item",
        "Shape",
        "Shape::Empty",
        "Shape::Circle",
        "Kind",
        "Kind::BOOK",
        "Kind::BOOK::price",
        "Kind::price",
        "Registry",
        "String::rankedAs",
        "List::total",
        "make",
        "Store::empty",
    ]


def test_bases_are_as_written() -> None:
    assert {name: symbol.bases for name, symbol in FOUND.items() if symbol.bases} == {
        "Store": ("Base<T>", "Finder"),
        "Store::listener": ("Listener", "Closeable"),
        "Shape::Empty": ("Shape",),
        "Shape::Circle": ("Shape",),
        "Kind": ("Named",),
        "Registry": ("Named",),
    }


def test_doc_comments_document_what_comes_after_them() -> None:
    assert {name: symbol.docstring for name, symbol in FOUND.items() if symbol.docstring} == {
        "Store": "Keeps items in memory.\n\n@param T what is kept",
        "Store::constructor": "An empty store.",
        "Store::find": "Finds an item.",
        "Kind::BOOK": "On paper.",
    }


def test_each_branch_counts_once() -> None:
    assert {name: symbol.complexity for name, symbol in FOUND.items() if symbol.complexity > 1} == {
        "Store": 12,
        "Store::find": 11,
        "Store::finds what was added": 2,
    }


def test_the_fields_of_a_class() -> None:
    assert {name: texts(symbol.facts.fields) for name, symbol in FOUND.items() if symbol.facts.fields} == {
        "Store": ["repo: Repo<T>", "size: Int", "items", "owner: Owner", "cache: Map<String, T>", "NONE"],
        "Item": ["name: String", "price: Int"],
        "Shape::Circle": ["radius: Double"],
        "Kind": ["label: String", "BOOK", "FILM"],
    }


def test_what_a_function_returns() -> None:
    assert {name: texts(symbol.facts.returned) for name, symbol in FOUND.items() if symbol.facts.returned} == {
        "Store::isEmpty": ["items.size == 0"],
        "Store::title": ["field.trim()"],
        "Store::rank": ["item.rank + by"],
        "Store::compare": ["left.compareTo(right)"],
        "Store::listener::close": ['this@Store.forget("all")'],
        "Store::create": ["null"],
        "Store::Cursor::next": ["items.getOrNull(at++)"],
        "Store::find": [
            "item as R",
            "when (val kind = found.kind) { Kind.BOOK, Kind.FILM -> found as R is Unknown ->…",
        ],
        "Store::plus": ["apply { owner.add(other) }"],
        "Store::finds what was added::check": ["item.name to 1"],
        "Kind::BOOK::price": ["1"],
        "Registry::names": ['listOf("a")'],
        "String::rankedAs": ['Item(this ?: "", rank)'],
        "List::total": ["sumOf(Item::price)"],
        "make": ["block()"],
        "Store::empty": ["create()"],
    }


def test_what_a_function_raises() -> None:
    assert {name: texts(symbol.facts.raises) for name, symbol in FOUND.items() if symbol.facts.raises} == {
        "Store::find": ['MissingItem("missing: $name\\n")', 'error("unknown")']
    }


def test_what_a_function_writes() -> None:
    assert {name: texts(symbol.facts.writes) for name, symbol in FOUND.items() if symbol.facts.writes} == {
        "Store::constructor": ["this.size"],
        "Store::find": ["items[0]"],
    }


def test_parameters_of_all_kinds() -> None:
    assert {name: list(symbol.facts.parameters) for name, symbol in FOUND.items() if symbol.facts.parameters} == {
        "Store::rank": [Parameter("item", "T", None, "positional"), Parameter("by", "Int", None, "positional")],
        "Store::compare": [Parameter("left", "T", None, "positional"), Parameter("right", "T", None, "positional")],
        "Store::constructor": [Parameter("repo", "Repo<T>", None, "positional")],
        "Store::create": [
            Parameter("names", "String", None, "var_positional"),
            Parameter("block", "suspend (Int) -> Unit", "{}", "positional"),
        ],
        "Store::find": [
            Parameter("name", "String", None, "positional"),
            Parameter("limit", "Int?", None, "positional"),
        ],
        "Store::plus": [Parameter("other", "Store<T>", None, "positional")],
        "Store::forget": [Parameter("name", "String", None, "positional")],
        "Store::finds what was added::check": [Parameter("item", "Item", None, "positional")],
        "String::rankedAs": [
            Parameter("this", "String", None, "receiver"),
            Parameter("rank", "Int", None, "positional"),
        ],
        "List::total": [Parameter("this", "List", None, "receiver")],
        "make": [Parameter("block", "() -> T", None, "positional")],
        "Store::empty": [Parameter("this", "Store", None, "receiver")],
    }


def test_return_types() -> None:
    assert {name: symbol.facts.return_type for name, symbol in FOUND.items() if symbol.facts.return_type} == {
        "Store::title": "String",
        "Store::compare": "Int",
        "Store::create": "Store<Item>?",
        "Store::Cursor::next": "T?",
        "Store::find": "R",
        "Kind::price": "Int",
        "Registry::names": "List<String>",
        "String::rankedAs": "Item",
        "List::total": "Int",
        "make": "T",
    }


def test_imports_and_package() -> None:
    facts = parse("kotlin", SOURCE).facts

    assert facts.imports == (
        Import("com.example.log", 0, "warn", "log", None, 8),
        Import("kotlin.math", 0, "*", None, None, 9),
        Import("okio", 0, "Path", None, None, 10),
    )
    assert references_of(facts)["package"] == "com.example.store"


def test_names_with_a_known_class_are_given_to_the_graph() -> None:
    references = references_of(parse("kotlin", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], name, type_) for number, name, type_ in references["typed"] if number >= 0] == [
        ("Store", "repo", "Repo<T>"),
        ("Store", "size", "Int"),
        ("Store", "name", "String"),
        ("Store", "items", "ArrayList"),
        ("Store", "owner", "Owner"),
        ("Store", "cache", "Map<String, T>"),
        ("Store::title", "title", "String"),
        ("Store::rank", "item", "T"),
        ("Store::rank", "by", "Int"),
        ("Store::compare", "compare", "?"),
        ("Store::compare", "left", "T"),
        ("Store::compare", "right", "T"),
        ("Store::constructor", "repo", "Repo<T>"),
        ("Store::create", "names", "String"),
        ("Store::create", "block", "?"),
        ("Store::find", "name", "String"),
        ("Store::find", "limit", "Int"),
        ("Store::find", "e", "IOException"),
        ("Store::plus", "other", "Store<T>"),
        ("Store::forget", "name", "String"),
        ("Store::finds what was added::check", "item", "Item"),
        ("Item", "name", "String"),
        ("Item", "price", "Int"),
        ("Shape::Circle", "radius", "Double"),
        ("Kind", "label", "String"),
        ("String::rankedAs", "rank", "Int"),
        ("List::total", "total", "Int"),
        ("make", "block", "?"),
    ]


def test_calls_are_given_to_the_graph() -> None:
    references = references_of(parse("kotlin", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], *call) for number, *call in references["calls"] if number >= 0] == [
        ("Store", "", "ArrayList", 0),
        ("Store", "", "lazy", 0),
        ("Store", "", "load", 0),
        ("Store", "", "load", 0),
        ("Store::title", "field", "trim", 0),
        ("Store::compare", "left", "compareTo", 0),
        ("Store::listener::close", "?", "forget", 0),
        ("Store::constructor", "", "this", 0),
        ("Store::Cursor::next", "items", "getOrNull", 0),
        ("Store::find", "items", "withIndex", 0),
        ("Store::find", "Shelf(1)", "find", 0),
        ("Store::find", "", "Shelf", 0),
        ("Store::find", "", "MissingItem", 0),
        ("Store::find", "?", "forEach", 0),
        ("Store::find", "?", "map", 0),
        ("Store::find", "items", "filter", 0),
        ("Store::find", "", "Book", 0),
        ("Store::find", "", "log", 0),
        ("Store::find", "", "error", 0),
        ("Store::find", "repo", "find", 0),
        ("Store::find", "", "close", 0),
        ("Store::plus", "", "apply", 0),
        ("Store::plus", "owner", "add", 0),
        ("Store::finds what was added", "", "run", 0),
        ("Store::finds what was added::check", "item.name", "to", 0),
        ("Registry::names", "", "listOf", 0),
        ("String::rankedAs", "", "Item", 0),
        ("List::total", "", "sumOf", 0),
        ("List::total", "Item", "price", 0),
        ("make", "", "block", 0),
        ("Store::empty", "", "create", 0),
    ]


def test_members_of_a_companion_belong_to_the_class_or_to_the_name_it_has() -> None:
    found = symbols_by_name("kotlin", "class A {\n  companion object { fun make() = A() }\n}\n")
    named = symbols_by_name("kotlin", "class A {\n  companion object Maker : Makes { fun make() = A() }\n}\n")

    assert {name: symbol.parent_id for name, symbol in found.items()} == {"A": None, "A::make": "file::A"}
    assert list(named) == ["A", "A::Maker", "A::Maker::make"]
    assert named["A::Maker"].bases == ("Makes",)


def test_an_annotation_that_the_grammar_parts_from_its_function_belongs_to_it() -> None:
    source = 'import a.b\n\n/** Adds. */\n@JvmName("plus")\nfun add() {}\n'
    found = symbols_by_name("kotlin", source)

    assert (found["add"].docstring, found["add"].start_line) == ("Adds.", 4)
    assert found["add"].signature == "fun add()"


def test_a_labelled_return_leaves_a_lambda_and_not_the_function() -> None:
    source = "fun f(xs: List<Int>): Int {\n  xs.forEach { return@forEach }\n  xs.forEach { return it }\n  return 1\n}\n"

    assert texts(symbols_by_name("kotlin", source)["f"].facts.returned) == ["it", "1"]


def test_a_broken_function_leaves_the_others_readable() -> None:
    parsed = parse("kotlin", "class A {\n  fun broken() { val x = ) }\n  fun whole() = 1\n}\n\nfun last() = 2\n")
    found = {symbol.id: symbol.has_syntax_errors for symbol in parsed.symbols}

    assert found["file::A::broken"]
    assert not found["file::A::whole"]
    assert not found["file::last"]
    assert parsed.facts.syntax_errors > 0
