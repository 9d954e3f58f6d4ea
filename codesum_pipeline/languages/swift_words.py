"""What the grammar of Swift does not know everywhere it may stand."""

import re
from collections.abc import Iterator

# Among the cases of a `switch`, a condition of the compiler costs it all that follows.
_CONDITION = re.compile(rb"^[ \t]*#(?:if|elseif|else|endif)\b[^\n]*", re.M)
_ARGUMENTS = rb"\((?:[^()]|\((?:[^()]|\([^()]{0,400}\)){0,400}\)){0,2000}\)"
# A function that another language defines has no body.
_FOREIGN = re.compile(
    rb"@(?:_silgen_name|_extern)\([^()\n]*\)\s+(?:[a-z]+\s+){0,4}func\s+\w+(?:<[^<>(){}]{0,400}>)?[ \t]*"
    + _ARGUMENTS
    + rb"(?:[ \t]*(?:async|throws))*(?:[ \t]*->[^\n{]*)?(?=\n|$)"
)


def unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """The compiler's conditions, and functions without a body."""
    for pattern in (_CONDITION, _FOREIGN):
        yield from (match.span() for match in pattern.finditer(source))
