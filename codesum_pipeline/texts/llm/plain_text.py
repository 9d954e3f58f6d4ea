"""READMEs become plain text: a model is shown words, not markup.

Markdown and reStructuredText become HTML by their own libraries, and HTML
becomes text in one place: entities decoded, links as their words, pictures and
scripts gone, lists and tables as lines. Nothing is fetched, included or run.
"""

import re
from enum import StrEnum
from functools import lru_cache
from html.parser import HTMLParser
from io import StringIO
from pathlib import PurePosixPath

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.texts.llm.budgets import cut_to_fit


class Markup(StrEnum):
    MARKDOWN = "markdown"
    RST = "rst"
    HTML = "html"
    PLAIN = "plain"


# The head of a longer text says what it is about. docutils' time grows with the square of a line that was written to
# be slow, and is seconds at this length.
MAX_READ_CHARS = {Markup.MARKDOWN: 32 * 1024, Markup.RST: 8 * 1024, Markup.HTML: 32 * 1024}

_ROLE = re.compile(r":[A-Za-z][\w.+:-]{0,100}:(`[^`\n]+`)|(`[^`\n]+`):[A-Za-z][\w.+-]*:(?!\w)")
_BLANK_LINES = re.compile(r"\n{3,}")
_SPACES = re.compile(r"[ \t\r\f\v\n]+")
_NO_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*>?|(<)(?=[^<>]*(?:<|\Z))", re.S)

_TABLE = packaged_table(__package__, "markup")
_UNSHOWN, _PARAGRAPHS, _LINES, _CELLS = (
    frozenset(_TABLE["elements"][kind]) for kind in ("unshown", "paragraphs", "lines", "cells")
)
# A line or an entry of two words or more, and what is taken out before one is looked for.
_SAYING = re.compile(r"^[ \t]*(?:[-*#] )?[^\W\d_]+ [^\W\d_]+(?![^\s,.;:)])[^<>\"=|\n]*$", re.MULTILINE)
_UNSEEN = re.compile(rf"<!--.*?(?:-->|\Z)|<({'|'.join(sorted(_UNSHOWN))})\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.S | re.I)
# The same at the margin, a title, or a template's name at the beginning; and a text that is only a placeholder.
_RST_SAYING = re.compile(
    r"\A\s*\{\{ \w|^(?:[-*] )?[^\W\d_]+ [^\W\d_]+(?:[ ,.;:].*)?$|^[^\W_][\w ,.;:'()-]*\n([=*~^#-])\1{3,}$", re.MULTILINE
)
# What docutils lets through when a text is nested too deep or drives it into a corner.
_RST_FAILURES = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def markup_of(file_name: str) -> Markup:
    """What a file is written in, by its name."""
    return Markup(_TABLE["markups"].get(PurePosixPath(file_name).suffix.lower(), Markup.PLAIN))


def to_plain_text(text: str, markup: Markup) -> str:
    """The words of a text, blocks apart by an empty line; what cannot be read as its markup stays as it is."""
    whole = _BLANK_LINES.sub("\n\n", text.replace("\r\n", "\n")).strip()
    return _converted(cut_to_fit(whole, MAX_READ_CHARS.get(markup, len(whole))), markup)


def has_words(text: str, markup: Markup) -> bool:
    """Whether a text has words besides its markup.

    Most texts have a line that is plain words in any markup: these texts are not converted.
    """
    if markup is Markup.PLAIN or not any(map(str.isalnum, text)):
        return any(map(str.isalnum, text))
    head = text[: MAX_READ_CHARS[markup] // 2]
    is_rst = markup is Markup.RST
    is_saying = _RST_SAYING.search(head) if is_rst else _SAYING.search(_UNSEEN.sub("", head))
    return bool(is_saying) or any(map(str.isalnum, to_plain_text(text, markup)))


# A plan reads each text twice and its writing once more: all three took two fifths of a build in which little changed.
@lru_cache(maxsize=2048)
def _converted(head: str, markup: Markup) -> str:
    match markup:
        case Markup.MARKDOWN:
            from markdown_it import MarkdownIt

            return _from_html(MarkdownIt("commonmark").enable("table").enable("strikethrough").render(head))
        case Markup.RST:
            html = _rst_html(head)
            return head if html is None else _from_html(html)
        case Markup.HTML:
            return _from_html(head)
        case Markup.PLAIN:
            return head


def _rst_html(text: str) -> str | None:
    from docutils.core import publish_parts
    from docutils.parsers.rst import roles

    # Roles are mostly those of other tools, which docutils does not know; what they mark are words.
    words = _ROLE.sub(lambda match: match[1] or match[2], text)
    settings = _TABLE["docutils"] | {"warning_stream": StringIO()}
    try:
        return str(publish_parts(words, writer="html5", settings_overrides=settings)["body"])
    except _RST_FAILURES:
        return None
    finally:
        # A role that one text defines would be known to the next.
        roles._roles.clear()  # type: ignore[attr-defined]


def _from_html(html: str) -> str:
    reader = _Reader()
    # Comments go, and a bracket that opens no tag is one: the parser would look at the rest of the text for each.
    reader.feed(_NO_TAG.sub(lambda match: "&lt;" if match[1] else "", html))
    reader.close()
    lines = "".join(reader.parts).split("\n")
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


class _Reader(HTMLParser):
    """Collects text; white space counts only inside `pre`, and a table's row is one line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unshown = ""
        self._pre = 0
        self._in_row = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unshown:
            return
        if tag in _UNSHOWN:
            self._unshown = tag
            return
        self._break_at(tag)
        self._pre += tag == "pre"
        if tag == "li":
            self.parts.append("- ")
        elif tag in _CELLS and self._in_row and self._within_line():
            self.parts.append("| ")
        self._in_row = self._in_row or tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        if self._unshown:
            self._unshown = "" if tag == self._unshown else self._unshown
            return
        self._in_row = self._in_row and tag not in ("tr", "table")
        self._pre -= tag == "pre" and self._pre > 0
        self._break_at(tag)

    def handle_data(self, data: str) -> None:
        if self._unshown:
            return
        if self._pre:
            self.parts.append(data)
            return
        words = _SPACES.sub(" ", data)
        if not self._within_line() or self.parts[-1].endswith(" "):
            words = words.removeprefix(" ")
        if words:
            self.parts.append(words)

    def _within_line(self) -> bool:
        return bool(self.parts) and not self.parts[-1].endswith("\n")

    def _break_at(self, tag: str) -> None:
        """End the line, or the paragraph; a list's mark is no line of its own."""
        line_ends = 2 if tag in _PARAGRAPHS else int(tag in _LINES or tag in _CELLS)
        if not line_ends or not self.parts or self.parts[-1] == "- ":
            return
        if self._in_row:
            self.handle_data(" ")
            return
        tail = "".join(self.parts[-2:])
        missing = line_ends - (len(tail) - len(tail.rstrip("\n")))
        if missing > 0:
            self.parts.append("\n" * missing)
