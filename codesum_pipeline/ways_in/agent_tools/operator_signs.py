"""The signs in code that run Python's operators: `with` runs `__enter__`, `!=` runs `__ne__`.

Operators whose signs are everywhere, as an index, a call, or what a loop runs over, have none here.
"""

import re

_SIGNS = {
    "repr str format": r"\b(?:str|repr|print|format|ascii|format_map)\(|%[rs]|\bf['\"]|\bmatch=|[rR]egex\(|\blog\w*\.",
    "eq": r"==|\bin\b|[eE]qual|_with\(|\.(?:index|remove|count)\(",
    "ne": r"!=|[nN]otEqual",
    "lt le gt ge": r"[<>]|\b(?:sorted|min|max|sort|bisect\w*|heap\w*)\(|[lL]ess|[gG]reater",
    "contains": r"\bin\b|In\(",
    "enter exit aenter aexit": r"\bwith\b|\benter(?:_context|_async_context|Context)\(",
    "setitem": r"\]\s{0,4}[-+*/|&]?=(?!=)|\.(?:update|setdefault)\(",
    "delitem": r"\bdel\b|\.(?:pop|popitem|clear)\(",
    "reversed": r"\breversed\b",
    "copy deepcopy getstate setstate reduce reduce_ex getnewargs": r"copy|pickle|\b(?:dumps?|loads?)\b",
    "add radd iadd": r"\+|\bsum\(",
}
_BY_NAME = {f"__{name}__": re.compile(sign) for names, sign in _SIGNS.items() for name in names.split()}


def sign_of_operator(name: str) -> re.Pattern[str] | None:
    """What finds the sign that runs a special method; None for a method without one."""
    return _BY_NAME.get(name)
