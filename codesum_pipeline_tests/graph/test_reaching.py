"""Which of a name's meanings holds at a call, and what is known of objects that are one of several."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of

CLASSES = """
class Base:
    def stop(self): pass

class Car(Base):
    def drive(self): pass

class Ship(Base):
    def sail(self): pass
    def drive(self): pass
"""


def methods_called(body: str) -> set[str]:
    """The methods of the classes that the function `f`, or what stands in it, calls; constructors left out."""
    edges = calls_of({"a.py": CLASSES + body})
    return {target.removeprefix("a.py::") for source, target in edges if "::f" in source and target.count("::") == 2}


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param(
            "def f():\n x = Car()\n x.drive()\n x = Ship()\n x.sail()\n",
            {"Car::drive", "Ship::sail"},
            id="the last binding before the call",
        ),
        pytest.param("def f(x):\n x = Car()\n x.drive()\n", {"Car::drive"}, id="a parameter that is bound anew"),
        pytest.param("def f(x):\n if x:\n  x = Car()\n x.drive()\n", set(), id="a binding that may be passed over"),
        pytest.param(
            "def f(y):\n x = Ship()\n if y:\n  x = Car()\n  x.drive()\n", {"Car::drive"}, id="within the arm of an if"
        ),
        pytest.param(
            "def f(y):\n x = Car()\n if y:\n  x = Ship()\n  return x\n x.drive()\n",
            {"Car::drive"},
            id="an arm that returns is not gone beyond",
        ),
        pytest.param(
            "def f(y):\n for y in y:\n  x = Car()\n  if y:\n   x = Ship()\n   if y: break\n   return\n x.drive()\n",
            set(),
            id="an arm that a break leaves",
        ),
        pytest.param(
            "def f(y):\n x = Car()\n try:\n  x = Ship()\n  y()\n except E:\n  x.drive()\n",
            set(),
            id="a handler follows any statement of its try",
        ),
        pytest.param(
            "def f(y):\n x = Car()\n while y:\n  x.drive()\n  x = Ship()\n", set(), id="a loop leads back to its start"
        ),
        pytest.param(
            "def f(y):\n while y:\n  x = Car()\n  x.drive()\n  x = Ship()\n",
            {"Car::drive"},
            id="bound anew in each round of a loop",
        ),
        pytest.param(
            "def f(y):\n while y:\n  x = Car()\n  for y in y:\n   x.drive()\n   x = Ship()\n",
            set(),
            id="bound anew in the outer loop alone",
        ),
        pytest.param(
            "def make():\n return Car()\ndef f():\n x = make\n x = x()\n x.drive()\n",
            {"Car::drive"},
            id="bound to what its own last value gives",
        ),
        pytest.param(
            "def f():\n x = Car()\n y = Ship()\n x, y = y, x\n x.sail()\n y.drive()\n",
            {"Ship::sail", "Car::drive"},
            id="two names exchanged",
        ),
        pytest.param(
            "def f():\n x = Car()\n def g(): x.drive()\n x = Ship()\n", set(), id="a function inside sees every binding"
        ),
        pytest.param(
            "def f():\n x = Ship()\n x = Car()\n return [x.drive() for _ in y]\n",
            {"Car::drive"},
            id="a comprehension is carried out where it stands",
        ),
        pytest.param(
            "def f(x: Car):\n x = x or other()\n x.drive()\n", {"Car::drive"}, id="a declaration before the unknown"
        ),
        pytest.param(
            "def f():\n global x\n x = Car()\n x = Ship()\n x.drive()\n", set(), id="others bind a global name, too"
        ),
    ],
)
def test_a_call_follows_the_bindings_that_reach_it(body: str, called: set[str]) -> None:
    assert methods_called(body) == called


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param("def f(x):\n if isinstance(x, Car):\n  x.drive()\n", {"Car::drive"}, id="in the body of the if"),
        pytest.param("def f(x):\n if isinstance(x, Car):\n  pass\n x.drive()\n", set(), id="not behind it"),
        pytest.param("def f(x):\n if isinstance(x, Car):\n  pass\n else:\n  x.drive()\n", set(), id="nor in its else"),
        pytest.param(
            "def f(x):\n if not isinstance(x, Car):\n  return\n x.drive()\n", {"Car::drive"}, id="behind a guard"
        ),
        pytest.param(
            "def f(x, y):\n if y:\n  if not isinstance(x, Car):\n   return\n x.drive()\n",
            set(),
            id="not behind a guard that may be passed over",
        ),
        pytest.param("def f(x):\n assert isinstance(x, Car)\n x.drive()\n", {"Car::drive"}, id="after an assertion"),
        pytest.param("def f(x):\n return isinstance(x, Car) and x.drive()\n", {"Car::drive"}, id="beside and"),
        pytest.param("def f(x):\n return not isinstance(x, Car) or x.drive()\n", {"Car::drive"}, id="beside or"),
        pytest.param("def f(x):\n return isinstance(x, Car) or x.drive()\n", set(), id="not where it is false"),
        pytest.param(
            "def f(x):\n return x.drive() if isinstance(x, Car) else x.drive()\n",
            {"Car::drive"},
            id="in a conditional expression",
        ),
        pytest.param(
            "def f(x):\n if isinstance(x, (Car, Ship)):\n  x.stop()\n", {"Base::stop"}, id="what several classes share"
        ),
        pytest.param("def f(x: Car):\n if isinstance(x, Base):\n  x.drive()\n", {"Car::drive"}, id="a wider class"),
        pytest.param(
            "def f(x: Base):\n if isinstance(x, Ship):\n  x.sail()\n", {"Ship::sail"}, id="a derived class says more"
        ),
        pytest.param(
            "from other import Mapping\ndef f(x: Car):\n if isinstance(x, Mapping):\n  x.drive()\n",
            {"Car::drive"},
            id="a class from outside says less",
        ),
        pytest.param(
            "def f(x):\n if isinstance(x, Ship):\n  x = Car()\n  x.drive()\n",
            {"Car::drive"},
            id="until it is bound anew",
        ),
        pytest.param(
            "x = None\ndef f():\n if isinstance(x, Car):\n  x.drive()\n", set(), id="of the function's own names alone"
        ),
    ],
)
def test_isinstance_tells_what_a_name_is_where_it_holds(body: str, called: set[str]) -> None:
    assert methods_called(body) == called


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param("def f(y):\n x = Car() if y else Ship()\n x.stop()\n", {"Base::stop"}, id="inherited by all"),
        pytest.param("def f(y):\n x = Car() if y else Ship()\n x.drive()\n", set(), id="each has its own"),
        pytest.param("def f(y):\n x = Car() if y else Ship()\n x.sail()\n", set(), id="one lacks it"),
        pytest.param("def f(y):\n x = Car() if y else y\n x.stop()\n", set(), id="one is unknown"),
        pytest.param("def f(x: Car | Ship):\n x.stop()\n", {"Base::stop"}, id="declared as one of two"),
    ],
)
def test_of_one_of_several_classes_is_known_what_they_share(body: str, called: set[str]) -> None:
    assert methods_called(body) == called


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param("def f():\n for x in [Car(), Car()]:\n  x.drive()\n", {"Car::drive"}, id="elements of a list"),
        pytest.param("def f():\n xs = [Car() for _ in y]\n xs[0].drive()\n", {"Car::drive"}, id="a comprehension's"),
        pytest.param("def f():\n xs = [Car for Car in y]\n xs[0].drive()\n", set(), id="not of what it draws itself"),
        pytest.param("def f(k):\n xs = {k: Car()}\n xs[k].drive()\n", {"Car::drive"}, id="values of a dictionary"),
        pytest.param(
            "def pair():\n return Car(), Ship()\ndef f():\n x, y = pair()\n x.drive()\n y.sail()\n",
            {"Car::drive", "Ship::sail"},
            id="parts of a tuple that is returned",
        ),
        pytest.param(
            "def pair(z):\n if z: return Car(), 1\n return Car(), None\ndef f():\n x, y = pair()\n x.drive()\n",
            {"Car::drive"},
            id="parts that all returns agree on",
        ),
        pytest.param("def f():\n xs = [Car(), Ship()]\n xs[0].drive()\n", set(), id="not of elements that differ"),
        pytest.param(
            "def all_():\n yield Car()\ndef f():\n for x in all_():\n  x.drive()\n", {"Car::drive"}, id="yielded"
        ),
        pytest.param(
            "def some():\n yield from [Car()]\ndef f():\n for x in some():\n  x.drive()\n",
            {"Car::drive"},
            id="yielded from another",
        ),
        pytest.param(
            "from contextlib import contextmanager\n@contextmanager\ndef opened():\n yield Car()\n"
            "def f():\n with opened() as x:\n  x.drive()\n",
            {"Car::drive"},
            id="what a context manager yields",
        ),
    ],
)
def test_what_is_written_into_a_container_is_found_in_it(body: str, called: set[str]) -> None:
    assert methods_called(body) == called


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param("x = cls()\n  return x", id="through a variable"),
        pytest.param("return cls.make_other()", id="through another method"),
        pytest.param("if cls: return None\n  return cls()", id="or nothing"),
    ],
)
def test_a_method_that_gives_a_new_object_of_its_class_gives_one_of_the_derived_class(returned: str) -> None:
    made = f" @classmethod\n def make(cls):\n  {returned}\n @classmethod\n def make_other(cls): return cls()\n"
    source = f"class A:\n{made} def run(self): pass\nclass B(A):\n def run(self): pass\ndef f():\n B.make().run()\n"

    assert ("a.py::f", "a.py::B::run") in calls_of({"a.py": source})


def test_an_object_that_a_method_finds_elsewhere_is_not_of_the_class_that_it_was_called_on() -> None:
    source = (
        "class A:\n def __init__(self): self.first = A()\n def root(self): return self.first\n def run(self): pass\n"
        "class B(A):\n def run(self): pass\ndef f():\n B().root().run()\n"
    )

    assert ("a.py::f", "a.py::A::run") in calls_of({"a.py": source})


def test_a_member_of_an_enumeration_is_its_object_whatever_gives_its_value() -> None:
    source = "from enum import Enum, auto\nclass E(Enum):\n A = auto()\n def m(self): pass\ndef f():\n E.A.m()\n"

    assert ("a.py::f", "a.py::E::m") in calls_of({"a.py": source})
