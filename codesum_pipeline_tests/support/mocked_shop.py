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
