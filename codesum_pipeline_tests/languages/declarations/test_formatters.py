"""What the standard formatter of a language changes, as far as the tree shows it."""

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse

SAME = {
    "javascript: trailing commas": ("javascript", "f(a, b,); x = [a,]; y = {a: 1,};", "f(a, b); x = [a]; y = {a: 1};"),
    "javascript: quotes": ("javascript", "f('a', 'it\\'s', 'so \"x\"');", 'f("a", "it\'s", "so \\"x\\"");'),
    "javascript: markup": ("javascript", "x = <a b='c'/>;", 'x = <a b="c"/>;'),
    "javascript: one name before an arrow": ("javascript", "f((a) => a, async (b) => b);", "f(a => a, async b => b);"),
    "javascript: numbers": ("javascript", "x = 0XAB + 1.50 + .5 + 1E+5 + 1_000;", "x = 0xab + 1.5 + 0.5 + 1e5 + 1000;"),
    "typescript: one name before an arrow": ("typescript", "f((a) => a);", "f(a => a);"),
    "typescript: quotes": ("typescript", "import a from 'b';", 'import a from "b";'),
    "lua: quotes and trailing commas": ("lua", "x = {'a', b,}", 'x = {"a", b}'),
    "rust": ("rust", "fn f(a: A, b: B,) { g(a, b,); }", "fn f(a: A, b: B) { g(a, b); }"),
    "zig: trailing commas": ("zig", "const a = @as(u8, f(b, c,),);", "const a = @as(u8, f(b, c));"),
    "go": ("go", "package p\nfunc f() { g(a, b,) }", "package p\nfunc f() { g(a, b) }"),
    "java": ("java", "class A { int[] x = {1, 2,}; }", "class A { int[] x = {1, 2}; }"),
    "kotlin": ("kotlin", "fun f(a: A,) { g(a,) }", "fun f(a: A) { g(a) }"),
    "php": ("php", "<?php function f($a,) { g([1, 2,],); }", "<?php function f($a) { g([1, 2]); }"),
    "ruby": ("ruby", "def f\n  g(a, [b,], {c: 1,},)\nend", "def f\n  g(a, [b], {c: 1})\nend"),
    "scala": ("scala", "def f(a: A,) = g(a,)", "def f(a: A) = g(a)"),
    "swift": ("swift", "let x = [1, 2,]", "let x = [1, 2]"),
    "zig": ("zig", "const x = f(a, b,);", "const x = f(a, b);"),
    "c-sharp": ("c-sharp", "enum E { A, B, }", "enum E { A, B }"),
    "ruby: quotes": ("ruby", "f('a', {'b' => 1}, \"it's\")", 'f("a", {"b" => 1}, "it\'s")'),
    "php: quotes": ("php", "<?php f('a', \"it's\");", '<?php f("a", "it\'s");'),
    "c": ("c", "int x[] = {1, 2,};", "int x[] = {1, 2};"),
    "cpp": ("cpp", "int x[] = {1, 2,};", "int x[] = {1, 2};"),
}  # fmt: skip


IN_SEVERAL_LINES = {
    "javascript: a mark after a definition": (
        "javascript",
        "module.exports = a => class B extends a {}\nx = a || function g() {}",
        "module.exports = a => class B extends a {};\nx = a || function g() {};",
    ),
    "javascript: commas of patterns": ("javascript", "const [a, b,] = c;", "const [a, b] = c;"),
    "javascript: statements that are none": (
        "javascript",
        "function f() {};\nif (a) {};\nclass A {};;",
        "function f() {}\nif (a) {}\nclass A {}",
    ),
    "javascript: brackets around a call": ("javascript", "x = (f()).y; (a.b()).c();", "x = f().y; a.b().c();"),
    "typescript: commas of types": (
        "typescript",
        "function f<A, B,>() {}\ntype C = [D, E,];",
        "function f<A, B>() {}\ntype C = [D, E];",
    ),
    "typescript: the last mark of a type": ("typescript", "type A = { b: C }", "type A = {\n  b: C;\n};"),
    "typescript: a mark before all": ("typescript", "type A =\n  & B\n  & C;", "type A = B & C;"),
    "php: columns of tags": (
        "php",
        "<?php\n/**\n * @param  int   $a  b\n */\nfunction f($a) {}",
        "<?php\n/**\n * @param int $a b\n */\nfunction f($a) {}",
    ),
    "javascript: marks at ends": (
        "javascript",
        "a()\nlet b = 1\nif (c) d()\nelse throw e\nexport default f\n",
        "a();\nlet b = 1;\nif (c) d();\nelse throw e;\nexport default f;\n",
    ),
    "javascript: fields": ("javascript", "class A { a = (1)\n b\n c() {}; }", "class A { a = 1; b; c() {} }"),
    "javascript: brackets": (
        "javascript",
        "x = (a) + (b * c); return_((a ? b : c)); y = (a && b) || c; z = (a || b) ? (c) : (d);",
        "x = a + b * c; return_(a ? b : c); y = a && b || c; z = a || b ? c : d;",
    ),
    "javascript: brackets of chains": (
        "javascript",
        "x = (a.b).c; (await_)(d); new (a.b)(c); y = (a[b])[c];",
        "x = a.b.c; await_(d); new a.b(c); y = a[b][c];",
    ),
    "javascript: brackets around a whole": (
        "javascript",
        "function f() { return (a && b); }\nx = () => (a ? b : c);",
        "function f() { return a && b; }\nx = () => a ? b : c;",
    ),
    "javascript: brackets around markup": ("javascript", "x = (<p>a</p>);", "x = <p>a</p>;"),
    "javascript: brackets that say one order twice": ("javascript", "x = a && (b && c);", "x = a && b && c;"),
    "javascript: names of properties": (
        "javascript",
        "x = {'a': 1, \"b\": 2, 'c-d': 3, 'e'() {}};",
        "x = {a: 1, b: 2, 'c-d': 3, e() {}};",
    ),
    "typescript: marks at ends": (
        "typescript",
        "interface A { a: B, c(): D }\ntype E = F\nclass G { h: I\n j(): K\n j() {} }",
        "interface A { a: B; c(): D; }\ntype E = F;\nclass G { h: I; j(): K; j() {} }",
    ),
    "typescript: a type on several lines": (
        "typescript",
        "type A =\n  | B\n  | C;\nlet d: (E) = f",
        "type A = B | C;\nlet d: E = f;",
    ),
    "typescript: casts in each other": ("typescript", "f((a as B) as C)", "f(a as B as C);"),
    "tsx: brackets around markup": ("tsx", "const A = () => (<p>{(a)}</p>);", "const A = () => <p>{a}</p>;"),
}


@pytest.mark.parametrize(
    ("language", "written", "formatted"), [*SAME.values(), *IN_SEVERAL_LINES.values()], ids=[*SAME, *IN_SEVERAL_LINES]
)
def test_what_a_formatter_changes_is_the_same_program(language: str, written: str, formatted: str) -> None:
    one, other = parse(language, written), parse(language, formatted)

    assert (one.facts.syntax_errors, other.facts.syntax_errors) == (0, 0)
    assert one.facts.source == other.facts.source
    assert [(s.id, s.content_hash) for s in one.symbols] == [(s.id, s.content_hash) for s in other.symbols]


DIFFERENT = {
    "javascript: what is awaited": (
        "javascript",
        "async function f() { return (await (await g()).h()).i; }",
        "async function f() { return await (await g()).h().i; }",
    ),
    "javascript: what a call makes": ("javascript", "new (require('x')).Y();", "new require('x').Y();"),
    "javascript: what a chain makes": ("javascript", "new (a()).b;", "new a().b;"),
    "javascript: what an index makes": ("javascript", "new (a())[0]();", "new a()[0]();"),
    "typescript: what is made for sure": ("typescript", "new (a()!).c();", "new a()!.c();"),
    "javascript: two signs and a step": ("javascript", "x = - -y;", "x = --y;"),
    "javascript: a decorated class": ("javascript", "(@d class A {});", "@d class A {};"),
    "javascript: a getter": ("javascript", "class A { get\nx() {} }", "class A { get; x() {} }"),
    "javascript: let and what it declares": ("javascript", "let\na", "let; a"),
    "typescript: a method": ("typescript", "interface A { a\n(b): c }", "interface A { a; (b): c }"),
    "javascript: letters in a comment": (
        "javascript",
        "/**\n * @param a à la carte, voilà\n */\nfunction f(a) {}",
        "/**\n * @param a Å la carte, voilÅ\n */\nfunction f(a) {}",
    ),
    "javascript: a place left empty": ("javascript", "x = [a,,];", "x = [a,];"),
    "javascript: a place alone": ("javascript", "x = [,];", "x = [];"),
    "javascript: a default": ("javascript", "f((a = 1) => a);", "f(a => a);"),
    "javascript: a template": ("javascript", "x = `a`;", "x = 'a';"),
    "javascript: numbers of two kinds": ("javascript", "x = 1n;", "x = 1;"),
    "javascript: an order": ("javascript", "x = a * (b + c);", "x = a * b + c;"),
    "javascript: a difference of a difference": ("javascript", "x = a - (b - c);", "x = a - b - c;"),
    "javascript: a power": ("javascript", "x = (a ** b) ** c;", "x = a ** b ** c;"),
    "javascript: the end of a chain": ("javascript", "x = (a?.b).c;", "x = a?.b.c;"),
    "javascript: what is made": ("javascript", "x = new (f())();", "x = new f()();"),
    "javascript: an object and a block": ("javascript", "x = () => ({});", "x = () => {};"),
    "javascript: two and one": ("javascript", "f((a, b));", "f(a, b);"),
    "javascript: two lines that are one statement": ("javascript", "a\n(b)", "a;\n(b)"),
    "javascript: a return alone": ("javascript", "function f() { return\na }", "function f() { return a }"),
    "javascript: a text that is no directive": ("javascript", "('use strict');", "'use strict';"),
    "javascript: names with a mark": ("javascript", "x = {'a-b': 1};", "x = {'a_b': 1};"),
    "typescript: a type of functions": ("typescript", "let a: (() => b)[];", "let a: () => b[];"),
    "typescript: a cast": ("typescript", "x = (await a) as B;", "x = await (a as B);"),
    "typescript: a type": ("typescript", "f((a): A => a);", "f(a => a);"),
    "rust: one is no tuple": ("rust", "fn f() { g((a,)); }", "fn f() { g((a)); }"),
    "lua: long brackets": ("lua", "x = [[a]]", "x = 'b'"),
    "ruby: quotes that read escapes": ("ruby", "x = 'a\\n'", 'x = "a\\n"'),
    "ruby: a text that is put in": ("ruby", "x = '#{a}'", 'x = "#{a}"'),
    "ruby: a symbol": ("ruby", "x = :'a'", "x = 'a'"),
    "php: quotes that read escapes": ("php", "<?php f('\\n');", '<?php f("\\n");'),
    "php: quotes that read names": ("php", "<?php f('$a');", '<?php f("$a");'),
}


@pytest.mark.parametrize(("language", "one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_means_something_else_stays_apart(language: str, one: str, other: str) -> None:
    assert parse(language, one).facts.source != parse(language, other).facts.source


def test_a_namespace_is_handed_on_by_any_name() -> None:
    assert parse("javascript", 'export * as default from "x";').facts.exports == ("default",)
