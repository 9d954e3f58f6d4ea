"""What functions give back and variables of other modules hold, where nothing says its type."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of

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
        pytest.param(
            "export function make() { if (x) { return new Other(); } return new Item(); }\n", id="two classes"
        ),
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


LONG = ", ".join(f"'{number} of many arguments'" for number in range(20))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(f"const it = make({LONG});\nit.run();\n", id="a variable"),
        pytest.param(f"make({LONG}).also({LONG}).run();\n", id="a chain of calls"),
        pytest.param("const it = Object.freeze(new Item());\nit.run();\n", id="what is given back as it is"),
    ],
)
def test_a_call_of_long_arguments_gives_what_it_gives_without(source):
    assert _called(IMPORT + source, "export function make() { return new Item(); }\n") == {"item.ts::Item::run"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("/**\n * @param {Item} it the item\n */\nfunction f(it) { it.run(); }\n", id="a parameter"),
        pytest.param("/** @param {?Item} [it] */\nexports.f = (it) => it.run();\n", id="that may be missing"),
        pytest.param("/** @param {Promise<Item>} it */\nasync function f(it) { (await it).run(); }\n", id="in another"),
        pytest.param("/** @returns {Item} */\nfunction g() { return x(); }\ng().run();\n", id="a result"),
        pytest.param("class A {\n  constructor() {\n    /** @type {Item[]} */\n    this.all = [];\n  }\n"
                     "  f() { for (const it of this.all) it.run(); }\n}\n", id="a field"),
        pytest.param("/** @type {Item} */\nconst it = x();\nit.run();\n", id="a variable"),
    ],
)  # fmt: skip
def test_what_comments_of_javascript_say_of_types_counts(source):
    assert _called(IMPORT + source, path="a.js") == {"item.ts::Item::run"}


def test_what_comments_of_typescript_say_of_types_does_not():
    assert _called(IMPORT + "/** @param {Item} it */\nfunction f(it) { it.run(); }\n") == set()


def test_what_a_declaration_beside_it_declares_is_meant_where_both_are_there():
    sources = {
        "a.js": "const { Item } = require('./all');\nlet it = new Item();\nit.run();\n",
        "all.js": "let Item = require('./item');\nfunction all() {}\nall.Item = Item;\nmodule.exports = all;\n",
        "item.js": "const Base = require('./base');\nclass Item extends Base {}\nmodule.exports = Item;\n",
        "item.d.ts": "declare class Item { run(): void }\nexport = Item\n",
        "base.js": "class Base { run() {} }\nmodule.exports = Base;\n",
    }

    assert calls_of(sources).keys() == {("a.js", "item.js::Item"), ("a.js", "base.js::Base::run")}
