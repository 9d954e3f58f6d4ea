"""Expressions longer or more nested than a person writes: what is written about them stays short."""

import json

import pytest
import tree_sitter_python
from tree_sitter import Language, Parser

from codesum_pipeline.languages.declarations.python.references.python_references import extract_references

MANY = 10_000


def references_of(source: str) -> str:
    data = source.encode()
    return extract_references(
        Parser(Language(tree_sitter_python.language())).parse(data).root_node, data, "a.py", []
    ).json


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x = a" + ".b()" * MANY, id="method calls"),
        pytest.param("x = a" + ".b" * MANY, id="attributes"),
        pytest.param("x = a" + "()" * MANY, id="calls of results"),
        pytest.param("x = a" + "[0]()" * MANY, id="calls of items"),
        pytest.param("x = " + "f(" * MANY + ")" * MANY, id="nested calls"),
        pytest.param("x = " + "(" * MANY + "1" + ")" * MANY, id="brackets"),
        pytest.param("x = " + "[" * MANY + "]" * MANY, id="lists"),
        pytest.param("x = " + "(y := " * MANY + "1" + ")" * MANY, id="nested assignment expressions"),
        pytest.param("x = " * MANY + "1", id="chained assignments"),
        pytest.param("x = " + "a or (" * MANY + "b" + ")" * MANY, id="alternatives"),
        pytest.param("x = " + "lambda: " * MANY + "1", id="lambdas"),
        pytest.param("x = " + "[a for a in " * MANY + "y" + "]" * MANY, id="comprehensions"),
        pytest.param("x: " + "List[" * MANY + "int" + "]" * MANY + " = 1", id="annotation"),
        pytest.param("(" * MANY + "a" + ",)" * MANY + " = 1", id="targets"),
        pytest.param("@a" + ".b()" * MANY + "\ndef f(): pass", id="decorator"),
        pytest.param("class A(a" + ".b()" * MANY + "): pass", id="base"),
    ],
)
def test_facts_grow_no_faster_than_the_source(source: str) -> None:
    facts = references_of(source + "\n")

    assert len(facts) <= 12 * len(source)
    assert set(json.loads(facts)) >= {"scopes", "names", "calls"}


def test_a_chain_of_more_calls_than_a_person_writes_is_called_on_something_unknown() -> None:
    calls = json.loads(references_of("a" + ".b()" * 40 + "\n"))["calls"]

    assert [callee for _, callee, _ in calls][:3] == ["?.b", "?.b", "?.b"]
    assert calls[-1] == [0, "a.b", 1]


def test_parts_of_a_deep_target_are_bound_to_something_unknown() -> None:
    names = json.loads(references_of("(" * 700 + "a" + ",)" * 700 + " = f()\n"))["names"]

    assert names == [{"a": [["u"]]}]
