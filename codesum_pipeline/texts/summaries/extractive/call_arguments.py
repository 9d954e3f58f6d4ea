"""What the arguments of a call say where they are written out on the line of the call."""

import re

from codesum_pipeline.foundation.data_model.symbol import Fact

_NAME = re.compile(r"[A-Za-z][\w.:-]{1,39}")
_MODE = re.compile(r"""[,(]\s*(?:mode\s*[=:]\s*)?['"]([rwaxbtU+em]{1,4})['"]\s*[,)]""")
_ONLY_ENCODED = re.compile(r"[^,]*(?:,\s*(?:encoding|errors|newline)\s*=[^,]*)*")
# Arguments are looked for in so many characters after the name of what is called.
_MAX_CHARS = 300


def first_text(call: Fact, lines: list[str]) -> str:
    """The first argument of a call where that is a text that could be a name; "" of others."""
    arguments = _after_name(call, lines).lstrip(" (![{")
    quote = arguments[:1]
    if quote not in ("'", '"', "`") or not call.said:
        return ""
    text, end, after = arguments[1:].partition(quote)
    is_whole = end and text == call.said and after.lstrip()[:1] in ("", ",", ")", "]", "}")
    return text if is_whole and _NAME.fullmatch(text) else ""


def opening_mode(call: Fact, lines: list[str]) -> str:
    """How a call opens a file: `r`, `w`, `a`; "" where it does not say."""
    arguments = _after_name(call, lines)
    mode = _MODE.search(arguments)
    if mode is None:
        inside, is_closed, _ = arguments.removeprefix("(").partition(")")
        is_plain = bool(is_closed) and "(" not in inside and arguments.startswith("(")
        return "r" if is_plain and _ONLY_ENCODED.fullmatch(inside) else ""
    return "" if "+" in mode[1] else next((sign for sign in "wax" if sign in mode[1]), "r")


def _after_name(call: Fact, lines: list[str]) -> str:
    """The line of a call from behind its name on."""
    line = lines[call.line - 1] if 0 < call.line <= len(lines) else ""
    _, is_found, rest = line.partition(call.text)
    return rest[:_MAX_CHARS] if is_found else ""
