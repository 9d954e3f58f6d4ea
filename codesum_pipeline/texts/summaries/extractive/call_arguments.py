"""What the arguments of a call say where they are written out on the line of the call."""

import re

from codesum_pipeline.foundation.data_model.symbol import Fact

_NAME = re.compile(r"[A-Za-z][\w.:-]{0,39}")
_MODE = re.compile(r"""[,(]\s*(?:mode\s*[=:]\s*)?['"]([rwaxbtU+em]{1,4})['"]\s*[,)]""")
_ONLY_ENCODED = re.compile(r"[^,]*(?:,\s*(?:encoding|errors|newline)\s*=[^,]*)*")
# Arguments are looked for in so many characters after the name of what is called.
_MAX_CHARS = 300
_MOST_CALLS = 20
_QUOTES = ("'", '"', "`")


def first_texts(call: Fact, lines: list[str]) -> list[str]:
    """The first argument of each call written alike, where it is a text that could be a name; "" of others."""
    found: list[str] = []
    for line in lines[call.line - 1 :]:
        arguments = _after_name(call, line)
        while arguments and len(found) < _MOST_CALLS:
            found.append(_leading_text(arguments))
            arguments = _after_name(call, arguments)
    return found or [""]


def _leading_text(arguments: str) -> str:
    begin = arguments[:_MAX_CHARS].lstrip(" (![{")
    text, end, after = begin[1:].partition(begin[:1]) if begin[:1] in _QUOTES else ("", "", "")
    is_whole = end and after.lstrip()[:1] in ("", ",", ")", "]", "}")
    return text if is_whole and _NAME.fullmatch(text) else ""


def opening_mode(call: Fact, lines: list[str]) -> str:
    """How a call opens a file: `r`, `w`, `a`; "" where it does not say."""
    arguments = _after_name(call, lines[call.line - 1] if call.line <= len(lines) else "")[:_MAX_CHARS]
    mode = _MODE.search(arguments)
    if mode is None:
        inside, is_closed, _ = arguments.removeprefix("(").partition(")")
        is_plain = bool(is_closed) and "(" not in inside and arguments.startswith("(")
        return "r" if is_plain and _ONLY_ENCODED.fullmatch(inside) else ""
    return "" if "+" in mode[1] else next((sign for sign in "wax" if sign in mode[1]), "r")


def _after_name(call: Fact, line: str) -> str:
    """A line from behind the name of a call on; "" of a line without it."""
    _, _, rest = line.partition(call.text)
    return "" if rest[:1].isalnum() or rest[:1] == "_" else rest
