"""What is read from JavaScript."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.javascript_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def names(source: str) -> list[str]:
    return list(symbols_by_name("javascript", source))


def test_the_symbols_of_a_file_with_all_kinds_of_definitions() -> None:
    found = symbols_by_name("javascript", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id, symbol.modifiers) for name, symbol in found.items()} == {
        "api::get": ("function", None, ("async",)),
        "api::post": ("function", None, ()),
        "api::put-back": ("function", None, ()),
        "Cart": ("class", None, ("export",)),
        "Cart::onChange": ("function", "file::Cart", ()),
        "Cart::constructor": ("function", "file::Cart", ()),
        "Cart::total": ("function", "file::Cart", ("get",)),
        "Cart::total#98f518": ("function", "file::Cart", ("set",)),
        "Cart::#sum": ("function", "file::Cart", ()),
        "Cart::[Symbol.asyncIterator]": ("function", "file::Cart", ("async",)),
        "Cart::add": ("function", "file::Cart", ()),
        "Cart::clear": ("function", "file::Cart", ()),
        "kind": ("function", None, ()),
        "Row": ("function", None, ("export",)),
        "Row::pick": ("function", "file::Row", ()),
        "boot": ("function", None, ()),
        "default": ("function", None, ("export", "default")),
    }
    assert [name for name, symbol in found.items() if not symbol.is_public] == ["Cart::#sum"]


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("if (it)\n    axis.c2p = function (c) { return m + c; };\n", "if (it) axis.c2p = function (c) {"),
        ("if (a) b();\nelse\n    axis.c2p = function (c) { return m + c; };\n", "else axis.c2p = function (c) {"),
        ("while (it)\n    axis.c2p = function (c) { return m + c; };\n", "while (it) axis.c2p = function (c) {"),
        ("x(); axis.c2p = function (c) { return m + c; };\n", "axis.c2p = function (c) {"),
    ],
)
def test_a_function_amid_a_line_begins_with_that_line(source: str, head: str) -> None:
    found = symbols_by_name("javascript", source)["axis::c2p"]

    assert found.canonical_source.split("\n") == [head, "    return m + c;", "};"]
    assert found.facts.signature_line == 1
    assert found.signature == "axis.c2p = function (c)"
    assert len(found.line_map) == 3


def test_signatures_docs_and_complexity() -> None:
    found = symbols_by_name("javascript", SOURCE)

    assert parse("javascript", SOURCE).facts.docstring == "A cart and the page that shows it."
    assert found["api::get"].signature == "get: async (path, { retries = 3 } = {}) =>"
    assert found["api::get"].docstring == "Reads the items of a shop."
    assert found["api::get"].complexity == 3
    assert found["Cart"].signature == "export class Cart extends money.Account"
    assert found["Cart"].bases == ("money.Account",)
    assert found["Cart::clear"].signature == "Cart.prototype.clear = function ()"
    assert found["Cart::add"].complexity == 3
    assert found["Row"].signature == "export const Row = memo(function Row({ item, onPick, ...rest })"
    assert found["kind"].complexity == 3


def test_what_a_function_says_about_itself() -> None:
    found = symbols_by_name("javascript", SOURCE)
    get, iterate = found["api::get"].facts, found["Cart::[Symbol.asyncIterator]"].facts

    assert get.parameters == (
        Parameter("path", None, None, "positional"),
        Parameter("{ retries = 3 }", None, "{}", "positional"),
    )
    assert get.is_async
    assert [fact.text for fact in get.raises] == ['new Error("no answer: " + path)']
    assert [(fact.text, fact.line) for fact in get.returned] == [("await fetch(`${api.base}/${path}?n=${i + 1}`)", 5)]
    assert [fact.text for fact in found["Cart::constructor"].facts.writes] == ["this.owner"]
    assert found["Cart::constructor"].facts.parameters[1] == Parameter("items", None, None, "var_positional")
    assert iterate.is_generator and iterate.is_async
    assert [fact.text for fact in found["Cart::#sum"].facts.returned] == ["sum"]
    assert [fact.text for fact in found["Cart"].facts.fields] == ["#count", "items: Map"]
    assert [fact.text for fact in found["default"].facts.returned] == ["<Row item={null} />"]


def test_imports_exports_and_globals() -> None:
    facts = parse("javascript", SOURCE).facts

    assert facts.imports == (
        Import("react", 0, "default", "React", None, 11),
        Import("react", 0, "memo", None, None, 11),
        Import("react", 0, "useCallback", "callback", None, 11),
        Import("./money.js", 0, None, "money", None, 12),
        Import("./cart.css", 0, None, None, None, 13),
        Import("./items.js", 0, "*", None, None, 15),
        Import("./money.js", 0, "format", "show", None, 16),
        Import("./money.js", 0, "default", "Money", None, 16),
        Import("./log", 0, "log", None, None, 19),
        Import("./log", 0, "level", "wanted", None, 19),
    )
    assert facts.exports == ("show", "Money", "api", "Cart", "Row", "default")
    assert facts.globals == ("LIMIT", "RATE", "api")


def test_calls_and_typed_names() -> None:
    references = references_of(parse("javascript", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    calls = [(names[number] if number >= 0 else "", *call) for number, *call in references["calls"]]

    assert ("Cart::add", "this.items", "set", 0) in calls
    assert ("Cart::total", "this", "#sum", 0) in calls
    assert ("Cart::total#98f518", "", "TypeError", 1) in calls
    assert ("Row", "Icon", "Star", 0) in calls
    assert ("default", "", "Row", 0) in calls
    assert ["Cart", "items", "Map"] in [[names[number], *typed] for number, *typed in references["typed"]]
    assert ["Cart", "#sum"] in [symbol[2] for symbol in references["symbols"]]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("exports.open = function openFile() {}", ["open"]),
        ("module.exports = function open() {}", ["open"]),
        ("module.exports = () => {}", ["default"]),
        ("module.exports = exports = class Shop { m() {} }", ["Shop", "Shop::m"]),
        ("module.exports = { open() {}, shut: () => {} }", ["open", "shut"]),
        ("Shop.prototype = { open() {} }", ["Shop::open"]),
        ("var parse = exports.parse = function () {}", ["parse"]),
        ("window.shop = { open: async () => {} }", ["shop::open"]),
        ("handlers['on-open'] = () => {}", ["handlers::on-open"]),
        ("handlers[key] = () => {}", []),
        ("const a = 1, f = () => 1, g = function h() {}", ["f", "g"]),
        ("const f = React.memo(React.forwardRef(function F() {}))", ["f"]),
        ("const f = useCallback(() => 1, [])", ["f"]),
        ("const total = items.map((item) => item.price), timer = setTimeout(() => {}, 1)", []),
        ("const state = useSelector((all) => all.state)", []),
        ("const shop = defineStore({ actions: { async open() {} } })", ["shop::actions::open"]),
        ("const Shop = (function () { function open() {} return { open } })()", ["Shop::open"]),
        ("(function () { function open() {} })()", ["open"]),
        ("function make() { return function made() { return class Thing {} } }", [
            "make", "make::made", "make::made::Thing",
        ]),
        ("export default class { m() {} }", ["default", "default::m"]),
        ("export default defineComponent({ data() {}, methods: { open() {} } })", [
            "default::data", "default::methods::open",
        ]),
        ("describe('shop', () => { it('opens', async () => { const open = () => 1 }) })", ["open"]),
        ("class A { static async = 1; get = () => 1; 'two words'() {} static { this.x = 1 } }", [
            "A", "A::get", "A::two words",
        ]),
    ],
)  # fmt: skip
def test_functions_are_named_by_what_they_are_bound_to(source: str, expected: list[str]) -> None:
    assert names(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("export default shop", ("shop as default",)),
        ("export default function open() {}", ("open as default",)),
        ("export default memo(function Shop() {})", ("Shop as default",)),
        ("export default { a: 1 }", ("default",)),
        ("export { a, b as c, d as default }", ("a", "b as c", "d as default")),
        ("export * as ns from './ns'", ("ns",)),
        ("export const { a, b: [c], ...d } = x, e = 1", ("a", "c", "d", "e")),
        ("module.exports = shop", ("shop as default",)),
        ("module.exports = { a, b: c, d() {}, 'e': 1 }", ("a", "c as b", "d", "e")),
        ("exports.a = a; exports.b = c; module.exports.d = () => {}", ("a", "c as b", "d")),
        ("if (typeof module === 'object') module.exports = shop", ("shop as default",)),
    ],
)
def test_exports_say_what_a_name_is_called_inside(source: str, expected: tuple[str, ...]) -> None:
    assert parse("javascript", source).facts.exports == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("const shop = require('./shop')", [("./shop", None, "shop")]),
        ("const open = require('./shop').open", [("./shop", "open", "open")]),
        ("const { open, shut: close, at = 1 } = require('./shop')", [
            ("./shop", "open", None), ("./shop", "shut", "close"), ("./shop", "at", None),
        ]),
        ("require('./shop'); app.use(require('./routes'))", [("./shop", None, None), ("./routes", None, None)]),
        ("const debug = require('debug')('shop')", [("debug", None, None)]),
        ("const shop = await import('./shop')", [("./shop", None, "shop")]),
        ("const Page = lazy(() => import('./page'))", [("./page", None, None)]),
        ("require(name); import(`./${name}`)", []),
    ],
)  # fmt: skip
def test_modules_are_loaded_by_calls_too(source: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    imports = parse("javascript", source).facts.imports

    assert [(found.module, found.name, found.alias) for found in imports] == expected


def test_a_statement_ends_with_its_mark_whether_it_is_written_or_not() -> None:
    source = "if (a) b()\nelse c()\nlet x = 1\n;[2].map(f)\nreturn_(1)\n{ d() }\n"

    assert parse("javascript", source).facts.source == (
        "if (a) b();\nelse c();\nlet x = 1;\n[2].map(f);\nreturn_(1);\n{\n    d();\n}"
    )


def test_what_only_names_functions_starts_no_line() -> None:
    source = "a = b = { c() {} }\nx = (y = f({ z: 1 }))\nreturned = () => (k = { m: 1 })"

    assert names(source) == ["b::c", "returned"]
    assert parse("javascript", source).facts.source == (
        "a = b = {\n    c() {}\n};\nx = y = f({\n    z: 1\n});\nreturned = () => k = {\n    m: 1\n};"
    )


def test_text_in_markup_and_templates_keeps_its_blanks() -> None:
    source = (
        "x = <p>\n  One,  two\n  {three}: {four}\n  <i/>{five}\n  <b>six</b> seven\n</p>\ny = tag`a ${ b } c`+`${1}`"
    )

    assert parse("javascript", source).facts.source == (
        "x = <p>One,  two{three}: {four}<i />{five}<b>six</b> seven</p>;\ny = tag`a ${b} c` + `${1}`;"
    )


def test_a_broken_function_leaves_the_others_readable() -> None:
    found = symbols_by_name(
        "javascript", "function a() { return 1 }\nfunction b( { if }\nclass C { m() { return 2 } }\n"
    )

    assert {"a", "C", "C::m"} <= set(found)
    assert [fact.text for fact in found["a"].facts.returned] == ["1"]
    assert not found["a"].has_syntax_errors


def test_deep_nesting_is_read() -> None:
    assert names("x = " + "() => " * 10_000 + "1") == ["x"]
    assert names("a = " * 5_000 + "function () {}") == ["a"]
    assert names("x" + ".then(y)" * 10_000) == []


def test_a_comment_right_above_documents_where_none_is_marked() -> None:
    source = (
        "// Shuffles a list.\n// At once.\nfunction shuffle(list) {}\n\n"
        "// Far off.\n// Farther.\n\nfunction far() {}\n\n"
        "/** Marked. */\n\n// plain\nfunction both() {}\n\n// eslint-disable-next-line\nfunction told() {}\n"
    )
    docs = {symbol.name: symbol.docstring for symbol in parse("javascript", source).symbols}

    assert docs == {"shuffle": "Shuffles a list.\nAt once.", "far": None, "both": "Marked.", "told": None}
