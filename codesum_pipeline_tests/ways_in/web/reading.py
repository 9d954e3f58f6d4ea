"""What a browser makes of a page: its elements, attributes and text."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

import httpx


@dataclass
class Shown:
    """Elements with their attributes, and the text without tags."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""

    @property
    def links(self) -> list[str]:
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]


class _Reader(HTMLParser):
    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self.shown = shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shown.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.shown.text += data


def shown(html: str) -> Shown:
    found = Shown()
    _Reader(found).feed(html)
    return found


def get(site: str, at: str, /, **query: Any) -> httpx.Response:
    return httpx.get(f"{site}{at}", params=query or None, timeout=60)


def page(site: str, at: str, /, **query: Any) -> Shown:
    """A page that there is."""
    answer = get(site, at, **query)
    assert answer.status_code == 200, answer.text
    return shown(answer.text)


def hits(site: str, /, **query: Any) -> list[str]:
    """Where the hits of a search stand, best first."""
    answer = get(site, "/hits", **query)
    assert answer.status_code == 200, answer.text
    places = re.findall(r'<p class="place">(.*)</p>', answer.text)
    return [unescape(re.sub("</?b>", "", place)) for place in places]
