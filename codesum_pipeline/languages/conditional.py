"""Code that a preprocessor chooses, in languages whose grammar knows it in some places or in none."""

import re
from collections.abc import Iterator

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif|define|undef|include)\b[^\n]*", re.M)


def later_branches(source: bytes) -> Iterator[tuple[int, int]]:
    """The directives, and of each condition all branches but the first."""
    # Of each `#if` that is open: where its second branch began.
    began: list[int | None] = []
    for match in _DIRECTIVE.finditer(source):
        word = match["word"]
        if word.startswith(b"if"):
            began.append(None)
        elif word in (b"elif", b"else") and began and began[-1] is None:
            began[-1] = match.start()
        elif word == b"endif" and began:
            start = began.pop()
            yield (match.start() if start is None else start), match.end()
            continue
        yield match.span()


def directives(source: bytes) -> Iterator[tuple[tuple[int, int], ...]]:
    """All directives as one group, for a grammar that reads no branch but the first."""
    found = tuple(match.span() for match in _DIRECTIVE.finditer(source))
    if b"#else" in source or b"#elif" in source:
        yield found
