"""What is read from TypeScript."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.typescript_case import SOURCE


def test_the_symbols_of_a_file_with_all_kinds_of_definitions() -> None:
    found = symbols_by_name("typescript", SOURCE)

    assert {name: (symbol.type.value, symbol.modifiers) for name, symbol in found.items()} == {
        "Id": ("class", ("export",)),
        "Named": ("class", ("export",)),
        "Named::rename": ("function", ()),
        "Keys": ("class", ()),
        "Repo": ("class", ("export",)),
        "Repo::find": ("function", ()),
        "Kind": ("class", ("export",)),
        "Window": ("class", ()),
        "legacy": ("function", ("export", "declare")),
        "open": ("function", ("export",)),
        "money::format::cents": ("function", ("export",)),
        "Base": ("class", ("abstract",)),
        "Base::load": ("function", ("protected", "abstract")),
        "Shop": ("class", ("export",)),
        "Shop::constructor": ("function", ()),
        "Shop::total": ("function", ()),
        "Shop::load": ("function", ("override", "async")),
        "Shop::[Symbol.toStringTag]": ("function", ("get",)),
        "Shop::isOpen": ("function", ("protected",)),
        "parse": ("function", ("export",)),
        "identity": ("function", ("export",)),
    }
    assert [name for name, symbol in found.items() if not symbol.is_public] == ["Base::load", "Shop::isOpen"]


def test_signatures_docs_bases_and_fields() -> None:
    found = symbols_by_name("typescript", SOURCE)

    assert found["Repo"].docstring == "Keeps things."
    assert found["Repo"].bases == ("Iterable<T>", "Disposable")
    assert found["Repo::find"].docstring == "Finds one."
    assert found["Named"].signature == "export type Named<T>"
    assert found["Named"].bases == ("Partial<T>",)
    assert found["Shop"].docstring == "The shop."
    assert found["Shop"].signature == "export class Shop extends Base<Item> implements Repo<Item>, Disposable"
    assert found["Shop"].bases == ("Base<Item>", "Repo<Item>", "Disposable")
    assert found["Shop::load"].signature == (
        "override async load<K extends keyof Item>(this: Shop, id: Id, key?: K): Promise<Item>"
    )
    assert found["Shop::isOpen"].signature == "protected isOpen = (at: Date): at is OpenDate =>"
    assert [fact.text for fact in found["Shop"].facts.fields] == [
        "instances: Map",
        "size: number",
        "cache: Cache<Item>",
        "title: string",
        "repo: Repo<Item>",
        "clock: Clock",
    ]
    assert [fact.text for fact in found["Kind"].facts.fields] == ["Book", "Film"]
    assert [fact.text for fact in found["Repo"].facts.fields] == ["size: number", "onChange: (item: T) => void"]


def test_the_signatures_of_overloads_and_what_implements_them_are_one_function() -> None:
    parsed = symbols_by_name("typescript", SOURCE)["parse"]

    assert parsed.signature == "export function parse(text: string): Item"
    assert parsed.canonical_source.count("export function parse") == 3
    assert parsed.complexity == 2
    assert [fact.text for fact in parsed.facts.raises] == ['new SyntaxError("nothing")']


def test_equal_names_that_are_no_overloads_stay_apart() -> None:
    source = "class A { get x() { return 1 } set x(v) {} }\nfunction f() {}\nfunction f() {}\n"

    assert list(symbols_by_name("typescript", source)) == ["A", "A::x", "A::x#edc400", "f", "f#903082-2"]


def test_parameters_and_return_types() -> None:
    found = symbols_by_name("typescript", SOURCE)

    assert found["Shop::load"].facts.parameters == (
        Parameter("this", "Shop", None, "receiver"),
        Parameter("id", "Id", None, "positional"),
        Parameter("key", "K", None, "positional"),
    )
    assert found["Shop::load"].facts.return_type == "Promise<Item>"
    assert found["Shop::constructor"].facts.parameters[1] == Parameter("clock", "Clock", "systemClock", "positional")
    assert found["identity"].facts.parameters == (Parameter("value", "T", None, "positional"),)
    assert found["identity"].facts.return_type == "T"
    assert found["legacy"].facts.return_type == "asserts id is string"


def test_a_type_that_is_another_name_is_a_class_with_its_comment_and_all_of_it_as_signature() -> None:
    found = symbols_by_name(
        "typescript",
        "/** What a shop sells. */\n"
        "export type Goods = Map<Id, Item[]>\n\n"
        "type Size = 'small' | 'large'\n\n"
        "// Turns items into goods.\n"
        "export type Sort = (items: Item[]) => Goods\n",
    )

    assert {name: (symbol.type.value, symbol.docstring, symbol.bases) for name, symbol in found.items()} == {
        "Goods": ("class", "What a shop sells.", ("Map<Id, Item[]>",)),
        "Size": ("class", None, ()),
        "Sort": ("class", "Turns items into goods.", ()),
    }
    assert found["Size"].signature == 'type Size = "small" | "large"'


def test_imports_exports_and_globals() -> None:
    facts = parse("typescript", SOURCE).facts

    assert facts.imports == (
        Import("@shop/time", 0, "Clock", None, None, 1),
        Import("./items", 0, "Item", None, None, 2),
        Import("./items", 0, "Price", "Amount", None, 2),
        Import("fs", 0, None, "fs", None, 3),
        Import("./files", 0, "read", None, "file::Shop::load", 66),
    )
    assert facts.exports == (
        "Clock", "Id", "Named", "Repo", "Kind", "legacy", "money", "Shop", "parse", "identity", "Shop as default",
    )  # fmt: skip
    assert facts.globals == ()


def test_typed_names() -> None:
    references = references_of(parse("typescript", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    typed = {(names[number], name): type_ for number, name, type_ in references["typed"]}

    assert typed["Shop::constructor", "this.repo"] == "Repo<Item>"
    assert typed["Shop::constructor", "this.clock"] == "Clock"
    assert typed["Shop::constructor", "this.cache"] == "Cache"
    assert typed["Shop", "cache"] == "Cache<Item>"
    assert typed["Shop::load", "id"] == "Id"
    assert typed["parse", "item"] == "Item"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("export = shop", ("shop as default",)),
        ("export import a = b.c", ()),
        ("export declare const a: string, b: number", ("a", "b")),
        ("export abstract class A {}", ("A",)),
        ("export enum E { A }", ("E",)),
        ("namespace inner { export const hidden = 1 }", ()),
    ],
)
def test_what_a_module_gives_away(source: str, expected: tuple[str, ...]) -> None:
    assert parse("typescript", source).facts.exports == expected


def test_spacing_of_types() -> None:
    source = (
        "let a:Array<Map<string,number[]>>,b:unique symbol,c:[x:string,y?:number],d=<T>e\n"
        "type F=new(a:string)=>void;type G=A extends B?C:D;type H=`on${E}`;let i=j!.k!?.l?.();let l!:M\n"
    )

    assert parse("typescript", source).facts.source == (
        "let a: Array<Map<string, number[]>>, b: unique symbol, c: [x: string, y?: number], d = <T> e;\n"
        "type F = new (a: string) => void;\ntype G = A extends B ? C : D;\ntype H = `on${E}`;\n"
        "let i = j!.k!?.l?.();\nlet l!: M;"
    )
