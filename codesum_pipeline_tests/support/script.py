"""The scripted edits: one commit each, in order, on the shop."""

from codesum_pipeline_tests.support.edits import Edit, append, back, delete, everywhere, put, rename, swap, together

CHECK = """def check_number(number: str) -> None:
    digits = [int(digit) for digit in number if digit.isdigit()]
    if sum(digits) % 10:
        raise ValueError("not a card number")
"""
TWICE = '''

def convert(amount: float, rate: float) -> float:
    """Convert at a rate that may be zero."""
    if not rate:
        return 0.0
    return round_cents(amount * rate)
'''
EDITS: list[tuple[str, Edit | None]] = [
    (
        "a comment",
        swap("shop/money.py", "    if rate <= 0:\n", "    # A rate is a price.\n    if rate <= 0:  # really\n"),
    ),
    ("a reformat", swap("shop/money.py", "cents = int(amount * 100 + 0.5)", "cents=int( amount*100+0.5 )")),
    (
        "a wrapped line",
        swap(
            "shop/cart.py",
            "self.lines.append((product, count))",
            "self.lines.append(\n            (\n                product, count)\n        )",
        ),
    ),
    (
        "blank lines and trailing spaces",
        swap("shop/catalogue.py", "        return found\n", "\n\n        return found   \n"),
    ),
    ("a docstring", swap("shop/cart.py", '"""Put a product into the cart."""', '"""Lay a product into the basket."""')),
    ("a body whose text stays the same", swap("shop/money.py", "amount*100+0.5", "amount*100+0.49")),
    (
        "a body whose text changes",
        swap(
            "shop/orders/delivery.py",
            "            self.stops.append(line)\n",
            "            if line is None:\n                raise LookupError(order)\n            self.stops.append(line)\n",
        ),
    ),
    (
        "a statement moved out of an if",
        swap(
            "shop/orders/order.py",
            "        if self.state:\n            return self.cart.total()\n        return 0.0",
            "        if self.state:\n            pass\n        return self.cart.total()",
        ),
    ),
    ("a renamed file", rename("shop/catalogue.py", "shop/inventory.py")),
    ("imports that follow it", swap("shop/cli.py", "from shop.catalogue import", "from shop.inventory import")),
    ("a renamed folder", rename("shop/payment", "shop/till")),
    (
        "a function moved to another file",
        together(swap("shop/till/card.py", CHECK, ""), append("shop/money.py", "\n\n" + CHECK)),
    ),
    ("a duplicate name added", append("shop/money.py", TWICE)),
    ("a duplicate name removed", swap("shop/money.py", TWICE, "")),
    (
        "a function deleted",
        swap(
            "shop/orders/delivery.py",
            "\n    def finish(self) -> int:\n        while self.stops:\n            self.stops.pop()\n        return len(self.stops)\n",
            "",
        ),
    ),
    ("a file deleted", delete("docs/notes.rst")),
    ("a folder deleted", delete("docs/guide.md")),
    (
        "a new caller",
        append(
            "shop/base.py",
            '\n\ndef save_all(records, store) -> None:\n    """Save many records."""\n    for record in records:\n        Named(record).save(store)\n',
        ),
    ),
    (
        "a call that goes away",
        swap("shop/base.py", "        Named(record).save(store)\n", "        store.put(record)\n"),
    ),
    ("a README edit of a later paragraph", append("shop/README.md", "\nSee also the orders.\n")),
    (
        "a README edit of its first paragraph",
        swap("shop/README.md", "Cart, orders and payment.", "Everything that a customer touches."),
    ),
    ("a README of a folder that had none", put("tests/README.md", "# Tests\n\nWhat must never break.\n")),
    ("a syntax error", swap("shop/money.py", "    if CURRENCY:\n", "    if CURRENCY(:\n")),
    ("its repair", swap("shop/money.py", "    if CURRENCY(:\n", "    if CURRENCY:\n")),
    ("a global", swap("shop/money.py", 'CURRENCY = "EUR"\n', 'CURRENCY = "EUR"\nCENTS = 100\n')),
    ("a changed value of a global", swap("shop/money.py", "CENTS = 100\n", "CENTS = 1_000\n")),
    (
        "an import",
        swap("shop/cart.py", "from shop.base import Record\n", "import decimal\n\nfrom shop.base import Record\n"),
    ),
    (
        "reordered imports",
        swap(
            "shop/cart.py",
            "import decimal\n\nfrom shop.base import Record\n",
            "from shop.base import Record\nimport decimal\n",
        ),
    ),
    ("a base class", swap("shop/orders/delivery.py", "class Delivery:", "class Delivery(object):")),
    ("a decorator", swap("shop/inventory.py", "    def price_in(", "    @staticmethod\n    def price_in(")),
    (
        "functions in another order",
        lambda files: {
            **files,
            "shop/money.py": files["shop/money.py"]
            .replace("\n\n" + CHECK, "")
            .replace("\n\ndef round_cents", "\n\n" + CHECK + "\n\ndef round_cents"),
        },
    ),
    (
        "a function that becomes trivial",
        swap(
            "shop/base.py",
            '        for part in self.identity.split("/"):\n            if part:\n                return part\n        return ""\n',
            '        return ""\n',
        ),
    ),
    ("a text file", swap("pyproject.toml", '"requests"', '"requests", "rich"')),
    ("a script in another language", swap("scripts/report", "the day's takings", "the week's takings")),
    (
        "a class that becomes a function",
        swap(
            "shop/orders/delivery.py",
            "class Delivery(object):\n",
            "def Delivery(identity):\n    if identity:\n        return identity\n\n\nclass Carrier:\n",
        ),
    ),
    (
        "and a class again",
        swap(
            "shop/orders/delivery.py",
            "def Delivery(identity):\n    if identity:\n        return identity\n\n\nclass Carrier:\n",
            "class Delivery(object):\n",
        ),
    ),
    ("a file that becomes a folder", rename("scripts/report", "scripts/report/daily")),
    ("and a file again", rename("scripts/report/daily", "scripts/report")),
    (
        "a broken spelling",
        append("shop/base.py", "\n\ndef broken(a, **extra: int):\n    if a:\n        return extra\n"),
    ),
    ("another that reads alike", swap("shop/base.py", "def broken(a, **extra: int)", "def broken(a, * *extra: int)")),
    ("a mass rename", everywhere(r"\bidentity\b", "reference")),
    ("a change of settings", lambda files: files),
    ("the settings as they were", lambda files: files),
    ("another branch", back),
    ("and back again", None),
    ("nothing at all", lambda files: files),
    ("everything at first again", back),
]

# Settings of the commits that change them; all others have none.
SETTINGS = {"a change of settings": {"filter": {"min_lines": 6}, "top_k_callers": 1}}
