"""Which comments open a body, beyond what the laws of all languages say."""

import pytest

from codesum_pipeline.symbols.parsing.opening_comments import MAX_OPENING
from codesum_pipeline.symbols.parsing.parsers import PARSERS


def opening(source: str, language: str = "python") -> str | None:
    """The opening comment of the first definition."""
    return PARSERS[language].parse(source.encode(), "file").symbols[0].opening_comment


def function_with(comment: str) -> str:
    rows = "".join(f"    # {row}\n" for row in comment.split("\n"))
    return f"def f(x):\n{rows}\n    a(x)\n    return x\n"


def test_it_is_read_beside_a_docstring_too() -> None:
    assert opening('def f():\n    """Doc."""\n    # Walk the tree once.\n\n    a()\n    b()\n') == "Walk the tree once."


def test_only_its_first_paragraph_is_read() -> None:
    assert opening(function_with("Walk the tree\nonly once.\n\nIt is slow.")) == "Walk the tree only once."


@pytest.mark.parametrize(
    "comment",
    [
        "noqa: this line is long",
        "type: ignore this whole line",
        "region Walking of the tree",
        "Copyright 2020 by the authors",
        "-------- walk the tree --------",
        "FIXME: walk the tree twice",
        "too short",
        "Note: the tree is never empty",
        "Why is the tree walked twice?",
        "tree.walk(\"once\", 'and for all')",
        "result = walk(tree, once)",
        "if (tree is empty) walk it",
        "https://example.com/how to walk the tree",
        "Insert code here to initialize your application",
        "...... !!!!!! ??????",
    ],
)
def test_what_says_nothing_of_the_body_is_not_read(comment: str) -> None:
    assert opening(function_with(comment)) is None


def test_a_comment_beside_code_is_not_read() -> None:
    assert opening("def f():  # Walk the tree once.\n\n    a()\n    b()\n") is None


def test_a_comment_about_the_first_member_is_not_the_class() -> None:
    assert opening("class A:\n    # Where the items are kept.\n    items = ()\n") is None
    assert opening("class A:\n    # Keeps items in order.\n\n    items = ()\n") == "Keeps items in order."


def test_what_documents_a_nested_definition_is_not_read() -> None:
    assert opening("function f() {\n  // Walks the tree once.\n  function g() {}\n}\n", "javascript") is None


def test_a_body_that_holds_only_a_comment() -> None:
    assert opening("function f() {\n  // Leaves all of it as it is.\n}\n", "javascript") == "Leaves all of it as it is."


@pytest.mark.parametrize("comment", ["walk it " * 150_000, "x" * 1_000_000, "= " * 500_000, "-" * 1_000_000])
def test_a_megabyte_is_read_in_little_time_and_shown_in_part(comment: str) -> None:
    found = opening(function_with(comment))

    assert found is None or len(found) <= MAX_OPENING
