"""What defines something in JavaScript and TypeScript.

A function without a name is called by what it is bound to: a variable, a
field, a property, the target of an assignment (`Router.prototype.route`,
`exports.open`), …)`). An => also inside one call (`memo(() => …)`). An => …)`). An
object, and what a call makes of one, is a scope named so too: `api.get`. What
a module exports without a name is called `default`. Callbacks have no name and
are a part of what contains them.
"""

import re
from collections.abc import Callable, Mapping

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead
from codesum_pipeline.languages.declarations.hooks import definition_reader
from codesum_pipeline.languages.declarations.node_code import raw_text
from codesum_pipeline.languages.declarations.nodes import code_children, field_children, find_field
from codesum_pipeline.languages.declarations.spec import split_words

# What a node of one kind defines.
Define = Callable[[Node], DefinitionHead | None]

FUNCTIONS = split_words("arrow_function function_expression generator_function")
DEFAULT = "default"
# Nodes that enclose a value without changing it.
_AROUND = split_words("""
    parenthesized_expression as_expression satisfies_expression non_null_expression type_assertion
    assignment_expression
""")
# Deeper than anyone writes by hand; each of many values in each other looks this far.
_MAX_AROUND = 12
# Calls that run the function they are given, or keep it for later: what they return is no function.
_NOT_WRAPPING = re.compile(r"use(?!Callback$|Event)[A-Z]|set[A-Z]|request[A-Z]|on[A-Z]|expect$|super$|import$")
# What a target may begin with that is the object around it, the program or the module itself.
_NO_OWNERS = ("this", "window", "globalThis", "global", "module", "exports")
# Keys that make readable ids; others are data.
_KEY = re.compile(r"[\w$\-./* ]{1,80}|(?:[\w$\-./* ]+:)+[\w$\-./* ]*", re.ASCII)
_MEMBERS = split_words("""
    method_definition method_signature abstract_method_signature pair field_definition public_field_definition
""")
# Objects whose members are names of all the program.
_PROGRAM = ("window", "globalThis", "global", "self")


def is_member(node: Node) -> bool:
    """Whether what a node defines is reached through an object alone."""
    left = find_field(node, "left") if node.type == "assignment_expression" else None
    if left is None or left.type == "identifier":
        return node.type in _MEMBERS
    return raw_text(left, "object") not in _PROGRAM


def key_name(node: Node | None) -> str:
    """The name of a member or a pair; empty if it is no name."""
    if node is None or node.type != "string":
        return raw_text(node)
    key = raw_text(node)[1:-1]
    return key if len(key) <= 80 and _KEY.fullmatch(key) and "::" not in key else ""


def unwrapped_value(value: Node | None) -> Node | None:
    """A value without the parentheses, casts and chained assignments around it."""
    for _ in range(_MAX_AROUND):
        if value is None or value.type not in _AROUND:
            break
        is_last = value.type in ("assignment_expression", "type_assertion")
        value = next(iter(code_children(value)[-1:] if is_last else code_children(value)), None)
    return value


def function_of(node: Node | None) -> Node | None:
    """The function that a node is or binds; None if there is none."""
    if node is None or find_field(node, "parameters") or find_field(node, "parameter"):
        return node
    return _function_in(unwrapped_value(find_field(node, "value") or find_field(node, "right")))


def _function_in(value: Node | None) -> Node | None:
    """A value that is a function, or the function inside calls."""
    for _ in range(_MAX_AROUND):
        if value is None or value.type != "call_expression":
            break
        if not _is_wrapping(find_field(value, "function")):
            return None
        values = [unwrapped_value(argument) for argument in field_children(value, "arguments")]
        value = next((v for v in values if v is not None and v.type in (*FUNCTIONS, "call_expression")), None)
    return value if value is not None and value.type in FUNCTIONS else None


def _is_wrapping(callee: Node | None) -> bool:
    if callee is not None and callee.type == "member_expression":
        return raw_text(callee, "object") == "React"
    return callee is not None and callee.type == "identifier" and not _NOT_WRAPPING.match(raw_text(callee))


def _holds_functions(value: Node) -> bool:
    """Whether functions inside a value are named after its variable: a non-empty object, a call with such an object as
    argument, or a function that is called at once."""
    called = unwrapped_value(find_field(value, "function")) if value.type == "call_expression" else None
    objects = field_children(value, "arguments") if value.type == "call_expression" else [value]
    is_run_at_once = called is not None and called.type in FUNCTIONS
    return is_run_at_once or any(one.type == "object" and one.named_child_count > 0 for one in objects)


def define_bound(parts: tuple[str, ...], value: Node | None) -> DefinitionHead | None:
    """What a value defines under a name; `default` if there is none, and the value has none of its own."""
    held = unwrapped_value(value)
    if held is None:
        return None
    defining = held if held.type == "class" else _function_in(held)
    if defining is not None:
        type_ = SymbolType.CLASS if defining.type == "class" else SymbolType.FUNCTION
        return DefinitionHead(parts or (raw_text(defining, "name") or DEFAULT,), type_, find_field(defining, "body"))
    is_named_again = value is not None and bool(target_parts(find_field(value, "left")))
    return DefinitionHead(parts, None) if parts and not is_named_again and _holds_functions(held) else None


def target_parts(target: Node | None) -> tuple[str, ...] | None:
    """The names of an assignment's target, without those of its surroundings; None if it has no name."""
    parts: list[str] = []
    while target is not None and target.type in ("member_expression", "subscript_expression"):
        is_member = target.type == "member_expression"
        key = find_field(target, "property" if is_member else "index")
        name = key_name(key) if is_member or (key is not None and key.type == "string") else ""
        if not name:
            return None
        parts.append(name)
        target = find_field(target, "object")
    if target is not None and target.type in ("identifier", "this"):
        parts.append(raw_text(target))
    elif not parts:
        return None
    while parts and parts[-1] in _NO_OWNERS:
        parts.pop()
    return tuple([part for part in reversed(parts) if part != "prototype"])


def _member(node: Node) -> DefinitionHead:
    return DefinitionHead((key_name(find_field(node, "name")),), SymbolType.FUNCTION, find_field(node, "body"))


def _variable(node: Node) -> DefinitionHead | None:
    name = find_field(node, "name")
    is_plain = name is not None and name.type == "identifier"
    return define_bound((raw_text(name),), find_field(node, "value")) if is_plain else None


def _field(node: Node) -> DefinitionHead | None:
    key = find_field(node, "property") or find_field(node, "name") or find_field(node, "key")
    return define_bound((key_name(key),), find_field(node, "value"))


def _assignment(node: Node) -> DefinitionHead | None:
    parts = target_parts(find_field(node, "left"))
    return define_bound(parts, find_field(node, "right")) if parts is not None else None


def _default_export(node: Node) -> DefinitionHead | None:
    value = find_field(node, "value")
    return define_bound((), value) or define_bound((DEFAULT,), value) if value is not None else None


def _namespace(node: Node) -> DefinitionHead | None:
    name = find_field(node, "name")
    is_path = name is not None and name.type != "string"
    return DefinitionHead(tuple(raw_text(name).replace(" ", "").split(".")), None) if is_path else None


def _type_alias(node: Node) -> DefinitionHead:
    """A type is found by name, as an interface is; one without members is shown by its signature."""
    value = find_field(node, "value")
    return DefinitionHead((raw_text(node, "name"),), SymbolType.CLASS, value if _has_members(value) else None)


def _has_members(type_: Node | None) -> bool:
    waiting = [type_]
    while waiting:
        value = waiting.pop()
        if value is not None and value.type == "object_type":
            return True
        if value is not None and value.type in ("intersection_type", "union_type", "parenthesized_type"):
            waiting.extend(value.named_children)
    return False


_COMMON: Mapping[str, Define] = {
    "function_declaration generator_function_declaration": definition_reader(SymbolType.FUNCTION),
    "function_expression generator_function": definition_reader(SymbolType.FUNCTION, lambda node: node),
    "class_declaration": definition_reader(SymbolType.CLASS),
    "class": definition_reader(SymbolType.CLASS, lambda node: node),
    "method_definition": _member,
    "variable_declarator": _variable,
    "pair": _field,
    "assignment_expression": _assignment,
    "export_statement": _default_export,
}
JAVASCRIPT: Mapping[str, Define] = {**_COMMON, "field_definition": _field}
TYPESCRIPT: Mapping[str, Define] = {
    **_COMMON,
    "public_field_definition": _field,
    "function_signature": definition_reader(SymbolType.FUNCTION),
    "method_signature abstract_method_signature": _member,
    "abstract_class_declaration interface_declaration enum_declaration": definition_reader(SymbolType.CLASS),
    "type_alias_declaration": _type_alias,
    "internal_module module": _namespace,
}
