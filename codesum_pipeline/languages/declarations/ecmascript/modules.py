"""What modules of JavaScript and TypeScript take from each other.

An import is `ImportSyntax(specifier, name, alias)`: the name is `default` for
what a module exports without one, None for the module as an object (under
its alias), `*` for `export * from`, which hands all names on. Without name and
alias it only says that the module is needed: `import "x"`, an `import(…)` or
`require(…)` whose value is not bound. `const x = require(…)` binds the module.

An export is the name that others see; `a as b` where it is called `a` here:
`export { a as b }`, `module.exports = { b: a }`, and `a as default` for
`export default a` and `module.exports = a`.
"""

from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declarations.ecmascript.ecmascript_definitions import (
    DEFAULT,
    FUNCTIONS,
    define_bound,
    key_name,
    unwrapped_value,
)
from codesum_pipeline.languages.declarations.ecmascript.ecmascript_facts import returned_values, shortened
from codesum_pipeline.languages.declarations.hook_values import ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.node_code import MAX_CHAIN, Code, Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field

_PLAIN_KEYS = ("identifier", "property_identifier", "shorthand_property_identifier_pattern")
_AROUND_LOADED = ("await_expression", "parenthesized_expression", "member_expression")


def _literal(node: Node | None) -> str:
    """The text of a string; empty if it is none."""
    return raw_text(node)[1:-1] if node is not None and node.type == "string" else ""


def _plain(node: Node | None, field: str, text: Text) -> str:
    """A name without quotes."""
    return field_text(node, field, text).strip("\"'")


def read_import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`import … from`."""
    module = _literal(find_field(node, "source"))
    clauses = [child for child in node.named_children if child.type in ("import_clause", "import_require_clause")]
    if module and not clauses:
        yield ImportSyntax(module)
    for clause in clauses:
        if clause.type == "import_require_clause":
            yield ImportSyntax(_literal(find_field(clause, "source")), None, text(clause.named_children[0]))
            continue
        for child in clause.named_children:
            if child.type == "identifier":
                yield ImportSyntax(module, DEFAULT, text(child))
            elif child.type == "namespace_import":
                yield ImportSyntax(module, None, text(child.named_children[0]))
            elif child.type == "named_imports":
                for taken in child.named_children:
                    if name := _plain(taken, "name", text):
                        yield ImportSyntax(module, name, field_text(taken, "alias", text) or None)


def read_reexport(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`export … from`."""
    module = _literal(find_field(node, "source"))
    handed = [child for child in node.named_children if child.type in ("namespace_export", "export_clause")]
    if module and not handed:
        yield ImportSyntax(module, "*")
    for child in handed if module else ():
        if child.type == "namespace_export":
            yield ImportSyntax(module, None, _namespace(child, text))
            continue
        for taken in child.named_children:
            if name := _plain(taken, "name", text):
                yield ImportSyntax(module, name, _plain(taken, "alias", text) or None)


def _namespace(export: Node, text: Text) -> str:
    """The name of `* as name`."""
    return text((export.named_children or export.children)[-1]).strip("\"'")


def read_loaded(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require("x")` and `import("x")`, with the names that a declaration right around takes from it."""
    function = find_field(node, "function")
    is_require = function is not None and function.type == "identifier" and function.text == b"require"
    if function is None or not (is_require or function.type == "import"):
        return
    if module := _literal(next(iter(field_children(node, "arguments")), None)):
        yield from _bindings(module, node, text)


def _bindings(module: str, loaded: Node, text: Text) -> Iterator[ImportSyntax]:
    part, around = "", parent_of(loaded)
    while around is not None and around.type in _AROUND_LOADED:
        if around.type == "member_expression":
            if part:
                break
            part = field_text(around, "property", text)
        around = parent_of(around)
    name = find_field(around, "name") if around is not None and around.type == "variable_declarator" else None
    if name is not None and name.type == "identifier":
        yield ImportSyntax(module, part or None, text(name))
    elif name is not None and name.type == "object_pattern" and not part:
        yield from _destructured(module, name, text)
    else:
        yield ImportSyntax(module)


def _destructured(module: str, pattern: Node, text: Text) -> Iterator[ImportSyntax]:
    for child in pattern.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield ImportSyntax(module, text(child))
        elif child.type == "object_assignment_pattern":
            yield ImportSyntax(module, field_text(child, "left", text))
        elif child.type == "pair_pattern":
            yield ImportSyntax(module, field_text(child, "key", text), field_text(child, "value", text))


def read_exports(program: Node, text: Text) -> Iterator[str]:
    """The names that the `export` statements of a module give away."""
    for node in program.named_children:
        if node.type != "export_statement":
            continue
        declared = find_field(node, "declaration")
        if child_of_type(node, DEFAULT):
            yield _default(declared or find_field(node, "value"))
        elif declared is not None:
            yield from _declared_names(declared, text)
        for child in node.named_children:
            if child.type == "export_clause":
                is_handed_on = find_field(node, "source") is not None
                for taken in child.named_children:
                    name, alias = _plain(taken, "name", text), _plain(taken, "alias", text)
                    yield f"{name} as {alias}" if alias and not is_handed_on else alias or name
            elif child.type == "namespace_export":
                yield _namespace(child, text)
            elif child.type == "identifier" and child_of_type(node, "="):
                yield f"{text(child)} as {DEFAULT}"


def _default(value: Node | None) -> str:
    """The default export as it is listed: `default`, or `name as default`."""
    held = unwrapped_value(value)
    if held is None:
        return DEFAULT
    defined = define_bound((), held)
    if held.type == "call_expression" and raw_text(held, "function") == "Object.assign":
        held = next(iter(field_children(held, "arguments")), held)
    name = raw_text(held) if held.type == "identifier" else defined.parts[-1] if defined else raw_text(held, "name")
    return f"{name} as {DEFAULT}" if name not in ("", DEFAULT) else DEFAULT


def _declared_names(declared: Node, text: Text) -> Iterator[str]:
    while declared.type in ("ambient_declaration", "expression_statement") and declared.named_children:
        declared = declared.named_children[-1]
    if declared.type in ("lexical_declaration", "variable_declaration"):
        for variable in declared.named_children:
            yield from variable_names(find_field(variable, "name"), text)
    elif name := raw_text(declared, "name"):
        yield name.partition(".")[0]


def variable_names(pattern: Node | None, text: Text) -> Iterator[str]:
    """The names that a pattern binds."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield text(node)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            waiting.append(find_field(node, "left"))
        elif node.type == "pair_pattern":
            waiting.append(find_field(node, "value"))
        elif node.type.endswith("_pattern"):
            waiting.extend(reversed(node.named_children))


def read_common_exports(node: Node, text: Text) -> Iterator[str]:
    """`exports.x = …` and `module.exports = …`."""
    value, target = unwrapped_value(find_field(node, "right")), raw_text(node, "left").replace(" ", "")
    if not target or value is None:
        return
    owner, _, name = target.rpartition(".")
    if target == "module.exports":
        yield from _object_names(value, text) if value.type == "object" else (_default(value),)
    elif owner in ("exports", "module.exports") and name:
        yield _renamed(value, name)


def _renamed(value: Node | None, name: str) -> str:
    """A name that is exported, with the one that it has in its file."""
    is_other = value is not None and value.type == "identifier" and raw_text(value) != name
    return f"{raw_text(value)} as {name}" if is_other else name


def _object_names(exported: Node, text: Text) -> Iterator[str]:
    for child in exported.named_children:
        if child.type == "shorthand_property_identifier":
            yield text(child)
        elif child.type == "method_definition":
            yield raw_text(child, "name")
        elif child.type == "pair" and (name := key_name(find_field(child, "key"))):
            yield _renamed(unwrapped_value(find_field(child, "value")), name)


def common_exports(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`module.exports = require("x")` or `{ a: require("x") }`, `exports.x = require("x").y`."""
    target, value = raw_text(node, "left").replace(" ", ""), find_field(node, "right")
    owner, _, name = target.rpartition(".")
    if target == "module.exports" and value is not None and value.type == "object":
        for pair in value.named_children:
            key = find_field(pair, "key")
            if key is not None and key.type == "property_identifier":
                yield from _required(text(key), find_field(pair, "value"), text)
    elif target == "module.exports":
        yield from (ImportSyntax(found.module, found.name or "*") for found in _required("", value, text))
    elif owner in ("exports", "module.exports"):
        yield from _required(name, value, text)


def _required(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "member_expression":
        inner, value = field_text(value, "property", text), find_field(value, "object")
    if value is not None and value.type == "call_expression" and field_text(value, "function", text) == "require":
        path = next(iter(field_children(value, "arguments")), None)
        if path is not None and path.type == "string":
            yield ImportSyntax(_literal(path), inner, name or None)


def read_globals(program: Node, text: Text) -> Iterator[str]:
    """The variables of a module that are no functions, no classes and no imports."""
    for node in program.named_children:
        statement = find_field(node, "declaration") or node if node.type == "export_statement" else node
        if statement.type == "ambient_declaration" and statement.named_children:
            statement = statement.named_children[-1]
        if statement.type in ("lexical_declaration", "variable_declaration"):
            for variable in statement.named_children:
                if _is_plain(variable):
                    yield from variable_names(find_field(variable, "name"), text)


def _is_plain(variable: Node) -> bool:
    value = unwrapped_value(find_field(variable, "value"))
    if value is None:
        return True
    while value.type in ("member_expression", "call_expression"):
        inner = find_field(value, "object") or find_field(value, "function")
        if inner is None or raw_text(inner) == "require":
            return inner is None
        value = inner
    defined = define_bound(("",), find_field(variable, "value"))
    return value.type not in FUNCTIONS and (defined is None or defined.type is None)


def bound_variables(node: Node, text: Text) -> Iterator[TypedName]:
    """What a variable without a type is given, and what a pattern takes from an object."""
    if find_field(node, "type") is not None:
        return
    pattern, value = find_field(node, "name"), _short(find_field(node, "value"), text)
    if pattern is not None and pattern.type == "identifier":
        yield TypedName(text(pattern), value)
    elif pattern is not None and pattern.type == "object_pattern":
        for child in pattern.named_children:
            key, inner = find_field(child, "key") or child, find_field(child, "value") or child
            if key.type in _PLAIN_KEYS and inner.type in _PLAIN_KEYS and value:
                yield TypedName(text(inner), Code.of(f"{value}.{text(key)}", value, ".", text(key)))
            else:
                yield from _unknown(child, text)
    else:
        yield from _unknown(pattern, text)


def _unknown(pattern: Node | None, text: Text) -> Iterator[TypedName]:
    """The names in a pattern, each bound to an unknown value."""
    return (TypedName(name, "") for name in variable_names(pattern, text))


def bound_items(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a loop: an element of what it goes through."""
    if find_field(node, "kind") is None:
        return
    left, right = find_field(node, "left"), find_field(node, "right")
    is_of = field_text(node, "operator", text) == "of"
    if left is not None and left.type == "identifier" and right is not None and is_of:
        items = _short(right, text)
        yield TypedName(text(left), Code.of(f"{items}[0]", items, "[", "0", "]") if items else "")
    else:
        yield from _unknown(left, text)


def bound_members(node: Node, text: Text) -> Iterator[TypedName]:
    """What a member of a name is given: `parse.Node = Node`."""
    left, value = find_field(node, "left"), find_field(node, "right")
    owner = find_field(left, "object") if left is not None and left.type == "member_expression" else None
    if owner is not None and owner.type == "identifier" and value is not None:
        yield TypedName(text(left), _short(value, text))


def _short(value: Node | None, text: Text) -> str:
    values = list(returned_values(value))
    value = values[0] if len(values) == 1 else value
    is_short = value is not None and value.end_byte - value.start_byte <= MAX_CHAIN
    return text(value) if is_short else shortened(value, text, {})
