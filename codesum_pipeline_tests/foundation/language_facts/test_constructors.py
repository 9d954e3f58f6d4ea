"""Constructors are known by their names, and by nothing else."""

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.language_facts.constructors import class_of_constructor
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import parse_file

CLASSES = {
    "a.py": "class A:\n    def __init__(self): pass\n    def init(self): pass\n\ndef __init__(): pass\n",
    "a.js": "class A { constructor() {} init() {} }\nfunction constructor() {}\n",
    "a.ts": "class A { constructor() {} init() {} }\n",
    "A.java": "class A { A() {} void a() {} }\n",
    "A.cs": "class A { public A() {} void M() {} }\n",
    "a.cpp": "class A { public: A() {} ~A() {} void a() {} };\n",
    "a.swift": "class A { init() {} func a() {} }\n",
    "a.php": "<?php\nclass A { function __construct() {} function a() {} }\n",
    "a.rb": "class A\n  def initialize; end\n  def a; end\nend\n",
    "a.kt": "class A {\n    constructor(x: Int) {}\n    fun a() {}\n}\n",
    "a.scala": "class A {\n  def this(x: Int) = { this() }\n  def a(): Unit = ()\n}\n",
}


@pytest.mark.parametrize("path", CLASSES)
def test_one_method_makes_the_objects_of_its_class(path: str) -> None:
    language = language_of_path(path) or ""
    parsed = parse_file(path, language, CLASSES[path].encode(), blob="", hash_policy=HashPolicy.CANONICAL)

    functions = [symbol.id for symbol in parsed.symbols if symbol.type is SymbolType.FUNCTION]

    assert [class_of_constructor(id_, language) for id_ in functions].count(f"{path}::A") == 1
    assert {class_of_constructor(id_, language) for id_ in functions} == {f"{path}::A", None}


@pytest.mark.parametrize("language", ["go", "rust", "c", "lua", "haskell"])
def test_a_language_without_constructors_has_none(language: str) -> None:
    assert class_of_constructor("a::A::new", language) is None
