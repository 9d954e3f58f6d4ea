"""What the grammar of C# is not shown: the heads of extension blocks with their braces, and torn branches of an `#if`.

The members of `extension(string text) {…}` are those of the class around it.
"""

import re

from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside
from codesum_pipeline.languages.declarations.torn_branches import torn_branches

_PATTERNS = patterns_beside(__file__)


def rewritten_parts(source: bytes) -> list[Span]:
    """The parts of a source that did not parse, in order, none in another."""
    found: list[Span] = []
    parts = torn_branches(source) if b"#" in source else []
    for start, end in sorted([*parts, *around_extensions(source)]):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def around_extensions(source: bytes) -> list[Span]:
    """Each head of such a block up to its brace, and the brace that closes it, in order."""
    found: list[Span] = []
    if b"extension" not in source or not _PATTERNS["extension"].search(source):
        return found
    # For each open brace, whether it is that of an extension.
    opened: list[bool] = []
    head: re.Match[bytes] | None = None
    for token in _PATTERNS["token"].finditer(source):
        if token["extension"]:
            head = token
        elif token["open"]:
            opened.append(False)
        elif token["close"] and opened and opened.pop():
            found.append(token.span("close"))
        if head is not None:
            found.append(head.span("extension"))
            opened.append(True)
            head = None
    return sorted(found)
