"""Texts that make a regular expression slow, made from the expression itself, and the time that it takes for them.

An expression with a linear cost takes twice as long for twice the text. One that tries many ways to read the same
characters, or reads on to the end from every place, takes four times as long or more.
"""

import re
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

from msgspec import Struct

from codesum_pipeline_tests.support.expressions import Expression

# One of each kind that classes of characters tell apart.
_PALETTE = "aA0_ \n\t.-/:([{`\"'*<>=#@,\\|$%!?+~&;^)]}é\0"
_PUMPED = 9
_VARIANTS = 5
# What is no noise for 4,000 characters; what no linear expression takes for 16,000 of them, and for 64,000.
_NOISE_S = 0.0007
_HOPELESS_S = 1.0
_HOPELESS_AT_LENGTH_S = 8.0
# Four times the text takes four times as long, and less than sixteen times.
LINEAR = 7


class Attack(Struct, frozen=True):
    """A text that is repeated, and what stands before and behind."""

    before: str
    pump: str
    after: str = ""

    def text(self, length: int) -> str:
        return f"{self.before}{self.pump * (length // len(self.pump))}{self.after}"


def attacks_on(pattern: str | bytes, flags: int, *, variants: int) -> list[Attack]:
    """Each repetition of the expression run long, each beginning of it over and over, and runs of one character.
    `variants` texts are tried for what may be one of several."""
    tree = parser.parse(pattern, flags)
    pumps = [*_PALETTE, *_beginnings(tree, variants)]
    found = [Attack("", pump) for pump in pumps]
    for before, repeated in _repetitions(tree, "", variants):
        for pump in repeated:
            found += [Attack(before, pump, after) for after in ("", "\0", "a")]
            found += [Attack("", f"{before}{pump}{mark}") for mark in ("", "\n")]
            found += [Attack("", pump, after) for after in ("\0", "a")]
            found += [Attack("\n", pump, "\0"), Attack(before, pump, "\n\0"), Attack("", f"{before}\n")]
    return list(dict.fromkeys(found))


def growth(expression: Expression, attack: Attack, length: int) -> float:
    """How many times as long four times the text takes, where the time can be told from noise; else 0."""

    def measured(times: int, hopeless_s: float = _HOPELESS_S) -> float:
        return seconds_of(expression, attack.text(length * times), hopeless_s)

    noise = _NOISE_S * length / 4000
    if (once := measured(1)) >= _HOPELESS_S:
        return inf
    if once < noise or (first := min(measured(1), measured(1))) < noise:
        return 0.0
    second = measured(4)
    if second < first * LINEAR or (second := min(second, measured(4))) < first * LINEAR:
        return second / first
    if second >= _HOPELESS_S:
        return inf
    # A bound of a repetition shows in longer texts alone. Other processes make one try slow, not each of three.
    for _ in range(3):
        third = measured(16, _HOPELESS_AT_LENGTH_S)
        if third >= _HOPELESS_AT_LENGTH_S or third < second * LINEAR:
            break
    return third / second if third < _HOPELESS_AT_LENGTH_S else inf


def seconds_of(expression: Expression, text: str, hopeless_s: float = _HOPELESS_S) -> float:
    """Processor seconds of the slowest use of an expression; of one that does not end, at least `hopeless_s`."""
    compiled: re.Pattern[Any] = re.compile(expression.pattern, expression.flags)
    subject: Any = text.encode("utf-8", "surrogatepass") if isinstance(expression.pattern, bytes) else text
    old = signal.signal(signal.SIGVTALRM, _interrupt)
    slowest = 0.0
    try:
        for use in expression.uses:
            signal.setitimer(signal.ITIMER_VIRTUAL, hopeless_s)
            start = process_time()
            try:
                _use(compiled, use, subject)
            except _TooSlow:
                return max(hopeless_s, process_time() - start)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            slowest = max(slowest, process_time() - start)
    finally:
        signal.signal(signal.SIGVTALRM, old)
    return slowest


class _TooSlow(Exception):
    pass


def _interrupt(*_: object) -> None:
    raise _TooSlow


def _use(compiled: re.Pattern[Any], use: str, text: Any) -> None:
    if use in ("match", "fullmatch", "search"):
        getattr(compiled, use)(text)
    else:
        for _ in compiled.finditer(text):
            pass


def _beginnings(tree: Sequence[Any], variants: int) -> Iterator[str]:
    nodes = list(tree)
    for end in range(1, len(nodes) + 1):
        for variant in range(min(variants, 3)):
            if text := _sample(nodes[:end], variant):
                yield from (text, f"{text} ", f"{text}\n", *filter(None, [text[:-1]]))
    for kind, value in nodes:
        for inner in _inner(kind, value):
            yield from _beginnings(inner, variants)


def _inner(kind: Any, value: Any) -> list[Any]:
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return []


def _repetitions(tree: Sequence[Any], before: str, variants: int) -> Iterator[tuple[str, list[str]]]:
    """The text before each repetition, and texts that it can repeat."""
    nodes = list(tree)
    for number, (kind, value) in enumerate(nodes):
        start = before + _sample(nodes[:number], 0)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[1] >= _PUMPED:
            pumps = list(dict.fromkeys(filter(None, _variants(value[2]))))
            if number + 1 < len(nodes):
                # What this and the next node can both read is where they compete.
                follows = set(_variants(nodes[number + 1 : number + 2]))
                pumps.sort(key=lambda pump: pump not in follows)
            pumps = pumps[:variants]
            yield start, [*pumps, *(one + other for one, other in pairwise(pumps))]
        for inner in _inner(kind, value):
            yield from _repetitions(inner, start, variants)


def _variants(nodes: Sequence[Any]) -> list[str]:
    nodes = list(nodes)
    if len(nodes) == 1 and nodes[0][0] in (op.IN, op.ANY, op.NOT_LITERAL):
        return _chars(*nodes[0])
    if len(nodes) == 1 and nodes[0][0] in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _variants(nodes[0][1][2])
    return [_sample(nodes, variant) for variant in range(_VARIANTS)]


def _chars(kind: Any, value: Any) -> list[str]:
    if kind is op.ANY:
        return ["a", " ", ".", "0", "\t"]
    if kind is op.NOT_LITERAL:
        return [char for char in _PALETTE if ord(char) != value]
    found = [char for char in _PALETTE if _is_in(value, char)]
    if not found:
        found = [
            chr(each[1] if each[0] is op.LITERAL else each[1][0]) for each in value if each[0] in (op.LITERAL, op.RANGE)
        ]
    return found


def _is_in(items: Sequence[Any], char: str) -> bool:
    is_negated = items[0][0] is op.NEGATE
    found = False
    for kind, value in items:
        if kind is op.LITERAL:
            found = found or ord(char) == value
        elif kind is op.RANGE:
            found = found or value[0] <= ord(char) <= value[1]
        elif kind is op.CATEGORY:
            found = found or _is_of(value, char)
    return found is not is_negated


def _is_of(category: Any, char: str) -> bool:
    name = str(category).removeprefix("CATEGORY_")
    is_not = name.startswith("NOT_")
    is_one = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
    return is_one[name.removeprefix("NOT_")] is not is_not


def _sample(nodes: Sequence[Any], variant: int) -> str:
    """A text that some nodes match, of few characters."""
    return "".join(_one(kind, value, variant) for kind, value in nodes)


def _one(kind: Any, value: Any, variant: int) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind in (op.IN, op.ANY, op.NOT_LITERAL):
        chars = _chars(kind, value)
        return chars[variant % len(chars)] if chars else ""
    if kind is op.BRANCH:
        return _sample(value[1][variant % len(value[1])], variant)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        times: int = max(value[0], min(variant, 1, value[1]))
        return _sample(value[2], variant) * times
    if kind is op.ASSERT:
        return _sample(value[1], variant) if value[0] < 0 else ""
    if kind is op.ASSERT_NOT:
        return ""
    inner = _inner(kind, value)
    return _sample(inner[0], variant) if inner else ""
