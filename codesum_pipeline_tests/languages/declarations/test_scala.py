"""What is read from Scala."""

from codesum_pipeline.foundation.data_model.symbol import Fact, Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.scala_case import SOURCE

FOUND = symbols_by_name("scala", SOURCE)


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_all_kinds_of_definitions_are_symbols() -> None:
    assert {name: symbol.type.value for name, symbol in FOUND.items()} == {
        "Store": "class",
        "Store::rank": "function",
        "Store::label": "function",
        "Store::listener": "class",
        "Store::listener::close": "function",
        "Store::this": "function",
        "Store::find": "function",
        "Store::find::twice": "function",
        "Store::+": "function",
        "Store::asInt": "function",
        "Store::forget": "function",
        "Store#dcbe1b": "class",
        "Store::apply": "function",
        "Item": "class",
        "Shape": "class",
        "Shape::area": "function",
        "Shape::adds": "function",
        "tools": "class",
        "tools::Rich": "class",
        "tools::Rich::twice": "function",
        "Kind": "class",
        "Kind::price": "function",
        "byPrice": "class",
        "byPrice::compare": "function",
        "String::shout": "function",
        "String::half": "function",
        "Shop": "class",
        "Shop::sell": "function",
        "Shop::all": "function",
    }


def test_signatures_are_as_written_without_annotations_and_body() -> None:
    assert {name: symbol.signature for name, symbol in FOUND.items()} == {
        "Store": "sealed abstract class Store[+T <: Item : Ordering](private val repo: Repo[T], var size: Int = 3, "
        "name: => String)(implicit ec: Executor) extends Base[T](name) with Finder",
        "Store::rank": "private val rank = (item: T, by: Int)",
        "Store::label": "val label: PartialFunction[Kind, String]",
        "Store::listener": "val listener = new Listener with Closeable",
        "Store::listener::close": "override def close(): Unit",
        "Store::this": "def this(repo: Repo[T])",
        "Store::find": "override protected def find[A, B](names: String*)(f: A => B = identity)(implicit order: "
        "Ordering[A]): Option[B]",
        "Store::find::twice": "def twice(number: Int)",
        "Store::+": "def +(other: Store[T]): Store[T]",
        "Store::asInt": "implicit def asInt(item: T): Int",
        "Store::forget": "def forget(): Unit",
        "Store#dcbe1b": "object Store extends App",
        "Store::apply": "def apply(name: String)",
        "Item": "case class Item(name: String, price: Int = 0) extends Ordered[Item]",
        "Shape": "trait Shape",
        "Shape::area": "def area: Double",
        "Shape::adds": "def adds(): Unit",
        "tools": "package object tools",
        "tools::Rich": "implicit class Rich(val text: String) extends AnyVal",
        "tools::Rich::twice": "def twice",
        "Kind": "enum Kind(val label: String) extends Named",
        "Kind::price": "def price: Int",
        "byPrice": "given byPrice: Ordering[Item]",
        "byPrice::compare": "def compare(x: Item, y: Item): Int",
        "String::shout": "def shout: String",
        "String::half": "private def half",
        "Shop": "object Shop",
        "Shop::sell": "inline def sell(item: Item)(using shop: Shop): Boolean",
        "Shop::all": "def all(items: List[Item]): List[Int]",
    }


def test_modifiers_are_as_written() -> None:
    assert {name: symbol.modifiers for name, symbol in FOUND.items() if symbol.modifiers} == {
        "Store": ("sealed", "abstract"),
        "Store::rank": ("private",),
        "Store::listener::close": ("override",),
        "Store::find": ("override", "protected"),
        "Store::asInt": ("implicit",),
        "Item": ("case",),
        "Shape::adds": ("test",),
        "tools::Rich": ("implicit",),
        "String::half": ("private",),
        "Shop::sell": ("inline",),
    }


def test_what_others_may_use_is_public() -> None:
    assert [name for name, symbol in FOUND.items() if symbol.is_public] == [
        "Store",
        "Store::label",
        "Store::listener",
        "Store::listener::close",
        "Store::this",
        "Store::find",
        "Store::find::twice",
        "Store::+",
        "Store::asInt",
        "Store::forget",
        "Store#dcbe1b",
        "Store::apply",
        "Item",
        "Shape",
        "Shape::area",
        "Shape::adds",
        "tools",
        "tools::Rich",
        "tools::Rich::twice",
        "Kind",
        "Kind::price",
        "byPrice",
        "byPrice::compare",
        "String::shout",
        "Shop",
        "Shop::sell",
        "Shop::all",
    ]


def test_bases_are_as_written() -> None:
    assert {name: symbol.bases for name, symbol in FOUND.items() if symbol.bases} == {
        "Store": ("Base[T]", "Finder"),
        "Store::listener": ("Listener", "Closeable"),
        "Store#dcbe1b": ("App",),
        "Item": ("Ordered[Item]",),
        "tools::Rich": ("AnyVal",),
        "Kind": ("Named",),
        "byPrice": ("Ordering[Item]",),
    }


def test_doc_comments_document_what_comes_after_them() -> None:
    assert {name: symbol.docstring for name, symbol in FOUND.items() if symbol.docstring} == {
        "Store": "Keeps items in memory.\n\n@tparam T what is kept",
        "Store::find": "Finds an item.",
    }


def test_each_branch_counts_once() -> None:
    assert {name: symbol.complexity for name, symbol in FOUND.items() if symbol.complexity > 1} == {
        "Store": 13,
        "Store::label": 3,
        "Store::find": 11,
        "Store#dcbe1b": 2,
        "Store::apply": 2,
        "Shop": 2,
        "Shop::sell": 2,
    }


def test_the_fields_of_a_class() -> None:
    assert {name: texts(symbol.facts.fields) for name, symbol in FOUND.items() if symbol.facts.fields} == {
        "Store": ["repo: Repo[T]", "size: Int", "name: => String", "ec: Executor", "Elem", "items", "owner: Owner"],
        "Item": ["name: String", "price: Int"],
        "tools::Rich": ["text: String"],
        "Kind": ["label: String", "Book", "Film", "Song", "Other"],
        "Shop": ["Id"],
    }


def test_what_a_function_returns() -> None:
    assert {name: texts(symbol.facts.returned) for name, symbol in FOUND.items() if symbol.facts.returned} == {
        "Store::rank": ["item.rank + by"],
        "Store::listener::close": ["items.clear()"],
        "Store::this": ['this(repo, 0, "empty")'],
        "Store::find": ["None", 'names match { case Nil => throw new MissingItem("missing") case first :: rest i…'],
        "Store::find::twice": ["number * 2"],
        "Store::+": ["this merge other"],
        "Store::asInt": ["item.rank"],
        "Store::apply": ["try { new Store(name) } catch { case error: IOException => null } finally close…"],
        "Shape::adds": ["()"],
        "tools::Rich::twice": ["text * 2"],
        "Kind::price": ["1"],
        "byPrice::compare": ["x.price - y.price"],
        "String::shout": ["text.toUpperCase"],
        "String::half": ["text.take(1)"],
        "Shop::sell": ["if item.price > 1 then shop.add(item) true else false"],
        "Shop::all": ["items.map: item => item.price"],
    }


def test_what_a_function_raises() -> None:
    assert {name: texts(symbol.facts.raises) for name, symbol in FOUND.items() if symbol.facts.raises} == {
        "Store::find": ['new MissingItem("missing")']
    }


def test_what_a_function_writes() -> None:
    assert {name: texts(symbol.facts.writes) for name, symbol in FOUND.items() if symbol.facts.writes} == {
        "Store::find": ["this.size", "items(0)"]
    }


def test_parameters_of_all_kinds() -> None:
    assert {name: list(symbol.facts.parameters) for name, symbol in FOUND.items() if symbol.facts.parameters} == {
        "Store::rank": [Parameter("item", "T", None, "positional"), Parameter("by", "Int", None, "positional")],
        "Store::this": [Parameter("repo", "Repo[T]", None, "positional")],
        "Store::find": [
            Parameter("names", "String", None, "var_positional"),
            Parameter("f", "A => B", "identity", "positional"),
            Parameter("order", "Ordering[A]", None, "positional"),
        ],
        "Store::find::twice": [Parameter("number", "Int", None, "positional")],
        "Store::+": [Parameter("other", "Store[T]", None, "positional")],
        "Store::asInt": [Parameter("item", "T", None, "positional")],
        "Store::apply": [Parameter("name", "String", None, "positional")],
        "byPrice::compare": [Parameter("x", "Item", None, "positional"), Parameter("y", "Item", None, "positional")],
        "Shop::sell": [Parameter("item", "Item", None, "positional"), Parameter("shop", "Shop", None, "positional")],
        "Shop::all": [Parameter("items", "List[Item]", None, "positional")],
    }


def test_return_types() -> None:
    assert {name: symbol.facts.return_type for name, symbol in FOUND.items() if symbol.facts.return_type} == {
        "Store::listener::close": "Unit",
        "Store::find": "Option[B]",
        "Store::+": "Store[T]",
        "Store::asInt": "Int",
        "Store::forget": "Unit",
        "Shape::area": "Double",
        "Shape::adds": "Unit",
        "Kind::price": "Int",
        "byPrice::compare": "Int",
        "String::shout": "String",
        "Shop::sell": "Boolean",
        "Shop::all": "List[Int]",
    }


def test_imports_and_package() -> None:
    facts = parse("scala", SOURCE).facts

    assert facts.imports == (
        Import("java.io", 0, "IOException", None, None, 7),
        Import("scala.collection.mutable", 0, "ArrayBuffer", None, None, 8),
        Import("scala.collection.mutable", 0, "Map", "MutableMap", None, 8),
        Import("com.example.log", 0, "*", None, None, 9),
        Import("tools", 0, "Rich", None, "file::Shop", 107),
        Import("tools", 0, "*", None, "file::Shop", 107),
    )
    assert references_of(facts)["package"] == "com.example.store"


def test_names_with_a_known_class_are_given_to_the_graph() -> None:
    references = references_of(parse("scala", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], name, type_) for number, name, type_ in references["typed"] if number >= 0] == [
        ("Store", "repo", "Repo<T>"),
        ("Store", "size", "Int"),
        ("Store", "name", "?"),
        ("Store", "ec", "Executor"),
        ("Store", "items", "ArrayBuffer<T>"),
        ("Store", "owner", "Owner"),
        ("Store", "label", "PartialFunction<Kind, String>"),
        ("Store", "listener", "Listener"),
        ("Store::rank", "item", "T"),
        ("Store::rank", "by", "Int"),
        ("Store::this", "repo", "Repo<T>"),
        ("Store::find", "names", "String"),
        ("Store::find", "f", "?"),
        ("Store::find", "order", "Ordering<A>"),
        ("Store::find", "shelf", "a.b.Shelf<T>"),
        ("Store::find", "book", "Book"),
        ("Store::find::twice", "number", "Int"),
        ("Store::+", "other", "Store<T>"),
        ("Store::asInt", "item", "T"),
        ("Store::apply", "name", "String"),
        ("Store::apply", "error", "IOException"),
        ("Item", "name", "String"),
        ("Item", "price", "Int"),
        ("tools::Rich", "text", "String"),
        ("Kind", "label", "String"),
        ("Kind", "text", "String"),
        ("byPrice::compare", "x", "Item"),
        ("byPrice::compare", "y", "Item"),
        ("Shop::sell", "item", "Item"),
        ("Shop::sell", "shop", "Shop"),
        ("Shop::all", "items", "List<Item>"),
    ]


def test_calls_are_given_to_the_graph() -> None:
    references = references_of(parse("scala", SOURCE).facts)
    symbols = [symbol[0] for symbol in references["symbols"]]

    assert [(symbols[number], *call) for number, *call in references["calls"] if number >= 0] == [
        ("Store", "", "ArrayBuffer", 1),
        ("Store", "", "Owner", 0),
        ("Store::listener", "", "Listener", 1),
        ("Store::listener::close", "items", "clear", 0),
        ("Store::this", "", "this", 0),
        ("Store::find", "?", "until", 0),
        ("Store::find", "", "log", 0),
        ("Store::find", "", "forget", 0),
        ("Store::find", "a.b", "Shelf", 1),
        ("Store::find", "shelf.map(1)", "filter", 0),
        ("Store::find", "shelf", "map", 0),
        ("Store::find", "", "items", 0),
        ("Store::find", "", "MissingItem", 1),
        ("Store::find", "", "log", 0),
        ("Store::find", "", "f", 0),
        ("Store::find", "book", "find", 0),
        ("Store::find", "", "twice", 0),
        ("Store::find", "", "Some", 0),
        ("Store::+", "this", "merge", 0),
        ("Store::apply", "", "Store", 1),
        ("Store::apply", "", "close", 0),
        ("String::half", "text", "take", 0),
        ("Shop::sell", "shop", "add", 0),
        ("Shop::all", "items", "map", 0),
    ]


def test_a_class_and_its_companion_object_share_their_name() -> None:
    found = symbols_by_name("scala", "object A { def f = 1 }\nclass A { def f = 2 }\n")

    assert {name: (symbol.parent_id, symbol.signature) for name, symbol in found.items()} == {
        "A#97b464": (None, "object A"),
        "A::f#8bf3a6": ("file::A#97b464", "def f"),
        "A": (None, "class A"),
        "A::f": ("file::A", "def f"),
    }


def test_givens_without_a_name_are_called_by_their_type() -> None:
    source = "given Show[Int] = new Show[Int] { def show(x: Int) = x }\ngiven Order[Item] with\n  def by = 1\n"

    assert {name: symbol.type.value for name, symbol in symbols_by_name("scala", source).items()} == {
        "given_Show_Int": "class",
        "given_Show_Int::show": "function",
        "given_Order_Item": "class",
        "given_Order_Item::by": "function",
    }


def test_imports_of_all_forms() -> None:
    imports = parse(
        "scala", "import a.b, c.{d as e, f => g, h => _, given}\nimport x.y as z\nimport top\n"
    ).facts.imports

    assert [(found.module, found.name, found.alias) for found in imports] == [
        ("a", "b", None),
        ("c", "d", "e"),
        ("c", "f", "g"),
        ("c", "*", None),
        ("x", "y", "z"),
        ("top", None, None),
    ]


def test_one_expression_may_stand_on_the_next_line() -> None:
    joined = parse("scala", "object A:\n  def f: Int = g(1)\n").facts

    assert parse("scala", "object A:\n    def f: Int =\n\n        g(1)\n").facts.source == joined.source
    assert joined.source == "object A:\n    def f: Int = g(1)"


def test_an_operator_in_front_does_not_continue_the_line_above() -> None:
    source = parse("scala", "object A {\n  def twice(n: Int) = n * 2\n  %names match { case x => 1 }\n}\n").facts.source

    assert "n * 2\n    %names match {" in source
    assert parse("scala", source).facts.source == source


def test_a_block_under_a_condition_stays_a_block() -> None:
    ours = parse("scala", "def f = {\n  if (a)\n    if (b) x\n  else y\n}\n").facts.source
    inner = parse("scala", "def f = {\n  if (a) if (b) x else y\n}\n").facts.source

    assert ours != inner


def test_a_broken_method_leaves_the_others_readable() -> None:
    parsed = parse("scala", "class A {\n  def broken = { f(, 1) }\n  def whole = 1\n}\n\nobject B { def last = 2 }\n")
    found = {symbol.id: symbol.has_syntax_errors for symbol in parsed.symbols}

    assert found["file::A::broken"]
    assert not found["file::A::whole"]
    assert not found["file::B::last"]
    assert parsed.facts.syntax_errors > 0
