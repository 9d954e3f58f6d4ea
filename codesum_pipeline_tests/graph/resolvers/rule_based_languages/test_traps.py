"""Where an edge would be a guess there is none; and what could make the resolver run away does not."""

import random

import pytest

from codesum_pipeline.foundation.data_model.possible_values import Reason
from codesum_pipeline_tests.graph.resolvers.rule_based_languages.test_families import GO, JVM, RUST, TYPESCRIPT, C
from codesum_pipeline_tests.graph.sources import calls_of, graph_of, imports_of


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(
            {"a.ts": "class A { save() {} }\nclass B { save() {} }\nfunction f(x) { x.save(); }\n"},
            id="one method name in two classes",
        ),
        pytest.param(
            {"a.js": "function run() {}\nfunction f(run) { run(); }\n"},
            id="a parameter hides a function",
        ),
        pytest.param(
            {"a.js": "function run() {}\nfunction f({ run }) { run(); }\n"},
            id="a parameter that is taken apart hides a function",
        ),
        pytest.param(
            {"a.js": "function run() {}\nfunction f(o) { const run = o.x; run(); }\n"},
            id="a variable hides a function",
        ),
        pytest.param(
            {"a.js": "const api = { get() {} };\nfunction f() { get(); }\n"},
            id="an object's function is seen only through it",
        ),
        pytest.param(
            {"a.ts": "import { x } from './b';\nx();\n", "b.ts": "export function y() {}\n"},
            id="a name that a module does not have",
        ),
        pytest.param(
            {
                "a.ts": "import { q } from './b';\nq();\n",
                "b.ts": "export * from './c';\n",
                "c.ts": "export * from './b';\n",
            },
            id="modules that hand on each other's names",
        ),
        pytest.param(
            {
                "go.mod": "module m\n",
                "p/a_linux.go": "package p\n\nfunc open() {}\n",
                "p/a_windows.go": "package p\n\nfunc open() {}\n",
                "p/b.go": "package p\n\nfunc F() { open() }\n",
            },
            id="a package that has a name twice",
        ),
        pytest.param(
            {
                "go.mod": "module m\n",
                "p/p.go": "package p\n\nfunc Run() {}\n",
                "main.go": 'package main\n\nimport "m/p"\n\nfunc f(p thing) { p.Run() }\n',
            },
            id="a parameter hides a package",
        ),
        pytest.param(
            {"a.go": "package p\n\ntype T struct{}\n\nfunc (t T) run() {}\n\nfunc f() { run() }\n"},
            id="a method is seen only through its receiver",
        ),
        pytest.param(
            {"A.java": "class A { void over(int a) {} void over(String a) {} void f() { over(1); } }\n"},
            id="overloads that the number of arguments does not tell apart",
        ),
        pytest.param(
            {
                "a/A.java": "package a;\nimport b.*;\nimport c.*;\nclass A { void f() { new X(); } }\n",
                "b/X.java": "package b;\npublic class X {}\n",
                "c/X.java": "package c;\npublic class X {}\n",
            },
            id="two packages imported whole that have one name",
        ),
        pytest.param(
            {"a.rs": "struct S;\nimpl S { fn new() {} fn f() { new(); } }\n"},
            id="a type's function is seen only through the type",
        ),
        pytest.param(
            {
                "a.c": "int f(void) { return helper(); }\n",
                "b.c": "int helper(void) {}\n",
                "c.c": "int helper(void) {}\n",
            },
            id="two files that a program may be linked with",
        ),
        pytest.param(
            {"a.c": "int f(void) { return close(1); }\n", "b.c": "int close(int x) {}\n"},
            id="a function of the C library",
        ),
        pytest.param(
            {"a.lua": "local M = {}\nfunction M.go() end\nfunction M.f() go() end\nreturn M\n"},
            id="a table's function is seen only through the table",
        ),
        pytest.param(
            {"a.go": "package p\n\nfunc Run() {}\n", "b.rs": "fn f() { Run(); }\n", "c.py": "def g():\n    Run()\n"},
            id="no family sees another's names",
        ),
    ],
)
def test_no_edge_is_guessed(sources: dict[str, str]) -> None:
    assert calls_of(sources) == {}


def test_a_class_that_derives_from_itself_ends_the_search() -> None:
    sources = {"a.ts": "class A extends B { f() { this.none(); } }\nclass B extends A { g() { this.f(); } }\n"}

    assert calls_of(sources) == {("a.ts::B::g", "a.ts::A::f"): "ast:self"}


def test_variables_that_depend_on_each_other_are_unknown() -> None:
    assert (
        calls_of({"a.js": "function f() { const a = b.x(); const b = a.y(); a.run(); }\nclass R { run() {} }\n"}) == {}
    )


# Without its end the search would take all memory before the usual time is over.
@pytest.mark.timeout(60)
def test_a_literal_of_a_generic_type_that_names_another_ends_the_search() -> None:
    sources = {"a.rs": "fn make() -> Diff<u8> {\n    Diff::<Self::Part> { real: 1 }\n}\nfn f() { make(); }\n"}
    assert calls_of(sources) == {("a.rs::f", "a.rs::make"): Reason.SAME_FILE}


def test_a_module_that_imports_itself_has_no_edge_to_itself() -> None:
    assert imports_of({"a.ts": "import * as me from './a';\nexport function f() { me.f(); }\n"}) == set()


@pytest.mark.parametrize("size", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_chains_of_bases_calls_and_exports_are_followed_only_so_far(size: int) -> None:
    classes = "".join(f"class C{n} extends C{n + 1} {{}}\n" for n in range(size))
    chain = "x" + ".a()" * size
    variables = "".join(f"const v{n} = v{n + 1}.f();\n" for n in range(size))
    exports = {f"m{n}.ts": f"export * from './m{n + 1}';\n" for n in range(400)}
    sources = {
        "a.ts": f"{classes}class C{size} {{ f() {{}} }}\nfunction g(c: C0) {{ c.f(); {chain}; }}\n{variables}v0.f();\n",
        "b.ts": "import { far } from './m0';\nfar();\n",
        "m400.ts": "export function far() {}\n",
        **exports,
    }

    assert calls_of(sources) == {}


def test_the_order_of_files_does_not_matter() -> None:
    sources = {**C, **GO, **JVM, **RUST, **TYPESCRIPT}
    names = list(sources)
    graph = graph_of(sources)

    for seed in range(3):
        random.Random(seed).shuffle(names)
        assert graph_of({name: sources[name] for name in names}) == graph


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', "[" * 100_000, ""], ids=["cut", "list", "text", "deep", "empty"])
def test_a_malformed_project_file_says_nothing(text: str) -> None:
    names = ("package.json", "tsconfig.json", "Cargo.toml", "go.mod")

    assert calls_of(
        {
            **dict.fromkeys(names, text),
            "a.ts": "import { f } from './b';\nf();\n",
            "b.ts": "export const f = () => 1;\n",
        }
    ) == {("a.ts", "b.ts::f"): "ast:import"}


def test_a_name_that_leads_to_a_file_without_scopes_is_no_failure() -> None:
    sources = {
        "package.json": '{"name": "shop"}',
        "a.ts": "import { version } from './package.json';\nexport function f() { version.trim(); }\n",
    }

    assert graph_of(sources).failures == ()
