"""A text is read: a README's title, headings, lists and opening, or what a docstring says, as plain sentences."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from codesum_pipeline.summaries.documentation.blocks import Block, BlockKind, is_section, read_blocks
from codesum_pipeline.summaries.documentation.markup import plain
from codesum_pipeline.summaries.documentation.plain import clip
from codesum_pipeline.summaries.documentation.sentences import is_aside, sentences

_MAX_LINES = 600
_MAX_CHARS = 60_000
_MAX_PARAGRAPHS = 6
_MAX_HEADINGS = 40
_MIN_PARAGRAPH_CHARS = 25
_MAX_ITEMS_CHARS = 160
_FRONT_MATTER = re.compile(r"\A\ufeff?\s*(---|\+\+\+)\s*\n(?:.*\n){0,60}?\1\s*(?:\n|$)")
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")
# A short first line that ends without a mark is a title, if the next one opens with a capital.
_TITLE_LINE = re.compile(
    r"\s*(.{0,58}[^\s.,;:!?(/\u2014-])\s*\n\s*(?!(?:I|Python|None|True|False)\b)(?=[A-Z](?![A-Z]))"
)


@dataclass(frozen=True, slots=True)
class Prose:
    """What a reader sees first. `items` are the entries of lists, `sentences` the opening paragraphs'."""

    title: str = ""
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    @property
    def opening(self) -> list[str]:
        """The first two sentences, after the title where they do not begin with it; the title alone without any."""
        title, told = self.title.rstrip(".:"), list(self.sentences[:2])
        if title and not (told and told[0].lower().startswith(title.lower()[:24])):
            told[:1] = [": ".join((title, *told[:1]))]
        return told


@lru_cache(maxsize=256)
def read_prose(text: str) -> Prose:
    """Read a document's opening; an empty one gives empty fields."""
    head = "\n".join(_FRONT_MATTER.sub("", text[:_MAX_CHARS], count=1).split("\n")[:_MAX_LINES])
    title = ""
    paragraphs: list[str] = []
    headings: list[str] = []
    items: list[str] = []
    for block in read_blocks(head):
        told = plain(" ".join(block.text.split()))
        if not any(map(str.isalnum, told)):
            continue
        if block.kind is BlockKind.ITEM:
            items.append(told)
        elif block.kind is BlockKind.HEADING and not (title or paragraphs):
            title = _NUMBER.sub("", told)
        elif block.kind is BlockKind.HEADING:
            headings.append(_NUMBER.sub("", told))
        elif _is_prose(told):
            paragraphs.append(told.rstrip(":"))
    found = [one for paragraph in paragraphs[:_MAX_PARAGRAPHS] for one in sentences(paragraph, limit=4)]
    told_first = [one for one in found if " " in one and not is_aside(one)]
    return Prose(title, tuple(told_first[:10]), tuple(headings[:_MAX_HEADINGS]), tuple(items[:_MAX_HEADINGS]))


def _is_prose(told: str) -> bool:
    is_long = len(told) >= _MIN_PARAGRAPH_CHARS or (told.endswith(".") and told.count(" ") > 1)
    return is_long and " " in told and sum(map(str.isalpha, told)) > len(told) / 2


def sentences_in_code(text: str) -> tuple[str, ...]:
    """The first sentences of what documents a definition, up to its first section."""
    found: list[str] = []
    for paragraph in _paragraphs(read_blocks(text, in_code=True))[:4]:
        found.extend(one for one in sentences(plain(paragraph), limit=6) if any(map(str.isalnum, one)))
    return tuple(found[:8])


def _paragraphs(blocks: Iterable[Block]) -> list[str]:
    """Paragraphs; one that announces a list is completed by it, one that announces code loses its last sentence."""
    paragraphs: list[str] = []
    items: list[str] = []
    for block in blocks:
        if block.kind is BlockKind.ITEM:
            items.append(" ".join(block.text.split()))
            continue
        paragraphs, items = [*_completed(paragraphs, items)], []
        if block.kind is BlockKind.HEADING and (paragraphs or is_section(block.text)):
            break
        if block.kind is BlockKind.PARAGRAPH:
            paragraphs.extend(_titles_apart(block.text))
    return [*_completed(paragraphs, items)]


def _titles_apart(text: str) -> Iterator[str]:
    """The lines as one, but for short ones at the start that no mark ends and that a capital follows."""
    while match := _TITLE_LINE.match(text):
        yield match[1]
        text = text[match.end() :]
    yield " ".join(text.split())


def _completed(paragraphs: list[str], items: list[str]) -> Iterator[str]:
    yield from paragraphs[:-1]
    if not paragraphs:
        yield from items
    elif not paragraphs[-1].endswith(":"):
        yield paragraphs[-1]
    elif items:
        yield f"{paragraphs[-1]} {_joined(items)}"
    else:
        whole = sentences(paragraphs[-1].rstrip(":"))[:-1]
        yield " ".join(whole) if whole or paragraphs[:-1] else paragraphs[-1].rstrip(":")


def _joined(items: list[str]) -> str:
    """As many entries as fit, at least the first."""
    text = clip(items[0], _MAX_ITEMS_CHARS).rstrip(".;,")
    for item in items[1:]:
        if len(text) + len(item) > _MAX_ITEMS_CHARS:
            break
        text = f"{text}; {item.rstrip('.;,')}"
    return text
