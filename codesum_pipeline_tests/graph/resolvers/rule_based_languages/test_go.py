"""Names of Go: in its blocks, by the cases of a type, and in the language's own library."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of

TYPES = """\
package p

type Item struct{}

func (i *Item) run() {}

type Other struct{}

func (o *Other) run() {}

func item() *Item { return nil }

func other() *Other { return nil }

"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("if x := item(); x != nil { x.run() }\n\tif x := other(); x != nil { }", id="in each its own"),
        pytest.param("x := item()\n\tif a { x := other() }\n\tx.run()", id="a variable ends with its block"),
        pytest.param("call(func() { x := other() })\n\tx := item()\n\tx.run()", id="or its function"),
        pytest.param("switch x := p.(type) {\n\tcase *Item:\n\t\tx.run()\n\t}", id="in a case of one type"),
        pytest.param("x, ok := p.(*Item)\n\tx.run()", id="asserted"),
        pytest.param("var all []*Item\n\tfor _, x := range all { x.run() }", id="an element"),
    ],
)
def test_what_a_variable_is_follows_from_its_block(body):
    called = calls_of({"a.go": f"{TYPES}func f(p any) {{\n\t{body}\n}}\n"})

    assert {target for _, target in called if target.endswith("::run")} == {"a.go::Item::run"}


def test_in_a_case_of_several_types_a_variable_is_of_none():
    body = "switch x := x.(type) {\n\tcase *Item, *Other:\n\t\tx.run()\n\t}"

    assert calls_of({"a.go": f"{TYPES}func f(x *Item) {{\n\t{body}\n}}\n"}) == {}


def test_packages_of_the_languages_own_library_are_imported_without_its_name():
    sources = {
        "src/go.mod": "module std\n",
        "src/os/file.go": "package os\n\nfunc Open() {}\n",
        "src/unsafe/unsafe.go": "package unsafe\n\nfunc Sizeof() {}\n",
        "src/io/a.go": 'package io\n\nimport (\n\t"os"\n\t"unsafe"\n)\n\nfunc f() { os.Open(); unsafe.Sizeof() }\n',
    }

    assert calls_of(sources).keys() == {("src/io/a.go::f", "src/os/file.go::Open")}
