"""A prose document is read: its title, its headings and its opening paragraphs.

Markdown, reStructuredText and plain text are told apart by what stands on
each line, not by the file's name. Badges, code, tables, front matter and HTML
are left out.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from codesum_pipeline.summaries.documentation.markup import plain, without_html, without_link_targets
from codesum_pipeline.summaries.documentation.plain import printable_lines
from codesum_pipeline.summaries.documentation.sentences import is_aside, sentences

_MAX_LINES = 600
_MAX_CHARS = 60_000
_MAX_PARAGRAPHS = 6
_MAX_HEADINGS = 40
_MIN_PARAGRAPH_CHARS = 25
_ATX = re.compile(r" {0,3}#{1,6}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"([-=~^*#\"'+`_:.])\1{2,}$")
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
_LIST_ITEM = re.compile(r"\s{0,8}(?:[-*+\u2022]|\d{1,3}[.)]|#\.)\s+(.+)")
_ANNOTATION = re.compile(r"\s*(?:>\s*)?\[!\w+\]\s*$|\s*:{3,}|^\s*\[[^\]]+\]:\s|^\s*:\w[\w ]*:(?:\s|$)")
_QUOTE = re.compile(r"^\s*>\s?")
_TABLE = re.compile(r"^\s*(?:\||\+[-=+]+\+|=+(?:\s+=+)+\s*$)")


@dataclass(frozen=True, slots=True)
class Prose:
    """What a reader sees first. `items` are the entries of lists, `sentences` the opening paragraphs'."""

    title: str = ""
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def read_prose(text: str) -> Prose:
    """Read a document's opening; an empty one gives empty fields."""
    text = text[:_MAX_CHARS].lstrip("\ufeff")
    if "<" in text:
        text = _without_blocks(without_link_targets(text))
    reader = _Reader()
    lines = _without_front_matter(printable_lines(text)[:_MAX_LINES])
    for number, line in enumerate(lines):
        reader.take(line, lines[number + 1].strip() if number + 1 < len(lines) else "")
    return reader.finish()


def _without_blocks(text: str) -> str:
    fenced = re.split(r"(^ {0,3}(?:```|~~~).*?^ {0,3}(?:```|~~~)[^\n]*$)", text, flags=re.S | re.M)
    parts = [
        part if number % 2 else without_html(re.sub(r"<(?:br|/p|/h\d|/div|/li|p|h\d)\b[^<>]*>", "\n", part, flags=re.I))
        for number, part in enumerate(fenced)
    ]
    return "".join(parts)


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines and lines[0].strip() in ("---", "+++"):
        for number, line in enumerate(lines[1:60], start=1):
            if line.strip() == lines[0].strip():
                return lines[number + 1 :]
    return lines


class _Reader:
    def __init__(self) -> None:
        self._title = ""
        self._headings: list[str] = []
        self._paragraphs: list[str] = []
        self._items: list[str] = []
        self._lines: list[str] = []
        self._fence = False
        self._skip_indent = -1
        self._after_heading = False

    def take(self, line: str, following: str) -> None:
        line = _QUOTE.sub("", line)
        stripped = line.strip()
        if _FENCE.match(line):
            self._fence = not self._fence
            self._flush()
        elif self._fence:
            return
        elif not stripped:
            self._flush()
        elif not self._skips(line, stripped) and not self._is_heading(line, stripped, following):
            self._prose(line, stripped)

    def _skips(self, line: str, stripped: str) -> bool:
        indent = len(line) - len(line.lstrip())
        if self._skip_indent >= 0 and indent > self._skip_indent:
            return True
        self._skip_indent = -1
        if _DIRECTIVE.match(stripped) or (stripped.endswith("::") and len(stripped) < 24):
            self._flush()
            self._skip_indent = indent
            return True
        return bool(_TABLE.match(line) or _ANNOTATION.match(line)) or (
            indent >= 4 and not self._lines and not _LIST_ITEM.match(line)
        )

    def _is_heading(self, line: str, stripped: str, following: str) -> bool:
        if _UNDERLINE.fullmatch(stripped):
            return True
        atx = _ATX.match(line)
        if not atx and not (
            _UNDERLINE.fullmatch(following) and len(following) >= 3 and not self._lines and len(stripped) < 120
        ):
            return False
        self._flush()
        text = _NUMBER.sub("", plain(atx[1] if atx else stripped))
        if any(map(str.isalnum, text)):
            if not self._title and not self._paragraphs:
                self._title = text
            elif len(self._headings) < _MAX_HEADINGS:
                self._headings.append(text)
        return True

    def _prose(self, line: str, stripped: str) -> None:
        item = _LIST_ITEM.match(line)
        if item:
            self._flush()
            if len(self._items) < _MAX_HEADINGS:
                self._items.append(item[1])
        elif stripped.endswith("::"):
            self._lines.append(stripped[:-1])
            self._flush()
            self._skip_indent = 0
        else:
            self._lines.append(stripped)

    def _flush(self) -> None:
        if self._lines and len(self._paragraphs) < _MAX_PARAGRAPHS:
            text = plain(" ".join(self._lines))
            letters = sum(map(str.isalpha, text))
            is_prose = len(text) >= _MIN_PARAGRAPH_CHARS or (text.endswith(".") and text.count(" ") > 1)
            if is_prose and letters > len(text) / 2 and " " in text:
                self._paragraphs.append(text.rstrip(":"))
        self._lines = []

    def finish(self) -> Prose:
        self._flush()
        found: list[str] = []
        for paragraph in self._paragraphs:
            found.extend(one for one in sentences(paragraph, limit=4) if " " in one and not is_aside(one))
        items = [text for item in self._items if (text := plain(item)) and any(map(str.isalnum, text))]
        return Prose(self._title, tuple(found[:10]), tuple(self._headings), tuple(items))
