"""Java.

The types of a file, their methods and constructors; a lambda or an anonymous
class that a field or variable is bound to has the variable's name, and an enum
constant with a body is a class.
"""

import re
from collections.abc import Iterator

import tree_sitter_java
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.node_code import Code, Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.languages.declarations.spec import split_words

ACCESS = split_words("public protected private")
_TAGS = (
    (re.compile(r"\{@\w+\s++([^{}]*)\}"), r"\1"),
    (re.compile(r"</?(?:p|code|pre|b|i|em|strong|tt|ul|ol|li|dl|dt|dd|br|a|blockquote|h[1-6])\b[^<>]*>", re.I), ""),
)
_TYPE = hooks.definition_reader(SymbolType.CLASS, hooks.node_after_annotations)
_FUNCTION = hooks.definition_reader(SymbolType.FUNCTION, hooks.node_after_annotations)


def _variable(node: Node) -> DefinitionHead | None:
    """A variable bound to a lambda is a function, one bound to an anonymous class is a class."""
    name, value = raw_text(node, "name"), _bound(node)
    if not name or value is None:
        return None
    head = hooks.node_after_annotations(parent_of(node))
    if value.type == "lambda_expression":
        return DefinitionHead((name,), SymbolType.FUNCTION, find_field(value, "body"), head)
    return DefinitionHead((name,), SymbolType.CLASS, value.children[-1], head)


def _bound(node: Node) -> Node | None:
    """The lambda or anonymous class that a variable holds, if need be after calls on it (`.nullSafe()`)."""
    value = find_field(node, "value") if node.type == "variable_declarator" else None
    while value is not None and value.type == "method_invocation":
        value = find_field(value, "object")
    if value is None or value.type == "lambda_expression":
        return value
    is_class = value.type == "object_creation_expression" and value.children[-1].type == "class_body"
    return value if is_class else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    parameters = find_field(_bound(node) or node, "parameters")
    if parameters is None:
        return
    for child in [parameters] if parameters.type == "identifier" else parameters.named_children:
        if child.type == "identifier":
            yield Parameter(text(child), None, None, "positional")
        elif child.type == "receiver_parameter":
            yield Parameter("this", text(child).rpartition(" ")[0], None, "receiver")
        elif child.type == "spread_parameter":
            yield Parameter(*_spread(child, text), None, "var_positional")
        elif child.type == "formal_parameter":
            yield Parameter(field_text(child, "name", text), _declared_type(child, child, text), None, "positional")


def _spread(node: Node, text: Text) -> tuple[str, str]:
    """Name and type of `int... numbers`."""
    shown = [child for child in node.named_children if child.type != "modifiers" and not child.is_extra]
    return (field_text(shown[-1], "name", text), text(shown[0])) if len(shown) > 1 else ("", "")


def _declared_type(declaration: Node, declarator: Node, text: Text) -> str:
    """The type of one variable: `int a[]` is an `int[]`."""
    type_, dimensions = field_text(declaration, "type", text), field_text(declarator, "dimensions", text)
    return Code.of(type_ + dimensions, type_, dimensions)


def _bases(node: Node, text: Text) -> Iterator[str]:
    if (value := _bound(node)) is not None:
        yield field_text(value, "type", text)
    for child in node.children:
        if child.type == "superclass":
            yield text(child.children[-1])
        elif child.type in ("super_interfaces", "extends_interfaces"):
            yield from [text(base) for types in child.named_children for base in types.named_children]


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a definition; an interface's members are public without saying so."""
    declared = parent_of(node) if node.type == "variable_declarator" else node
    if declared is None:
        return
    words = hooks.modifiers_before(declared, text, hooks.TEST_ANNOTATIONS)
    if ACCESS.isdisjoint(words) and _is_in_interface(declared, words):
        yield "public"
    yield from words


def _is_in_interface(node: Node, words: list[str]) -> bool:
    if node.type == "method_declaration" and "static" not in words:
        is_without_body = find_field(node, "body") is None
        return "default" in words or (is_without_body and "abstract" not in words and "native" not in words)
    if node.type in ("constructor_declaration", "compact_constructor_declaration", "local_variable_declaration"):
        return False
    around = parent_of(node)
    return around is not None and around.type in ("interface_body", "annotation_type_body", "enum_body")


def _call(node: Node, text: Text) -> CallSyntax:
    receiver = field_text(node, "object", text)
    if any(child.type == "super" for child in node.children[1:]):
        receiver = Code.of(f"{receiver}.super", receiver, ".", "super")
    return CallSyntax(receiver, field_text(node, "name", text))


def _class_name(type_: Node | None, text: Text) -> str:
    """A type without its arguments."""
    return text(type_.named_children[0] if type_ is not None and type_.type == "generic_type" else type_)


def _reference(node: Node, text: Text) -> CallSyntax | None:
    """`String::length` is called by whom it is given to."""
    of, name = node.children[0], node.children[-1]
    if name.type == "new":
        return hooks.call_of_path(_class_name(of, text), is_new=True) if of.type != "array_type" else None
    return CallSyntax(text(of), text(name), mark="::") if name.type == "identifier" else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path = text(child_of_type(node, "scoped_identifier", "identifier"))
    if child_of_type(node, "asterisk"):
        yield ImportSyntax(path, "*")
    elif path:
        yield hooks.import_of_path(path, ".")


def _variables(node: Node, text: Text) -> Iterator[tuple[str, str, str]]:
    """Name, type and made class of each variable of a declaration."""
    for declarator in node.children_by_field_name("declarator"):
        yield field_text(declarator, "name", text), _declared_type(node, declarator, text), _made_type(declarator, text)


def _made_type(declarator: Node, text: Text) -> str:
    value = find_field(declarator, "value")
    is_made = value is not None and value.type == "object_creation_expression"
    return field_text(value, "type", text) if is_made else ""


def _typed_variables(node: Node, text: Text) -> Iterator[TypedName]:
    for name, type_, made_type in _variables(node, text):
        yield TypedName(name, made_type if type_ == "var" else type_)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """A parameter, the variable of a loop or a resource."""
    if node.type == "spread_parameter":
        name, type_ = _spread(node, text)
        yield TypedName(name, Code.of(f"{type_}[]", type_, "[", "]"))
    elif (type_ := _declared_type(node, node, text)) != "var" or (type_ := _made_type(node, text)):
        yield TypedName(field_text(node, "name", text), type_)


def _typed_pattern(node: Node, text: Text) -> Iterator[TypedName]:
    """`case Circle c`."""
    if node.named_child_count == 2 and text(node.named_children[0]) != "var":
        yield TypedName(text(node.named_children[1]), text(node.named_children[0]))


def _caught(node: Node, text: Text) -> Iterator[TypedName]:
    types = child_of_type(node, "catch_type")
    for type_ in types.named_children if types else ():
        yield TypedName(field_text(node, "name", text), text(type_))


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_java.language),
    definitions={
        "class_declaration interface_declaration enum_declaration record_declaration": _TYPE,
        "annotation_type_declaration": _TYPE,
        "enum_constant": lambda node: _TYPE(node) if find_field(node, "body") is not None else None,
        "method_declaration constructor_declaration compact_constructor_declaration": _FUNCTION,
        "annotation_type_element_declaration": _FUNCTION,
        "variable_declarator": _variable,
    },
    plain_doc=hooks.plain_text_reader(_TAGS, keeps_margin=True),
    # The expression that a lambda without a block gives.
    result=lambda body: body if body.type not in ("block", "constructor_body") else None,
    fields={
        "field_declaration constant_declaration": lambda node, text: (
            hooks.member_text(name, type_) for name, type_, _ in _variables(node, text)
        ),
        "enum_constant": hooks.texts_of_fields("name"),
        # The components of a record, which are in its head, are its fields.
        "formal_parameter spread_parameter": hooks.directly_in(("record_declaration",), hooks.members_reader(_typed)),
    },
    calls={
        "method_invocation": _call,
        "object_creation_expression": lambda node, text: hooks.call_of_path(
            _class_name(find_field(node, "type"), text), is_new=True
        ),
        "explicit_constructor_invocation": lambda node, text: CallSyntax("", field_text(node, "constructor", text)),
        "method_reference": _reference,
    },
    imports={"import_declaration": _import},
    typed={
        "formal_parameter spread_parameter enhanced_for_statement resource": _typed,
        "field_declaration constant_declaration local_variable_declaration": _typed_variables,
        "catch_formal_parameter": _caught,
        "type_pattern record_pattern_component": _typed_pattern,
        # `shape instanceof Circle c`.
        "instanceof_expression": hooks.typed_name_reader("name", "right"),
    },
    parameters=_parameters,
    return_type=hooks.field_reader("type"),
    bases=_bases,
    modifiers=_modifiers,
    package={"package_declaration": lambda node, text: text(child_of_type(node, "scoped_identifier", "identifier"))},
)
