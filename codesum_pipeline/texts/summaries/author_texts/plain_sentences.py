"""Text that is safe to print anywhere (one line, printable characters, bounded), its sentences, and markup as words.

What repositories contain is hostile until shown otherwise: terminal escapes, bidirectional controls, zero-width
characters and lone surrogates never reach a written text. Lists of words and how common a word is in source code ship
with the package as data.
"""

import gzip
import html
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any


def word_set(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_lists()[name].split())


def word_table(name: str) -> dict[str, str]:
    """A table of names and their meanings."""
    return dict(_lists()[name])


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "word_lists.toml").read_text("utf-8"))


UNKNOWN_BUCKET = 9


def word_bucket(word: str) -> int:
    """k where about one source file in 2**k holds the word; an unknown one counts as rather rare."""
    return _buckets().get(word, UNKNOWN_BUCKET)


def frequent_words(*, rarest: int) -> list[str]:
    """The words that at least one source file in `2 ** rarest` holds."""
    return [word for word, bucket in _buckets().items() if bucket <= rarest]


@cache
def _buckets() -> dict[str, int]:
    table = gzip.decompress((files(__package__) / "word_frequencies.txt.gz").read_bytes()).decode()
    buckets = {}
    for line in table.splitlines():
        bucket, *words = line.split(" ")
        buckets.update(dict.fromkeys(words, int(bucket)))
    return buckets


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


def make_printable(text: str) -> str:
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


def clip_text(text: str, limit: int) -> str:
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


def make_sentence(text: str) -> str:
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
            text = clip_text(part, limit)
        elif len(text) + 1 + len(part) <= limit:
            text = f"{text} {part}"
    return text


_BREAK = re.compile(
    r"[.!?][\"')\]\u201d]*\s+(?=[\"'(\[\u201c]?[A-Z0-9\u00c0-\u024f]|[a-z]+[_A-Z(.]\w|[^\x00-\u024f])|[\u3002\uff01\uff1f]"
)
_NEVER_ENDS = word_set("never_ends")
_BEFORE_NUMBERS = frozenset(("no", "max", "min", "pos", "ed", "al"))
_NOTE_TO_SELF = re.compile(r"(?:todo|fixme|xxx|hack)\b|(?:optimi[sz]e|perf|bug|idea)\s?:|copyright\b|\(c\) \d", re.I)
# Its target was a link, which is left out.
_POINTS = re.compile(r".*\b(?:see|visit|check out|refer to)(?: also)?\W*$", re.I)
_LAST_WORD = re.compile(r"[\w.]+$")


def split_sentences(paragraph: str, *, limit: int = 8) -> list[str]:
    """The first `limit` sentences of a one-line paragraph."""
    found: list[str] = []
    start = 0
    for match in _BREAK.finditer(paragraph):
        if len(found) == limit:
            return found
        is_number = paragraph[start : match.start()].strip().isdigit()
        if not is_number and not _is_abbreviation(paragraph, match.start()):
            found.append(paragraph[start : match.end()].strip())
            start = match.end()
    tail = paragraph[start:].strip()
    if tail and len(found) < limit:
        found.append(tail)
    return found


def is_aside(text: str) -> bool:
    """Whether a sentence is a note of its author's to himself, or points to what is left out."""
    return bool(_NOTE_TO_SELF.match(text) or _POINTS.match(text))


def _is_abbreviation(text: str, stop: int) -> bool:
    match = _LAST_WORD.search(text, max(0, stop - 16), stop) if text[stop] == "." else None
    word = match[0].lower() if match else ""
    if word in _BEFORE_NUMBERS:
        # "a number. No. 5": `no` ends a sentence unless a number follows.
        return text[stop + 1 : stop + 3].strip().isdigit()
    is_initial = len(word) == 1 and word.isalpha() and word not in "aixyznk"
    return word in _NEVER_ENDS or (is_initial and text[max(0, stop - 2) : stop - 1] in ("", " "))


_MARKS = re.compile(r"[`*<&{\[|_$\\]|://")
_ROLE = re.compile(r":(?:[a-zA-Z][\w+.-]*:){1,2}`([^`]+)`")
_LINK_TARGET = re.compile(r"`((?:[^`<>\s]|\s++(?=[^`<>\s]))++|\s)\s*+<[^`<>]*>`_{0,2}")
_LITERAL = re.compile(r"(`{1,3})([^`]+)\1_{0,2}")
_IMAGE = re.compile(r"!\[[^\]]{0,1000}+\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_FOOTNOTE = re.compile(r"\s?\[(?:#\w{0,24}|\w{1,24}|\d+|\*)\]_|\s?\[\^\w+\]")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]{1,400}?)(?<=[^\s*\\])\1(?![\w*])")
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
_URL = re.compile(
    r"(?:(?<!\s)\s++(?:also|at|by|and|from|in|is|of|on|or|the|to|url|via|with):?){0,8}+\s?[(<]?(?:https?|ftp)://[^\s)>\]]+?[)>]?(?=[.,;]?\s*$|[.;]\s)"
    r"|\s?\(?(?:https?|ftp)://[^\s)>\]]+\)?",
    re.I,
)
_EMPTY_BRACKETS = re.compile(r"\s?[(\[]\s*[)\]]")
_SPACE_BEFORE = re.compile(r"(?:(?<!\s)|(?<=[,;:.!?)]\s))\s++([,;:.!?)](?:\s|$))")


def remove_markup(text: str) -> str:
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
    # The brackets of a call or a type stay.
    text = _EMPTY_BRACKETS.sub(lambda match: match[0] if match[0] in ("()", "[]") else "", text)
    return _SPACE.sub(" ", _SPACE_BEFORE.sub(r"\1", text)).strip()


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
