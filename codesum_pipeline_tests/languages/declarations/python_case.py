"""Python as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

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

CONDITIONS = """\
def decide(mode, size, ready):
    if size < 0:
        too_small()
    elif size > 9:
        too_large()
    else:
        fits()
    if not ready:
        return wait()
    always()
    chosen = one() if size == 1 else several()
    ready or give_up()
    match mode:
        case "read" | "write":
            use(mode)
        case _:
            refuse(mode)
    try:
        attempt()
    except (KeyError, socket.error) as error:
        recover(error)
"""

OPENING = """\
def apart():
    # Walk all of it once,
    # in order.

    begin()
    end()

def whole():
    # Walk all of it once, in order.
    begin()

def first():
    # Walk all of it once, in order.
    begin()
    end()

def task():
    # TODO: walk all of it once, in order.

    begin()
    end()

def code():
    # walk(all, once);

    begin()
    end()
"""

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
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "too_large": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "wait": "not ready",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "give_up": "not ready",
        "use": 'mode is "read" or "write"',
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "KeyError or socket.error is caught",
    },
    opening=OPENING,
)
