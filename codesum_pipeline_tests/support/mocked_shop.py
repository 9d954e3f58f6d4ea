"""A shop whose tests replace things in every way that pytest, unittest and mock know."""

SHOP = {
    "shop/__init__.py": "from shop.money import round_cents\n",
    "shop/money.py": '''"""Money."""


def round_cents(amount):
    """Round an amount to cents."""
    return round(amount, 2)


def with_tax(amount):
    """Add the tax to an amount."""
    return round_cents(amount * 1.2)
''',
    "shop/clients.py": '''"""Clients of other services."""

from shop.money import round_cents


class Bank:
    """Talks to the bank."""

    def send(self, amount):
        """Send an amount."""
        return self.told(round_cents(amount))

    def told(self, amount):
        """What is told."""
        return str(amount)
''',
    "shop/orders.py": '''"""Orders."""

from shop import money
from shop.clients import Bank
from shop.money import with_tax

HOOKS = {"tax": with_tax}


def total(amount):
    """The total of an order."""
    return with_tax(amount)


def pay(amount):
    """Pay at the bank."""
    return Bank().send(amount)


def show(amount):
    """Show an amount."""
    return money.with_tax(amount)


def by_hook(amount):
    """By what is kept in a table."""
    return HOOKS["tax"](amount)


class Till:
    """Keeps a client."""

    def __init__(self):
        self.bank = Bank()

    def take(self, amount):
        """Take an amount."""
        return self.bank.send(amount)
''',
}
HEAD = """from unittest import TestCase, mock
from unittest.mock import patch

import pytest

import shop.orders
from shop import money, orders
from shop.clients import Bank
from shop.money import with_tax
from shop.orders import Till, by_hook, pay, show, total

ORDERS = "shop.orders."
"""
# Of each form a test that is kept away from `round_cents`.
KEPT_AWAY = {
    "decorator": """
        @mock.patch("shop.orders.with_tax")
        def test_it(with_tax):
            assert total(1)
    """,
    "with_block": """
        def test_it():
            with patch("shop.orders.with_tax"), patch("os.getcwd"):
                assert total(1)
    """,
    "patch_object_of_a_module": """
        def test_it():
            with patch.object(orders, "with_tax", autospec=True):
                assert total(1)
    """,
    "patch_object_of_a_module_by_its_whole_name": """
        @mock.patch.object(shop.orders, "with_tax")
        def test_it(with_tax):
            assert total(1)
    """,
    "patch_object_of_a_class": """
        @mock.patch.object(Bank, "send")
        def test_it(send):
            assert pay(1)
    """,
    "patch_of_a_method_by_path": """
        @mock.patch("shop.clients.Bank.send")
        def test_it(send):
            assert Till().take(1)
    """,
    "patch_of_a_class_where_it_is_used": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert pay(1)
    """,
    "patch_of_a_class_that_another_method_creates": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert Till().take(1)
    """,
    "patch_of_a_whole_module": """
        @mock.patch("shop.orders.money")
        def test_it(money):
            assert show(1)
    """,
    "patch_where_it_is_defined_and_looked_up": """
        @mock.patch("shop.money.with_tax")
        def test_it(with_tax):
            assert show(1)
    """,
    "patch_of_what_it_calls_there": """
        @mock.patch("shop.money.round_cents")
        def test_it(round_cents):
            assert total(1)
    """,
    "decorator_of_a_class": """
        @mock.patch("shop.orders.with_tax")
        class TestIt:
            def test_it(self, with_tax):
                assert total(1)
    """,
    "mocker": """
        def test_it(mocker):
            mocker.patch("shop.orders.with_tax", return_value=3)
            assert total(1)
    """,
    "mocker_object": """
        def test_it(mocker):
            mocker.patch.object(orders, "with_tax")
            assert total(1)
    """,
    "monkeypatch": """
        def test_it(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "monkeypatch_by_path": """
        def test_it(monkeypatch):
            monkeypatch.setattr("shop.orders.with_tax", lambda amount: 1)
            assert total(1)
    """,
    "monkeypatch_context": """
        def test_it(monkeypatch):
            with monkeypatch.context() as m:
                m.setattr(orders, "with_tax", lambda amount: 1)
                assert total(1)
    """,
    "built_in_setattr": """
        def test_it():
            setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "helper_with_a_block": """
        def run():
            with patch("shop.orders.with_tax"):
                return total(1)

        def test_it():
            assert run()
    """,
    "two_that_are_needed": """
        @patch("shop.orders.with_tax")
        @patch("shop.orders.Bank")
        def test_it(bank, with_tax):
            assert total(1) and pay(1)
    """,
    "two_modules_one_after_the_other": """
        def test_it(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            monkeypatch.setattr(money, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "another_thing_is_stopped_by_an_inner_function": """
        @patch("shop.orders.with_tax")
        def test_it(mocked, loop):
            def finish():
                loop.stop()
                loop.close()
            finish()
            assert total(1)
    """,
}  # fmt: skip
# What looks like it, and runs `round_cents` all the same.
REACHED = {
    "nothing_replaced": """
        def test_it():
            assert total(1)
    """,
    "another_way": """
        @mock.patch("shop.orders.with_tax")
        def test_it(with_tax):
            assert total(1) and pay(1)
    """,
    "called_before_the_block": """
        def test_it():
            assert total(1)
            with patch("shop.orders.with_tax"):
                assert total(1)
    """,
    "called_before_it_is_set": """
        def test_it(monkeypatch):
            assert total(1)
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "called_after_the_stop": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            patcher.stop()
            assert total(1)
    """,
    "another_of_a_list": """
        def test_it():
            patchers = [patch("shop.orders.Bank"), patch("shop.orders.with_tax")]
            patchers[0].start()
            assert total(1)
    """,
    "never_started": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            assert total(1)
    """,
    "wraps": """
        @mock.patch("shop.orders.with_tax", wraps=with_tax)
        def test_it(spied):
            assert total(1)
    """,
    "side_effect_of_the_original": """
        def test_it():
            with mock.patch.object(orders, "with_tax", autospec=True, side_effect=money.with_tax):
                assert total(1)
    """,
    "an_original_that_is_kept_and_called": """
        def test_it(monkeypatch):
            original = orders.with_tax
            monkeypatch.setattr(orders, "with_tax", lambda amount: original(amount) + 1)
            assert total(1)
    """,
    "spied": """
        def test_it(mocker):
            mocker.spy(orders, "with_tax")
            assert total(1)
    """,
    "replaced_where_nobody_looks_it_up": """
        @mock.patch("shop.money.with_tax")
        def test_it(mocked):
            assert total(1)
    """,
    "called_by_its_own_name": """
        @mock.patch("shop.money.with_tax")
        def test_it(mocked):
            assert with_tax(1)
    """,
    "kept_in_a_table": """
        @mock.patch("shop.orders.with_tax")
        def test_it(mocked):
            assert by_hook(1)
    """,
    "something_else_replaced": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert total(1)
    """,
    "only_if": """
        def test_it(monkeypatch, request):
            if request.param:
                monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "entries_of_a_dictionary": """
        @mock.patch.dict("shop.orders.HOOKS", {"other": 1})
        def test_it():
            assert total(1)
    """,
    "a_request_that_is_called_patch": """
        def test_it(client):
            client.patch("/shop/orders", 1)
            assert total(1)
    """,
    "a_block_of_a_fixture_that_is_over": """
        @pytest.fixture
        def no_tax():
            with patch("shop.orders.with_tax"):
                return 1

        def test_it(no_tax):
            assert total(1)
    """,
    "a_fixture_runs_before_the_decorator": """
        @pytest.fixture
        def paid():
            return total(1)

        @mock.patch("shop.orders.with_tax")
        def test_it(mocked, paid):
            assert paid
    """,
    "another_test_of_the_class": """
        class TestIt:
            @mock.patch("shop.orders.with_tax")
            def test_other(self, mocked):
                pass

            def test_it(self):
                assert total(1)
    """,
    "a_real_object_for_the_class": """
        @mock.patch("shop.orders.Bank", side_effect=lambda: Bank())
        def test_it(bank):
            assert pay(1)
    """,
    "a_real_object_that_is_returned": """
        BANK = Bank()

        @mock.patch("shop.orders.Bank", return_value=BANK)
        def test_it(bank):
            assert pay(1)
    """,
    "an_object_that_is_handed_over": """
        @mock.patch("shop.orders.Bank")
        def test_it(mocked):
            till = Till()
            till.bank = Bank()
            assert Bank().send(1)
    """,
    "no_python": """
        def test_it(mocker):
            mocker.patch("shop.orders.", 1)
            mocker.patch(1 + "x")
            mocker.patch(*[])
            mocker.patch.object(orders)
            assert total(1)
    """,
}  # fmt: skip
# What replaces it in a form that is not read, or may have ended: such a test is named, too.
NOT_READ = {
    "fixture": """
        @pytest.fixture
        def no_tax(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)

        def test_it(no_tax):
            assert total(1)
    """,
    "fixture_that_yields": """
        @pytest.fixture
        def no_tax():
            with patch("shop.orders.with_tax") as found:
                yield found

        def test_it(no_tax):
            assert total(1)
    """,
    "fixture_of_a_fixture": """
        @pytest.fixture
        def no_tax(mocker):
            return mocker.patch("shop.orders.with_tax")

        @pytest.fixture
        def calm(no_tax):
            return 1

        def test_it(calm):
            assert total(1)
    """,
    "automatic_fixture_of_a_class": """
        class TestIt:
            @pytest.fixture(autouse=True)
            def no_tax(self, mocker):
                mocker.patch("shop.orders.with_tax")

            def test_it(self):
                assert total(1)
    """,
    "decorator_with_a_prefix": """
        @patch(ORDERS + "with_tax", return_value=1)
        def test_it(with_tax):
            assert total(1)
    """,
    "decorator_with_a_formatted_prefix": """
        @patch(f"{ORDERS}with_tax", return_value=1)
        def test_it(with_tax):
            assert total(1)
    """,
    "patch_multiple": """
        @patch.multiple("shop.orders", with_tax=mock.DEFAULT, autospec=True)
        def test_it(**mocks):
            assert total(1)
    """,
    "started": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            assert total(1)
            patcher.stop()
    """,
    "set_up": """
        class TestIt(TestCase):
            def setUp(self):
                self.patcher = patch("shop.orders.with_tax")
                self.patcher.start()
                self.addCleanup(self.patcher.stop)

            def test_it(self):
                assert total(1)
    """,
    "set_up_of_a_base": """
        class Base(TestCase):
            def setUp(self):
                self.enterContext(patch("shop.orders.with_tax"))

        class TestIt(Base):
            def test_it(self):
                assert total(1)
    """,
    "stopped_when_all_is_over": """
        class TestIt(TestCase):
            def setUp(self):
                self.patcher = patch("shop.orders.with_tax")
                self.patcher.start()

            def tearDown(self):
                self.patcher.stop()
                patch.stopall()

            def test_it(self):
                assert total(1)
    """,
    "fixture_that_undoes_after_the_test": """
        @pytest.fixture
        def no_tax():
            patcher = patch("shop.orders.with_tax")
            yield patcher.start()
            patcher.stop()

        def test_it(no_tax):
            assert total(1)
    """,
    "assignment": """
        def test_it():
            orders.with_tax = lambda amount: 1
            assert total(1)
    """,
    "assignment_that_is_put_back": """
        def test_it():
            original = orders.with_tax
            orders.with_tax = lambda amount: 1
            try:
                assert total(1)
            finally:
                orders.with_tax = original
    """,
    "patchers_in_a_list": """
        class TestIt(TestCase):
            def setUp(self):
                patchers = [patch("shop.orders.Bank"), patch("shop.orders.with_tax")]
                self.with_tax = patchers[1].start()

            def test_it(self):
                assert total(1)
    """,
    "patchers_in_a_loop": """
        class TestIt(TestCase):
            def setUp(self):
                self.patchers = {"bank": patch("shop.orders.Bank"), "tax": patch("shop.orders.with_tax")}
                self.mocks = {name: each.start() for name, each in self.patchers.items()}

            def test_it(self):
                assert total(1)
    """,
    "patchers_in_a_loop_of_statements": """
        def test_it():
            for each in (found := 1, 2):
                pass
            patchers = (patch("shop.orders.with_tax"),)
            for each in patchers:
                each.start()
            assert total(1)
    """,
    "another_thing_is_stopped": """
        def test_it(server, no_tax):
            server.stop()
            assert total(1)

        @pytest.fixture
        def no_tax():
            patch("shop.orders.with_tax").start()
    """,
    "set_at_the_top": """
        orders.with_tax = lambda amount: 1

        def test_it():
            assert total(1)
    """,
    "a_stop_that_is_only_handed_over": """
        def test_it(request):
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            request.addfinalizer(lambda: patcher.stop())
            assert total(1)
    """,
}  # fmt: skip
