"""The blocks of a text that people read: its headings, paragraphs and list entries.

`markdown-it-py` tells them apart. What reStructuredText, RDoc and plain text write
otherwise is first written as Markdown: titles' underlines, directives, literal
blocks. Code, tables, comments and targets of links are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from codesum_pipeline.summaries.documentation.plain import printable_lines

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_RULE = re.compile(r"([^\w\s])\1{2,}")
_FENCE = re.compile(r"(?:```|~~~)[^`]*$")
_LEFT_OUT = re.compile(r"\||\+[-=+]+\+|=+(?:\s+=+)+$|:{3,}|(?:>\s*)?\[!\w+\]$")
# What is set in below these goes with them: directives, admonitions, fields.
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)|!!!\s|:\w[^:`]*:(?:\s|$)")
# In code also epytext's fields and Google's sections.
_SECTION = re.compile(
    r"@\w+\b[^:]*:\s|[:@](?:param|type|returns?|rtype|raises?)\b|(?:Examples?|Usage|See also|Todo|Notes?|Warnings?)\s*:"
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


@dataclass(frozen=True, slots=True)
class Block:
    """One block, its lines and its inline markup as written."""

    kind: BlockKind
    text: str


def read_blocks(text: str, *, in_code: bool = False) -> Iterator[Block]:
    """The blocks in their order; where a text stands `in_code`, quotes and what is set in are code, too."""
    depth: Counter[str] = Counter()
    for token in _markdown().parse("\n".join(_as_markdown(text, in_code=in_code))):
        depth[token.tag] += token.nesting
        is_quoted = depth["blockquote"] > (0 if in_code else 1)
        if token.type == "inline" and not (is_quoted or depth["table"]):
            kind = BlockKind.ITEM if depth["li"] else BlockKind.PARAGRAPH
            yield Block(BlockKind.HEADING if any(depth[tag] for tag in _HEADINGS) else kind, token.content)
        elif token.type == "html_block" and (tag := token.content.lstrip()[:12].lower()).startswith(_PROSE_TAGS):
            yield Block(BlockKind.HEADING if tag[1] == "h" else BlockKind.PARAGRAPH, token.content)


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader


def is_section(title: str) -> bool:
    """Whether a title stands above what parameters, results or errors are."""
    return bool(_SECTION.match(f"{title.strip('*: ')}:"))


def _as_markdown(text: str, *, in_code: bool) -> Iterator[str]:
    """The lines as Markdown has them; what is left out is an empty line."""
    fence, left_out, is_below, height, is_set_in = "", -1, False, 0, False
    for line in printable_lines(text):
        told, stripped, indent = line, line.strip(), len(line) - len(line.lstrip())
        is_rule = bool(_RULE.fullmatch(stripped)) and not (stripped[0] in "`~" and len(stripped) < 4)
        is_below = is_below and bool(stripped)
        if fence or (_FENCE.match(stripped) and not (is_rule and height == 1)):
            fence = "" if fence and stripped.startswith(fence) else fence or stripped[:3]
            is_rule = True
        elif left_out >= 0 and (not stripped or indent > left_out or is_below):
            told = ""
        elif _DIRECTIVE.match(stripped) or (in_code and _SECTION.match(stripped)):
            told, left_out, is_below = "", indent, stripped[0] not in ".!"
        elif is_rule or _LEFT_OUT.match(stripped):
            told, left_out = "---" if is_rule and height == 1 else "", -1
        elif stripped.endswith("::"):
            told, left_out = line.rstrip()[:-1], indent
        else:
            left_out, is_bullet = -1, in_code and bool(_BULLET.match(stripped))
            is_set_in = in_code and indent >= 2 and (is_set_in or not height) and not is_bullet
            told = stripped if is_bullet else f"    {stripped}" if is_set_in else line
        height = 0 if is_rule or not told.strip() else height + 1
        yield told
