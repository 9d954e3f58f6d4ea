"""Python's names that are used without a call, and those that only look so."""

import pytest

from codesum_pipeline_tests.graph.sources import references_of

LIBRARY = """
LIMIT = 3
_level = 1

def helper(): pass
def get_db(): pass

class Store:
    def load(self): pass

class Trouble(Exception): pass
"""

USED = {
    "an argument": ("def run(rows):\n    map(helper, rows)", "helper"),
    "a keyword's value": ("def run(rows):\n    sorted(rows, key=helper)", "helper"),
    "a default of a parameter": ("def run(db=Depends(get_db)): pass", "get_db"),
    "a result": ("def run():\n    return helper", "helper"),
    "a value of a dictionary": ("def run():\n    return {'a': helper}", "helper"),
    "a key of a dictionary": ("def run():\n    return {Store: 1}", "Store"),
    "an element of a list": ("def run():\n    return [helper, 1]", "helper"),
    "what a variable is given": ("def run():\n    go = helper\n    go = 1", "helper"),
    "a part of a condition": ("def run(x):\n    return x is helper", "helper"),
    "what is unpacked": ("def run():\n    f(*LIMIT)", "LIMIT"),
    "an annotation of a parameter": ("def run(x: Store): pass", "Store"),
    "an annotation of a result": ("def run() -> Store: pass", "Store"),
    "an annotation of a variable": ("def run():\n    x: Store = 1", "Store"),
    "an argument of a type": ("def run(x: dict[str, list[Store]]): pass", "Store"),
    "one of two types": ("def run(x: int | Store): pass", "Store"),
    "a type written as a text": ("def run(x: 'Store'): pass", "Store"),
    "a type inside of a text": ("def run(x: 'list[Store]'): pass", "Store"),
    "a type written as a text with a note": ("def run(x: Annotated['Store', 'a']): pass", "Store"),
    "a class that is asked about": ("def run(x):\n    isinstance(x, Store)", "Store"),
    "an exception that is caught": ("def run():\n    try:\n        pass\n    except Trouble:\n        pass", "Trouble"),
    "one of several that are caught": (
        "def run():\n    try:\n        pass\n    except (OSError, Trouble) as error:\n        pass", "Trouble"
    ),
    "a pattern's class": ("def run(x):\n    match x:\n        case Store():\n            pass", "Store"),
    "a class whose method is called": ("def run():\n    Store.load(1)", "Store"),
    "a method of a class": ("def run():\n    map(Store.load, [])", "Store Store::load"),
    "a method of an object": ("def run(store: Store):\n    submit(store.load)", "Store Store::load"),
    "a method of what a call made": ("def run():\n    store = Store()\n    submit(store.load)", "Store::load"),
    "a constant": ("def run():\n    return LIMIT + 1", "LIMIT"),
    "a constant in a text's braces": ("def run():\n    return f'{LIMIT}'", "LIMIT"),
    "a constant in an expression in a text's braces": ("def run():\n    return f'{int(LIMIT) + 1:d}'", "LIMIT"),
    "a decorator's argument": ("@route(LIMIT)\ndef run(): pass", "LIMIT"),
    "a keyword of a class": ("class run(metaclass=Store): pass", "Store"),
    "in a comprehension": ("def run(xs):\n    return [helper for x in xs]", "helper"),
    "in a lambda": ("def run():\n    return lambda: helper", "helper"),
    "in a chain over lines": ("def run():\n    return (b\n        .helper)", "helper"),
    "a module's attribute": ("def run():\n    map(b.helper, [b.LIMIT])", "helper LIMIT"),
    "a module's attribute by its alias": ("def run():\n    map(bee.helper, [])", "helper"),
    "a name by its alias": ("def run():\n    map(assist, [])", "helper"),
}  # fmt: skip

UNUSED = {
    "what is called": "def run():\n    helper()",
    "a parameter of the name": "def run(helper):\n    map(helper, [])",
    "a variable of the name": "def run():\n    helper = 1\n    return helper",
    "a loop's variable of the name": "def run(xs):\n    for helper in xs:\n        f(helper)",
    "a comprehension's variable of the name": "def run(xs):\n    return [helper for helper in xs]",
    "a lambda's parameter of the name": "def run():\n    return lambda helper: helper",
    "a caught error of the name": "def run():\n    try: pass\n    except OSError as helper:\n        f(helper)",
    "a captured name of a pattern": "def run(x):\n    match x:\n        case helper:\n            f(helper)",
    "a parameter's name with a default": "def run(helper=1): pass",
    "a keyword's name": "def run():\n    f(helper=1)",
    "a text": "def run():\n    return 'helper'",
    "a called name and a keyword in a text's braces": "def run():\n    return f'{helper()} {g(helper=1)} {x.helper}'",
    "a text that is a value of a type": "def run(x: Literal['Store', 'helper']) -> list[Literal['Store']]: pass",
    "a note on a type": "def run(x: Annotated[int, 'the Store to load']): pass",
    "a comment": "def run():\n    pass  # helper",
    "an attribute of another object": "def run(x):\n    return x.helper",
    "an attribute of what a call gives": "def run(x):\n    return f(x).helper",
    "an attribute of a module from outside": "import os\ndef run():\n    return os.helper",
    "a name of the class around": "class run:\n    helper = 1\n    def go(self):\n        return self.helper",
    "an import in the function from outside": "def run():\n    from os import helper\n    return helper",
    "an import alone": "def run():\n    from b import helper",
    "a global statement": "def run():\n    global helper",
    "a lower-case variable of a module": "def run():\n    return _level",
}


@pytest.mark.parametrize(("code", "used"), USED.values(), ids=USED)
def test_what_is_used_has_its_user(code: str, used: str) -> None:
    imports = "from b import *\nimport b\nimport b as bee\nfrom b import helper as assist\n"

    found = references_of({"a.py": imports + code, "b.py": LIBRARY})

    assert found == {("a.py::run", f"b.py::{name}") for name in used.split()}


@pytest.mark.parametrize("code", UNUSED.values(), ids=UNUSED)
def test_what_only_looks_so_has_none(code: str) -> None:
    imports = "from b import LIMIT, Store, Trouble, get_db, helper, _level\n"

    assert references_of({"a.py": imports + code, "b.py": LIBRARY}) == set()


def test_methods_that_an_object_hands_over_are_used_by_the_method_around() -> None:
    source = """
class Base:
    def inherited(self): pass
    @property
    def size(self): pass

class Worker(Base):
    count = 1
    def __init__(self):
        self.own = 1
    def run(self):
        submit(self.step, self.inherited, self.own, self.count, self.size, self.unknown)
    def step(self): pass
"""

    assert references_of({"a.py": source}) == {
        ("a.py::Worker::run", "a.py::Worker::step"),
        ("a.py::Worker::run", "a.py::Base::inherited"),
        ("a.py::Worker::run", "a.py::Base::size"),
    }


def test_a_base_a_decorator_and_what_is_around_are_no_further_uses() -> None:
    source = """
def wrap(function): return function

class Base: pass

class Derived(Base):
    LIMIT = 1
    @wrap
    def go(self) -> "Derived":
        return Derived.LIMIT
"""

    assert references_of({"a.py": source}) == set()


def test_a_constant_is_used_by_those_that_name_it_through_other_files() -> None:
    sources = {
        "settings.py": "LIMIT = 1\nTIMEOUT = LIMIT * 2\n",
        "__init__.py": "from .settings import LIMIT as MOST\n",
        "a.py": "from . import MOST\ndef run():\n    return MOST\n",
        "b.py": "from .settings import *\ndef run():\n    return TIMEOUT\n",
    }

    assert references_of(sources) == {
        ("settings.py", "settings.py::LIMIT"),
        ("a.py::run", "settings.py::LIMIT"),
        ("b.py::run", "settings.py::TIMEOUT"),
    }


def test_a_table_of_handlers_is_a_use_by_its_file() -> None:
    source = "def first(): pass\ndef second(): pass\nHANDLERS = {'a': first, 'b': [second]}\n"

    assert references_of({"a.py": source}) == {("a.py", "a.py::first"), ("a.py", "a.py::second")}
