"""The markup of Svelte: expressions in braces, blocks, and directives."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.symbols.parsing.components.component_blocks import (
    attributes_of,
    name_of_tag,
    nodes_below,
    tag_of,
)
from codesum_pipeline.symbols.parsing.components.markup_code import (
    MarkupCode,
    MarkupReader,
    Names,
    names_in,
    with_names,
)

_CODE = "svelte_raw_text"
_AWAITED = re.compile(r"\s(?:then|catch)\s")
# `use:action`, `transition:fade|local`: the name of a function.
_ACTION = re.compile(r"(?:use|transition|in|out|animate):([\w$.]+)")
_EVENT = re.compile(r"on:([\w:-]+)")
_BOUND = re.compile(r"let:([\w$]+)")
# Their first child says what they are about, and the names that it binds are those of all children.
_BLOCKS = ("each_statement", "await_statement", "snippet_statement", "then_block", "catch_block")
_STARTS = ("each_start", "await_start", "snippet_start", "then_start", "catch_start")
_RAW = ("script_element", "style_element", "comment")


class SvelteReader(MarkupReader):
    """Reads the markup of Svelte."""

    def read(self, markup: Sequence[Node]) -> MarkupCode:
        """What the markup shows."""
        snippets = [self._text(node) for top in markup for node in nodes_below(top) if node.type == "snippet_name"]
        names = with_names((), snippets)
        waiting: list[tuple[Node, Names]] = [(node, names) for node in reversed(markup)]
        while waiting:
            node, names = waiting.pop()
            if node.type == _CODE:
                self._found.add_expression(self._text(node), names)
            elif node.type in _RAW:
                continue
            elif node.type in _STARTS:
                self._read_start(node, names)
            elif node.type == "attribute":
                self._read_attribute(node, names)
                waiting += [(child, names) for child in reversed(node.named_children)]
            else:
                if node.type == "element":
                    self._read_name(node, names)
                names = with_names(names, self._bound_in(node))
                waiting += [(child, names) for child in reversed(node.named_children)]
        return self._found

    def _bound_in(self, node: Node) -> Iterator[str]:
        """The names that a node binds for all that is in it."""
        if node.type in _BLOCKS and node.named_children:
            codes = self._codes(node.named_children[0])
            if node.type == "each_statement":
                yield from names_in(" ".join(codes[1:]))
            elif node.type == "await_statement":
                yield from names_in(" ".join(_AWAITED.split(" ".join(codes), maxsplit=1)[1:]))
            else:
                yield from names_in(" ".join(codes))
        elif node.type == "element" and (tag := tag_of(node)) is not None:
            for child in tag.named_children:
                written = self._text(child)
                if bound := _BOUND.match(written):
                    yield from names_in(written.partition("=")[2] or bound[1])
        for child in node.named_children:
            if child.type == "const_tag":
                yield from names_in(self._text(child).partition("=")[0].removeprefix("{@const"))

    def _codes(self, node: Node) -> list[str]:
        return [self._text(child) for child in node.named_children if child.type == _CODE]

    def _read_start(self, start: Node, names: Names) -> None:
        codes = self._codes(start)
        if start.type == "each_start":
            self._found.add_expression("".join(codes[:1]), names)
        elif start.type == "await_start":
            self._found.add_expression(_AWAITED.split(" ".join(codes), maxsplit=1)[0], names)

    def _read_name(self, element: Node, names: Names) -> None:
        tag = tag_of(element)
        name = name_of_tag(tag, self._source) if tag is not None else ""
        if name == "slot":
            self._found.add_slot(attributes_of(element, self._source).get("name", ""), element.start_byte)
        elif name[:1].isupper() or "." in name:
            self._found.add_component(name, names)

    def _read_attribute(self, attribute: Node, names: Names) -> None:
        written = self._text(attribute)
        if action := _ACTION.match(written):
            self._found.add_expression(action[1], names)
        elif (event := _EVENT.fullmatch(written)) is not None:
            # Without a handler, who uses the component gets the event.
            self._found.events.setdefault(event[1], attribute.start_byte)
