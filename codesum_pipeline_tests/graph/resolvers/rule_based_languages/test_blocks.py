"""Which of several definitions and variables of one name is meant follows from the blocks around a call."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of

IN_TWO_CALLBACKS = """\
it("one", () => {
  function make() { one(); }
  make();
});
it("two", () => {
  const make = () => two();
  function run() { make(); }
});
function one() {}
function two() {}
"""
TWO_VARIABLES = """\
class Item { run() {} }
class Other { run() {} }
it("one", () => { const it = new Item(); it.run(); });
it("two", () => { const it = new Other(); expect(() => it.run()); });
"""


def test_a_function_of_the_innermost_block_is_meant():
    calls = calls_of({"a.js": IN_TWO_CALLBACKS})

    callee_of_run = next(callee for caller, callee in calls if caller == "a.js::run")
    called_at_the_top = next(callee for caller, callee in calls if caller.startswith(("a.js::one", "a.js::two")))
    assert {(callee_of_run, "a.js::two"), (called_at_the_top, "a.js::one")} <= calls.keys()


def test_variables_of_one_name_in_two_callbacks_are_two():
    assert calls_of({"a.ts": TWO_VARIABLES}).keys() == {
        ("a.ts", "a.ts::Item"), ("a.ts", "a.ts::Other"), ("a.ts", "a.ts::Item::run"), ("a.ts", "a.ts::Other::run"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "called"),
    [
        pytest.param("import { parse } from './b';\nit('x', () => { use({ parse() { parse(); } }); });\n",
                     {"b.js::parse"}, id="an object's method is no plain name"),
        pytest.param("import { parse } from './b';\nconst api = { parse: () => parse() };\n",
                     {"b.js::parse"}, id="nor is one that is a pair"),
        pytest.param("import { parse } from './b';\nit('x', (parse) => parse());\n",
                     set(), id="a callback's parameter hides an import"),
        pytest.param("import { parse } from './b';\nfor (const parse of all) parse();\n",
                     set(), id="a loop's variable hides an import"),
        pytest.param("import { parse } from './b';\ntry { } catch (parse) { parse(); }\n",
                     set(), id="what is caught hides an import"),
        pytest.param("import { parse } from './b';\nif (x) { const parse = y; }\nparse();\n",
                     {"b.js::parse"}, id="a variable ends with its block"),
        pytest.param("import { parse } from './b';\nfunction f() { if (x) { var parse = y; } parse(); }\n",
                     set(), id="but for var"),
        pytest.param("it('x', () => { const strip = (n) => n; strip(1); });\n",
                     {"a.js::strip"}, id="a callback's own function"),
        pytest.param("function f() { const strip = (n) => n; g(strip(1)); }\n",
                     {"a.js::f::strip"}, id="a function's own function"),
        pytest.param("let run;\nfunction f() { run = () => 1; }\nfunction g() { run(); }\n",
                     {"a.js::f::run"}, id="what is assigned is of the block that declares it"),
        pytest.param("function f(run) { run = () => 1; run(); }\n",
                     set(), id="a parameter may be what it was before"),
        pytest.param("function f() { const { parse } = require('./b'); parse(); }\n",
                     {"b.js::parse"}, id="what a function takes from a module"),
    ],
)  # fmt: skip
def test_a_plain_name(source, called):
    calls = calls_of({"a.js": source, "b.js": "export function parse() {}\n"})

    assert {target for _, target in calls} == called


def test_classes_of_one_name_have_each_its_own_members():
    source = (
        "it('one', () => { class A { go() { this.step(); } step() {} } });\n"
        "it('two', () => { class A { go(x) { this.step(); } step(x) {} } });\n"
    )

    called = [
        (caller, callee)
        for caller, callee in calls_of({"a.ts": source})
        if callee.endswith("step") or "step#" in callee
    ]

    assert len(called) == len({callee for _, callee in called}) == 2
