"""What functions give back and variables of other modules hold, where nothing says its type."""

import pytest

from codesum_pipeline_tests.graph.declared.sources import calls_of

ITEM = "export class Item { run() {} also() { return this; } then() { return new Other(); } }\n"
OTHER = "export class Other { run() {} }\n"
IMPORT = "import { Item, Other, make } from './item';\n"


def _called(source: str, item: str = "", path: str = "a.ts") -> set[str]:
    """The callees of a file that are named `run`."""
    calls = calls_of({path: source, "item.ts": ITEM + OTHER + item})
    return {target for caller, target in calls if target.endswith("run") and caller.startswith("a.")}


@pytest.mark.parametrize(
    "item",
    [
        pytest.param("export function make() { return new Item(); }\n", id="a new object"),
        pytest.param("export const make = () => new Item();\n", id="without braces"),
        pytest.param("export function make() { const it = new Item(); return it; }\n", id="a variable"),
        pytest.param("export function make() { if (x) { return null; } return new Item(); }\n", id="or nothing"),
        pytest.param("export function make() { return x ? new Item() : new Item().also(); }\n", id="in each branch"),
        pytest.param("export function make() { return other() as Item; }\n", id="a cast"),
        pytest.param("export async function make() { return new Item(); }\n", id="later"),
        pytest.param("export function make(): Promise<Item> { }\n", id="later, as it says"),
        pytest.param("function inner() { return new Item(); }\nexport const make = () => inner();\n", id="of another"),
        pytest.param("export function make() { all(() => { return 1; }); return new Item(); }\n",
                     id="what callbacks give back is theirs"),
    ],
)  # fmt: skip
def test_what_a_function_gives_back_is_followed(item):
    assert _called(IMPORT + "async function f() { const it = await make(); it.run(); }\n", item) == {
        "item.ts::Item::run"
    }


@pytest.mark.parametrize(
    "item",
    [
        pytest.param("export function make() { if (x) { return new Other(); } return new Item(); }\n", id="two classes"),
        pytest.param("export function make() { if (x) { return other(); } return new Item(); }\n", id="one unknown"),
        pytest.param("export function* make() { yield 1; return new Item(); }\n", id="values in turn"),
        pytest.param("export function make() { return () => new Item(); }\n", id="another function"),
        pytest.param("export function make() { return make(); }\n", id="itself"),
    ],
)
def test_what_may_be_of_several_classes_is_not(item):
    assert _called(IMPORT + "function f() { make().run(); }\n", item) == set()


def test_a_method_that_gives_back_its_object_gives_one_of_the_same_class():
    base = "class Base { set() { return this; } get(): this { } }\n"
    derived = "class Derived extends Base { run() {} }\n"

    called = _called(base + derived + "new Derived().set().get().set().run();\n")

    assert called == {"a.ts::Derived::run"}


def test_the_members_of_an_object_that_a_function_gives_back_are_called():
    source = "function make() { return { run() {}, go() { this.run(); } }; }\nmake().run();\n"

    calls = calls_of({"a.js": source})

    assert calls == {
        ("a.js", "a.js::make"): "ast:same-file",
        ("a.js", "a.js::make::run"): "ast:inferred-return",
        ("a.js::make::go", "a.js::make::run"): "ast:same-file",
    }


@pytest.mark.parametrize(
    ("source", "item"),
    [
        pytest.param(IMPORT.replace("make", "it") + "it.run();\n", "export const it = new Item();\n", id="imported"),
        pytest.param("import * as all from './item';\nall.it.run();\n", "export const it = new Item();\n",
                     id="of a module"),
        pytest.param("import it from './item';\nit.run();\n", "const it = new Item();\nexport default it;\n",
                     id="a default"),
        pytest.param("import it from './item';\nfor (const one of it) { one.run(); }\n",
                     "const it: Item[] = [];\nexport default it;\n", id="an element"),
        pytest.param("import { it } from './item';\nconst { part } = it;\npart.run();\n",
                     "class Whole { part = new Item(); }\nexport const it = new Whole();\n", id="a part"),
    ],
)  # fmt: skip
def test_a_variable_of_another_module_is_what_it_is_given(source, item):
    assert _called(source, item) == {"item.ts::Item::run"}


def test_a_module_gives_what_its_function_is_given_as_members():
    sources = {
        "a.js": "const { Item } = require('./all');\nnew Item().run();\n",
        "all.js": "const Item = require('./item');\nfunction all() {}\nall.Item = Item;\nmodule.exports = all;\n",
        "item.js": "class Item { run() {} }\nmodule.exports = Item;\n",
    }

    assert calls_of(sources).keys() == {("a.js", "item.js::Item"), ("a.js", "item.js::Item::run")}


def test_a_default_of_a_module_stays_what_it_is_where_the_module_is_also_made_one_of_another_kind():
    sources = {
        "a.ts": "import client from './client';\nclient();\n",
        "client.ts": (
            "export default function rest() {}\n"
            "if (typeof module !== 'undefined') { module.exports = Object.assign(rest, module.exports); }\n"
        ),
    }

    assert calls_of(sources).keys() >= {("a.ts", "client.ts::rest")}
