"""Text from a repository as harmless Markdown.

What a repository wrote must come out as the letters it is made of: no HTML, no
formatting, no link and no image, in whatever dialect the reader knows.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

# But for the letters of HTML, which become entities.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~^$=:])")
# What GitHub-flavoured Markdown turns into links by itself; a word joiner keeps it apart, unseen.
_AUTOLINK = re.compile(r"(?i)(\bhttps?(?=:)|\bftp(?=:)|\bwww(?=\.)|\bmailto(?=:)|[\w.+-](?=@))")
_WORD_JOINER = "\u2060"
# Within a line; an underscore between letters is one.
_MARKS = re.compile(r"([\\`*\[\]|~$]|(?<!\w)_|_(?!\w))")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn"}


def escape_text(text: str, *, limit: int = 160) -> str:
    """At most `limit` characters of a text, on one line, read literally."""
    return html.escape(_SPECIAL.sub(r"\\\1", break_links(_one_line(text, limit))), quote=False)


def break_links(text: str) -> str:
    """The text with an unseen character in all that a reader's program would make a link of by itself."""
    return _AUTOLINK.sub(lambda match: match[0] + _WORD_JOINER, text)


def _one_line(text: str, limit: int) -> str:
    shown = "".join(" " if unicodedata.category(letter) in _INVISIBLE else letter for letter in text)
    shown = " ".join(shown.split())
    return f"{shown[: limit - 1].rstrip()}…" if len(shown) > limit else shown


def escape_prose(text: str, *, limit: int = 160) -> str:
    """As `plain`, for a text within a line of ours: only what is special there is escaped, so that the source is
    readable, too."""
    shown = _ENTITY.sub("&amp;", _MARKS.sub(r"\\\1", break_links(_one_line(text, limit))))
    return shown.replace("<", "&lt;").replace(">", "&gt;")


def code_span(text: str, *, limit: int = 160) -> str:
    """A text as a code span, in which nothing is special but the backticks that end it."""
    shown = _one_line(text, limit)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", shown)), default=0))
    return f"{ticks}{shown}{ticks}" if len(ticks) == 1 and shown else f"{ticks} {shown} {ticks}"


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; every cell is read literally, headings are ours."""
    lines = [" | ".join(headings), " | ".join("---" for _ in headings)]
    lines += [" | ".join(escape_text("" if cell is None else str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)")


def with_closed_fence(text: str) -> str:
    """The text with an end to a fence of code that has none."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
