"""A shop before and after a change of every kind, and another repository that imports it."""

BEFORE = {
    "README.md": "# Shop\n",
    "shop/__init__.py": "",
    "shop/money.py": '''"""Money."""

RATE = 0.2


def round_cents(amount):
    """Round an amount to cents."""
    return round(amount, 2)


def with_tax(amount):
    """Add the tax to an amount."""
    return round_cents(amount * (1 + RATE))


def to_text(amount):
    """Write an amount with its currency."""
    text = f"{amount:.2f}"
    return text + " EUR"


def old_price(amount):
    """Give the price of before."""
    return amount
''',
    "shop/payments.py": '''"""Payments."""

from shop.money import old_price, with_tax


class Payment:
    """How somebody pays."""

    def charge(self, amount):
        """Take the money."""
        raise NotImplementedError


class CardPayment(Payment):
    """Pays by card."""

    def charge(self, amount):
        return with_tax(amount)


def settle(payment: Payment, amount):
    """Charge whatever payment is given."""
    return payment.charge(amount)


def compare(amount):
    """Compare with the old price."""
    return old_price(amount) - with_tax(amount)
''',
    "shop/web.py": '''"""The pages."""

from flask import Flask

from shop.payments import CardPayment, settle

app = Flask(__name__)


@app.route("/pay", methods=["POST"])
def pay():
    """Pay a basket."""
    return settle(CardPayment(), 10)
''',
    "tests/conftest.py": """import pytest

from shop.payments import CardPayment


@pytest.fixture
def card():
    return CardPayment()
""",
    "tests/test_payments.py": """from shop.payments import settle


def test_a_card_is_charged(card):
    assert settle(card, 1) == 1.2


def test_nothing_of_it():
    assert True
""",
    "tests/test_money.py": """from shop.money import round_cents


class TestRounding:
    def setup_method(self):
        self.rounded = round_cents(1.234)

    def test_it_has_two_places(self):
        assert self.rounded == 1.23
""",
}
_MONEY = (
    BEFORE["shop/money.py"]
    .replace("def round_cents(amount):", "def round_cents(amount, places=2):")
    .replace("round(amount, 2)", "round(amount, places)")
    .replace("def to_text(amount):", "def as_text(amount):")
)
AFTER = {
    **BEFORE,
    "README.md": "# The shop\n",
    "shop/money.py": _MONEY[: _MONEY.index("\n\ndef old_price")]
    + '\n\ndef add(one, other):\n    """Add two amounts."""\n    return one + other\n',
    "shop/payments.py": BEFORE["shop/payments.py"]
    .replace("# no", "")
    .replace('"""Payments."""', '"""Payments."""\n\n# By card.'),
}
USER = {
    "app.py": '''"""Uses the shop."""

from shop.money import round_cents


def total(prices):
    """Add up and round."""
    return round_cents(sum(prices))
''',
    "test_app.py": """from app import total


def test_a_total_is_rounded():
    assert total([1.111]) == 1.11
""",
}
