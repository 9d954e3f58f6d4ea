"""Whether an object stands in a text that a model was shown, however it is written there.

Only letters, digits, colons and quotes are compared: white space, line numbers, comment marks and escapes do not count,
nor do the kind of quotes and the order of fields. The object stands there if each longer text of it does, in quotes and
behind its field's name. Numbers and short words do not count, so a copy that cites other lines is still a copy.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

# A shorter text may be in both by chance.
_LONG_CHARS = 20
_MOST_ESCAPES = 3
_LINE_HEAD = re.compile(r"^[ \t]*+(?:\d++\|)?[ \t]*+(?:#++|//++|\*++|--++|;++|>++)?", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_QUOTE = re.compile("[`'\u2018\u2019\u201c\u201d]")
_NOT_COMPARED = re.compile(r"[^\w:\"]+|_+")


def stands_in(value: Any, shown: Sequence[str]) -> bool:
    """Whether an object stands in one of these texts."""
    every = [*_texts_of(value)]
    pairs = [pair for pair in every if len(pair[1]) >= _LONG_CHARS] or every
    if not pairs:
        return False
    wanted = {_bare(f'"{name}":"{text}"') for name, text in pairs}
    # To reduce a prompt to its letters takes long, and hardly any has the names of all fields.
    return any(
        ("\\u" in text or all(name in text for name, _ in pairs)) and all(pair in _bare_shown(text) for pair in wanted)
        for text in shown
    )


def _texts_of(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of an object, each with the name of its field."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from ((name, one) for name, one in part.items() if isinstance(one, str))
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


# The system prompt is the same for all answers of a level.
@lru_cache(maxsize=8)
def _bare_shown(text: str) -> str:
    return _bare(_LINE_HEAD.sub("", text))


def _bare(text: str) -> str:
    for _ in range(_MOST_ESCAPES):
        if "\\" not in text:
            break
        text = _ESCAPE.sub(_unescaped, text)
    return _NOT_COMPARED.sub("", _QUOTE.sub('"', text))


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return " " if found[0][1] in "nrtbf" else found[0][1]
