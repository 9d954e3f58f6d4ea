"""What files hand on that others define, in the languages that say so by a word, a table or a header alone.

Without a module, a name begins with what an import of the file is called: `X.Y` of `pub const Z = X.Y`.
"""

from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declaration import ImportSyntax, Text
from codesum_pipeline.languages.hooks import field_text, raw_text
from codesum_pipeline.languages.spec import words

Read = Callable[[Node, Text], Iterable[ImportSyntax]]

_GUARDS = words("preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef")
# What may stand in a header that does nothing but include others: its words and what they ask.
_IDLE = frozenset({
    "comment", "identifier", "number_literal", "preproc_call", "preproc_defined", "preproc_directive",
    "binary_expression", "call_expression", "parenthesized_expression", "unary_expression",
    "#ifndef", "#ifdef", "#if", "#else", "#elif", "#elifdef", "#elifndef", "#endif", "\n", ";",
})  # fmt: skip


def of_public(read: Read) -> Read:
    """The imports of a node that says `pub` first."""

    def handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
        if node.children and node.children[0].type in ("visibility_modifier", "pub"):
            yield from (found for found in read(node, text) if found.alias != "_")

    return handed_on


def public_constants(read: Read) -> Read:
    """Zig: `pub const X = @import("x.zig").X`, and `pub const X = x.X` of an import `x`."""

    def handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
        yield from (imported := tuple(read(node, text)))
        names = [child for child in node.named_children if child.type in ("identifier", "field_expression")]
        if not imported and [name.type for name in names] == ["identifier", "field_expression"]:
            yield ImportSyntax("", text(names[1]), text(names[0]))

    return of_public(handed_on)


def exported_modules(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """Haskell: `module X (module Y, …)`."""
    own = field_text(node.parent, "module", text) if node.parent is not None else ""
    for child in node.named_children:
        if child.type == "module_export" and (module := field_text(child, "module", text)) != own:
            yield ImportSyntax(module, "*")


def aliased_type(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """Kotlin: `typealias X = Y`, where `Y` is a plain name."""
    types = [child for child in node.named_children if child.type == "user_type"]
    if len(types) == 1 and all(child.type == "identifier" for child in types[0].named_children):
        yield ImportSyntax("", text(types[0]), field_text(node, "type", text))


def exported_module(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """Swift: `@_exported import X`."""
    words = raw_text(node.named_children[0]) if node.named_children else ""
    path = next((text(child) for child in node.named_children if child.type == "identifier"), "")
    if "@_exported" in words and path:
        yield ImportSyntax(path, "*")


def forwarded_headers(unit: Node, text: Text) -> Iterator[ImportSyntax]:
    """C and C++: all headers that a file includes which does nothing else."""
    waiting, included = [unit], []
    while waiting:
        for child in waiting.pop().children:
            if child.type in _GUARDS:
                waiting.append(child)
            elif child.type == "preproc_include":
                included.append(child)
            elif not _is_idle(child):
                return
    for node in sorted(included, key=lambda found: found.start_byte):
        path = field_text(node, "path", text)
        if path[:1] in ('"', "<"):
            yield ImportSyntax(path[1:-1], "*")


def _is_idle(node: Node) -> bool:
    """Whether a node of a header is a comment, a pragma or its guard."""
    is_guard = node.type == "preproc_def" and node.child_by_field_name("value") is None
    return is_guard or node.type in _IDLE


def returned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """Lua: `return { X = require("x"), y = y }` and `return require("x")`."""
    values = next((child.named_children for child in node.named_children if child.type == "expression_list"), [])
    if len(values) != 1:
        return
    if values[0].type == "function_call":
        yield from (ImportSyntax(path, "*") for path in _required(values[0], text))
    elif values[0].type == "table_constructor":
        for field in values[0].named_children:
            name = field.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                yield from _taken(text(name), field.child_by_field_name("value"), text)


def assigned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """Lua: `M.X = require("x")`."""
    lists = [child for child in node.named_children if child.type in ("variable_list", "expression_list")]
    if len(lists) != 2 or any(part.named_child_count != 1 for part in lists):
        return
    name, value = lists[0].named_children[0], lists[1].named_children[0]
    table = name.child_by_field_name("table") if name.type == "dot_index_expression" else None
    if table is not None and table.type == "identifier":
        yield from _taken(field_text(name, "field", text), value, text)


def _taken(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "dot_index_expression":
        inner, value = field_text(value, "field", text), value.child_by_field_name("table")
    if value is None:
        return
    if value.type == "function_call":
        yield from (ImportSyntax(path, inner, name) for path in _required(value, text))
    elif value.type == "identifier":
        yield ImportSyntax("", f"{text(value)}.{inner}" if inner else text(value), name)


def _required(call: Node, text: Text) -> Iterator[str]:
    arguments = call.child_by_field_name("arguments")
    if field_text(call, "name", text) == "require" and arguments is not None and arguments.named_children:
        path = arguments.named_children[0]
        if path.type == "string":
            yield raw_text(path.child_by_field_name("content"))


def common_exports(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """JavaScript: `module.exports = require("x")` or `{ a: require("x") }`, `exports.x = require("x").y`."""
    target = raw_text(node.child_by_field_name("left")).replace(" ", "")
    value = node.child_by_field_name("right")
    owner, _, name = target.rpartition(".")
    if value is None:
        return
    if target == "module.exports" and value.type == "object":
        for pair in value.named_children:
            key = pair.child_by_field_name("key")
            if key is not None and key.type == "property_identifier":
                yield from _loaded(text(key), pair.child_by_field_name("value"), text)
    elif target == "module.exports":
        yield from (ImportSyntax(found.module, found.name or "*") for found in _loaded("", value, text))
    elif owner in ("exports", "module.exports"):
        yield from _loaded(name, value, text)


def _loaded(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "member_expression":
        inner, value = field_text(value, "property", text), value.child_by_field_name("object")
    if value is None or value.type != "call_expression" or field_text(value, "function", text) != "require":
        return
    arguments = value.child_by_field_name("arguments")
    path = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if path is not None and path.type == "string":
        yield ImportSyntax(raw_text(path)[1:-1], inner, name or None)
