"""Code deeper or longer than a person writes: never a failure, never a wrong edge."""

from collections.abc import Callable

import pytest

from codesum_pipeline.graph.resolvers.resolver import MAX_ANCESTORS, MAX_DEPTH
from codesum_pipeline_tests.graph.sources import Calls, calls_of, graph_of

Sources = dict[str, str]


def derived(length: int) -> Sources:
    """A class, `length` classes each derived from the one before, and a call of what the first brings."""
    classes = [f"class C{n}(C{n - 1}): pass\n" for n in range(1, length + 1)]
    return {"a.py": "class C0:\n    def go(self): pass\n" + "".join(classes) + f"def f():\n    C{length}().go()\n"}


def passed_on(length: int, statement: str = "from m{} import target\n") -> Sources:
    """A function that `length` modules import, each from the one before, and a call through the last."""
    sources = {f"m{n}.py": statement.format(n - 1) for n in range(1, length + 1)}
    return sources | {
        "m0.py": "def target(): pass\n",
        "x.py": f"from m{length} import target\ndef f():\n    target()\n",
    }


def starred(length: int) -> Sources:
    return passed_on(length, "from m{} import *\n")


def renamed(length: int) -> Sources:
    names = [f"x{n} = x{n - 1}\n" for n in range(1, length + 1)]
    return {"a.py": "def x0(): pass\n" + "".join(names) + f"def f():\n    x{length}()\n"}


@pytest.mark.parametrize(
    ("sources", "edge", "within"),
    [
        pytest.param(derived, ("a.py::f", "a.py::C0::go"), MAX_ANCESTORS - 1, id="bases"),
        pytest.param(passed_on, ("x.py::f", "m0.py::target"), MAX_DEPTH - 3, id="re-exports"),
        pytest.param(starred, ("x.py::f", "m0.py::target"), MAX_DEPTH - 3, id="star imports"),
        pytest.param(renamed, ("a.py::f", "a.py::x0"), MAX_DEPTH // 2 - 2, id="names"),
    ],
)
def test_a_chain_is_followed_up_to_a_bound_and_unknown_beyond_it(
    sources: Callable[[int], Sources], edge: tuple[str, str], within: int
) -> None:
    assert edge in calls_of(sources(within))
    assert edge not in calls_of(sources(within + 10))
    assert edge not in calls_of(sources(1_500))


def test_what_a_class_beyond_the_bound_binds_itself_is_still_found() -> None:
    sources = {
        "a.py": derived(1_000)["a.py"].replace("class C1000(C999): pass", "class C1000(C999):\n def go(self): 1")
    }

    assert ("a.py::f", "a.py::C1000::go") in calls_of(sources)


def test_a_result_that_rests_on_a_thousand_others_is_unknown() -> None:
    functions = "".join(f"def r{n}(): return r{n + 1}()\n" for n in range(1_000))
    source = "class T:\n    def go(self): pass\n" + functions + "def r1000(): return T()\ndef f(): r0().go()\n"
    called: Calls = {(f"a.py::r{n}", f"a.py::r{n + 1}") for n in range(1_000)}

    assert set(calls_of({"a.py": source})) == called | {("a.py::f", "a.py::r0"), ("a.py::r1000", "a.py::T")}


def test_a_deep_folder_is_one_module_per_level() -> None:
    path = "/".join(["d"] * 2_000) + "/a.py"

    contexts = graph_of({path: "import os\ndef f(): os.getcwd()\n"}).contexts

    assert len(contexts) == 2_000 + 1 + 2
