"""Annotations are taken apart by Python's own parser; what is no type cannot be read."""

import pytest

from codesum_pipeline.foundation.data_model.expression import TypeName
from codesum_pipeline.graph.resolvers.python.python_types import UNION, parse_annotation

NONE = TypeName(("None",))
READ = {
    "a dotted name": ("a . b.C", TypeName(("a.b.C",))),
    "arguments": (
        "dict[str, list[A]]",
        TypeName(("dict",), (TypeName(("str",)), TypeName(("list",), (TypeName(("A",)),)))),
    ),
    "alternatives in order": ("A | b.B | None", TypeName((UNION,), (TypeName(("A",)), TypeName(("b.B",)), NONE))),
    "alternatives in brackets": ("None | (A)", TypeName((UNION,), (NONE, TypeName(("A",))))),
    "a quoted type": ("'list[\"A\"]'", TypeName(("list",), (TypeName(("A",)),))),
    "parameters of a function": (
        "Callable[[A], None]",
        TypeName(("Callable",), (None, NONE)),
    ),
    "an ellipsis": ("tuple[A, ...]", TypeName(("tuple",), (TypeName(("A",)), None))),
    "a call": ("f(A)", None),
    "half a type": ("list[", None),
    "a type cut off": ("dict[str, Abc…", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("text", "read"), READ.values(), ids=READ.keys())
def test_an_annotation_is_read(text, read):
    assert parse_annotation(text) == read


@pytest.mark.parametrize(
    "text", ["[" * 5_000, "a." * 20_000 + "a", "A | " * 5_000 + "A", "list[" * 500 + "A" + "]" * 500]
)
def test_an_annotation_however_long_or_deep_ends(text):
    assert parse_annotation(text) is None or text.startswith(("A", "list"))
