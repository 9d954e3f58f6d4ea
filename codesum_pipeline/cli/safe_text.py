"""Text of repositories, made safe for a terminal.

Names, docstrings and commit subjects are written by others. They may hold
escape sequences that move the cursor or retitle the window, and bidirectional
controls that make text read otherwise than it is.
"""

import json
import re
import unicodedata
from typing import Any

# ECMA-48: control sequences, then strings such as OSC up to BEL or ST, then other two-character escapes.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]?", re.S)
_SUSPECT = re.compile(r"[^\n\t\x20-\x7e]")
# Control, format (bidirectional controls, zero-width), surrogate and unassigned private characters.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co"}
_LINE_SEPARATORS = {"\x85", "\u2028", "\u2029"}


def clean(text: str) -> str:
    """The text without escape sequences, control and invisible characters; line feeds and tabs stay."""
    return _SUSPECT.sub(_visible, _ESCAPES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """`clean`, with every run of white space as one space."""
    return " ".join(clean(text).split())


def safe_json(value: Any) -> str:
    """JSON on one line whose only characters beyond ASCII are printable ones; nothing is lost."""
    return escaped(json.dumps(value, ensure_ascii=False))


def escaped(text: str) -> str:
    """The text with every character that a terminal could act on written as JSON's escape; line feeds and tabs stay."""
    return _SUSPECT.sub(_escaped, text)


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    if character in _LINE_SEPARATORS or character == "\r":
        return "\n"
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in _UNPRINTABLE else character


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character not in _LINE_SEPARATORS and unicodedata.category(character) not in _UNPRINTABLE:
        return character
    return json.dumps(character)[1:-1]
