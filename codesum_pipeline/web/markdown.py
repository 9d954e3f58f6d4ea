"""The Markdown of an overview as HTML: no HTML of others, places as links, its diagram as a list."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# `path:line`, or a path alone.
_PLACE = re.compile(r"(?P<path>.+?)(?::\d+)?")
_BOX = re.compile(r'^  (p\d+)\["(.*)"\]$', re.MULTILINE)
_ARROW = re.compile(r"^  (p\d+) (<?)--> (p\d+)$", re.MULTILINE)
_NUMBERED = re.compile(r"#(\d+);")

# The address of a path's page, with its line where one is said; None for what has no page.
Link = Callable[[str, str], str | None]


def as_html(text: str, link: Link) -> str:
    """Safe to put into a page as it is: whatever the text holds, only our own tags are in the result."""
    reader = MarkdownIt("commonmark", {"html": False}).disable("image")

    def code_inline(self: RendererHTML, tokens: Sequence[Token], place: int, *_: Any) -> str:
        said = tokens[place].content
        path = _PLACE.fullmatch(said)
        address = link(path["path"], said) if path else None
        shown = f"<code>{escape(said)}</code>"
        return f'<a href="{escape(address)}">{shown}</a>' if address else shown

    def fence(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        if tokens[place].info == "mermaid":
            return _arrows(tokens[place].content)
        return str(RendererHTML.fence(self, tokens, place, options, env))

    reader.add_render_rule("code_inline", code_inline)
    reader.add_render_rule("fence", fence)
    return str(reader.render(text))


def _arrows(diagram: str) -> str:
    """What uses what, a line for each that uses something."""
    names = {box: _NUMBERED.sub(lambda found: chr(int(found[1])), name) for box, name in _BOX.findall(diagram)}
    uses: dict[str, list[str]] = {}
    for source, both, target in _ARROW.findall(diagram):
        uses.setdefault(source, []).append(target)
        if both:
            uses.setdefault(target, []).append(source)
    rows = [
        f"<li><b>{escape(names.get(source, source))}</b> → "
        f"{', '.join(escape(names.get(target, target)) for target in targets)}</li>"
        for source, targets in uses.items()
    ]
    return f'<ul class="arrows" aria-label="What uses what">{"".join(rows)}</ul>\n' if rows else ""
