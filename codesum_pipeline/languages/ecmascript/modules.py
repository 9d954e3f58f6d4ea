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

from codesum_pipeline.languages.declaration import MAX_CHAIN, Code, ImportSyntax, Text, TypedName
from codesum_pipeline.languages.ecmascript.definitions import DEFAULT, FUNCTIONS, bound, key_name, own_name, unwrapped
from codesum_pipeline.languages.ecmascript.facts import given_back, shortened
from codesum_pipeline.languages.hooks import field_text, raw_text

_PLAIN_KEYS = ("identifier", "property_identifier", "shorthand_property_identifier_pattern")
_DECLARED_AROUND = ("ambient_declaration", "expression_statement")


def literal(node: Node | None) -> str:
    """The text of a string; empty if it is none."""
    return raw_text(node)[1:-1] if node is not None and node.type == "string" else ""


def read_import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`import … from`."""
    module = literal(node.child_by_field_name("source"))
    clauses = [child for child in node.named_children if child.type in ("import_clause", "import_require_clause")]
    if module and not clauses:
        yield ImportSyntax(module)
    for clause in clauses:
        if clause.type == "import_require_clause":
            yield ImportSyntax(literal(clause.child_by_field_name("source")), None, text(clause.named_children[0]))
            continue
        for child in clause.named_children:
            if child.type == "identifier":
                yield ImportSyntax(module, DEFAULT, text(child))
            elif child.type == "namespace_import":
                yield ImportSyntax(module, None, text(child.named_children[0]))
            elif child.type == "named_imports":
                for taken in child.named_children:
                    if name := _plain(field_text(taken, "name", text)):
                        yield ImportSyntax(module, name, field_text(taken, "alias", text) or None)


def read_reexport(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`export … from`."""
    module = literal(node.child_by_field_name("source"))
    if not module:
        return
    handed = [child for child in node.named_children if child.type in ("namespace_export", "export_clause")]
    if not handed:
        yield ImportSyntax(module, "*")
    for child in handed:
        if child.type == "namespace_export":
            yield ImportSyntax(module, None, _plain(text((child.named_children or child.children)[-1])))
            continue
        for taken in child.named_children:
            if name := _plain(field_text(taken, "name", text)):
                yield ImportSyntax(module, name, _plain(field_text(taken, "alias", text)) or None)


def read_loaded(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require("x")` and `import("x")`, with the names that a declaration right around takes from it."""
    function = node.child_by_field_name("function")
    is_require = function is not None and function.type == "identifier" and function.text == b"require"
    if function is None or not (is_require or function.type == "import"):
        return
    arguments = node.child_by_field_name("arguments")
    module = literal(arguments.named_children[0]) if arguments is not None and arguments.named_children else ""
    if module:
        yield from _bindings(module, node, text)


def _bindings(module: str, loaded: Node, text: Text) -> Iterator[ImportSyntax]:
    # A parent is looked up from the root: affordable, since loading calls are few.
    part = ""
    around = loaded.parent
    while around is not None and around.type in ("await_expression", "parenthesized_expression", "member_expression"):
        if around.type == "member_expression":
            if part:
                break
            part = field_text(around, "property", text)
        around = around.parent
    if around is None or around.type != "variable_declarator":
        yield ImportSyntax(module)
        return
    name = around.child_by_field_name("name")
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
        declared = node.child_by_field_name("declaration")
        if any(child.type == DEFAULT for child in node.children):
            yield _default(declared or node.child_by_field_name("value"))
        elif declared is not None:
            yield from _declared_names(declared, text)
        for child in node.named_children:
            if child.type == "export_clause":
                is_handed_on = node.child_by_field_name("source") is not None
                yield from (_listed(taken, text, is_handed_on=is_handed_on) for taken in child.named_children)
            elif child.type == "namespace_export":
                yield _plain(text((child.named_children or child.children)[-1]))
            elif child.type == "identifier" and any(sign.type == "=" for sign in node.children):
                yield f"{text(child)} as {DEFAULT}"


def _listed(taken: Node, text: Text, *, is_handed_on: bool) -> str:
    name, alias = _plain(field_text(taken, "name", text)), _plain(field_text(taken, "alias", text))
    return f"{name} as {alias}" if alias and not is_handed_on else alias or name


def _default(value: Node | None) -> str:
    """What is exported without a name."""
    held = unwrapped(value)
    if held is None:
        return DEFAULT
    defined = bound((), held)
    if held.type == "call_expression" and raw_text(held.child_by_field_name("function")) == "Object.assign":
        arguments = held.child_by_field_name("arguments")
        held = arguments.named_children[0] if arguments is not None and arguments.named_children else held
    name = raw_text(held) if held.type == "identifier" else defined.parts[-1] if defined else own_name(held)
    return f"{name} as {DEFAULT}" if name not in ("", DEFAULT) else DEFAULT


def _declared_names(declared: Node, text: Text) -> Iterator[str]:
    while declared.type in _DECLARED_AROUND and declared.named_children:
        declared = declared.named_children[-1]
    if declared.type in ("lexical_declaration", "variable_declaration"):
        for variable in declared.named_children:
            yield from variable_names(variable.child_by_field_name("name"), text)
    elif name := own_name(declared):
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
            waiting.append(node.child_by_field_name("left"))
        elif node.type == "pair_pattern":
            waiting.append(node.child_by_field_name("value"))
        elif node.type.endswith("_pattern"):
            waiting.extend(reversed(node.named_children))


def read_common_exports(node: Node, text: Text) -> Iterator[str]:
    """`exports.x = …` and `module.exports = …`."""
    left, value = node.child_by_field_name("left"), unwrapped(node.child_by_field_name("right"))
    target = raw_text(left).replace(" ", "")
    if left is None or value is None:
        return
    if target == "module.exports":
        yield from _object_names(value, text) if value.type == "object" else (_default(value),)
        return
    owner, _, name = target.rpartition(".")
    if owner in ("exports", "module.exports") and name:
        yield f"{raw_text(value)} as {name}" if value.type == "identifier" and raw_text(value) != name else name


def _object_names(exported: Node, text: Text) -> Iterator[str]:
    for child in exported.named_children:
        if child.type == "shorthand_property_identifier":
            yield text(child)
        elif child.type == "method_definition":
            yield own_name(child)
        elif child.type == "pair" and (name := key_name(child.child_by_field_name("key"))):
            value = unwrapped(child.child_by_field_name("value"))
            is_other = value is not None and value.type == "identifier" and raw_text(value) != name
            yield f"{raw_text(value)} as {name}" if is_other else name


def common_exports(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`module.exports = require("x")` or `{ a: require("x") }`, `exports.x = require("x").y`."""
    target = raw_text(node.child_by_field_name("left")).replace(" ", "")
    value = node.child_by_field_name("right")
    owner, _, name = target.rpartition(".")
    if value is None:
        return
    if target == "module.exports" and value.type == "object":
        for pair in value.named_children:
            key = pair.child_by_field_name("key")
            if key is not None and key.type == "property_identifier":
                yield from _required(text(key), pair.child_by_field_name("value"), text)
    elif target == "module.exports":
        yield from (ImportSyntax(found.module, found.name or "*") for found in _required("", value, text))
    elif owner in ("exports", "module.exports"):
        yield from _required(name, value, text)


def _required(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "member_expression":
        inner, value = field_text(value, "property", text), value.child_by_field_name("object")
    if value is None or value.type != "call_expression" or field_text(value, "function", text) != "require":
        return
    arguments = value.child_by_field_name("arguments")
    path = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if path is not None and path.type == "string":
        yield ImportSyntax(raw_text(path)[1:-1], inner, name or None)


def read_globals(program: Node, text: Text) -> Iterator[str]:
    """The variables of a module that are no functions, no classes and no imports."""
    for node in program.named_children:
        statement = node.child_by_field_name("declaration") or node if node.type == "export_statement" else node
        if statement.type == "ambient_declaration" and statement.named_children:
            statement = statement.named_children[-1]
        if statement.type in ("lexical_declaration", "variable_declaration"):
            for variable in statement.named_children:
                if _is_plain(variable):
                    yield from variable_names(variable.child_by_field_name("name"), text)


def _is_plain(variable: Node) -> bool:
    value = unwrapped(variable.child_by_field_name("value"))
    if value is None:
        return True
    while value.type in ("member_expression", "call_expression"):
        inner = value.child_by_field_name("object") or value.child_by_field_name("function")
        if inner is None or raw_text(inner) == "require":
            return inner is None
        value = inner
    defined = bound(("",), variable.child_by_field_name("value"))
    return value.type not in FUNCTIONS and (defined is None or defined.type is None)


def _plain(name: str) -> str:
    return name.strip("\"'")


def bound_variables(node: Node, text: Text) -> Iterator[TypedName]:
    """What a variable without a type is given, and what a pattern takes from an object."""
    if node.child_by_field_name("type") is None:
        yield from _bound(node.child_by_field_name("name"), node.child_by_field_name("value"), text)


def bound_items(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a loop: an element of what it goes through."""
    if node.child_by_field_name("kind") is None:
        return
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    is_of = field_text(node, "operator", text) == "of"
    if left is not None and left.type == "identifier" and right is not None and is_of:
        items = _short(right, text)
        yield TypedName(text(left), Code.of(f"{items}[0]", items, "[", "0", "]") if items else "")
    else:
        yield from (TypedName(name, "") for name in variable_names(left, text))


def bound_members(node: Node, text: Text) -> Iterator[TypedName]:
    """What a member of a name is given: `parse.Node = Node`."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    owner = left.child_by_field_name("object") if left is not None and left.type == "member_expression" else None
    if left is not None and owner is not None and owner.type == "identifier" and value is not None:
        yield TypedName(text(left), _short(value, text))


def _bound(pattern: Node | None, value: Node | None, text: Text) -> Iterator[TypedName]:
    given = _short(value, text)
    if pattern is not None and pattern.type == "identifier":
        yield TypedName(text(pattern), given)
    elif pattern is not None and pattern.type == "object_pattern":
        for child in pattern.named_children:
            key = child.child_by_field_name("key") or child
            inner = child.child_by_field_name("value") or child
            is_plain = key.type in _PLAIN_KEYS and inner.type in _PLAIN_KEYS and bool(given)
            if is_plain:
                yield TypedName(text(inner), Code.of(f"{given}.{text(key)}", given, ".", text(key)))
            else:
                yield from (TypedName(name, "") for name in variable_names(child, text))
    else:
        yield from (TypedName(name, "") for name in variable_names(pattern, text))


def _short(value: Node | None, text: Text) -> str:
    values = list(given_back(value))
    value = values[0] if len(values) == 1 else value
    is_short = value is not None and value.end_byte - value.start_byte <= MAX_CHAIN
    return text(value) if is_short else shortened(value, text)
