"""What is read from Go."""

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.go_case import SOURCE


def test_the_symbols_of_a_file_with_all_kinds_of_definitions() -> None:
    found = symbols_by_name("go", SOURCE)

    assert {name: symbol.type.value for name, symbol in found.items()} == {
        "Kind": "class",
        "Item": "class",
        "Finder": "class",
        "Finder::Find": "function",
        "Store": "class",
        "NewStore": "function",
        "Store::Add": "function",
        "Store::Find": "function",
        "price": "function",
    }
    assert found["Store::Add"].parent_id == "file::Store"
    assert found["Store::Find"].docstring == "Find returns the item of a name,\nor ErrMissing."
    assert found["Store::Find"].signature == "func (s *Store[T]) Find(name string)(*T, error)"
    assert found["Store::Find"].type is SymbolType.FUNCTION
    assert found["Store::Find"].complexity == 3
    assert not found["price"].is_public


def test_the_package_comment_documents_the_file_and_the_license_does_not() -> None:
    assert parse("go", SOURCE).facts.docstring == "Package store keeps items in memory."
