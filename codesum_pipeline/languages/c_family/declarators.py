"""Names in C and C++: a declarator is read from the outside in, and what is around the name last is what it names."""

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.languages.declaration import DefinitionHead
from codesum_pipeline.languages.hooks import raw_text
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import SymbolType

_POINTING = words("pointer_declarator reference_declarator pointer_type_declarator")
_AROUND = words("array_declarator init_declarator")
_NAMED = words("template_function template_type template_method")
_PLAIN = words("identifier field_identifier type_identifier namespace_identifier primitive_type")
# What a tree that did not parse takes for a function's name.
_NO_NAMES = words("if for while switch return else do catch sizeof defined case")
_STRUCTURES = words("struct_specifier union_specifier enum_specifier class_specifier")


class Shape(Struct, frozen=True):
    """A declared name, the declarator that makes it a function if it is one, and the marks of its type."""

    name: Node
    function: Node | None
    marks: str


def shape_of(node: Node) -> Shape | None:
    """What a declaration declares first; None where it gives no name."""
    return shape_of_declarator(node.child_by_field_name("declarator"))


def shape_of_declarator(declarator: Node | None) -> Shape | None:
    """What a declarator, which may be a plain name, declares."""
    function, marks, returned = None, "", ""
    while declarator is not None and _is_declarator(declarator):
        kind = declarator.type
        if kind.endswith("function_declarator"):
            function = declarator
        elif kind in _POINTING:
            if function is not None:
                returned = raw_text(function.child_by_field_name("parameters"))
            marks += raw_text(declarator.children[0])
            function = None
        elif kind in _AROUND:
            function = None
            if kind == "array_declarator":
                returned += "[" + raw_text(declarator.child_by_field_name("size")) + "]"
        if kind == "abstract_function_declarator":
            return Shape(declarator, function, marks)
        declarator = declarator.child_by_field_name("declarator") or _last_named(declarator)
    if declarator is None:
        return None
    conversion = conversion_of(declarator)
    shape = shape_of(conversion) if conversion is not None else None
    if conversion is not None and shape is not None:
        return Shape(declarator, shape.function, shape.marks)
    shown = f"({marks}){returned}" if returned.startswith("(") else marks + returned
    return Shape(declarator, function, shown)


def _is_declarator(node: Node) -> bool:
    return node.type.endswith("_declarator")


def _last_named(node: Node) -> Node | None:
    """What a declarator without a field for it is around; attributes come after."""
    inner = [child for child in node.named_children if not child.type.startswith(("ms_", "attribute", "type_qual"))]
    return (inner[0] if node.type == "attributed_declarator" else inner[-1]) if inner else None


def conversion_of(name: Node) -> Node | None:
    """The `operator bool()` that a name ends with."""
    while name.type == "qualified_identifier" and (inner := name.child_by_field_name("name")) is not None:
        name = inner
    return name if name.type == "operator_cast" else None


def name_parts(node: Node | None) -> tuple[str, ...]:
    """The parts of a name without template arguments; nothing for what is no name."""
    parts: list[str] = []
    while node is not None and node.type == "qualified_identifier":
        parts.extend(name_parts_of_one(node.child_by_field_name("scope")))
        node = node.child_by_field_name("name")
    own = name_parts_of_one(node)
    return (*parts, *own) if own else ()


def name_parts_of_one(node: Node | None) -> tuple[str, ...]:
    """The one name that a node stands for; nothing for what is no name."""
    if node is not None and node.type in ("dependent_name", "dependent_type"):
        node = _last_named(node)
    if node is not None and node.type in _NAMED:
        node = node.child_by_field_name("name")
    if node is None:
        return ()
    if node.type in _PLAIN:
        return (raw_text(node),)
    if node.type == "destructor_name":
        return ("".join(raw_text(node).split()),)
    if node.type == "operator_name":
        symbol = "".join(raw_text(node).removeprefix("operator").split())
        return (f"operator {symbol}" if symbol[:1].isalpha() else f"operator{symbol}",)
    if node.type == "operator_cast":
        return (raw_text(node).partition("(")[0].strip(),)
    return ()


def template_arguments(name: Node | None) -> list[Node]:
    """What the last part of a name is given in angle brackets."""
    while name is not None and name.type == "qualified_identifier":
        name = name.child_by_field_name("name")
    listed = name.child_by_field_name("arguments") if name is not None and name.type in _NAMED else None
    return listed.named_children if listed is not None else []


def function(node: Node) -> DefinitionHead | None:
    """A function with a body."""
    shape = shape_of(node)
    if shape is None or shape.function is None:
        return _in_parentheses(node, shape)
    parts = name_parts(shape.name)
    if not parts or parts[-1] in _NO_NAMES:
        return None
    is_guess = node.child_by_field_name("type") is None
    parts = _named_by_macro(shape.function) if is_macro_call(node, shape) else parts
    return DefinitionHead(parts, SymbolType.FUNCTION, _body_of(node), is_guess=is_guess)


def _in_parentheses(node: Node, shape: Shape | None) -> DefinitionHead | None:
    """`MACRO(name) {…}` where the grammar takes the macro for the type of a variable."""
    declarator = node.child_by_field_name("declarator")
    if shape is None or declarator is None or declarator.type != "parenthesized_declarator":
        return None
    names = name_parts(shape.name) if raw_text(node.child_by_field_name("type")).isupper() else ()
    return DefinitionHead(names, SymbolType.FUNCTION, _body_of(node), is_guess=True) if names else None


def _body_of(node: Node) -> Node | None:
    """Where a function's signature ends: a constructor's initialisers belong to its body."""
    body = node.child_by_field_name("body")
    for child in node.named_children:
        if child.type in ("field_initializer_list", "try_statement", "constructor_try_statement"):
            return child
        if child == body:
            return body
    return body


def is_macro_call(node: Node, shape: Shape) -> bool:
    """Whether a function is made by a macro, as in `TEST(Suite, Case) {…}`."""
    if shape.function is None or shape.name.type != "identifier" or node.child_by_field_name("type") is not None:
        return False
    return raw_text(shape.name).isupper() and bool(_named_by_macro(shape.function))


def _named_by_macro(function: Node) -> tuple[str, ...]:
    """What a macro is given, if that is names: they are those of the function."""
    listed = function.child_by_field_name("parameters")
    names: list[str] = []
    for child in listed.named_children if listed else ():
        type_ = child.child_by_field_name("type")
        if type_ is None or child.named_child_count > 1 or type_.type not in _PLAIN:
            break
        names.append(raw_text(type_))
    return tuple(names if listed and len(names) == listed.named_child_count <= 2 else names[:1])


def declaration(node: Node) -> DefinitionHead | None:
    """A function without a body: a member, or a prototype. With a `;` after `{}` the body is read as a value."""
    declarator = node.child_by_field_name("declarator")
    if declarator is None or declarator.type in _PLAIN:
        return None
    shape = shape_of(node)
    if shape is None or shape.function is None:
        return None
    parts = name_parts(shape.name)
    if not parts or parts[-1] in _NO_NAMES:
        return None
    value = node.child_by_field_name("default_value") or declarator.child_by_field_name("value")
    body = value if value is not None and value.type == "initializer_list" else None
    return DefinitionHead(parts, SymbolType.FUNCTION, body, is_prototype=body is None, is_guess=True)


def structure(node: Node) -> DefinitionHead | None:
    """A structure with a name and a body."""
    body = node.child_by_field_name("body")
    parts = name_parts(node.child_by_field_name("name")) if body is not None else ()
    section = "private" if node.type == "class_specifier" else ""
    return DefinitionHead(parts, SymbolType.CLASS, body, section=section) if parts else None


def named_by_typedef(node: Node) -> DefinitionHead | None:
    """`typedef struct {…} Name`: the structure has no other name."""
    type_ = node.child_by_field_name("type")
    if type_ is None or type_.type not in _STRUCTURES or type_.child_by_field_name("name") is not None:
        return None
    body, declarator = type_.child_by_field_name("body"), node.child_by_field_name("declarator")
    while declarator is not None and _is_declarator(declarator):
        declarator = declarator.child_by_field_name("declarator") or _last_named(declarator)
    name = raw_text(declarator)
    return DefinitionHead((name,), SymbolType.CLASS, body) if body is not None and name else None


def macro(node: Node) -> DefinitionHead | None:
    """A macro with parameters and a body is called as a function is."""
    name, value = raw_text(node.child_by_field_name("name")), node.child_by_field_name("value")
    return DefinitionHead((name,), SymbolType.FUNCTION, value) if name and value is not None else None


def macro_with_block(node: Node) -> DefinitionHead | None:
    """`MACRO(name) {…}` outside of functions, which the grammar reads as a call that lacks its `;`, and a block."""
    if not node.has_error or node.child_count != 2 or not node.children[1].is_missing:
        return None
    call, block = node.children[0], node.next_named_sibling
    if call.type != "call_expression" or block is None or block.type != "compound_statement":
        return None
    listed = call.child_by_field_name("arguments")
    given = [child for child in (listed.named_children if listed else ()) if child.type != "comment"]
    if not raw_text(call.child_by_field_name("function")).isupper() or not given:
        return None
    if given[0].type == "string_literal":
        names = [raw_text(given[0]).strip('"')]
    else:
        plain = [raw_text(child) for child in given if child.type == "identifier"]
        names = plain if len(plain) == len(given) <= 2 else plain[:1]
    return (
        DefinitionHead(tuple(names), SymbolType.FUNCTION, block, is_guess=True, tail=block)
        if all(names) and names
        else None
    )
