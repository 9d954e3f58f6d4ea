"""What the grammar of Kotlin is given in place of words that it takes for names after an annotation.

`@A(1) expect object B` is read as `expect` with the operator `object`, unless what
follows can be nothing but a declaration. So the grammar is shown a modifier in its
place that is no name. And a constructor on the line below its class's name is
a declaration of its own there.
"""

import re
from collections.abc import Iterator

_ARGUMENTS = rb"(?:\((?:[^()]|\((?:[^()]|\([^()]*\)){0,200}\)){0,400}\))?"


_ANNOTATED = re.compile(
    rb"(?P<before>@[\w.:]+(?:<[^<>()]*>)?" + _ARGUMENTS + rb"\s+)"
    rb"(?P<words>(?:(?:@[\w.:]+" + _ARGUMENTS + rb"|[a-z]+)\s+)+?)"
    rb"(?=(?:class|object|interface)[ \t]+[A-Za-z_`])"
)


_WORD = re.compile(rb"(?<![^\s])(?:annotation|expect|actual|value|inner|data|external)(?=\s)")


# Words of any such length that can only be a modifier.
_STAND_INS = {4: b"open", 5: b"final", 6: b"public", 8: b"public", 10: b"public"}


_CONSTRUCTOR = re.compile(
    rb"(?P<head>\bclass[ \t]+\w+(?:<[^(){}]{0,200}>)?)(?P<between>[ \t]*\n\s*)"
    rb"(?=(?:(?:@[\w.:]+" + _ARGUMENTS + rb"|public|private|protected|internal|actual|expect)\s+)*constructor\b)"
)


# `is A if b -> c`: a guard among the branches of a `when`.
_GUARD = re.compile(rb"^[ \t]*(?:(?:!?is|!?in)\b|[\w.\"]+)[^\n{}]*?(?P<guard>[ \t]if[ \t(][^\n{}]*?)(?=[ \t]*->)", re.M)


# `context(a: B) fun c()`, and the same in a function's type; `suspend {`, a function as a value; `$$"…"`.
_CONTEXT = re.compile(rb"\bcontext\((?:[^()]|\([^()]*\)){0,400}\)(?=\s)|\bsuspend(?=\s*\{)|\$\$+(?=\")")


_ANNOTATION = re.compile(rb"@[\w.:]+(?:<[^<>()]*>)?" + _ARGUMENTS)


def annotations(source: bytes) -> Iterator[tuple[tuple[int, int], ...]]:
    """Of each declaration with more than one annotation all but the last: with them it may be read as an expression."""
    for match in _ANNOTATED.finditer(source):
        if spans := tuple(found.span() for found in _ANNOTATION.finditer(source, *match.span()))[:-1]:
            yield spans


def unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """Guards of branches, contexts, functions that suspend and marks before a text: the grammar does not know them."""
    yield from (match.span("guard") for match in _GUARD.finditer(source))
    yield from (match.span() for match in _CONTEXT.finditer(source))


def masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long."""
    shown = _ANNOTATED.sub(_as_modifiers, source) if b"@" in source else source
    shown = _CONSTRUCTOR.sub(_on_one_line, shown) if b"constructor" in shown else shown
    return source if shown == source else shown


def _as_modifiers(match: re.Match[bytes]) -> bytes:
    return match["before"] + _WORD.sub(lambda word: _STAND_INS[len(word[0])].ljust(len(word[0])), match["words"])


def _on_one_line(match: re.Match[bytes]) -> bytes:
    return match["head"] + b" " * len(match["between"])
