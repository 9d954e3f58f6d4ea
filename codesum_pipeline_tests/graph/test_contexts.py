"""Which neighbours a document's context samples, and what it depends on."""

from codesum_pipeline.foundation.data_model.edge import Context
from codesum_pipeline.foundation.data_model.hashing import graph_hash
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline_tests.graph.sources import Graph, graph_of

SOURCES = {
    "pkg/__init__.py": "",
    "pkg/core.py": "import os\n\nclass Base:\n    def run(self): os.getcwd()\n\ndef target(): pass\n",
    "pkg/near.py": (
        "from pkg.core import target, Base\n\n"
        "class Near(Base):\n    def go(self):\n        target()\n        self.run()\n"
    ),
    "app/__init__.py": "",
    "app/far.py": (
        "import requests\nfrom pkg.core import target\n"
        "def far():\n    target()\n    target()\n    requests.get(len(''))\n"
    ),
    "app/also.py": "from pkg.core import target\ndef also(): target()\n",
    "tests/test_core.py": "from pkg.core import target\ndef test():\n    target()\n    target()\n    target()\n",
    "README.md": "# Project\n",
}


def context_of(document_id: str, *, callers: int = 5) -> Context:
    graph = graph_of(SOURCES, settings=ContextSettings(top_k_callers=callers))
    return by_id(graph)[document_id]


def by_id(graph: Graph) -> dict[str, Context]:
    return {context.id: context for context in graph.contexts}


def test_every_document_of_every_level_has_one_context() -> None:
    ids = [context.id for context in graph_of(SOURCES).contexts]

    assert ids == sorted(set(ids))
    assert {
        ".",
        "pkg",
        "app",
        "tests",
        "README.md",
        "pkg/core.py",
        "pkg/core.py::Base",
        "pkg/core.py::Base::run",
    } <= set(ids)


def test_the_same_module_comes_first_then_code_outside_tests_then_the_number_of_calls_then_the_id() -> None:
    order = ["pkg/near.py::Near::go", "app/far.py::far", "app/also.py::also", "tests/test_core.py::test"]

    for limit in range(5):
        assert context_of("pkg/core.py::target", callers=limit).called_by == tuple(sorted(order[:limit]))


def test_the_hash_covers_exactly_the_sample() -> None:
    for context in graph_of(SOURCES).contexts:
        assert context.graph_hash == graph_hash(context.called_by, context.calls)


def test_a_function_depends_on_all_it_calls_but_builtins() -> None:
    assert context_of("app/far.py::far").dependencies == ("pkg/core.py::target", "requests.get")


def test_a_class_is_used_by_those_who_call_it_or_its_methods_or_derive_from_it() -> None:
    assert context_of("pkg/core.py::Base").called_by == ("pkg/near.py::Near", "pkg/near.py::Near::go")


def test_a_class_uses_what_its_methods_call_outside_it_and_its_bases() -> None:
    context = context_of("pkg/near.py::Near")

    assert context.calls == ("pkg/core.py::Base", "pkg/core.py::Base::run", "pkg/core.py::target")
    assert context.dependencies == ("pkg/core.py::Base",)


def test_a_file_is_joined_to_files_by_imports() -> None:
    context = context_of("pkg/core.py")

    assert context.called_by == ("app/also.py", "app/far.py", "pkg/near.py", "tests/test_core.py")
    assert context.dependencies == ("os",)
    assert context_of("app/far.py").dependencies == ("pkg/core.py", "requests")


def test_a_module_is_joined_to_other_modules_by_its_files_imports() -> None:
    assert context_of("pkg") == Context(
        id="pkg",
        called_by=("app", "tests"),
        calls=(),
        graph_hash=graph_hash(("app", "tests"), ()),
        dependencies=("os",),
    )
    assert context_of("app").dependencies == ("pkg", "requests")


def test_modules_end_at_the_root_of_the_index() -> None:
    sources = {"back/app/a.py": "def f(): pass\n", "back/README.md": "x"}

    ids = {context.id for context in graph_of(sources, root="back").contexts}

    assert ids == {"back", "back/app", "back/app/a.py", "back/app/a.py::f", "back/README.md"}


def test_recursion_is_no_neighbour() -> None:
    context = by_id(graph_of({"a.py": "def f(): f()\n"}))["a.py::f"]

    assert (context.called_by, context.calls, context.dependencies) == ((), (), ())
