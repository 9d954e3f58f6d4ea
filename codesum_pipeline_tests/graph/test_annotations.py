"""Annotations are taken apart by Python's own parser; what is no type cannot be read."""

import pytest

from codesum_pipeline.graph.python.annotations import UNION, UNREADABLE, Annotation, parse_annotation

NONE = Annotation("None")
READ = {
    "a dotted name": ("a . b.C", Annotation("a.b.C")),
    "arguments": (
        "dict[str, list[A]]",
        Annotation("dict", (Annotation("str"), Annotation("list", (Annotation("A"),)))),
    ),
    "alternatives in order": ("A | b.B | None", Annotation(UNION, (Annotation("A"), Annotation("b.B"), NONE))),
    "alternatives in brackets": ("None | (A)", Annotation(UNION, (NONE, Annotation("A")))),
    "a quoted type": ("'list[\"A\"]'", Annotation("list", (Annotation("A"),))),
    "parameters of a function": (
        "Callable[[A], None]",
        Annotation("Callable", (Annotation(UNREADABLE, (Annotation("A"),)), NONE)),
    ),
    "an ellipsis": ("tuple[A, ...]", Annotation("tuple", (Annotation("A"), Annotation(UNREADABLE)))),
    "a call": ("f(A)", Annotation(UNREADABLE)),
    "half a type": ("list[", Annotation(UNREADABLE)),
    "a type cut off": ("dict[str, Abc…", Annotation(UNREADABLE)),
    "nothing": ("", Annotation(UNREADABLE)),
}


@pytest.mark.parametrize(("text", "read"), READ.values(), ids=READ.keys())
def test_an_annotation_is_read(text, read):
    assert parse_annotation(text) == read


@pytest.mark.parametrize(
    "text", ["[" * 5_000, "a." * 20_000 + "a", "A | " * 5_000 + "A", "list[" * 500 + "A" + "]" * 500]
)
def test_an_annotation_however_long_or_deep_ends(text):
    assert isinstance(parse_annotation(text), Annotation)
