"""What two versions of a file differ in, by symbol."""

import pytest

from codesum_pipeline.answers.agent_tools.changed_symbols import FileVersions, SymbolChange, compare_symbols
from codesum_pipeline.foundation.data_model.hashing import HashPolicy

# A method beside its class; `?` is what changes in it.
METHODS = {
    "user.go": ("type User struct{}\n\nfunc (u *User) Age() int {\n\treturn ?\n}\n", "User::Age"),
    "user.rs": ("struct User;\n\nimpl User {\n    fn age(&self) -> u8 {\n        ?\n    }\n}\n", "User::age"),
    "user.cpp": ("class User { int age(); };\n\nint User::age() {\n  return ?;\n}\n", "User::age"),
    "user.lua": ("local User = {}\n\nfunction User.age()\n  return ?\nend\n\nreturn User\n", "User::age"),
    "user.swift": ("class User {}\n\nextension User {\n  func age() -> Int {\n    return ?\n  }\n}\n", "User::age"),
}


def changes_of(path: str, before: str, after: str) -> list[SymbolChange]:
    head = "package shop\n\n" if path.endswith(".go") else ""
    versions = FileVersions(path, f"{head}{before}".encode(), f"{head}{after}".encode())
    return compare_symbols([versions], hash_policy=HashPolicy.CANONICAL, encodings={}).changes


@pytest.mark.parametrize("path", METHODS)
def test_a_method_beside_its_class_is_no_code_of_the_file(path: str) -> None:
    source, name = METHODS[path]

    found = changes_of(path, source.replace("?", "1"), source.replace("?", "2"))

    assert [(change.kind, change.id) for change in found] == [("body", f"{path}::{name}")]


def test_a_value_beside_a_method_is_code_of_the_file() -> None:
    source = METHODS["user.go"][0] + "\nvar most = ?\n"

    found = changes_of("user.go", source.replace("?", "1"), source.replace("?", "2"))

    assert [(change.kind, change.names) for change in found] == [("code", ("most",)), ("body", ())]
