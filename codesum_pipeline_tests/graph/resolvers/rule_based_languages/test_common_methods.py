"""Of an unknown object, a method's name tells the class only if the language's library has no such method."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from codesum_pipeline.graph.resolvers.python.python_resolver import TELLING
from codesum_pipeline.languages.declarations.language_registry import rules_of_families
from codesum_pipeline.languages.declarations.projects import Projects
from codesum_pipeline_tests.graph.sources import calls_of

Template = dict[str, str]

# By family: a repository with one method `NAME`, called on an object of which nothing is known; the two ends of the
# call; and a name of the library beside one of the repository's own.
CASES: dict[str, tuple[Template, str, str, str, str]] = {
    "c and c++": (
        {
            "box.h": "class Box {\n public:\n  void NAME(int x) {}\n};\n",
            "a.cpp": '#include "box.h"\ntemplate <class T> void run(T x) { x.NAME(1); }\n',
        },
        "a.cpp::run", "box.h::Box::NAME", "push_back", "fold_edges",
    ),
    "c#": (
        {"A.cs": "class Box { void NAME(int x) {} }\nclass User { void Run() { var x = Find(); x.NAME(1); } }\n"},
        "A.cs::User::Run", "A.cs::Box::NAME", "TryGetValue", "FoldEdges",
    ),
    "javascript and typescript": (
        {
            "box.ts": "export class Box { NAME(x) {} }\n",
            "a.ts": "import { Box } from './box';\nexport function run(x) { x.NAME(1); }\n",
        },
        "a.ts::run", "box.ts::Box::NAME", "addEventListener", "foldEdges",
    ),
    "elixir": (
        {
            "a.ex": (
                "defmodule Box do\n  def NAME(x), do: x\nend\n\n"
                "defmodule User do\n  def run(x), do: x.NAME(1)\nend\n"
            ),
        },
        "a.ex::User::run", "a.ex::Box::NAME", "get_and_update", "fold_edges",
    ),
    "go": (
        {"a.go": "package a\n\ntype Box struct{}\n\nfunc (b *Box) NAME() {}\n\nfunc run() { x := y(); x.NAME() }\n"},
        "a.go::run", "a.go::Box::NAME", "WriteString", "FoldEdges",
    ),
    "haskell": (
        {"a.hs": "module A where\n\nclass Box a where\n  NAME :: Int -> a\n\nrun x = M.NAME 1 x\n"},
        "a.hs::run", "a.hs::Box::NAME", "insertWith", "foldEdges",
    ),
    "java, kotlin and scala": (
        {"A.kt": "class Box { fun NAME(x: Int) {} }\n\nfun run(x: T) { val y = x.z(); y.NAME(1) }\n"},
        "A.kt::run", "A.kt::Box::NAME", "computeIfAbsent", "foldEdges",
    ),
    "lua": (
        {"a.lua": "local Box = {}\nfunction Box:NAME() end\nfunction run(x) x:NAME() end\nreturn Box\n"},
        "a.lua::run", "a.lua::Box::NAME", "is_closing", "fold_edges",
    ),
    "php": (
        {"a.php": "<?php\nclass Box { function NAME($x) {} }\nfunction run($x) { $x->NAME(1); }\n"},
        "a.php::run", "a.php::Box::NAME", "offsetGet", "foldEdges",
    ),
    "ruby": (
        {"a.rb": "class Box\n  def NAME(x)\n  end\nend\n\nclass User\n  def run(x)\n    x.NAME(1)\n  end\nend\n"},
        "a.rb::User::run", "a.rb::Box::NAME", "each_with_index", "fold_edges",
    ),
    "rust": (
        {"src/lib.rs": "struct Box2;\nimpl Box2 { fn NAME(&self, x: u8) {} }\nfn run() { let x = y(); x.NAME(1); }\n"},
        "src/lib.rs::run", "src/lib.rs::Box2::NAME", "unwrap_or_else", "fold_edges",
    ),
    "swift": (
        {"a.swift": "class Box { func NAME(_ x: Int) {} }\nfunc run() { let x = y(); x.NAME(1) }\n"},
        "a.swift::run", "a.swift::Box::NAME", "removeFirst", "foldEdges",
    ),
    "zig": (
        {"a.zig": "const Box = struct {\n    fn NAME() void {}\n};\nfn run(x: anytype) void {\n    x.NAME();\n}\n"},
        "a.zig::run", "a.zig::Box::NAME", "appendSlice", "foldEdges",
    ),
}  # fmt: skip


def _named(name: str) -> Callable[[str], str]:
    return lambda text: text.replace("NAME", name)


@pytest.mark.parametrize(("sources", "caller", "callee", "common", "rare"), CASES.values(), ids=CASES)
def test_only_a_name_that_the_library_does_not_have_tells_the_class(
    sources: Template, caller: str, callee: str, common: str, rare: str
) -> None:
    def edges(name: str) -> dict[tuple[str, str], str]:
        return calls_of({path: _named(name)(text) for path, text in sources.items()})

    assert edges(rare) == {(caller, _named(rare)(callee)): "ast:unique-name"}
    assert edges(common) == {}


@pytest.mark.parametrize("name", ["push", "map", "unwrap", "clone", "len", "append", "then", "each", "transform"])
def test_a_name_of_one_word_tells_nothing(name: str) -> None:
    sources = {"a.rs": f"struct S;\nimpl S {{ fn {name}(&self) {{}} }}\nfn run() {{ let x = y(); x.{name}(); }}\n"}

    assert calls_of(sources) == {}


def test_every_family_with_methods_names_those_of_its_library_and_only_such_as_could_tell() -> None:
    telling_names = {rules.languages: rules(Projects([], {}.get)).telling for rules in rules_of_families()}
    telling_names[frozenset(["python"])] = TELLING

    assert [sorted(languages) for languages, names in telling_names.items() if not names.common] == [["bash"]]
    for names in telling_names.values():
        uncommon = replace(names, common=frozenset())
        assert [name for name in sorted(names.common) if name not in uncommon] == []
