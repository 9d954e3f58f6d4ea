"""Text of others, without what a terminal or a reader could be misled by.

Names, docstrings, commit subjects and models' answers may hold escape sequences that move the cursor or retitle the
window, and bidirectional controls that make text read otherwise than it is.
"""

import re
import unicodedata
from collections.abc import Sequence

# ECMA-48: control sequences, then strings such as OSC up to BEL or ST, then other two-character escapes.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]?", re.S)
SUSPECT = re.compile(r"[^\n\t\x20-\x7e]")
# Control, format (bidirectional controls, zero-width), surrogate and unassigned private characters.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co"}
LINE_SEPARATORS = {"\x85", "\u2028", "\u2029"}


# Characters of what somebody wrote that a message repeats.
_LONGEST_QUOTE = 200


def clean_text(text: str) -> str:
    """The text without escape sequences, control and invisible characters; line feeds and tabs stay."""
    return SUSPECT.sub(_visible, _ESCAPES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """`clean`, with every run of white space as one space."""
    return " ".join(clean_text(text).split())


def shorten_text(text: str, most: int = _LONGEST_QUOTE) -> str:
    """A text of at most so many characters, which ends with … where it was longer."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def plain_reason(message: str) -> str:
    """What pydantic says of a wrong value, without its mark of a reason that is ours."""
    return message.removeprefix("Value error, ")


def list_words(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def some_of(names: Sequence[str], most: int, *, mark: str = ", ") -> str:
    """`a, b and 3 more`: the first names, and how many more there are."""
    more = f"{mark.rstrip(', ')} and {len(names) - most:,} more" if len(names) > most else ""
    return f"{mark.join(names[:most])}{more}"


def count_noun(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `1,024 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    if character in LINE_SEPARATORS or character == "\r":
        return "\n"
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in UNPRINTABLE else character
