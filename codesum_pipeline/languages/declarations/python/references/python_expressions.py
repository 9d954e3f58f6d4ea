"""A Python expression reduced to its shape: roots and links, no arguments.

`self.items[0].run(x)` becomes `self.items[].run()`. The root is a name, a
literal's type in angle brackets (`<str>.join`), `super()` or `super(Class)`, an
annotation in braces (from `cast`), a display of values (`⟨,a;b()⟩` is a tuple,
`⟨*a⟩` holds elements of one kind, `⟨:a⟩` values under keys), or `?` for anything
else. `x@0,2` is a name by which only its first and third binding can be meant
(`references.reaching`). Links: `.name`,
`()` a call, `[]` an item, `*` an element drawn by iteration, `>` what a `with`
statement binds, `#1` the second part of an unpacked tuple; `|` separates
alternatives. `await` is left out: what an async function is annotated to
return is what awaiting it gives.
"""

import re

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import code_children, only_code_child
from codesum_pipeline.languages.declarations.spec import split_words

UNKNOWN_ROOT = "?"

# Longer chains, alternatives and annotations are generated code, never a person's: their roots become unknown.
MAX_LINKS = 30
MAX_ALTERNATIVES = 4
MAX_ANNOTATION_BYTES = 300
MAX_DOTTED_LENGTH = 1_000
MAX_DISPLAYED = 8
MAX_DISPLAY_LENGTH = 300

_DOTTED = re.compile(rb"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_WORD = re.compile(r"\w+")
_DISPLAYS = {
    **dict.fromkeys(split_words("tuple expression_list"), ","),
    **dict.fromkeys(split_words("list set list_comprehension set_comprehension generator_expression"), "*"),
    **dict.fromkeys(split_words("dictionary dictionary_comprehension"), ":"),
}
_LITERALS = {
    **dict.fromkeys(split_words("string concatenated_string"), "<str>"),
    **dict.fromkeys(split_words("list list_comprehension"), "<list>"),
    **dict.fromkeys(split_words("dictionary dictionary_comprehension"), "<dict>"),
    **dict.fromkeys(split_words("set set_comprehension"), "<set>"),
    **dict.fromkeys(split_words("tuple expression_list"), "<tuple>"),
    "generator_expression": "<generator>",
    "integer": "<int>",
    "float": "<float>",
    **dict.fromkeys(split_words("true false comparison_operator not_operator"), "<bool>"),
    "none": "<None>",
}
# Calls that keep the elements of their only argument, so that looping over either is the same.
_SAME_ELEMENTS = split_words("list tuple sorted reversed set frozenset iter")
_CASTS = split_words("cast typing.cast t.cast")
# No longer callee has a meaning of its own.
_MAX_SPECIAL_BYTES = max(map(len, _CASTS))


class ExpressionReader:
    """Reads expressions of one file; `source` is what its tree was parsed from."""

    def __init__(self, source: bytes) -> None:
        self._source = source

    def text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def annotation(self, node: Node | None) -> str | None:
        """The annotation as written, None if there is none or it is too long to mean one class."""
        if node is None or node.end_byte - node.start_byte > MAX_ANNOTATION_BYTES:
            return None
        return self.text(node)

    def shape(self, node: Node) -> str:
        """The shape of one expression."""
        start, end = node.start_byte, node.end_byte
        if end - start <= MAX_DOTTED_LENGTH and _DOTTED.fullmatch(self._source, start, end):
            kind = node.type
            if kind != "none":
                return _LITERALS.get(kind) or self._source[start:end].decode("utf-8", "replace")
        links: list[str] = []
        current: Node | None = node
        while current is not None and len(links) <= MAX_LINKS:
            link, following = self._link(current)
            if following is None:
                return (link or UNKNOWN_ROOT) + "".join(reversed(links))
            links += [link] if link else []
            current = following
        return UNKNOWN_ROOT + links[0] if links and links[0].startswith(".") else UNKNOWN_ROOT

    def _link(self, node: Node) -> tuple[str, Node | None]:
        """The outermost link of an expression and what it hangs on, or its root and None."""
        kind = node.type
        if kind == "identifier":
            return self.text(node), None
        if kind == "attribute":
            name = node.child_by_field_name("attribute")
            return (f".{self.text(name)}" if name is not None else ""), node.child_by_field_name("object")
        if kind == "call":
            return self._call(node)
        if kind == "subscript":
            return "[]", node.child_by_field_name("value")
        if kind in ("await", "parenthesized_expression"):
            return "", only_code_child(node)
        return _LITERALS.get(kind, UNKNOWN_ROOT), None

    def _call(self, node: Node) -> tuple[str, Node | None]:
        function = node.child_by_field_name("function")
        if function is None:
            return UNKNOWN_ROOT, None
        start, end = function.start_byte, function.end_byte
        if end - start > _MAX_SPECIAL_BYTES:
            return "()", function
        name = self._source[start:end]
        if name in (b"super", b"type"):
            arguments = arguments_of(node)
            if name == b"type":
                return (".__class__", arguments[0]) if len(arguments) == 1 else (UNKNOWN_ROOT, None)
            return (f"super({self.text(arguments[0])})" if arguments else "super()"), None
        if name.endswith(b"cast") and name.decode("utf-8", "replace") in _CASTS:
            arguments = arguments_of(node)
            return self.annotated(arguments[0] if arguments else None) or UNKNOWN_ROOT, None
        return "()", function

    def annotated(self, node: Node | None) -> str | None:
        """The root for an object with this annotation, None if there is none or it cannot be written so."""
        annotation = self.annotation(node)
        return "{" + annotation + "}" if annotation and not set("{}|") & set(annotation) else None

    def value(self, node: Node | None) -> str:
        """The shape of an assigned value, its alternatives separated by `|`."""
        if node is None:
            return UNKNOWN_ROOT
        found: list[str] = []
        waiting = [node]
        unwrapped = 0
        while waiting:
            current = waiting.pop()
            options = _alternatives(current)
            if options is None:
                found.append(self._display(current) or self.shape(current))
            else:
                waiting.extend(reversed(options))
                unwrapped += 1
            if len(found) + len(waiting) > MAX_ALTERNATIVES or unwrapped > MAX_LINKS:
                return UNKNOWN_ROOT
        return "|".join(dict.fromkeys(found))

    def elements(self, node: Node | None) -> tuple[str, str]:
        """What a loop over a value draws: a prefix for the second part of each element, and the value's shape.

        `enumerate(xs)` gives (`#1`, `xs`): its second part is an element of `xs`.
        """
        if node is None:
            return "", UNKNOWN_ROOT
        enumerated = ""
        while node.type == "call" and (function := node.child_by_field_name("function")) is not None:
            name = self.text(function)
            arguments = arguments_of(node)
            if not arguments or not (name in _SAME_ELEMENTS or (name == "enumerate" and not enumerated)):
                break
            enumerated = enumerated or ("#1" if name == "enumerate" else "")
            node = arguments[0]
        return enumerated, self._display(node) or self.shape(node)

    def _display(self, node: Node) -> str | None:
        """The root for the values of a display or comprehension; None if nothing is known about them."""
        mark = _DISPLAYS.get(node.type)
        if mark is None:
            return None
        body = node.child_by_field_name("body")
        elements = code_children(node) if body is None else [body]
        if not 0 < len(elements) <= MAX_DISPLAYED:
            return None
        values = [one.child_by_field_name("value") if one.type == "pair" else one for one in elements]
        found = [UNKNOWN_ROOT if value is None else self.shape(value) for value in values]
        if body is not None and (root := _WORD.match(found[0])) and root[0] in self._drawn(node):
            return None
        written = f"⟨{mark}{';'.join(found)}⟩"
        has_known_part = any(not one.startswith(("<", UNKNOWN_ROOT)) for one in found)
        return written if has_known_part and len(written) <= MAX_DISPLAY_LENGTH else None

    def _drawn(self, comprehension: Node) -> set[str]:
        """All words in what the loops of a comprehension bind."""
        lefts = (child.child_by_field_name("left") for child in comprehension.named_children)
        return {word for left in lefts if left is not None for word in _WORD.findall(self.text(left))}


def _alternatives(node: Node) -> list[Node] | None:
    """The values an expression may have, None if it has one."""
    if node.type == "conditional_expression":
        parts = code_children(node)
        return [parts[0], parts[2]] if len(parts) == 3 else None
    if node.type == "boolean_operator":
        left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        if left is None or right is None or operator is None:
            return None
        # `a and a.b` is `a.b`, or something false that nobody calls.
        return [right] if operator.type == "and" else [left, right]
    if node.type == "parenthesized_expression":
        inner = only_code_child(node)
    elif field := {"assignment": "right", "named_expression": "value"}.get(node.type):
        inner = node.child_by_field_name(field)
    else:
        return None
    return [inner] if inner is not None else None


def arguments_of(call: Node) -> list[Node]:
    """What a call is given without a keyword."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    if arguments.type == "generator_expression":
        return [arguments]
    return [child for child in code_children(arguments) if child.type != "keyword_argument"]
