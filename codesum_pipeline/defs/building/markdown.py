"""Text from a repository as harmless Markdown.

What a repository wrote must come out as the letters it is made of: no HTML, no
formatting, no link and no image, in whatever dialect the reader knows.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>^$=:])")
# What GitHub-flavoured Markdown turns into links by itself; a word joiner keeps it apart, unseen.
_AUTOLINK = re.compile(r"(?i)(\bhttps?(?=:)|\bftp(?=:)|\bwww(?=\.)|\bmailto(?=:)|[\w.+-](?=@))")
_WORD_JOINER = "\u2060"
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn"}


def plain(text: str, *, limit: int = 160) -> str:
    """At most `limit` characters of a text, on one line, read literally."""
    shown = "".join(" " if unicodedata.category(letter) in _INVISIBLE else letter for letter in text)
    shown = " ".join(shown.split())
    if len(shown) > limit:
        shown = f"{shown[: limit - 1].rstrip()}…"
    shown = _AUTOLINK.sub(lambda match: match[0] + _WORD_JOINER, shown)
    return html.escape(_SPECIAL.sub(r"\\\1", shown), quote=False)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; every cell is read literally, headings are ours."""
    lines = [" | ".join(headings), " | ".join("---" for _ in headings)]
    lines += [" | ".join(plain("" if cell is None else str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)
