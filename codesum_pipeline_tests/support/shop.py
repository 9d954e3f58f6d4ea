"""A small shop: the repository that the law is tested on.

Packages, classes with bases in other files, cross-file calls, re-exports,
READMEs and text files; 20 files.
"""

from collections.abc import Mapping

Files = Mapping[str, str]

SHOP: Files = {
    "README.md": "# Shop\n\nA small shop that sells things.\n\n## Use\n\nRun `shop serve`.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\ndependencies = ["requests"]\n',
    "docs/guide.md": "# Guide\n\nHow to add a product to the catalogue.\n",
    "docs/notes.rst": "Notes\n=====\n\nThings to remember when the till is counted.\n",
    "shop/__init__.py": '"""Everything the shop does."""\n\nfrom shop.cart import Cart\nfrom shop.orders.order import Order\n\n__all__ = ["Cart", "Order"]\n',
    "shop/README.md": "# The shop package\n\nCart, orders and payment.\n",
    "shop/money.py": '''"""Amounts of money."""

CURRENCY = "EUR"


def round_cents(amount: float) -> float:
    """Round an amount to whole cents."""
    cents = int(amount * 100 + 0.5)
    return cents / 100


def convert(amount: float, rate: float) -> float:
    if rate <= 0:
        raise ValueError("rate must be positive")
    return round_cents(amount * rate)


def format_amount(amount: float) -> str:
    text = f"{round_cents(amount):.2f}"
    if CURRENCY:
        text = text + " " + CURRENCY
    return text
''',
    "shop/base.py": '''"""What all records share."""


class Record:
    """A thing with an identity that can be saved."""

    table = "records"

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.saved = False

    def save(self, store) -> None:
        """Write the record to a store."""
        store.put(self.table, self.identity, self.as_row())
        self.saved = True

    def as_row(self) -> dict:
        return {"identity": self.identity}


class Named(Record):
    def label(self) -> str:
        for part in self.identity.split("/"):
            if part:
                return part
        return ""
''',
    "shop/cart.py": '''"""The cart of a customer."""

from shop.base import Record
from shop.money import format_amount, round_cents


class Cart(Record):
    """Holds what a customer wants to buy."""

    table = "carts"

    def __init__(self, identity: str) -> None:
        super().__init__(identity)
        self.lines = []

    def add(self, product, count: int = 1) -> None:
        """Put a product into the cart."""
        if count < 1:
            raise ValueError(count)
        self.lines.append((product, count))

    def total(self) -> float:
        amount = 0.0
        for product, count in self.lines:
            amount += product.price * count
        return round_cents(amount)

    def receipt(self) -> str:
        lines = [product.label() for product, _ in self.lines]
        lines.append(format_amount(self.total()))
        return "\\n".join(lines)
''',
    "shop/catalogue.py": '''from .base import Named
from .money import convert


class Product(Named):
    """Something that can be bought."""

    table = "products"

    def __init__(self, identity: str, price: float) -> None:
        super().__init__(identity)
        self.price = price

    def price_in(self, rate: float) -> float:
        return convert(self.price, rate)


class Catalogue:
    def __init__(self) -> None:
        self.products = {}

    def find(self, identity: str) -> Product:
        """Look a product up by its identity."""
        found = self.products.get(identity)
        if found is None:
            raise KeyError(identity)
        return found

    def register(self, product: Product) -> None:
        if product.identity in self.products:
            raise ValueError("twice")
        self.products[product.identity] = product
''',
    "shop/orders/__init__.py": "",
    "shop/orders/order.py": '''"""Orders, from cart to delivery."""

from ..base import Record
from ..cart import Cart
from ..money import format_amount
from .delivery import Delivery


class Order(Record):
    """A cart that was paid for."""

    table = "orders"

    class State:
        OPEN = "open"
        SENT = "sent"

        @staticmethod
        def is_final(state: str) -> bool:
            if state == "sent":
                return True
            return False

    def __init__(self, identity: str, cart: Cart) -> None:
        super().__init__(identity)
        self.cart = cart
        self.state = Order.State.OPEN

    @property
    def amount(self) -> float:
        if self.state:
            return self.cart.total()
        return 0.0

    @amount.setter
    def amount(self, value: float) -> None:
        if value != self.cart.total():
            raise ValueError(value)

    def send(self) -> Delivery:
        """Hand the order to a delivery."""
        delivery = Delivery(self.identity)
        delivery.plan(self)
        self.state = Order.State.SENT
        return delivery

    def describe(self) -> str:
        return self.identity + ": " + format_amount(self.amount)
''',
    "shop/orders/delivery.py": '''class Delivery:
    """Brings an order to its buyer."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.stops = []

    def plan(self, order) -> None:
        for line in order.cart.lines:
            self.stops.append(line)

    def finish(self) -> int:
        while self.stops:
            self.stops.pop()
        return len(self.stops)
''',
    "shop/orders/README.md": "# Orders\n\nWhat happens after payment.\n",
    "shop/payment/__init__.py": "from .card import pay_by_card as pay\n",
    "shop/payment/card.py": '''"""Payment by card."""

import requests

from shop.orders.order import Order

GATEWAY_URL = "https://example.org/pay"


def pay_by_card(order: Order, number: str) -> bool:
    """Charge a card for an order."""
    check_number(number)
    answer = requests.post(GATEWAY_URL, json={"amount": order.amount, "card": number})
    return answer.ok


def check_number(number: str) -> None:
    digits = [int(digit) for digit in number if digit.isdigit()]
    if sum(digits) % 10:
        raise ValueError("not a card number")
''',
    "shop/cli.py": '''"""The command line of the shop."""

import sys

import shop.payment as payment
from shop import Cart, Order
from shop.catalogue import Catalogue


def main(arguments=None):
    arguments = arguments or sys.argv[1:]
    cart = Cart("cart-1")
    catalogue = Catalogue()
    for name in arguments:
        cart.add(catalogue.find(name))
    order = Order("order-1", cart)
    if payment.pay(order, "0000"):
        print(order.describe())

    def farewell(name):
        if name:
            print("Bye", name)

    farewell("you")


if __name__ == "__main__":
    main()
''',
    "tests/test_money.py": """from shop.money import convert, round_cents


def test_rounding():
    assert round_cents(1.005) in (1.0, 1.01)


def test_converting():
    assert convert(2.0, 0.5) == 1.0
""",
    "tests/test_cart.py": """from shop.cart import Cart


class Thing:
    price = 2.5

    def label(self):
        return "thing"


def test_total():
    cart = Cart("x")
    cart.add(Thing(), 2)
    assert cart.total() == 5.0
""",
    "scripts/report": "#!/bin/sh\n# Prints the day's takings.\ncat takings.txt\n",
}
