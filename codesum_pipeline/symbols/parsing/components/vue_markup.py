"""The markup of Vue: directives with expressions, and `{{ }}`."""

import re
from collections.abc import Container, Iterator

from tree_sitter import Node

from codesum_pipeline.symbols.parsing.components.component_blocks import attributes_of, name_of_tag, tag_of
from codesum_pipeline.symbols.parsing.components.markup_code import (
    MarkupCode,
    MarkupReader,
    Names,
    names_in,
    with_names,
)

_LOOP = re.compile(r"(.*?)\s(?:in|of)\s(.*)", re.DOTALL)
_END_OF_NAME = re.compile(r"[:.=\s]")
_ELEMENTS = ("element", "template_element")
# The directives that Vue brings along; each other one is a variable of the script.
_OWN = frozenset((
    "v-text", "v-html", "v-show", "v-if", "v-else", "v-else-if", "v-for", "v-on", "v-bind", "v-model", "v-slot",
    "v-pre", "v-once", "v-memo", "v-cloak",
))  # fmt: skip
_EVENT_CODE = re.compile(r"\$emit\(\s*[\"'`]([\w:.-]+)[\"'`]")
_HTML_SLOT = "slot"


def camel_case(name: str) -> str:
    """`user-card` as scripts write it: `userCard`."""
    first, *others = name.split("-")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


class VueReader(MarkupReader):
    """Reads a template of Vue; `imported` are the names that the script binds to components."""

    def __init__(self, source: bytes, imported: Container[str]) -> None:
        super().__init__(source)
        self._imported = imported

    def read(self, template: Node) -> MarkupCode:
        """What the template shows."""
        waiting: list[tuple[Node, Names]] = [(template, ())]
        while waiting:
            node, names = waiting.pop()
            if node.type == "interpolation":
                for code in node.named_children:
                    self._found.add_expression(self._text(code), names)
            elif node.type in _ELEMENTS:
                names = self._read_element(node, names)
            if node.named_child_count and node.type != "interpolation":
                waiting += [(child, names) for child in reversed(node.named_children)]
        return self._found

    def _read_element(self, element: Node, names: Names) -> Names:
        """Take in the tag of an element; the names that are bound in it."""
        tag = tag_of(element)
        if tag is None:
            return names
        directives = [(self._text(child), child) for child in tag.named_children if child.type == "directive_attribute"]
        for written, node in directives:
            names = with_names(names, self._bound(written, self._attribute(node) or ""))
        self._read_name(element, name_of_tag(tag, self._source), names)
        for written, node in directives:
            self._read_directive(node, written, names)
        return names

    def _bound(self, written: str, value: str) -> Iterator[str]:
        if written.startswith("v-for"):
            if loop := _LOOP.match(value):
                yield from names_in(loop[1])
        elif written.startswith(("v-slot", "#", "slot-scope")):
            yield from names_in(value)

    def _read_name(self, element: Node, name: str, names: Names) -> None:
        if name == _HTML_SLOT:
            self._found.add_slot(attributes_of(element, self._source).get("name", ""), element.start_byte)
            return
        camel = camel_case(name)
        pascal = camel[:1].upper() + camel[1:]
        known = next((one for one in (name, pascal, camel) if one in self._imported), None)
        if known is not None:
            self._found.add_component(known, names)
        elif "-" in name or "." in name or name[:1].isupper():
            self._found.add_component(name if "." in name else pascal, names)

    def _read_directive(self, node: Node, written: str, names: Names) -> None:
        name, value = _END_OF_NAME.split(written, maxsplit=1)[0], self._attribute(node)
        if name.startswith("v-") and name not in _OWN:
            self._found.add_expression(camel_case(name), names)
        if value is None or written.startswith(("v-slot", "#")):
            return
        for event in _EVENT_CODE.findall(value):
            self._found.events.setdefault(event, node.start_byte)
        if written.startswith(("@", "v-on")):
            self._found.add_handler(value, with_names(names, ("$event",)))
        elif name == "v-for":
            loop = _LOOP.match(value)
            self._found.add_expression(loop[2] if loop else value, names)
        else:
            self._found.add_expression(value, names)
