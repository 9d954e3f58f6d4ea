"""Inline markup as words: links keep their text and lose their targets, code stays as it is written.

What each documentation tool marks, and what of it is read, is a table beside this module, `inline_marks.toml`. HTML,
reStructuredText's roles and emphasis are read here, since all tools have them.
"""

import html
import re
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import word_set
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.language_facts.writing_systems import UNSPACED

_SPACE = re.compile(r"\s+")


class _Marks(Struct, frozen=True):
    """The marks of one language's documentation tools."""

    first: tuple[tuple[re.Pattern[str], str], ...]
    code: re.Pattern[str]
    marks: tuple[tuple[re.Pattern[str], str], ...]


# Code in backticks ends in the paragraph in which it begins.
_BACKTICKS = r"(?<!`)(?:`([^`]+)`|``([^`]+(?:`[^`]+)*+)``|```([^`]+)```)_{0,2}(?!`)"


@cache
def _marks_of(language: str) -> _Marks:
    tools = packaged_table(__package__, "inline_marks").values()
    found = [tool for tool in tools if "languages" not in tool or language in tool["languages"].split()]
    code = [_BACKTICKS, *(pattern for tool in found for pattern in tool.get("code", ()))]
    return _Marks(
        tuple(_compiled(entry for tool in found for entry in tool.get("first", ()))),
        re.compile("|".join(code)),
        tuple(_compiled(entry for tool in found for entry in tool.get("marks", ()))),
    )


def _compiled(entries: Iterable[tuple[str, str]]) -> Iterable[tuple[re.Pattern[str], str]]:
    return ((re.compile(pattern), kept) for pattern, kept in entries)


_MARKS = re.compile(r"[`*<&{\[|_$\\@+'\"#/:]|\w\.\w")
_ROLE = re.compile(r":(?:[a-zA-Z][\w+.-]*:){1,2}`([^`]+)`")
_LINK_TARGET = re.compile(r"`((?:[^`<>\s]|\s++(?=[^`<>\s]))++|\s)\s*+<(?:[^`<>]*>`_{1,2}|[^`<>/:#.]*[/:#.][^`<>]*>`)")
_FOOTNOTE = re.compile(r"\s?\[(?:#\w{0,24}|\w{1,24}|\d+|\*)\]_|\s?\[\^\w+\]")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]{1,400}?)(?<=[^\s*\\])\1(?![\w*])")
# A blank would be no part of the sentence there. A single star may be a product.
_STRONG_UNSPACED = re.compile(
    rf"(?<![*\\])(?<!(?![{UNSPACED}])\w)(\*{{2,3}})(?=[^\s*])([^*\n]{{1,400}}?)(?<=[^\s*\\])\1(?!\*)(?!(?![{UNSPACED}])\w)"
)
_UNDERSCORED = re.compile(r"(?<![\w\\])(_{1,2})(?=[^\s_])([^_\n]{1,400}?)(?<=[^\s_])\1(?!\w)")
_EPYTEXT = re.compile(r"\b[BCILMSUX]\{([^{}]*)\}")
_TEMPLATE = re.compile(
    r"\{%-?[^{}%]*-?%\}|\{#[^{}#]*#\}|\$?\{\{-?\s*+((?:[^{}\s-]|-(?!\}\})|\s++(?!-?\}\}))*+)\s*+-?\}\}"
)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>-])")
_BARE_URL = re.compile(r"<(https?://[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.S)
_HIDDEN = re.compile(r"<(script|style|svg|template|iframe)\b[^>]{0,4000}+>.*?(?:</\1\s*>|$)", re.S | re.I)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(word_set('html_tags')))})\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*/?>?", re.I)
# At the end of a sentence the words that lead to it go with it: `Converted from https://x.` says `Converted.`
# Signs after an address where no blank ends it.
_NO_ADDRESS = f"{UNSPACED}\u3000-\u303f\uff00-\uff5e"
_URL = re.compile(
    rf"(?:(?<!\s)\s++(?:also|at|by|and|from|in|is|of|on|or|the|to|url|via|with):?){{0,8}}+\s?[(<]?(?:https?|ftp)://[^\s)>\]{_NO_ADDRESS}]+?[)>]?(?=[.,;]?\s*$|[.;]\s)"
    rf"|\s?\(?(?:https?|ftp)://[^\s)>\]{_NO_ADDRESS}]+\)?",
    re.I,
)
_LEADS_NOWHERE = re.compile(r":\s*\.?$")
_EMPTY_BRACKETS = re.compile(r"\s?[(\[]\s*[)\]]")
_SPACE_BEFORE = re.compile(r"(?:(?<!\s)|(?<=[,;:.!?)]\s))\s++([,;:.!?)](?:\s|$))")
# Elsewhere the author's blank may mean something: `Resolves . and .. in a path.`
_SPACE_BEFORE_END = re.compile(r"(?<=[^\s.])\s([.,;])(?=\s*$|\s[A-Z])")
# Each stands for one piece of code; they are not printable, and are removed from texts.
_FIRST_STAND_IN, _LAST_STAND_IN = "\ue000", "\uf8ff"
_STAND_IN = re.compile(f"[{_FIRST_STAND_IN}-{_LAST_STAND_IN}]")
_MOST_PIECES = ord(_LAST_STAND_IN) - ord(_FIRST_STAND_IN)
# Marks in marks: `\code{\link{x}}`.
_MOST_NESTED_MARKS = 4


def remove_markup(text: str, language: str = "") -> str:
    """One line without markup, as the documentation tools of a language have it; hyper links keep their words."""
    if not _MARKS.search(text):
        return _SPACE.sub(" ", text).strip()
    marks = _marks_of(language)
    text = without_roles(_STAND_IN.sub("", text))
    for pattern, kept in marks.first:
        text = pattern.sub(kept, text)
    pieces: list[str] = []
    text = marks.code.sub(lambda match: _stand_in(match, pieces), without_link_targets(text))
    marked = text
    text = _without_links(without_html(text) if "<" in text or "&" in text else text, marks)
    if text != marked:
        # The brackets of a call or a type stay.
        text = _EMPTY_BRACKETS.sub(lambda match: match[0] if match[0] in ("()", "[]") else "", text)
        text = _SPACE_BEFORE.sub(r"\1", text)
    text = _SPACE_BEFORE_END.sub(r"\1", text)
    text = _STAND_IN.sub(lambda match: pieces[ord(match[0]) - ord(_FIRST_STAND_IN)], _without_emphasis(text))
    return _SPACE.sub(" ", text).strip()


def _stand_in(match: re.Match[str], pieces: list[str]) -> str:
    """A character that stands for a piece of code; the code itself where there are too many."""
    code = next((group for group in match.groups() if group is not None), "").strip()
    if len(pieces) == _MOST_PIECES:
        return code
    pieces.append(code)
    return chr(ord(_FIRST_STAND_IN) + len(pieces) - 1)


def _without_links(text: str, marks: _Marks) -> str:
    """The text without links' targets and the marks of the tools, inner ones first."""
    text = _TEMPLATE.sub(r"\1", _EPYTEXT.sub(r"\1", text)) if "{" in text else text
    text = _FOOTNOTE.sub("", text) if "[" in text else text
    for _ in range(_MOST_NESTED_MARKS):
        before = text
        for pattern, kept in marks.marks:
            text = pattern.sub(kept, text)
        if text == before:
            break
    return _LEADS_NOWHERE.sub(".", _URL.sub("", text)) if "://" in text else text


def _without_emphasis(text: str) -> str:
    text = text.replace("`", "'" if text.count("`") == 2 else "")
    if "*" in text or "_" in text:
        text = _STRONG.sub(r"\2", _UNDERSCORED.sub(r"\2", _STRONG.sub(r"\2", text)))
        text = text if text.isascii() else _STRONG_UNSPACED.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)


def without_link_targets(text: str) -> str:
    """reStructuredText links as their words."""
    return _LINK_TARGET.sub(r"\1", text)


def without_roles(text: str) -> str:
    """reStructuredText roles as their words: `:class:`~shop.Order`` gives `Order`."""
    return _ROLE.sub(_role_words, text)


def _role_words(match: re.Match[str]) -> str:
    target = match[1].partition("<")[0].strip() or match[1]
    if target.startswith("~"):
        return target.rpartition(".")[2].lstrip("~")
    return target.lstrip("!~.")


# A tag whose parts stand around other tags is hidden on purpose.
MOST_NESTED_TAGS = 20


def without_html(text: str) -> str:
    """The text without HTML tags, comments, scripts and styles; entities are read first, so none can hide a tag."""
    text = html.unescape(html.unescape(text)).replace("\x00", "")
    text = _BARE_URL.sub(r"\1", _HIDDEN.sub(" ", _COMMENT.sub(" ", text)))
    for _ in range(MOST_NESTED_TAGS):
        stripped = _TAG.sub(_tag_gap, text)
        if stripped == text:
            return text
        text = stripped
    return text.replace("<", "")


def _tag_gap(match: re.Match[str]) -> str:
    return (
        " "
        if match[0][1:3].lower() in ("br", "p>", "li", "td", "tr", "hr", "di", "h1", "h2", "h3", "/p", "/d", "im")
        else ""
    )
