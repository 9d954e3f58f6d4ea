"""The markup of Astro: code in braces that has markup in it."""

from collections.abc import Sequence

from tree_sitter import Node

from codesum_pipeline.symbols.parsing.components.component_blocks import attributes_of, name_of_tag, tag_of
from codesum_pipeline.symbols.parsing.components.markup_code import MarkupCode, MarkupReader

_RAW = ("script_element", "style_element", "comment")
_ATTRIBUTE_CODE = ("attribute_js_expr", "attribute_backtick_string")
# An expression, and the markup in it: a list of what it shows.
_EXPRESSION = "html_interpolation"


class AstroReader(MarkupReader):
    """Reads the markup of Astro."""

    def read(self, markup: Sequence[Node]) -> MarkupCode:
        """What the markup shows."""
        waiting = [*reversed(markup)]
        while waiting:
            node = waiting.pop()
            if node.type == _EXPRESSION:
                self._found.add_expression(self._expression(node), ())
            elif node.type in _ATTRIBUTE_CODE:
                self._found.add_expression(self._text(node), ())
            elif node.type not in _RAW:
                if node.type == "element" and (name := self._name(node)):
                    self._found.add_component(name, ())
                waiting += reversed(node.named_children)
        return self._found

    def _name(self, element: Node) -> str:
        """The component that an element is made of; empty for an element of HTML."""
        tag = tag_of(element)
        name = name_of_tag(tag, self._source) if tag is not None else ""
        if name == "slot":
            self._found.add_slot(attributes_of(element, self._source).get("name", ""), element.start_byte)
        return name if name[:1].isupper() or "." in name else ""

    def _expression(self, expression: Node) -> str:
        """The code of an expression in which each element is a list of what it shows."""
        pieces: list[str] = []
        waiting: list[Node | str] = [*reversed(expression.named_children)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif part.type == "permissible_text":
                pieces.append(self._text(part))
            elif part.type in _ATTRIBUTE_CODE:
                pieces.append(f"({self._text(part).removeprefix('...')}\n),")
            elif part.type == _EXPRESSION:
                is_empty = not "".join(map(self._text, part.named_children)).strip()
                waiting += () if is_empty else ["\n),", *reversed(part.named_children), "("]
            elif part.type == "element":
                name = self._name(part)
                waiting += ["]", *reversed(part.named_children), f"[<{name}/>," if name else "["]
            elif part.type not in _RAW:
                waiting += reversed(part.named_children)
        return "".join(pieces)
