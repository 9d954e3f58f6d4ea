"""What the formatters of many languages change, and no program's meaning depends on.

Only what holds in a whole language is here: a comma before the bracket that
closes a list, which of two quotes stand around a text, how a number is spelled.
"""

import re

from tree_sitter import Node

_QUOTED = re.compile(r"""(['"])(.*)\1""", re.DOTALL)
_PLAIN = re.compile(r"""(['"])([^\\'"$#{]*)\1""", re.DOTALL)
_UNIT = re.compile(r"""\\.|["']""", re.DOTALL)
_DECIMAL = re.compile(r"(\d*)(?:\.(\d*))?(?:e([+-]?)(\d+))?")


def is_longer_than_one(node: Node) -> bool:
    """A comma at the end of it says nothing, but after one alone it makes a tuple."""
    return sum(child.type == "," for child in node.children) > 1


def spell_quoted(node: Node, written: str, parent: str, field: str | None) -> str:
    """A text in double quotes, where both kinds of quotes mean the same; those in it escaped where that is needed."""
    match = _QUOTED.fullmatch(written)
    if match is None:
        return written
    body = match[2]
    if parent == "jsx_attribute":
        return written if '"' in body else f'"{body}"'
    return f'"{_UNIT.sub(_unit, body)}"' if "\\" in body or '"' in body else f'"{body}"'


def spell_plain(node: Node, written: str, parent: str, field: str | None) -> str:
    """A text in double quotes, where it holds nothing that either kind of quotes reads in a way of its own."""
    match = _PLAIN.fullmatch(written)
    return f'"{match[2]}"' if match else written


def _unit(match: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match.group(), match.group())


def spell_number(node: Node, written: str, parent: str, field: str | None) -> str:
    """A number in lower case, without marks between its digits and zeros that say nothing."""
    text = written.lower().replace("_", "")
    match = _DECIMAL.fullmatch(text)
    if match is None or (text[:1] == "0" and text[1:2].isdecimal()):
        return text
    whole, part, sign, power = match.groups()
    part = (part or "").rstrip("0")
    shown = (whole or "0") + (f".{part}" if part else "")
    return shown if power is None else f"{shown}e{sign.replace('+', '')}{power}"
