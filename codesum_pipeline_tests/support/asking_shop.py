"""A shop with a README, rules for agents and a roadmap, one of whose plans the code seems to have done already."""

from codesum_pipeline_tests.support.shop_home import FILES as CODE

ROADMAP = """# Roadmap

## Shipped

- v1: orders and payment by card.

## Deferred

- v2: refunds. `shop/refunds.py` is a sketch; nothing calls it.
"""
FILES = {
    **CODE,
    "AGENTS.md": "# Rules\n\nRun the tests before you commit.\n",
    "shop_roadmap.md": ROADMAP,
    "CONTEXT.md": "# Context\n\nThe shop sells by card alone.\n",
    "shop/refunds.py": 'def refund(order):\n    """Give the money of an order back."""\n    return order.total\n',
}
ENDINGS = {
    "overview": "The shop takes orders (`shop/orders.py:8`) and charges cards (`shop/payment.py:4-9`).\n\n"
    "Refunds are deferred to v2 (`shop_roadmap.md:9`).",
}
