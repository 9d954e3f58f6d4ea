"""Which tests run a function that is chosen by a text, run by a sign, or made where a class is: by small examples."""

import pytest

from codesum_pipeline.answers.agent_tools.mentioned_names import SIGNS_BY_NAME
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline_tests.support.reaching import reach_in

FILES = {
    "app/__init__.py": "",
    "app/price.py": """class Price:
    def __init__(self, cents):
        self.cents = cents

    def __ne__(self, other):
        return True

    def __getitem__(self, place):
        return self.cents


class Basket:
    def fill(self):
        return 1


def made(amount):
    class Made:
        def total(self):
            return amount

    return Made()


def limit():
    return 3


def guard(view):
    return view


main_basket = Basket()
fill = main_basket.fill


def refill():
    return fill()


def paid(amount):
    return amount


def owed(amount):
    return amount


def billed(amount):
    return amount


def short(amount):
    return amount


def shown(amount):
    return amount
""",
    "app/plugins.py": """PLUGINS = []


def plugin(kind):
    def keep(function):
        PLUGINS.append((kind, function))
        return function
    return keep


@plugin("red")
def paint_red(wall):
    return wall


@plugin("blue")
def paint_blue(wall):
    return wall


def paint_all(wall):
    return [function(wall) for _, function in PLUGINS]


def paint_now(wall):
    return paint_blue(wall)
""",
    "tests/test_plugins.py": """from app.plugins import paint_all, paint_now


def test_all():
    assert paint_all(1)


def test_now():
    assert paint_now(1)
""",
    "tests/test_price.py": """from app.price import Basket, Price, made, refill


def test_unequal():
    assert Price(1) != Price(2)


def test_index():
    assert Price(1)[0] == 1


def test_total():
    assert made(2).total() == 2


def test_refill():
    assert refill()


def test_basket():
    assert Basket()
""",
    "tests/test_limits.py": """from app.price import limit


class TestLimits:
    most = limit()

    def test_most(self):
        assert True


def test_beside():
    assert True
""",
    "tests/test_views.py": """import unittest

from outside import Client, Server, View

from app.price import billed, guard, owed, paid, short, shown

ADDRESS = "/shown"


class TestViews(unittest.TestCase):
    def setUp(self):
        self.server = Server()

        @self.server.route("/pay/<int:order>")
        def pay(order):
            return paid(order)

        @self.server.route("/owe")
        def owe():
            return owed(1)

        @self.server.route("/bill")
        def bill():
            return billed(1)

        @self.server.route("/ab")
        def ab():
            return short(1)

        @self.server.route("/shown")
        def show():
            return shown(1)

    def test_pay(self):
        assert Client(self.server).get("/pay/3")

    def test_owe(self):
        assert Client(self.server).get("/owe?today") or Client(self.server).get("/ab")

    def test_billed(self):
        assert Client(self.server).get("/" + "bi" + "ll")


class TestGuarded(unittest.TestCase):
    def setUp(self):
        class Guarded(View):
            decorators = [guard]

        self.view = Guarded

    def test_guarded(self):
        assert self.view
""",
}
VIEWS = {"test_pay", "test_owe", "test_billed"}


@pytest.fixture(scope="module")
def reach(tmp_path_factory: pytest.TempPathFactory) -> CodeReach:
    return reach_in(tmp_path_factory.mktemp("reach"), FILES)


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("plugins.py::paint_red", {"test_all"}),
        ("plugins.py::paint_blue", {"test_now"}),
        ("paid", {"test_pay"}),
        ("owed", {"test_owe"}),
        ("billed", VIEWS),
        ("short", VIEWS),
        ("shown", VIEWS),
        ("Price::__ne__", {"test_unequal"}),
        ("Price::__getitem__", {"test_unequal", "test_index"}),
        ("made::Made::total", {"test_total"}),
        ("limit", {"test_most", "test_beside"}),
        ("guard", {"test_guarded"}),
        ("Basket::fill", {"test_refill"}),
    ],
    ids=[
        "a function that a decorator keeps",
        "one that is called by its name",
        "a function that is registered under a text, up to a parameter of it",
        "a function that is registered under another text",
        "one whose text no test writes",
        "one whose text is too short",
        "one whose text the file of the tests writes outside of them",
        "an operator that has a sign",
        "an operator without one",
        "a method of a class in a function",
        "a function that the body of a class calls",
        "a value that a class keeps and nobody reads",
        "a method that a file keeps under a name",
    ],
)
def test_a_function_is_run_by(reach: CodeReach, name: str, tests: set[str]) -> None:
    number = reach.documents.number(f"app/{name}" if name.startswith("plugins") else f"app/price.py::{name}")
    assert number is not None
    found = reach.reached({number: 0})

    assert {reach.documents[one].id.rpartition("::")[2] for one in found if reach.is_test(one)} == tests


@pytest.mark.parametrize(
    ("name", "line", "is_run"),
    [
        ("__repr__", 'message = f"{price}"', True),
        ("__str__", "price.report(1)", False),
        ("__enter__", "with price:", True),
        ("__enter__", "without(price)", False),
        ("__setitem__", "prices[1] = 2", True),
        ("__setitem__", "prices[1] == 2", False),
        ("__delitem__", "del prices[1]", True),
        ("__lt__", "sorted(prices)", True),
    ],
)
def test_the_sign_of_an_operator_is_found(name: str, line: str, is_run: bool) -> None:
    sign = SIGNS_BY_NAME.get(name)
    assert sign is not None

    assert bool(sign.search(line)) is is_run
