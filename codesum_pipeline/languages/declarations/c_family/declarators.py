"""Names in C and C++: a declarator is read from the outside in, and what is around the name last is what it names."""

import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead
from codesum_pipeline.languages.declarations.kin import next_sibling_of, parent_of
from codesum_pipeline.languages.declarations.node_code import raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field, kind_of
from codesum_pipeline.languages.declarations.spec import split_words

_POINTING = split_words("pointer_declarator reference_declarator pointer_type_declarator")
_NAMED = split_words("template_function template_type template_method")
_PLAIN = split_words("identifier field_identifier type_identifier namespace_identifier primitive_type")
# What a tree that did not parse takes for a function's name.
_NO_NAMES = split_words("if for while switch return else do catch sizeof defined case __attribute__ __declspec")
_BLOCKS = ("compound_statement", "try_statement")
_SUITE = re.compile(rb"(?=[A-Z_]*SUITE)[A-Z_]++\s*+\(")
_STRUCTURES = split_words("struct_specifier union_specifier enum_specifier class_specifier")


class Shape(Struct, frozen=True):
    """A declared name, the declarator that makes it a function if it is one, and the marks of its type."""

    name: Node
    function: Node | None
    marks: str


def shape_of(node: Node) -> Shape | None:
    """What a declaration declares first; None if it gives no name."""
    return shape_of_declarator(find_field(node, "declarator"))


def shape_of_declarator(declarator: Node | None) -> Shape | None:
    """What a declarator, which may be a plain name, declares."""
    function, marks, returned = None, "", ""
    while declarator is not None and declarator.type.endswith("_declarator"):
        kind = declarator.type
        if kind.endswith("function_declarator"):
            if function is not None and kind == "function_declarator" and (made := _named_by_macro_call(declarator)):
                return Shape(made, function, marks + returned)
            function = declarator
        elif kind in _POINTING:
            returned = raw_text(function, "parameters") if function is not None else returned
            marks += raw_text(declarator.children[0])
            function = None
        elif kind in ("array_declarator", "init_declarator"):
            function = None
            returned += f"[{raw_text(declarator, 'size')}]" if kind == "array_declarator" else ""
        if kind == "abstract_function_declarator":
            return Shape(declarator, function, marks)
        declarator = _inner(declarator)
    if declarator is None:
        return None
    conversion = conversion_of(declarator)
    shape = shape_of(conversion) if conversion is not None else None
    if shape is not None:
        return Shape(declarator, shape.function, shape.marks)
    return Shape(declarator, function, f"({marks}){returned}" if returned.startswith("(") else marks + returned)


def _named_by_macro_call(declarator: Node) -> Node | None:
    """The name in `NAME(name)(int a) {…}`, a function whose name a macro makes."""
    listed = field_children(declarator, "parameters")
    type_ = find_field(listed[0], "type") if len(listed) == 1 and listed[0].named_child_count == 1 else None
    return type_ if type_ is not None and type_.type in _PLAIN else None


def _inner(declarator: Node) -> Node | None:
    """The declarator inside of another one; attributes come after it."""
    return find_field(declarator, "declarator") or _last_named(declarator)


def _last_named(node: Node) -> Node | None:
    inner = [child for child in node.named_children if not child.type.startswith(("ms_", "attribute", "type_qual"))]
    return (inner[0] if node.type == "attributed_declarator" else inner[-1]) if inner else None


def conversion_of(name: Node) -> Node | None:
    """The `operator bool()` that a name ends with."""
    while name.type == "qualified_identifier" and (inner := find_field(name, "name")) is not None:
        name = inner
    return name if name.type == "operator_cast" else None


def name_parts(node: Node | None) -> tuple[str, ...]:
    """The parts of a name without template arguments; nothing for what is no name."""
    parts: list[str] = []
    while node is not None and node.type == "qualified_identifier":
        scope = _plain_name(find_field(node, "scope"))
        parts += [scope] if scope is not None else []
        node = find_field(node, "name")
    own = _plain_name(node)
    return (*parts, own) if own is not None else ()


def _plain_name(node: Node | None) -> str | None:
    """The one name that a node consists of; None if it is not a name."""
    if node is not None and node.type in ("dependent_name", "dependent_type"):
        node = _last_named(node)
    if node is not None and node.type in _NAMED:
        node = find_field(node, "name")
    kind = node.type if node is not None else ""
    if kind in _PLAIN:
        return raw_text(node)
    if kind == "destructor_name":
        return "".join(raw_text(node).split())
    if kind == "operator_name":
        symbol = "".join(raw_text(node).removeprefix("operator").split())
        return f"operator {symbol}" if symbol[:1].isalpha() else f"operator{symbol}"
    return raw_text(node).partition("(")[0].strip() if kind == "operator_cast" else None


def template_arguments(name: Node | None) -> list[Node]:
    """What the last part of a name is given in angle brackets."""
    while name is not None and name.type == "qualified_identifier":
        name = find_field(name, "name")
    return field_children(name, "arguments") if name is not None and name.type in _NAMED else []


def define_function(node: Node) -> DefinitionHead | None:
    """A function with a body."""
    shape = shape_of(node)
    if shape is None or shape.function is None:
        return _in_parentheses(node, shape)
    parts = name_parts(shape.name)
    if not parts or parts[-1] in _NO_NAMES:
        return None
    parts = _named_by_macro(shape.function) if is_macro_call(node, shape) else parts
    return DefinitionHead(parts, SymbolType.FUNCTION, _body_of(node), is_guess=find_field(node, "type") is None)


def _in_parentheses(node: Node, shape: Shape | None) -> DefinitionHead | None:
    """`MACRO(name) {…}`, or at the margin `name(a) {…}` of old C, where the grammar sees the type of a variable."""
    declarator = find_field(node, "declarator")
    if shape is None or declarator is None or declarator.type != "parenthesized_declarator":
        return None
    type_ = raw_text(node, "type")
    is_old = node.start_point.column == 0 and type_.isidentifier() and type_ not in _NO_NAMES
    names = name_parts(shape.name) if type_.isupper() else (type_,) if is_old else ()
    return DefinitionHead(names, SymbolType.FUNCTION, _body_of(node), is_guess=True)


def _body_of(node: Node) -> Node | None:
    """Where a function's signature ends: a constructor's initialisers belong to its body."""
    body = find_field(node, "body")
    for child in node.named_children:
        if child == body or child.type in ("field_initializer_list", "try_statement", "constructor_try_statement"):
            return child
    return body


def is_macro_call(node: Node, shape: Shape) -> bool:
    """Whether a function is made by a macro, as in `TEST(Suite, Case) {…}`."""
    if shape.function is None or shape.name.type != "identifier" or find_field(node, "type") is not None:
        return False
    return raw_text(shape.name).isupper() and bool(_named_by_macro(shape.function))


def _named_by_macro(function: Node) -> tuple[str, ...]:
    """The arguments of a macro, if they are names: the macro makes a function of these names."""
    listed = field_children(function, "parameters")
    types = [find_field(child, "type") if child.named_child_count == 1 else None for child in listed]
    names = [raw_text(type_) for type_ in takewhile(lambda type_: kind_of(type_) in _PLAIN, types)]
    return tuple(names if len(names) == len(listed) <= 2 else names[:1])


def define_prototype(node: Node) -> DefinitionHead | None:
    """A function without a body: a member, or a prototype. With a `;` after `{}` the body is read as a value."""
    declarator = find_field(node, "declarator")
    shape = shape_of_declarator(declarator) if declarator is not None and declarator.type not in _PLAIN else None
    parts = name_parts(shape.name) if shape is not None and shape.function is not None else ()
    if not parts or parts[-1] in _NO_NAMES:
        return None
    value = find_field(node, "default_value") or find_field(declarator, "value")
    body = value if value is not None and value.type == "initializer_list" else None
    return DefinitionHead(parts, SymbolType.FUNCTION, body, is_prototype=body is None, is_guess=True)


def define_structure(node: Node) -> DefinitionHead:
    """A structure with a name and a body."""
    body = find_field(node, "body")
    parts = name_parts(find_field(node, "name")) if body is not None else ()
    section = "private" if node.type == "class_specifier" else ""
    return DefinitionHead(parts, SymbolType.CLASS, body, section=section)


def define_by_typedef(node: Node) -> DefinitionHead | None:
    """`typedef struct {…} Name`: the structure has no other name."""
    body, declarator = find_field(node, "type", "body"), find_field(node, "declarator")
    while declarator is not None and declarator.type.endswith("_declarator"):
        declarator = _inner(declarator)
    is_nameless = kind_of(find_field(node, "type")) in _STRUCTURES and find_field(node, "type", "name") is None
    is_found = body is not None and is_nameless
    return DefinitionHead((raw_text(declarator),), SymbolType.CLASS, body) if is_found else None


def define_macro(node: Node) -> DefinitionHead | None:
    """A macro with parameters and a body is called as a function is."""
    value = find_field(node, "value")
    return DefinitionHead((raw_text(node, "name"),), SymbolType.FUNCTION, value) if value is not None else None


def define_by_call_and_block(node: Node) -> DefinitionHead | None:
    """`MACRO(name) {…}` outside of functions, or `name(a, b) {…}` of old C, which returns an `int`.

    The grammar reads it as a call that lacks its `;`, or as an error, and a block.
    """
    children = [child for child in node.children if child.type != "comment"]
    is_torn = node.is_error or (len(children) == 2 and children[1].is_missing)
    block = next_sibling_of(node, is_named=True) if node.has_error and is_torn and len(children) <= 2 else None
    call = children[0] if block is not None else None
    if call is None or call.type != "call_expression" or block is None or block.type not in _BLOCKS:
        return None
    name = find_field(call, "function")
    if name is None or name.type != "identifier":
        return None
    arguments = [child for child in field_children(call, "arguments") if child.type != "comment"]
    if raw_text(name).isupper():
        names = _titled(arguments) or _plainly_named(arguments)
    else:
        plain = _plain_arguments(arguments)
        is_head = node.start_point.column == 0 and len(plain) == len(arguments) and raw_text(name) not in _NO_NAMES
        names = (raw_text(name),) if is_head else ()
    is_guess = not _is_in_suite(node)
    return DefinitionHead(names, SymbolType.FUNCTION, block, is_guess=is_guess, tail=block) if names else None


def _is_in_suite(node: Node) -> bool:
    """Whether a test is in the block of a macro that names a suite of them."""
    around = parent_of(node)
    before = around.prev_named_sibling if around is not None and around.type == "compound_statement" else None
    return before is not None and before.type == "expression_statement" and _SUITE.match(before.text or b"") is not None


def _titled(arguments: Sequence[Node]) -> tuple[str, ...]:
    """The title of a test, which is its first argument, or the second after the name of a class that it belongs to."""
    titles = [*map(_title, arguments[:2])]
    if titles[:1] and titles[0]:
        return (titles[0],)
    owner = name_parts(arguments[0])[-1:] if len(titles) == 2 and titles[1] else ()
    return (*owner, titles[1]) if owner else ()


def _title(argument: Node) -> str:
    """The text that an argument is or begins with: `"a" "b"` as one, `"title" * skip()` without what decorates it."""
    while argument.type == "binary_expression" and (left := find_field(argument, "left")) is not None:
        argument = left
    if argument.type == "concatenated_string":
        return "".join(map(_title, argument.named_children))
    if argument.type == "raw_string_literal":
        return raw_text(child_of_type(argument, "raw_string_content"))
    return raw_text(argument).partition('"')[2].strip('"') if argument.type == "string_literal" else ""


def _plainly_named(arguments: Sequence[Node]) -> tuple[str, ...]:
    plain = _plain_arguments(arguments)
    return tuple(plain if len(plain) == len(arguments) <= 2 else plain[:1])


def _plain_arguments(arguments: Sequence[Node]) -> list[str]:
    return [raw_text(child) for child in arguments if child.type == "identifier"]


DEFINITIONS = {
    "function_definition": define_function,
    "declaration": define_prototype,
    "struct_specifier union_specifier enum_specifier": define_structure,
    "type_definition": define_by_typedef,
    "preproc_function_def": define_macro,
    "expression_statement ERROR": define_by_call_and_block,
}
