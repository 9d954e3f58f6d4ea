"""Python as people write it."""

from codesum_pipeline_tests.symbols.languages.cases import LanguageCase

SOURCE = '''\
"""Accounts, and what moves between them."""

import json
from decimal import Decimal as Number

from . import base
from .log import *

LIMIT = 100
__all__ = ["Account", "rounded"]


class Account(base.Account, kind="current"):
    """A bank account."""

    currency: str = "EUR"
    _hooks = ()

    def __init__(self, name: str, *rest, total=0):
        self.name, self.total = name, total
        self.log = Log(name)

    @property
    def owner(self):
        """Whose it is."""
        return self._owner

    @owner.setter
    def owner(self, value):
        self._owner = value

    def deposit(self, amount: Number) -> bool:
        """Puts money in.

        Negative amounts are refused.
        """
        if amount < 0:
            raise ValueError(f"negative: {amount}")
        elif amount == 0:
            return False
        for hook in self._hooks:
            hook(self, -amount)
        while self.total > LIMIT:
            break
        self.total += amount  # in cents
        return True

    async def close(self):
        async with self.log as log:
            await log.write(json.dumps({"closed": self.name}))


def rounded(x):
    def half(y):
        return y / 2

    return int(half(x) ** 2 + 0.5)


@cached(size=10)
def find(name: str) -> Account | None:
    return next((one for one in ALL if one.name == name), None)
'''

CASE = LanguageCase(
    language="python",
    path="lib/account.py",
    source=SOURCE,
    reformatted=SOURCE.replace("        return True", "\n        return (True)")
    .replace('["Account", "rounded"]', "['Account',\n    'rounded',]")
    .replace("hook(self, -amount)", "hook(\n                self,\n                -amount,\n            )")
    .replace("\n\n\ndef rounded", "\n\n\n\n\ndef rounded"),
    commented=SOURCE.replace("  # in cents", "  # cents").replace(
        "    return int(half", "    # The nearest one.\n    return int(half"
    ),
    edit=("half(x) ** 2", "half(x) ** 3"),
    edited=frozenset({"rounded"}),
    rename=("def deposit", "def pay"),
    renamed={"Account::deposit": "Account::pay"},
    is_braced=False,
)
