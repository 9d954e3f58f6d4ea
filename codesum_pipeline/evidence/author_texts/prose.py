"""Reads a text: a README's title, headings, lists and opening, or what a docstring says, as plain sentences.

`markdown-it-py` finds headings, paragraphs and list entries. What reStructuredText, RDoc and plain text write
otherwise is first written as Markdown: titles' underlines, directives, literal blocks. Code, tables, comments and
targets of links are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup
from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    is_aside,
    printable_lines,
    split_sentences,
    word_set,
)
from codesum_pipeline.foundation.language_facts.writing_systems import (
    FOREIGN_ENDS,
    HAN,
    HIRAGANA,
    KATAKANA,
    any_of,
    count_letters,
    ends_sentence,
    full_stop_of,
    has_words,
    letters_worth,
    sets_no_blanks,
    without_end,
)

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_RULE = re.compile(r"([^\w\s])\1{2,}")
_FENCE = re.compile(r"(?:```|~~~)[^`]*$")
_LEFT_OUT = re.compile(
    r"\||<?https?://\S+$|(?:import|export)\s[^.]{0,200}\sfrom\s['\"]|\+[-=+]+\+|=+(?:\s+=+)+$|:{3,}|(?:>\s*)?\[!\w+\]$"
)
# Indented lines below these belong to them: directives, admonitions, fields.
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)|!!!\s|:\w[^:`]*:(?:\s|$)")
# In code also epytext's fields and Google's sections.
_SECTION = re.compile(
    r"@\w+\b[^:]*:\s|[:@](?:param|type|returns?|rtype|raises?)\b"
    r"|(?::?call-seq|Examples?|Usage|See also|Todo|Notes?|Warnings?)\s*:"
    r"|(?:Args?|Arguments?|Param(?:eter)?s?|Keyword Arg(?:ument)?s|Kwargs|Returns?|Yields?|Raises|Throws|Exceptions?"
    r"|Attributes|Inputs?|Outputs?|Options|Methods|Members):$",
    re.I,
)
_BULLET = re.compile(r"(?:[-*+\u2022]|\(?\d{1,2}[.)]|#\.)\s+(?=\S)")
_PROSE_TAGS = ("<p>", "<p ", "<h", "<b>", "<em>", "<i>", "<strong>", "<div align")


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"


class Block(Struct, frozen=True):
    """One block, its lines and its inline markup as written."""

    kind: BlockKind
    text: str


def read_blocks(text: str, *, in_code: bool = False) -> Iterator[Block]:
    """The blocks in their order; in documentation of code (`in_code`), quotes and indented lines are code too."""
    lines = list(_as_markdown(text, in_code=in_code))
    if (paragraphs := _only_paragraphs(lines)) is not None:
        yield from (Block(BlockKind.PARAGRAPH, paragraph) for paragraph in paragraphs)
        return
    depth: Counter[str] = Counter()
    for token in _markdown().parse("\n".join(lines)):
        depth[token.tag] += token.nesting
        is_quoted = depth["blockquote"] > (0 if in_code else 1)
        if token.type == "inline" and not (is_quoted or depth["table"]):
            kind = BlockKind.ITEM if depth["li"] else BlockKind.PARAGRAPH
            yield Block(BlockKind.HEADING if any(depth[tag] for tag in _HEADINGS) else kind, token.content)
        elif token.type == "html_block" and (tag := token.content.lstrip()[:12].lower()).startswith(_PROSE_TAGS):
            yield Block(BlockKind.HEADING if tag[1] == "h" else BlockKind.PARAGRAPH, token.content)


def _only_paragraphs(lines: Iterable[str]) -> list[str] | None:
    """The paragraphs where every line begins with a letter, so that none begins another block; None elsewhere."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        stripped = line.strip()
        if not stripped:
            paragraphs.append([])
        elif stripped[0].isalpha() and (paragraphs[-1] or not line.startswith(" ")):
            paragraphs[-1].append(line)
        else:
            return None
    return ["\n".join(one).strip() for one in paragraphs if one]


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    # Its tables of rules are made by the first text, and a second thread would find them half made.
    reader.parse("text")
    return reader


def is_section(title: str) -> bool:
    """Whether a title is that of a section about parameters, results or errors."""
    return bool(_SECTION.match(f"{title.strip('*: ')}:"))


def _as_markdown(text: str, *, in_code: bool) -> Iterator[str]:
    """The lines as Markdown has them; what is left out is an empty line."""
    fence, left_out, is_below, height, is_set_in = "", -1, False, 0, False
    for line in printable_lines(text):
        markdown, stripped, indent = line, line.strip(), len(line) - len(line.lstrip())
        is_rule = bool(_RULE.fullmatch(stripped)) and not (stripped[0] in "`~" and len(stripped) < 4)
        is_below = is_below and bool(stripped)
        if fence or (_FENCE.match(stripped) and not (is_rule and height == 1)):
            fence = "" if fence and stripped.startswith(fence) else fence or stripped[:3]
            is_rule = True
        elif left_out >= 0 and (not stripped or indent > left_out or is_below):
            markdown = ""
        elif _DIRECTIVE.match(stripped) or (in_code and _SECTION.match(stripped)):
            markdown, left_out, is_below = "", indent, stripped[0] not in ".!"
        elif is_rule or _LEFT_OUT.match(stripped):
            markdown, left_out = "---" if is_rule and height == 1 else "", -1
        elif stripped.endswith("::"):
            markdown, left_out = line.rstrip()[:-1], indent
        else:
            left_out, is_bullet = -1, in_code and bool(_BULLET.match(stripped))
            is_set_in = in_code and indent >= 2 and (is_set_in or not height) and not is_bullet
            markdown = stripped if is_bullet else f"    {stripped}" if is_set_in else line
        height = 0 if is_rule or not markdown.strip() else height + 1
        yield markdown


_MAX_LINES = 600
_MAX_CHARS = 60_000
_MAX_PARAGRAPHS = 6
_MAX_BLOCKS = 40
_MIN_PARAGRAPH_CHARS, _MIN_UNSPACED_WORTH, _MIN_SENTENCE_WORTH = 25, 18, 12
# What stands between links to translations: `English | 简体中文`.
_BETWEEN_CHOICES = re.compile("[|\u00b7]")
_MAX_CHOICE_CHARS = 30
_MAX_ITEMS_CHARS = 160
_FRONT_MATTER = re.compile(r"\A\ufeff?\s*(---|\+\+\+)\s*\n(?:.*\n){0,60}?\1\s*(?:\n|$)")
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")
# A short first line that ends without a mark is a title, if the next one opens with a capital.
_TITLE_LINE = re.compile(
    r"\s*+(.{0,58}[^\s.,;:!?(/\u2014-])[^\S\n]*+\n\s*+(?!(?:I|Python|None|True|False)\b)(?=[A-Z](?![A-Z]))"
)
# No title ends with one of these.
_JOINING = word_set("joining_words")


class Prose(Struct, frozen=True):
    """What a reader sees first. `items` are the entries of lists, `sentences` the opening paragraphs'."""

    title: str = ""
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    @property
    def opening(self) -> list[str]:
        """The first two sentences, after the title where they do not begin with it; the title alone without any."""
        title, opening = without_end(self.title).rstrip(":\uff1a"), list(self.sentences[:2])
        if title and not (opening and opening[0].lower().startswith(title.lower()[:24])):
            opening[:1] = [": ".join((title, *opening[:1]))]
        return opening


@lru_cache(maxsize=256)
def read_prose(text: str) -> Prose:
    """Read a document's opening; an empty one gives empty fields."""
    head = "\n".join(_FRONT_MATTER.sub("", text[:_MAX_CHARS], count=1).split("\n")[:_MAX_LINES])
    title = ""
    paragraphs: list[str] = []
    headings: list[str] = []
    items: list[str] = []
    for block in read_blocks(head):
        of_kind = {BlockKind.ITEM: items, BlockKind.HEADING: headings, BlockKind.PARAGRAPH: paragraphs}[block.kind]
        if len(of_kind) >= _MAX_BLOCKS:
            continue
        line = remove_markup(in_one_line(block.text))
        if not any(map(str.isalnum, line)):
            continue
        if block.kind is BlockKind.ITEM:
            items.append(line)
        elif block.kind is BlockKind.HEADING and not (title or paragraphs):
            title = _NUMBER.sub("", line)
        elif block.kind is BlockKind.HEADING:
            headings.append(_NUMBER.sub("", line))
        elif _is_prose(line) and not _is_list_of_names(block.text):
            paragraphs.append(line.rstrip(":\uff1a"))
    found = [one for paragraph in paragraphs[:_MAX_PARAGRAPHS] for one in split_sentences(paragraph, limit=4)]
    opening = [one for one in found if has_words(one) and not is_aside(one)]
    return Prose(title, tuple(opening[:10]), tuple(headings), tuple(items))


def _is_prose(line: str) -> bool:
    worth = letters_worth(line)
    is_sentence = line.endswith(".") and line.count(" ") > 1
    if not line.isascii() and ends_sentence(line):
        is_sentence = line.count(" ") > 1 or worth >= _MIN_SENTENCE_WORTH
    is_long = is_sentence or worth >= (_MIN_UNSPACED_WORTH if sets_no_blanks(line) else _MIN_PARAGRAPH_CHARS)
    choices = [] if line.isascii() else _BETWEEN_CHOICES.split(line)
    is_choice = len(choices) > 1 and max(map(len, choices)) <= _MAX_CHOICE_CHARS
    return is_long and has_words(line) and count_letters(line) > len(line) / 2 and not is_choice


def _is_list_of_names(paragraph: str) -> bool:
    """Whether most lines are one word each, as in a list of patterns or names."""
    lines = paragraph.split("\n")
    return len(lines) > 2 and sum(not has_words(line.strip()) for line in lines) * 2 > len(lines)


_ASIAN = f"{HAN}{HIRAGANA}{KATAKANA}"
_ENDS_PART = "\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f\u300d"
_LINE_END, _LINE_START = f"{_ASIAN}{_ENDS_PART}", f"{_ASIAN}\u300c\uff08A-Za-z"
# No statement begins so.
_JOINS_ON = frozenset("和与與及并並或的を")
# A line that is as long as about thirty signs was broken within its sentence.
_MIN_WRAPPED_WORTH = 66


def in_one_line(text: str) -> str:
    """The lines of a paragraph as one, in which blanks separate what they separate in its script. Where Chinese and
    Japanese lines are short, each is a statement."""
    if text.isascii():
        return " ".join(text.split())
    whole = last = ""
    for line in (" ".join(line.split()) for line in text.split("\n")):
        if whole and line and any_of(_LINE_END).match(whole[-1]) and any_of(_LINE_START).match(line):
            goes_on = whole[-1] in _ENDS_PART or line[0] in _JOINS_ON or letters_worth(last) >= _MIN_WRAPPED_WORTH
            whole = f"{whole}{line}" if goes_on else f"{whole}{full_stop_of(last)}{line}"
        else:
            whole = f"{whole} {line}".strip()
        last = line
    return whole


def sentences_in_code(text: str, language: str) -> tuple[str, ...]:
    """The first sentences of a definition's documentation, up to its first section."""
    found: list[str] = []
    for paragraph in _paragraphs(read_blocks(text, in_code=True))[:4]:
        sentences = split_sentences(remove_markup(paragraph, language), limit=6)
        found.extend(one for one in sentences if any(map(str.isalnum, one)))
    return tuple(found[:8])


def _paragraphs(blocks: Iterable[Block]) -> list[str]:
    """Paragraphs; one that announces a list is completed by it, one that announces code loses its last sentence."""
    paragraphs: list[str] = []
    items: list[str] = []
    for block in blocks:
        if block.kind is BlockKind.ITEM:
            items.append(in_one_line(block.text))
            continue
        paragraphs, items = [*_completed(paragraphs, items)], []
        if block.kind is BlockKind.HEADING and (paragraphs or is_section(block.text)):
            break
        if block.kind is BlockKind.PARAGRAPH:
            paragraphs.extend(_titles_apart(block.text))
    return [*_completed(paragraphs, items)]


def _titles_apart(text: str) -> Iterator[str]:
    """The lines as one, but for short ones at the start that no mark ends and that a capital follows."""
    while (match := _TITLE_LINE.match(text)) and match[1].rpartition(" ")[2].lower() not in _JOINING:
        yield match[1]
        text = text[match.end() :]
    yield in_one_line(text)


_COLONS = (":", "\uff1a")
_ITEM_ENDS = f".;,{FOREIGN_ENDS}\uff1b\uff0c"


def _completed(paragraphs: list[str], items: list[str]) -> Iterator[str]:
    yield from paragraphs[:-1]
    if not paragraphs:
        yield from items
    elif not paragraphs[-1].endswith(_COLONS):
        yield paragraphs[-1]
    elif items:
        yield f"{paragraphs[-1]} {_joined(items)}"
    else:
        bare = paragraphs[-1].rstrip("".join(_COLONS))
        whole = split_sentences(bare)[:-1]
        yield " ".join(whole) if whole or paragraphs[:-1] else bare


def _joined(items: list[str]) -> str:
    """As many entries as fit, at least the first."""
    text = clip_text(items[0], _MAX_ITEMS_CHARS).rstrip(_ITEM_ENDS)
    for item in items[1:]:
        if len(text) + len(item) > _MAX_ITEMS_CHARS:
            break
        text = f"{text}; {item.rstrip(_ITEM_ENDS)}"
    return text
