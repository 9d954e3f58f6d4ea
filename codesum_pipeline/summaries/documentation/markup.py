"""Inline markup becomes plain words: reStructuredText, Markdown, epytext, JSDoc and HTML."""

import html
import re

from codesum_pipeline.summaries.documentation.word_lists import word_set

_MARKS = re.compile(r"[`*<&{\[|_$\\]|://")
_ROLE = re.compile(r":(?:[a-zA-Z][\w+.-]*:){1,2}`([^`]+)`")
_LINK_TARGET = re.compile(r"`([^`<>]+?)\s*<[^`<>]*>`_{0,2}")
_LITERAL = re.compile(r"(`{1,3})([^`]+)\1_{0,2}")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_FOOTNOTE = re.compile(r"\s?\[(?:#\w{0,24}|\w{1,24}|\d+|\*)\]_|\s?\[\^\w+\]")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]{1,400}?)(?<=[^\s*\\])\1(?![\w*])")
_UNDERSCORED = re.compile(r"(?<![\w\\])(_{1,2})(?=[^\s_])([^_\n]{1,400}?)(?<=[^\s_])\1(?!\w)")
_EPYTEXT = re.compile(r"\b[BCILMSUX]\{([^{}]*)\}")
_TEMPLATE = re.compile(r"\{%-?[^{}%]*-?%\}|\{#[^{}#]*#\}|\$?\{\{-?\s*([^{}]*?)\s*-?\}\}")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>-])")
_BARE_URL = re.compile(r"<(https?://[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.S)
_HIDDEN = re.compile(r"<(script|style|svg|template|iframe)\b[^>]*>.*?(?:</\1\s*>|$)", re.S | re.I)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(word_set('html_tags')))})\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*/?>?", re.I)
# At the end of a sentence the words that lead to it go with it: `Converted from https://x.` says `Converted.`
_URL = re.compile(
    r"(?:\s+(?:also|at|by|and|from|in|is|of|on|or|the|to|url|via|with):?)*\s?[(<]?(?:https?|ftp)://[^\s)>\]]+?[)>]?(?=[.,;]?\s*$|[.;]\s)"
    r"|\s?\(?(?:https?|ftp)://[^\s)>\]]+\)?",
    re.I,
)
_EMPTY_BRACKETS = re.compile(r"\s?[(\[]\s*[)\]]")
_SPACE_BEFORE = re.compile(r"\s+([,;:.!?)](?:\s|$))")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """One line without markup; hyper links keep their words and lose their targets."""
    if not _MARKS.search(text):
        return _SPACE.sub(" ", _SPACE_BEFORE.sub(r"\1", text)).strip()
    if "`" in text:
        text = without_link_targets(without_roles(text))
    if "<" in text or "&" in text:
        text = without_html(text)
    if "[" in text:
        text = _FOOTNOTE.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    if "{" in text:
        text = _TEMPLATE.sub(r"\1", _EPYTEXT.sub(r"\1", text))
    if "`" in text:
        text = _LITERAL.sub(r"\2", text).replace("`", "'" if text.count("`") == 2 else "")
    if "*" in text or "_" in text:
        text = _STRONG.sub(r"\2", _UNDERSCORED.sub(r"\2", _STRONG.sub(r"\2", text)))
    text = _SPACE.sub(" ", _ESCAPED.sub(r"\1", text))
    text = _URL.sub("", text) if "://" in text else text
    return _SPACE.sub(" ", _SPACE_BEFORE.sub(r"\1", _EMPTY_BRACKETS.sub(_empty_call, text))).strip()


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


def _empty_call(match: re.Match[str]) -> str:
    return match[0] if match[0] == "()" or match[0] == "[]" else ""


def without_html(text: str) -> str:
    """The text without HTML tags, comments, scripts and styles; entities are read first, so none can hide a tag."""
    text = html.unescape(html.unescape(text)).replace("\x00", "")
    text = _BARE_URL.sub(r"\1", _HIDDEN.sub(" ", _COMMENT.sub(" ", text)))
    while True:
        stripped = _TAG.sub(_tag_gap, text)
        if stripped == text:
            return text
        text = stripped


def _tag_gap(match: re.Match[str]) -> str:
    return (
        " "
        if match[0][1:3].lower() in ("br", "p>", "li", "td", "tr", "hr", "di", "h1", "h2", "h3", "/p", "/d", "im")
        else ""
    )
