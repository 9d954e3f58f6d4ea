"""A small repository: two packages, a class, callers across modules, a text file."""

BASKET = '''"""Baskets and what is in them."""


class Basket:
    """What a customer is about to buy."""

    def __init__(self, owner):
        self.owner = owner
        self.lines = []

    def add(self, article, count):
        """Put articles into the basket."""
        if count < 1:
            raise ValueError(count)
        self.lines.append((article, count))

    def total(self, prices):
        """What everything costs."""
        amount = 0
        for article, count in self.lines:
            amount += prices[article] * count
        return amount
'''

TAX = '''"""Taxes."""

RATE = 19


def add_tax(amount, rate=RATE):
    """The amount with tax."""
    if rate < 0:
        raise ValueError(rate)
    return amount * (100 + rate) // 100


def round_up(amount):
    """Up to the next ten."""
    while amount % 10:
        amount += 1
    return amount
'''

PAY = '''"""Paying."""

from till.basket import Basket
from till.tax import add_tax, round_up


def pay(basket: Basket, prices, terminal):
    """Have a basket paid."""
    amount = round_up(add_tax(basket.total(prices)))
    if not terminal.charge(basket.owner, amount):
        raise RuntimeError("not paid")
    return amount
'''

README = """# Till

Takes money for baskets. See the folder `till` for how.
"""

TILL = {
    "README.md": README,
    "till/__init__.py": "",
    "till/basket.py": BASKET,
    "till/tax.py": TAX,
    "shop/pay.py": PAY,
}

# Documents that a model writes: all but the empty file; of them functions.
BY_MODEL = 14
FUNCTIONS = 6
