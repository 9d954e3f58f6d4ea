"""Markdown as safe HTML: raw HTML is escaped, places become links, other links become text, diagrams are drawn."""

import re
from collections.abc import Callable, MutableMapping, Sequence
from html import escape
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from codesum_pipeline.model.printable import clean

# `path`, `path:line` or `path:first-last`.
_PLACE = re.compile(r"(?P<path>.+?)(?::\d+(?:[-–]\d+)?)?")
# The same in a sentence, where a place must have a line.
_PLACE_IN_TEXT = re.compile(r"(?<![\w/.:@+~-])(?P<path>[\w.@+~/-]++):\d{1,9}(?:[-–]\d{1,9})?(?![\w/])")
_BEHIND_LINK = "behind link"

# Gives the address of a path's page, with its lines where a place has some; None where there is no page.
Link = Callable[[str, str], str | None]
# Draws a diagram in Mermaid's language as HTML; empty for diagrams of others.
Draw = Callable[[str], str]


def as_html(text: str, link: Link, draw: Draw = lambda _: "") -> str:
    """HTML that is safe in a page: whatever the text holds, the result has only our own tags and links to our pages."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    renderer, rules = RendererHTML(), _Rules(link, draw)
    for name in ("text", "code_inline", "link_open", "link_close", "fence"):
        renderer.rules[name] = getattr(rules, name)
    tokens = reader.parse(clean(text))
    for token in tokens:
        # The alignment of a column would be a style, which our pages forbid.
        token.attrs.pop("style", None)
    return renderer.render(tokens, reader.options, {})


def plain_as_html(text: str, link: Link) -> str:
    """A plain text as HTML, with its places as links."""
    return _with_places(clean(text), link)


class _Rules:
    """Renders the tokens that may become links; methods have the names of the tokens' kinds."""

    def __init__(self, link: Link, draw: Draw) -> None:
        self._link = link
        self._draw = draw

    def text(self, tokens: Sequence[Token], at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        said = tokens[at].content
        return escape(said) if _BEHIND_LINK in env else _with_places(said, self._link)

    def code_inline(self, tokens: Sequence[Token], at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        said = tokens[at].content
        shown = f"<code>{escape(said)}</code>"
        return shown if _BEHIND_LINK in env else _linked(said, shown, self._link)

    def link_open(self, tokens: Sequence[Token], at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        target = unquote(str(tokens[at].attrs.get("href", "")))
        ours = _address(target, self._link)
        label = tokens[at + 1].content if at + 1 < len(tokens) else ""
        env[_BEHIND_LINK] = "</a>" if ours else "" if label == target else f" ({escape(target)})"
        return f'<a href="{escape(ours)}">' if ours else ""

    def link_close(self, _tokens: Sequence[Token], _at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        return str(env.pop(_BEHIND_LINK, ""))

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        is_diagram = tokens[at].info.strip() == "mermaid"
        drawn = self._draw(tokens[at].content) if is_diagram else ""
        return drawn or RendererHTML().fence(tokens, at, options, env)


def _with_places(text: str, link: Link) -> str:
    shown, end = [], 0
    for found in _PLACE_IN_TEXT.finditer(text):
        shown += [escape(text[end : found.start()]), _linked(found[0], escape(found[0]), link)]
        end = found.end()
    return "".join([*shown, escape(text[end:])])


def _linked(said: str, shown: str, link: Link) -> str:
    address = _address(said, link)
    return f'<a href="{escape(address)}">{shown}</a>' if address else shown


def _address(said: str, link: Link) -> str | None:
    found = _PLACE.fullmatch(said)
    return link(found["path"], said.replace("–", "-")) if found else None
