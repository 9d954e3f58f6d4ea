"""What is read from Swift."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.swift_case import SOURCE


def test_types_members_extensions_operators_and_closures_with_names_are_found() -> None:
    found = symbols_by_name("swift", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Storable": ("class", None),
        "Storable::scaled": ("function", "file::Storable"),
        "Storable::make": ("function", "file::Storable"),
        "Storable::init": ("function", "file::Storable"),
        "Cache": ("class", None),
        "Cache::total": ("function", "file::Cache"),
        "Cache::init#85c816": ("function", "file::Cache"),
        "Cache::init": ("function", "file::Cache"),
        "Cache::deinit": ("function", "file::Cache"),
        "Cache::find": ("function", "file::Cache"),
        "Cache::find::twice": ("function", "file::Cache::find"),
        "Cache::subscript": ("function", "file::Cache"),
        "Cache::==": ("function", "file::Cache"),
        "CacheError": ("class", None),
        "CacheError::code": ("function", "file::CacheError"),
        "Cache::hash": ("function", "file::Cache"),
        "Array::drop": ("function", None),
        "Store": ("class", None),
        "Store::put": ("function", "file::Store"),
        "**": ("function", None),
    }


def test_docs_signatures_modifiers_and_bases() -> None:
    found = symbols_by_name("swift", SOURCE)
    cache, find = found["Cache"], found["Cache::find"]

    assert cache.docstring == "Keeps pictures.\n\n- Note: not for threads."
    assert cache.bases == ("Base", "Counting")
    assert cache.modifiers == ("public", "final")
    assert find.docstring == "Finds a picture."
    assert find.signature == (
        "@discardableResult func find(for key: Key, _ rest: Int..., into found: inout [T]) async throws -> T?"
    )
    assert find.modifiers == ("async", "throws")
    assert [name for name, symbol in found.items() if not symbol.is_public] == ["Store::put"]
    assert parse("swift", SOURCE).facts.docstring == "A cache of pictures."


def test_what_a_method_says_about_itself() -> None:
    found = symbols_by_name("swift", SOURCE)
    find = found["Cache::find"]

    assert find.facts.parameters == (
        Parameter("key", "Key", None, "positional"),
        Parameter("rest", "Int", None, "var_positional"),
        Parameter("found", "[T]", None, "positional"),
    )
    assert found["Cache::init#85c816"].facts.parameters == (
        Parameter("limit", "Int", None, "positional"),
        Parameter("other", "String", '"a"', "positional"),
    )
    assert find.facts.return_type == "T?"
    assert find.facts.is_async
    assert find.complexity == 8
    assert [fact.text for fact in find.facts.raises] == ["CacheError.big"]
    assert [fact.text for fact in find.facts.returned] == ["place!", "twice(1) > 2 ? nil : found.first ?? nil"]
    assert [fact.text for fact in found["Cache::=="].facts.returned] == ["a.limit == b.limit"]
    assert [fact.text for fact in found["Cache::deinit"].facts.returned] == []
    assert [fact.text for fact in found["Cache"].facts.fields] == [
        "limit: Int",
        "name: String",
        "shared",
        "delegate: Delegate",
    ]
    assert [fact.text for fact in found["CacheError"].facts.fields] == ["big", "worse", "nested"]


def test_imports_globals_calls_and_typed_names() -> None:
    facts = parse("swift", SOURCE).facts
    references = references_of(facts)
    names = [symbol[0] for symbol in references["symbols"]]
    find, cache = names.index("Cache::find"), names.index("Cache")

    assert facts.imports == (
        Import("Foundation", 0, None, None, None, 3),
        Import("Core", 0, "Key", None, None, 4),
    )
    assert facts.globals == ("isDebug", "text")
    calls = [call[1:3] for call in references["calls"] if call[0] == find]
    assert ["items", "enumerated"] in calls
    assert ["self.delegate", "didFind"] in calls
    assert ["", "items"] not in calls
    assert [typed[1:] for typed in references["typed"] if typed[0] == cache] == [
        ["limit", "Int"],
        ["name", "String"],
        ["shared", "Cache"],
        ["delegate", "Delegate"],
        ["total", "Int"],
    ]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("swift", "func good() {}\nfunc bad() { foo(1, ] }\n/// Fine.\nfunc fine() { good() }\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}
