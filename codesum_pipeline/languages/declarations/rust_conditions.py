"""Conditions of Rust, `#[cfg(all(unix, not(feature = "std")))]`: whether two definitions can be in one program."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

# `feature = "std"` is one name of what is true or false.
_TOKEN = re.compile(r'[\w.]+\s*=\s*"[^"]*"|[\w.]+|[(),]')
_ALL, _ANY, _NOT = "all", "any", "not"
# Of more names there are too many values to try.
_MOST_NAMES = 8
_MOST_TOKENS = 200
# An operator and what it is applied to, or a name alone.
_Condition = tuple[str, tuple["_Condition", ...]]


def can_both_hold(first: str, second: str) -> bool:
    """Whether two conditions can be true at once, as far as that can be told; each is a list with commas."""
    tokens = _TOKEN.findall(f"all(all({first}),all({second}))")
    if len(tokens) > _MOST_TOKENS:
        return True
    condition = _read(iter(tokens))
    names = sorted(set(_names(condition)))
    if len(names) > _MOST_NAMES:
        return True
    return any(
        _holds(condition, dict(zip(names, values, strict=True)))
        for values in product((True, False), repeat=len(names))
    )  # fmt: skip


def _read(tokens: Iterator[str]) -> _Condition:
    """A condition of these tokens; what is no whole one ends where they end."""
    open_: list[tuple[str, list[_Condition]]] = [(_ALL, [])]
    name = ""
    for token in (*tokens, ","):
        if token == "(":
            open_.append((name, []))
            name = ""
            continue
        if token not in (",", ")"):
            name = re.sub(r"\s", "", token)
            continue
        if name:
            open_[-1][1].append((name, ()))
            name = ""
        if token == ")" and len(open_) > 1:
            operator, inner = open_.pop()
            open_[-1][1].append((operator, tuple(inner)))
    return _ALL, tuple(open_[0][1])


def _names(condition: _Condition) -> Iterator[str]:
    name, inner = condition
    if name not in (_ALL, _ANY, _NOT):
        yield name
    for one in inner:
        yield from _names(one)


def _holds(condition: _Condition, values: Mapping[str, bool]) -> bool:
    name, inner = condition
    if name in values:
        return values[name]
    held = [_holds(one, values) for one in inner]
    return not all(held) if name == _NOT else any(held) if name == _ANY else all(held)
