"""Expressions become structure while a file is parsed: chains of names, calls, items and literals, in each language."""

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Symbol
from codesum_pipeline.symbols.parsing.expressions import Expression, read_expression
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile


def parsed(source: str, language: str) -> ParsedFile:
    return parse_file("a", language, source.encode(), blob="0", hash_policy=HashPolicy.CANONICAL)


def function(source: str, language: str) -> Symbol:
    return next(symbol for symbol in parsed(source, language).symbols if symbol.name in ("f", "F"))


EXPRESSIONS = {
    "a name": ("path", Expression(("path",), Form.NAME)),
    "an attribute": ("self . config . path", Expression(("self", "config", "path"), Form.NAME)),
    "a call": ("self . load ( a , b )", Expression(("self", "load"), Form.CALL)),
    "an awaited call": ("await fetch ( url )", Expression(("fetch",), Form.CALL)),
    "a new object": ("new RowReader ( path )", Expression(("RowReader",), Form.CALL)),
    "an object of a struct": ("& Settings { depth : 1 }", Expression(("Settings",), Form.CALL)),
    "a call with type arguments": ("Vec < u8 > :: new ( )", Expression(("Vec", "new"), Form.CALL)),
    "an item": ("self . rows [ 0 ]", Expression(("self", "rows"), Form.ITEM)),
    "a text": ('"no rows"', Expression(form=Form.TEXT, first_text="no rows")),
    "texts put together": ('"no " + name', Expression(form=Form.TEXT, first_text="no ")),
    "a number": ("12", Expression(form=Form.NUMBER)),
    "true": ("true", Expression(form=Form.TRUTH)),
    "a comparison": ("a . size == 0", Expression(form=Form.TRUTH)),
    "a negation": ("! a . ready ( )", Expression(form=Form.TRUTH)),
    "nothing": ("nil", Expression(form=Form.NOTHING)),
    "a list": ("[ a , b ]", Expression(form=Form.LIST)),
    "a mapping": ('{ "a" : 1 }', Expression(form=Form.MAPPING, first_text="a")),
    "a sum is no chain": ("a + b", Expression()),
    "an order is no chain": ("a < b", Expression()),
    "a choice is no chain": ("a if b == c else d", Expression()),
    "either of two is no chain": ("a . b or c", Expression()),
    "a bracket that nothing closes": ("f ( a , [", Expression(("f",), Form.CALL)),
    "a bracket that nothing opens": (") ]", Expression()),
    "no tokens": ("", Expression()),
}


@pytest.mark.parametrize(("tokens", "read"), EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_tokens_are_read_as_one_expression(tokens, read):
    pieces = [
        piece.replace("·", " ") for piece in tokens.replace('"no rows"', '"no·rows"').replace('"no "', '"no·"').split()
    ]

    assert read_expression(pieces) == read


# What is raised, by its class and what it says, in each language.
RAISED = {
    "python": ('def f(a):\n    raise ValueError(f"no {a.b} here") from error\n', ("ValueError",), "no {a.b} here"),
    "javascript": ("function f(a) { throw new TypeError(`no ${a.b} here`); }", ("TypeError",), "no … here"),
    "typescript": ('function f(a: A) { throw new io.TypeError("no"); }', ("io", "TypeError"), "no"),
    "java": ('class A { void f() { throw new IllegalStateException("no"); } }', ("IllegalStateException",), "no"),
    "c-sharp": ('class A { void F() { throw new ArgumentException("no"); } }', ("ArgumentException",), "no"),
    "cpp": ('void f() { throw std::runtime_error("no"); }', ("std", "runtime_error"), "no"),
    "ruby": ('def f(a)\n  raise ArgumentError, "no"\nend\n', ("ArgumentError",), "no"),
    "php": ('<?php function f() { throw new \\A\\NotFound("no"); }', ("A", "NotFound"), "no"),
    "kotlin": ('fun f() { throw NotFound("no") }', ("NotFound",), "no"),
    "swift": ("func f() throws { throw Failure.missing }", ("Failure", "missing"), ""),
    "scala": ('def f(): Int = throw new NotFound("no")', ("NotFound",), "no"),
    "elixir": ('defmodule A do\n  def f(a) do\n    raise ArgumentError, "no"\n  end\nend\n', ("ArgumentError",), "no"),
    "go": ('package p\nfunc f() { panic("no") }', ("panic",), "no"),
    "lua": ('function f() error("no") end', ("error",), "no"),
    "rust": ('fn f() { panic!("no") }', ("panic!",), "no"),
}


@pytest.mark.parametrize("language", RAISED)
def test_an_error_is_known_by_its_class_and_its_message(language):
    source, names, first_text = RAISED[language]

    (fact,) = function(source, language).facts.raises

    assert (fact.names, fact.said) == (names, first_text)


# One call each, with what it is called on.
CALLED = {
    "python": "def f(a):\n    a.rows[0].load_all(1)\n",
    "javascript": "function f(a) { a?.rows[0].load_all(1); }",
    "go": "package p\nfunc f(a A) { a.rows[0].load_all(1) }",
    "rust": "fn f(a: A) { a.rows[0].load_all(1); }",
    "java": "class A { void f() { a.rows[0].load_all(1); } }",
    "c": "void f(A *a) { a->rows[0].load_all(1); }",
    "cpp": "void f(A *a) { a->rows[0].load_all(1); }",
    "c-sharp": "class A { void F() { a.rows[0].load_all(1); } }",
    "ruby": "def f(a)\n  a.rows[0].load_all(1)\nend\n",
    "php": "<?php function f($a) { $a->rows[0]->load_all(1); }",
    "kotlin": "fun f(a: A) { a.rows[0].load_all(1) }",
    "swift": "func f(a: A) { a.rows[0].load_all(1) }",
    "scala": "def f(a: A): Int = { a.rows.load_all(1) }",
    "lua": "function f(a) a.rows[0]:load_all(1) end",
    "zig": "fn f(a: A) void { a.rows[0].load_all(1); }",
}


@pytest.mark.parametrize("language", CALLED)
def test_a_call_is_known_by_the_chain_that_leads_to_it(language):
    found = [fact.names for fact in function(CALLED[language], language).facts.calls]

    assert ("a", "rows", "load_all") in found


def test_writes_and_results_have_their_chains():
    facts = function("def f(self, a):\n    self.rows[a] = 1\n    return self.size\n", "python").facts

    assert facts.writes == (Fact("self.rows[a]", 2, ("self", "rows"), Form.ITEM),)
    assert facts.returned == (Fact("self.size", 3, ("self", "size"), Form.NAME),)


def test_short_texts_of_a_body_are_kept_and_documentation_is_not():
    source = (
        '"""Module."""\nROUTES = ["/users"]\n\n@route("/rows")\ndef f(a):\n    """Doc."""\n    a.log("no rows", "x")\n'
    )

    file = parsed(source, "python")

    assert file.symbols[0].facts.literals == ("/rows", "no rows")
    assert file.facts.literals == ("/users",)


ATTRIBUTES = {
    "python": ("def f(self, a):\n    self.load(self.path, a.size)\n    self.rows[0].size = 1\n", ("path", "rows")),
    "go": ("package p\nfunc (s *S) f(a A) { s.load(s.path, a.size); s.rows[0].size = 1 }", ("path", "rows")),
    "ruby": ("def f(a)\n  load(@path, a.size)\n  @rows[0].size = 1\nend\n", ("path", "rows")),
    "php": ("<?php class A { function f($a) { $this->load($this->path, $a->size); } }", ("path",)),
    "javascript": ("class A { f(a) { this.load(this.path, a.size); } }", ("path",)),
}


@pytest.mark.parametrize("language", ATTRIBUTES)
def test_attributes_of_its_own_object_that_a_function_does_not_call_are_known(language):
    source, attributes = ATTRIBUTES[language]

    assert function(source, language).facts.attributes == attributes


def test_lines_of_the_signature_and_of_what_documents_it_are_known():
    python = function('@a\n@b\ndef f(a):\n    """One.\n\n    Two.\n    """\n    return a\n', "python").facts
    java = function("class A {\n  /** Doc. */\n  @Test\n  void f() { }\n}\n", "java").facts

    assert (python.signature_line, python.docstring_line) == (3, 7)
    assert (java.signature_line, java.docstring_line) == (2, 1)
