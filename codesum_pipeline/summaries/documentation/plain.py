"""Text that is safe to print anywhere: one line, printable characters, bounded.

What repositories contain is hostile until shown otherwise: terminal escapes,
bidirectional controls, zero-width characters and lone surrogates never reach a
written text.
"""

import re
import unicodedata
from collections.abc import Iterable

_TERMINAL_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b."
)
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?](?=[\s)\"'\u201d]|$)")
# Cut at a sentence only where at least this share of the room is used.
_SENTENCE_CUT_SHARE = 0.5
_OPEN_BRACKET = re.compile(r"\s*[(\[{\u201c][^)\]}\u201d]*$")


def printable(text: str) -> str:
    """One line of printable characters; runs of white space become one space."""
    if not text.isprintable():
        text = _TERMINAL_ESCAPE.sub("", text)
        if not text.isprintable():
            text = "".join(map(_replacement, text))
    return _SPACE.sub(" ", text).strip() if "  " in text else text.strip()


def printable_lines(text: str) -> list[str]:
    """The lines of a text, each printable, their indentation kept; tabs count as four spaces."""
    if text.replace("\n", "").isprintable():
        return text.split("\n")
    text = _TERMINAL_ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4))
    return ["".join(map(_replacement, line)).rstrip() for line in text.split("\n")]


def _replacement(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() or unicodedata.category(char) in ("Zs", "Zl", "Zp") else ""


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of a one-line text, cut at the end of a sentence, else of a word."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(head) if match.end() <= limit]
    if ends and ends[-1] >= limit * _SENTENCE_CUT_SHARE:
        return head[: ends[-1]]
    return f"{_cut_at_word(text, limit - 1)}…"


def _cut_at_word(text: str, limit: int) -> str:
    head = text[: limit + 1]
    space = head.rfind(" ")
    head = head[:space] if space >= limit // 2 else text[:limit]
    whole = _OPEN_BRACKET.sub("", head)
    head = whole if len(whole) >= limit // 2 else head
    return head.rstrip(" ,;:-–—(")


def sentence(text: str) -> str:
    """The text with a capital at its start, unless its first word looks like code, and a mark at its end."""
    text = text.strip().rstrip(",;:-–— ")
    if not text:
        return ""
    first = text.split(" ", 1)[0]
    if (first.isalpha() and first.islower()) or (
        first.rstrip(",;'s-").isalpha() and first[:1].islower() and first[1:].islower()
    ):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…", ".)", '."', ".”")) else f"{text}."


def join_sentences(sentences: Iterable[str], limit: int) -> str:
    """As many whole sentences as fit, at least one, cut where even that is too long."""
    text = ""
    for part in sentences:
        if not part:
            continue
        if not text:
            text = clip(part, limit)
        elif len(text) + 1 + len(part) <= limit:
            text = f"{text} {part}"
    return text
