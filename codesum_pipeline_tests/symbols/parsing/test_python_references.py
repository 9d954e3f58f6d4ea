"""What a Python file tells the graph about its names and calls."""

import json
from typing import Any

import pytest

from codesum_pipeline.symbols.parsing.parsers import PARSERS

Facts = dict[str, Any]


def facts_of(source: str, path: str = "a.py") -> Facts:
    facts: Facts = json.loads(PARSERS["python"].parse(source.encode(), path).facts.references)
    return facts


def calls_in(source: str) -> list[str]:
    return [callee for _, callee, _ in facts_of(source)["calls"]]


def names_in(source: str, scope: int = 0) -> Facts:
    names: Facts = facts_of(source)["names"][scope]
    return names


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("f()", "f"),
        ("self.x.y(1, g)", "self.x.y"),
        ("super().m", None),
        ("super(A, self).m()", "super(A).m"),
        ("Foo(1)(2)", "Foo()"),
        ("a[0].b()", "a[].b"),
        ("', '.join(x)", "<str>.join"),
        ("[].append(1)", "<list>.append"),
        ("(await a).b()", "a.b"),
        ("(a or b).c()", "?.c"),
        ("(lambda: 1)()", "?"),
        ("type(x).m()", "x.__class__.m"),
        ("cast('Foo', x).m()", "{'Foo'}.m"),
        ("a.b(\n    1,  # one\n).c()", "a.b().c"),
    ],
)
def test_a_callee_keeps_its_shape_and_drops_its_arguments(written: str, shape: str | None) -> None:
    calls = calls_in(f"async def h():\n    {written}\n")

    assert calls[:1] == ([shape] if shape is not None else ["super"])


@pytest.mark.parametrize(
    ("statement", "binding"),
    [
        ("x = Foo()", ["v", "Foo()"]),
        ("x = y = Foo()", ["v", "Foo()"]),
        ("x = a or Foo()", ["v", "a|Foo()"]),
        ("x = Foo() if a else None", ["v", "Foo()|<None>"]),
        ("x = Foo() if a \\\n    else None", ["v", "Foo()|<None>"]),
        ("x, y = Foo(), 1", ["v", "Foo()"]),
        ("x, y = make()", ["v", "make()#0"]),
        ("x: Foo = make()", ["a", "Foo"]),
        ("x: Final = Foo()", ["v", "Foo()"]),
        ("x += 1", ["v", "<None>"]),
        ("for x in xs: pass", ["v", "xs*"]),
        ("for i, x in enumerate(xs): pass", ["v", "xs*"]),
        ("for x in sorted(xs): pass", ["v", "xs*"]),
        ("with Foo() as x: pass", ["v", "Foo()>"]),
        ("try: pass\nexcept Foo as x: pass", ["v", "Foo()"]),
        ("if (x := Foo()): pass", ["v", "Foo()"]),
        ("print([x := Foo() for y in z])", ["v", "Foo()"]),
        ("import x.y", ["m", "x.y"]),
        ("import y.z as x", ["n", "y.z"]),
        ("from ..a import b as x", ["i", "a", 2, "b"]),
        ("del x", ["x"]),
        ("def x(): pass", ["d", 1]),
        ("class x: pass", ["d", 1]),
    ],
)
def test_a_statement_binds_a_name(statement: str, binding: list[Any]) -> None:
    assert names_in(statement + "\n")["x"] == [binding]


@pytest.mark.parametrize(
    ("parameters", "bindings"),
    [
        ("x", [["u"]]),
        ("x: Foo", [["a", "Foo"]]),
        ("x: Foo = make()", [["a", "Foo"]]),
        ("*x: Foo", [["a", "tuple[Foo, ...]"]]),
        ("**x", [["a", "dict[str, Any]"]]),
    ],
)
def test_a_parameter_is_bound_with_its_annotation(parameters: str, bindings: list[Any]) -> None:
    assert names_in(f"def f({parameters}): pass\n", scope=1) == {"x": bindings}


def test_defaults_decorators_annotations_and_bases_belong_to_the_scope_around() -> None:
    source = "def outer():\n    @deco()\n    def f(x: ann() = default()): body()\n    class C(base()): inner()\n"

    found = facts_of(source)
    scopes = {callee: found["scopes"][scope][2] for scope, callee, _ in found["calls"]}

    assert scopes == {
        "deco": "::outer",
        "ann": "::outer",
        "default": "::outer",
        "body": "::outer::f",
        "base": "::outer",
        "inner": "::outer::C",
    }


def test_what_a_comprehension_first_draws_from_belongs_to_the_scope_around() -> None:
    found = facts_of("x = [y() for y in ys() for z in zs()]\n")

    assert found["calls"] == [[1, "y", 1], [0, "ys", 1], [1, "zs", 1]]


def test_attributes_that_methods_assign_to_their_receiver_belong_to_the_class() -> None:
    source = (
        "class A:\n    def m(this):\n        this.x = Foo()\n        other.y = 1\n"
        "        def inner(): this.z: Bar = 1\n    @staticmethod\n    def s(self): self.w = 1\n"
    )

    assert facts_of(source)["attributes"] == {"1": {"x": [[2, ["v", "Foo()"]]], "z": [[3, ["a", "Bar"]]]}}


def test_a_global_name_is_bound_in_the_file() -> None:
    found = facts_of("x = None\ndef f():\n    global x\n    x = Foo()\n")

    assert found["names"] == [
        {"x": [["v", "<None>"], ["e", 1, ["v", "Foo()"]]], "f": [["d", 1]]},
        {"x": [["g", "x"]]},
    ]


def test_a_nonlocal_name_is_bound_in_the_function_around() -> None:
    found = facts_of("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = Foo()\n")

    assert found["names"][1]["x"] == [["v", "<int>"], ["e", 2, ["v", "Foo()"]]]
    assert found["names"][2] == {}


def test_the_facts_do_not_depend_on_the_path() -> None:
    source = "import a\nclass A:\n    def f(self): self.f()\n    def f(self): a.b()\n"

    assert facts_of(source, "a.py") == facts_of(source, "deep/er/b.py")


def test_second_definitions_keep_their_own_ids() -> None:
    scopes = facts_of("def f(): pass\ndef f(): pass\n")["scopes"]

    assert [suffix for _, _, suffix in scopes] == ["", "::f", "::f#9a007c-2"]


def test_a_broken_file_gives_the_calls_that_can_be_read() -> None:
    assert "good" in calls_in("def f():\n    good()\n\ndef g(:\n    x = = 1\n")


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    source = f"x = {'(' * 2000}f(){')' * 2000}\ny = {'f(' * 2000}1{')' * 2000}\nz = a{'.b()' * 2000}\n"

    assert calls_in(source).count("f") == 2001
