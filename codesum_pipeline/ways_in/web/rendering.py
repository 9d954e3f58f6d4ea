"""Pages from templates, Markdown as safe HTML, and the diagram of an overview as SVG.

All values are escaped, but for HTML that this room made. In Markdown raw HTML is escaped, places become links, other
links become text, diagrams are drawn. A diagram has boxes in layers, with arrows from left to right: layers are the
topological generations of the graph whose cycles are merged to one node, and an arrow over several layers has a place
in each of them, so that it runs between the boxes.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import unquote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from msgspec import Struct
from starlette.responses import HTMLResponse

from codesum_pipeline.answers.agent_tools.constants import CONSTANT
from codesum_pipeline.answers.agent_tools.graph_role import ROLE_FACTS
from codesum_pipeline.answers.agent_tools.read_tool import DEFAULT_LINES
from codesum_pipeline.answers.agent_tools.relations import Relation
from codesum_pipeline.answers.agent_tools.surroundings import USERS_FACTS
from codesum_pipeline.answers.agent_tools.tool_answers import DocumentRow
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line

_PLURALS = {"function": "functions", "class": "classes", "file": "files", "module": "modules"}
_HEADINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

# The name of the person for whom a page is made; empty where nobody has signed in.
SIGNED_IN_AS: ContextVar[str] = ContextVar("signed in as", default="")


def respond_with(
    template: str, *, code: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> HTMLResponse:
    return HTMLResponse(render_template(template, **values), code, headers=headers)


def render_template(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def link_to(path: str, /, **query: object) -> str:
    """A link within this server; empty values are left out."""
    kept = [(name, value) for name, value in query.items() if value not in ("", None, [])]
    # Names of repositories may hold bytes that are no UTF-8.
    encoded = urlencode(kept, doseq=True, errors="surrogateescape")
    return f"{path}?{encoded}" if encoded else path


def document_address(row: DocumentRow) -> str:
    """The page of a document; of a constant, which has none, that of its users."""
    if row.kind == CONSTANT:
        return link_to("/related", repo=row.repo, id=row.id, relation=Relation.REFERENCED_BY.value)
    return link_to("/document", repo=row.repo, id=row.id)


def line_address(row: DocumentRow, line: int) -> str:
    """The address of a line: on the document's page where it shows the line, else on a page that begins there."""
    is_near = line < (row.start_line or 1) + DEFAULT_LINES
    page = document_address(row) if is_near else link_to("/document", repo=row.repo, id=f"{row.path}:{line}")
    return f"{page}#L{line}"


def title_of(row: DocumentRow) -> str:
    """The name of a definition, or the path of a file or folder."""
    name = without_suffix(row.id).partition(SEPARATOR)[2].replace(SEPARATOR, ".")
    return one_line(name) or ("the whole repository" if row.id == "." else one_line(row.path))


def text_without_title(row: DocumentRow) -> str:
    """The text of a row without the name."""
    return re.sub(rf"^{re.escape(title_of(row))}(: |$)", "", row.text)


def folder_name(row: DocumentRow) -> str:
    """The last name of a folder, for a list below its parent."""
    return title_of(row).rstrip("/").rpartition("/")[2] + ("" if row.id == "." else "/")


def levels_counted(levels: Mapping[str, int]) -> str:
    """`3 functions, 1 class`; levels without documents are left out."""
    return ", ".join(
        f"{count:,} {level if count == 1 else _PLURALS[level]}" for level, count in levels.items() if count
    )


def without_lead(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts of a document without its summary, signature, role, and users, whom the page lists."""
    shown = {"summary", "signature", *ROLE_FACTS, *USERS_FACTS}
    return {name: value for name, value in facts.items() if name not in shown}


def role_lines(facts: Mapping[str, str]) -> list[str]:
    """The lines of a document's role: `Used by Shop.pay: Takes the money`."""
    return [f"{name.capitalize()} {facts[name]}" for name in ROLE_FACTS if name in facts]


def format_usd(amount: float) -> str:
    """Dollars, with as many digits as a small sum needs."""
    return f"${amount:,.2f}" if amount >= 0.1 or not amount else f"${amount:,.4f}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("codesum_pipeline.ways_in.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": clean_text,
        "one_line": one_line,
        "title": title_of,
        "without_title": text_without_title,
        "relation": lambda name: _HEADINGS.get(name, name),
        "folder_name": folder_name,
        "levels": levels_counted,
        "without_lead": without_lead,
        "role_lines": role_lines,
        "number": lambda number: f"{number:,}",
        "usd": format_usd,
    }
    environment.globals |= {"signed_in_as": SIGNED_IN_AS.get}
    environment.globals |= {"address": link_to, "document_address": document_address, "line_address": line_address}
    return environment


# `path`, `path:line` or `path:first-last`.
_PLACE = re.compile(r"(?P<path>.+?)(?::\d+(?:[-–]\d+)?)?")
# The same in a sentence, where a place must have a line.
_PLACE_IN_TEXT = re.compile(r"(?<![\w/.:@+~-])(?P<path>[\w.@+~/-]++):\d{1,9}(?:[-–]\d{1,9})?(?![\w/])")
_BEHIND_LINK = "behind link"

# Gives the address of a path's page, with its lines where a place has some; None if there is no page.
Link = Callable[[str, str], str | None]
# Draws a diagram in Mermaid's language as HTML; empty for diagrams of others.
Draw = Callable[[str], str]


def as_html(text: str, link: Link, draw: Draw = lambda _: "") -> str:
    """HTML that is safe in a page: whatever the text holds, the result has only our own tags and links to our pages."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    renderer, rules = RendererHTML(), _Rules(link, draw)
    for name in ("text", "code_inline", "link_open", "link_close", "fence"):
        renderer.rules[name] = getattr(rules, name)
    tokens = reader.parse(clean_text(text))
    for token in tokens:
        # The alignment of a column would be a style, which our pages forbid.
        token.attrs.pop("style", None)
    return renderer.render(tokens, reader.options, {})


def plain_as_html(text: str, link: Link) -> str:
    """A plain text as HTML, with its places as links."""
    return _with_places(clean_text(text), link)


class _Rules:
    """Renders the tokens that may become links; methods have the names of the tokens' kinds."""

    def __init__(self, link: Link, draw: Draw) -> None:
        self._link = link
        self._draw = draw

    def text(self, tokens: Sequence[Token], at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        content = tokens[at].content
        return escape(content) if _BEHIND_LINK in env else _with_places(content, self._link)

    def code_inline(self, tokens: Sequence[Token], at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        code = tokens[at].content
        shown = f"<code>{escape(code)}</code>"
        return shown if _BEHIND_LINK in env else _linked(code, shown, self._link)

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


def _linked(place: str, shown: str, link: Link) -> str:
    target = _address(place, link)
    return f'<a href="{escape(target)}">{shown}</a>' if target else shown


def _address(place: str, link: Link) -> str | None:
    found = _PLACE.fullmatch(place)
    return link(found["path"], place.replace("–", "-")) if found else None


_BOX = re.compile(r'^  (p\d+)\["(.*)"\]$', re.MULTILINE)
_ARROW = re.compile(r"^  (p\d+) (<?)--> (p\d+)$", re.MULTILINE)
_NUMBERED = re.compile(r"#(\d+);")

_BOX_HEIGHT, _ROW, _GAP, _EDGE = 30, 46, 56, 8
_CHARACTER, _PADDING = 7.4, 22
# The order of twelve boxes is stable after so many rounds.
_ROUNDS = 8

# A box, or the place of an arrow in a layer.
Node = str | tuple[str, str, int]


class Box(Struct, frozen=True):
    """A box's name, upper left corner and size."""

    name: str
    x: float
    y: float
    width: float
    height: float = _BOX_HEIGHT


class Arrow(Struct, frozen=True):
    """An SVG path from one box to another; `both` says that each uses the other."""

    source: str
    target: str
    both: bool
    path: str


def draw_diagram(mermaid: str) -> str:
    """A diagram of an overview as SVG with a list behind it; empty for any other diagram."""
    names = {box: _NUMBERED.sub(lambda found: chr(int(found[1])), name) for box, name in _BOX.findall(mermaid)}
    pairs = [(source, target, bool(both)) for source, both, target in _ARROW.findall(mermaid)]
    if not pairs or any(box not in names for source, target, _ in pairs for box in (source, target)):
        return ""
    layers, ways = _layers(pairs)
    # Each layer is ordered by the places of its neighbours, in turns from the left and from the right.
    beside: defaultdict[Node, list[Node]] = defaultdict(list)
    for left, right in (step for way in ways for step in pairwise(way)):
        beside[left].append(right)
        beside[right].append(left)
    for turn in range(_ROUNDS):
        for layer in layers if turn % 2 == 0 else layers[::-1]:
            place = {node: at - len(each) / 2 for each in layers for at, node in enumerate(each)}
            middle = {node: fmean(place[other] for other in beside[node]) for node in layer}
            layer[:] = [node for _, _, node in sorted((middle[node], str(node), node) for node in layer)]
    corners, widths, width = _corners(layers, names)
    boxes = [Box(names[box], *corners[box], widths[box]) for box in names if box in corners]
    arrows = [
        Arrow(names[source], names[target], both, _path([(*corners[node], widths[node]) for node in way]))
        for (source, target, both), way in zip(pairs, ways, strict=True)
    ]
    height = max(map(len, layers)) * _ROW - _ROW + _BOX_HEIGHT + 2 * _EDGE
    return render_template("diagram.html", boxes=boxes, arrows=arrows, width=width, height=height)


def _layers(pairs: Sequence[tuple[str, str, bool]]) -> tuple[list[list[Node]], list[list[Node]]]:
    """The nodes of each layer, and the nodes of each arrow."""
    # Importing takes half a second, for which only overviews wait.
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((source, target) for source, target, _ in pairs)
    graph.add_edges_from((target, source) for source, target, both in pairs if both)
    merged = nx.condensation(graph)
    layers: list[list[Node]] = [
        sorted(box for each in generation for box in merged.nodes[each]["members"])
        for generation in nx.topological_generations(merged)
    ]
    level = {box: depth for depth, boxes in enumerate(layers) for box in boxes}
    ways: list[list[Node]] = []
    for source, target, _ in pairs:
        between: list[Node] = [(source, target, depth) for depth in range(level[source] + 1, level[target])]
        for depth, node in enumerate(between, start=level[source] + 1):
            layers[depth].append(node)
        ways.append([source, *between, target])
    return layers, ways


def _corners(
    layers: Sequence[Sequence[Node]], names: Mapping[str, str]
) -> tuple[dict[Node, tuple[float, float]], dict[Node, float], float]:
    """The upper left corner and the width of each node, and the whole width."""
    corners: dict[Node, tuple[float, float]] = {}
    widths: dict[Node, float] = {}
    x, tallest = float(_EDGE), max(map(len, layers))
    for layer in layers:
        width = max(len(names[node]) * _CHARACTER + _PADDING for node in layer if isinstance(node, str))
        for at, node in enumerate(layer):
            corners[node] = (x, _EDGE + (at + (tallest - len(layer)) / 2) * _ROW)
            widths[node] = width
        x += width + _GAP
    return corners, widths, x - _GAP + _EDGE


def _path(way: Sequence[tuple[float, float, float]]) -> str:
    """From the right side of the first node to the left one of the last; within a layer, around its right side."""
    half = _BOX_HEIGHT / 2
    (x, y, width), (last_x, last_y, _) = way[0], way[-1]
    parts = [f"M{x + width:.0f} {y + half:.0f}"]
    if x == last_x:
        out = x + width + _GAP * 0.6
        return f"{parts[0]}C{out:.0f} {y + half:.0f} {out:.0f} {last_y + half:.0f} {x + width:.0f} {last_y + half:.0f}"
    for (left, upper, wide), (right, lower, across) in pairwise(way):
        middle = (left + wide + right) / 2
        parts.append(f"C{middle:.0f} {upper + half:.0f} {middle:.0f} {lower + half:.0f} {right:.0f} {lower + half:.0f}")
        if (right, lower) != (last_x, last_y):
            parts.append(f"H{right + across:.0f}")
    return "".join(parts)
