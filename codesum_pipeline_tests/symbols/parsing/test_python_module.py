"""What Python files say about themselves."""

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy, sha1_hex
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Import
from codesum_pipeline.symbols.parsing.parsers import PARSERS


def facts(source: str) -> FileFacts:
    return PARSERS["python"].parse(source.encode(), "a.py").facts


def test_every_imported_name_is_a_row_with_the_symbol_around_it() -> None:
    source = """
from __future__ import annotations
import os, a.b as c
from ..x . y import (
    d,
    e as f,
)
from . import g
from h import *
class A:
    import i
    def m(self):
        from .j import k
"""
    assert facts(source).imports == (
        Import("__future__", 0, "annotations", None, None, 2),
        Import("os", 0, None, None, None, 3),
        Import("a.b", 0, None, "c", None, 3),
        Import("x.y", 2, "d", None, None, 4),
        Import("x.y", 2, "e", "f", None, 4),
        Import("", 1, "g", None, None, 8),
        Import("h", 0, "*", None, None, 9),
        Import("i", 0, None, None, "a.py::A", 11),
        Import("j", 1, "k", None, "a.py::A::m", 13),
    )


def test_globals_are_the_upper_case_names_that_the_module_binds() -> None:
    source = """
A = 1
B: int
C, (D, e) = x
F = G = 2
_H = 1
I.j = 1
K[0] = 1
L += 1
lower = 1
if x:
    M = 1
def f():
    N = 1
class P:
    Q = 1
A = 2
"""
    assert facts(source).globals == ("A", "B", "C", "D", "F", "G", "_H", "M")


@pytest.mark.parametrize(
    ("source", "exports"),
    [
        ("x = 1", None),
        ("__all__ = []", ()),
        ("__all__ = ['a', 'b', 'a']", ("a", "b")),
        ("__all__: list[str] = ['a']", ("a",)),
        ("__all__ = ('a', 'b' 'c')", ("a", "bc")),
        ("__all__ = 'a', 'b'", ("a", "b")),
        ("__all__ = ['a'] + x.__all__ + ['b']", ("a", "b")),
        ("__all__ = ['a']\n__all__ += ['b']\n__all__ += x", ("a", "b")),
        ("__all__ = ['a']\nif x:\n    __all__ = ['b']", ("b",)),
        ("def f():\n    __all__ = ['a']", None),
    ],
)
def test_exports_follow_the_literals_that_build_all(source: str, exports: tuple[str, ...] | None) -> None:
    assert facts(source).exports == exports


def test_the_modules_docstring_is_its_first_literal() -> None:
    assert facts("#!/usr/bin/python\n# c\n'''Say.\n\n  More.\n'''\nx\n").docstring == "Say.\n\nMore."


def test_a_files_hash_is_that_of_its_canonical_source() -> None:
    found = facts("x=1 # c\n\ny=2\n")

    assert (found.source, found.content_hash) == ("x = 1\ny = 2", sha1_hex("x = 1\ny = 2"))


def test_lines_are_counted_as_an_editor_does() -> None:
    assert [facts(source).lines for source in ("", "a", "a\n", "a\n\n", "\na")] == [0, 1, 1, 2, 2]


def test_the_parser_names_grammar_and_hash_policy() -> None:
    canonical = PARSERS["python"].parse(b"", "a.py").facts.parser
    raw = PARSERS["python"].parse(b"", "a.py", hash_policy=HashPolicy.RAW).facts.parser

    assert "tree-sitter-python/" in canonical
    assert canonical != raw


def test_what_a_file_gives_does_not_depend_on_where_it_is() -> None:
    source = b"import x\nclass A:\n    def m(self):\n        return x.y(self)\n"
    here, there = PARSERS["python"].parse(source, "a.py"), PARSERS["python"].parse(source, "b/c.py")

    assert here.facts.references == there.facts.references
    assert [(s.content_hash, s.facts) for s in here.symbols] == [(s.content_hash, s.facts) for s in there.symbols]
