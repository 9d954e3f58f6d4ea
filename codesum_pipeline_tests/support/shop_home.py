"""A small repository, one of whose docstrings attacks the terminal."""

FILES = {
    "README.md": "# Shop\n\nTakes orders and charges cards.\n",
    "shop/__init__.py": '"""An online shop."""\n',
    "shop/orders.py": '''"""Orders, from basket to invoice."""

from shop.payment import charge_card

TAX_RATE = 0.19


class OrderBook:
    """Keeps the orders of one day."""

    def __init__(self):
        self.orders = []

    def place(self, basket, card):
        """Charge the card and remember the order."""
        total = total_price(basket)
        if total <= 0:
            raise ValueError("an order needs a price")
        charge_card(card, total)
        self.orders.append((basket, total))
        return total


def total_price(basket):
    """Add up the prices of a basket, with tax."""
    net = 0
    for item in basket:
        net += item.price
    return net * (1 + TAX_RATE)
''',
    "shop/payment.py": '''"""Payment by card."""


def charge_card(card, amount):
    """Ask the bank for money, [red]three times[/red] at most. \\x1b[31m\\u202e"""
    for attempt in range(3):
        if card.bank.withdraw(amount):
            return attempt
    raise ConnectionError("the bank does not answer")
'''.replace("\\x1b", "\x1b").replace("\\u202e", "\u202e"),
}
