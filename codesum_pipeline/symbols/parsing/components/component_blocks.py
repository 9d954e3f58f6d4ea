"""The parts of a component's file: its scripts, its markup, and what is neither.

The grammar of the language finds them. A script that cannot be read is named in `problems`; the rest of the file is
read without it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from tree_sitter import Node, Parser

from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.outlines.grammars import load_grammar
from codesum_pipeline.symbols.parsing.bounded import NODE_STEPS, WorkBudget, parse_within_bounds
from codesum_pipeline.symbols.parsing.comments import doc_text, is_note

COMPONENT_LANGUAGES = VUE, SVELTE, ASTRO = "vue", "svelte", "astro"
# What `lang` and `type` may say of a script, and the language that reads it.
_LANGUAGES: Mapping[str, str] = {
    **dict.fromkeys(("", "js", "jsx", "mjs", "javascript", "text/javascript", "module", "text/babel"), "javascript"),
    **dict.fromkeys(("ts", "mts", "typescript", "text/typescript"), "typescript"),
    "tsx": "tsx",
}
# Templates in these are HTML with the marks of the component's language.
_MARKUP = ("", "html")
# What has no end is in no block of the grammar.
_OPENED = re.compile(rb"^<script\b[^>]{0,1000}>", re.MULTILINE)
_FENCE_MARK = b"---"
_NESTING = re.compile(rb"(?P<opened><[A-Za-z]|\{)|</|/>|\}")
_OPEN_A_STEP = 20
# What is still to be done says nothing of what is there.
_NOTE = re.compile(r"\W*(?:todo|fixme|xxx|hack)\b|svelte-ignore|html-validate", re.IGNORECASE)
_TAG_NAME = "tag_name"
_OPENING_TAGS = ("start_tag", "self_closing_tag")


class ScriptBlock(Struct, frozen=True):
    """The bytes of a script and the language that reads it. Code `of_module` runs once, other code for each use of the
    component."""

    start: int
    end: int
    language: str
    of_module: bool


class ComponentBlocks:
    """A component's file in parts, found by `read`. `markup` are the nodes that the component shows, `styles` the bytes
    of its styles; `modules` are the scripts in other files, with their lines. `comment` documents the component."""

    def __init__(self, language: str, source: bytes) -> None:
        self._language, self._source = language, source
        self.scripts: list[ScriptBlock] = []
        self.markup: list[Node] = []
        self.styles: list[Span] = []
        self.modules: list[tuple[str, int]] = []
        self.comment: str | None = None
        self.problems: list[str] = []
        self._seen: list[Span] = []
        self._has_template = False

    def read(self, nodes: Sequence[Node]) -> None:
        """Take in the nodes at the top of the file."""
        self.comment = _comment_of(nodes, self._source)
        for node in nodes:
            if node.type == "frontmatter":
                self._read_fenced(node)
            elif node.type == "script_element":
                self._read_script(node)
            elif node.type == "style_element":
                self.styles.append((node.start_byte, node.end_byte))
            elif node.type == "comment":
                self._seen.append((node.start_byte, node.end_byte))
            elif self._language == VUE:
                self._read_block(node)
            else:
                self.markup.append(node)
                self._read_inner(node)
        self.scripts.sort(key=lambda script: script.start)
        self._find_unended()

    def _read_fenced(self, node: Node) -> None:
        code = next((child for child in node.children if child.type == "frontmatter_js_block"), None)
        if not self._source[: node.end_byte].rstrip().endswith(_FENCE_MARK):
            self._tell(node, "the frontmatter is not read: it has no closing ---")
        elif code is not None:
            self.scripts.append(ScriptBlock(code.start_byte, code.end_byte, "typescript", False))

    def _read_block(self, node: Node) -> None:
        """A block of Vue: its template, or one that is read by other tools."""
        if node.type != "template_element" or self._has_template:
            return
        written = attributes_of(node, self._source).get("lang", "")
        self._has_template = True
        if written in _MARKUP:
            self.markup.append(node)
        else:
            self._tell(node, f"the template is not read: lang {shorten_text(written)!r} is not HTML")

    def _read_inner(self, node: Node) -> None:
        """The scripts of a page in its markup, which run in the browser."""
        for inner in nodes_below(node):
            if inner.type == "script_element":
                if self._language == ASTRO:
                    self._read_script(inner)
                else:
                    self._seen.append((inner.start_byte, inner.end_byte))
            elif inner.type == "style_element":
                self.styles.append((inner.start_byte, inner.end_byte))

    def _read_script(self, node: Node) -> None:
        self._seen.append((node.start_byte, node.end_byte))
        attributes = attributes_of(node, self._source)
        written = attributes.get("lang") or attributes.get("type") or ("ts" if self._language == ASTRO else "")
        code = next((child for child in node.children if child.type == "raw_text"), None)
        if "src" in attributes:
            self.modules.append((attributes["src"], node.start_point.row + 1))
            return
        language = _LANGUAGES.get(written)
        if language is None:
            # Data in a page, such as JSON.
            if self._language != ASTRO:
                known = "JavaScript, TypeScript and TSX"
                self._tell(node, f"the script is not read: lang {shorten_text(written)!r} is none of {known}")
            return
        if code is None:
            return
        of_module = "setup" not in attributes if self._language == VUE else self._is_of_module(attributes)
        block = ScriptBlock(code.start_byte, code.end_byte, language, of_module)
        if self._language != ASTRO and any(one.of_module is of_module for one in self.scripts):
            self._tell(node, "a second script of the same kind is not read; move its code into the first one")
            return
        self.scripts.append(block)

    def _is_of_module(self, attributes: Mapping[str, str]) -> bool:
        return self._language == SVELTE and (attributes.get("context") == "module" or "module" in attributes)

    def _tell(self, node: Node, what: str) -> None:
        self.problems.append(f"line {node.start_point.row + 1}: {what}")

    def _find_unended(self) -> None:
        """Name the scripts that have no end."""
        known = sorted([*self._seen, *((node.start_byte, node.end_byte) for node in self.markup)])
        for opened in _OPENED.finditer(self._source):
            place = bisect_right(known, (opened.start(), len(self._source))) - 1
            if place < 0 or known[place][1] <= opened.start():
                line = self._source.count(b"\n", 0, opened.start()) + 1
                self.problems.append(f"line {line}: the script is not read: it has no </script>")
                return


def read_blocks(language: str, source: bytes, budget: WorkBudget) -> ComponentBlocks:
    """The parts of a component's file. Raises `MissingGrammar`, and `TooMuchWork` or `TooCostly` past the budget."""
    budget.spend(_nesting_steps(source))
    root = parse_within_bounds(Parser(load_grammar(language)), source, budget).root_node
    budget.spend(NODE_STEPS * root.descendant_count)
    nodes = [inner for node in root.children for inner in (node.children if node.type == "ERROR" else (node,))]
    blocks = ComponentBlocks(language, source)
    blocks.read(nodes)
    return blocks


def _nesting_steps(source: bytes) -> int:
    """What the grammar takes for what is open at each place, which it does not report: it keeps a list of that."""
    depth = steps = 0
    for mark in _NESTING.finditer(source):
        depth = max(0, depth + (1 if mark["opened"] else -1))
        steps += depth
    return steps // _OPEN_A_STEP


def _comment_of(nodes: Sequence[Node], source: bytes) -> str | None:
    """What documents the component: a comment of Svelte that says `@component`, else the first one before the markup
    that is about the code."""
    texts = [doc_text([source[node.start_byte : node.end_byte].decode()]).strip() for node in _documenting(nodes)]
    marked = next((text for text in texts if text.startswith("@component")), None)
    if marked is not None:
        return marked.removeprefix("@component").strip() or None
    return next((text for text in texts if text and not is_note(text) and not _NOTE.match(text)), None)


def _documenting(nodes: Sequence[Node]) -> Iterator[Node]:
    """The comments of the top level that come before the first markup."""
    for node in nodes:
        if node.type == "comment":
            yield node
        elif node.type == "element":
            return


def attributes_of(element: Node, source: bytes) -> dict[str, str]:
    """The plain attributes of an element, without those whose value is an expression."""
    found: dict[str, str] = {}
    for tag in element.children:
        for attribute in tag.children if tag.type in _OPENING_TAGS else ():
            if attribute.type == "attribute" and attribute.named_children:
                name, *values = attribute.named_children
                found.setdefault(_text(name, source), _text(values[0], source).strip("\"'") if values else "")
    return found


def tag_of(element: Node) -> Node | None:
    """The tag that begins an element."""
    return next((child for child in element.children if child.type in _OPENING_TAGS), None)


def name_of_tag(tag: Node, source: bytes) -> str:
    """The name of an element by its tag."""
    return next((_text(child, source) for child in tag.children if child.type == _TAG_NAME), "")


def nodes_below(node: Node) -> Iterator[Node]:
    """The nodes below one, in source order."""
    waiting = [*reversed(node.named_children)]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += reversed(inner.named_children)


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
