"""Java.

The types of a file, their methods and constructors; a lambda or an anonymous
class that a field or variable is bound to has the variable's name, and an enum
constant with a body is a class.
"""

import re
from collections.abc import Iterator
from html import unescape

import tree_sitter_java
from tree_sitter import Node

from codesum_pipeline.languages.annotations import ANNOTATIONS, MODIFIERS, after_annotations, annotations_and_words
from codesum_pipeline.languages.declaration import (
    CallSyntax,
    Code,
    Declaration,
    DefinitionHead,
    Docs,
    Facts,
    ImportSyntax,
    Text,
    TypedName,
)
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.hooks import defines, field_reader, field_text, names_in, raw_text
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Parameter, SymbolType

BODIES = words("""
    block class_body constructor_body interface_body annotation_type_body module_body enum_body switch_block
""")
VARIABLES = words("field_declaration constant_declaration local_variable_declaration")
TEST_ANNOTATIONS = words("Test ParameterizedTest RepeatedTest TestFactory TestTemplate")
ACCESS = words("public protected private")

SPEC = LanguageSpec(
    name="java",
    version=3,
    grammar=tree_sitter_java.language,
    lines=words("switch_block_statement_group switch_rule"),
    blocks=words("program"),
    braced=BODIES,
    rows=BODIES | {"program", "enum_body_declarations", "switch_block_statement_group"},
    hanging=words("switch_block_statement_group"),
    atoms=words("string_literal character_literal integral_type floating_point_type boolean_type void_type"),
    comments=words("line_comment block_comment"),
    branches=words("""
        if_statement for_statement enhanced_for_statement while_statement do_statement catch_clause case
    """),
    wrappers=VARIABLES,
    lists=lists("array_initializer element_value_array_initializer enum_body"),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . ::
        CLOSE  ...
        COMMA  ;
        PREFIX @ ! ~
        EITHER - +
        STEP   ++ --
    """),
    tokens_in=spaced_in("""
        OPEN     type_arguments|type_parameters <  array_initializer|element_value_array_initializer {
        CLOSE    type_arguments|type_parameters >  switch_block_statement_group :
        WORD     method_reference new  class_literal class  wildcard ?
        COMMA    labeled_statement :
        PREFIX   annotated_type @
    """),
)


_TYPE = defines(SymbolType.CLASS, after_annotations)


def _constant_with_body(node: Node) -> DefinitionHead | None:
    return _TYPE(node) if node.child_by_field_name("body") is not None else None


def _variable(node: Node) -> DefinitionHead | None:
    """A variable bound to a lambda is a function, one bound to an anonymous class is a class."""
    name = raw_text(node.child_by_field_name("name"))
    value = _bound(node)
    if not name or value is None:
        return None
    head = after_annotations(node.parent)
    if value.type == "lambda_expression":
        return DefinitionHead((name,), SymbolType.FUNCTION, value.child_by_field_name("body"), head)
    return DefinitionHead((name,), SymbolType.CLASS, _class_body(value), head)


def _bound(node: Node) -> Node | None:
    """The lambda or anonymous class that a variable holds, if need be after calls on it (`.nullSafe()`)."""
    value = node.child_by_field_name("value")
    while value is not None and value.type == "method_invocation":
        value = value.child_by_field_name("object")
    if value is None or value.type == "lambda_expression":
        return value
    return value if value.type == "object_creation_expression" and _class_body(value) is not None else None


def _class_body(creation: Node) -> Node | None:
    last = creation.children[-1]
    return last if last.type == "class_body" else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if node.type == "variable_declarator":
        value = _bound(node)
        node = value if value is not None else node
    parameters = node.child_by_field_name("parameters")
    if parameters is None or parameters.type == "identifier":
        yield from [Parameter(text(parameters), None, None, "positional")] if parameters is not None else ()
        return
    for child in parameters.named_children:
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
    if node.type == "variable_declarator" and (value := _bound(node)) is not None:
        yield field_text(value, "type", text)
    for child in node.children:
        if child.type == "superclass":
            yield text(child.children[-1])
        elif child.type in ("super_interfaces", "extends_interfaces"):
            yield from [text(base) for types in child.named_children for base in types.named_children]


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a definition; an interface's members are public without saying so."""
    declared = node.parent if node.type == "variable_declarator" else node
    if declared is None:
        return
    words: list[str] = []
    for child in annotations_and_words(declared):
        if child.type not in ANNOTATIONS:
            words.append(text(child))
        elif field_text(child, "name", text).rpartition(".")[2] in TEST_ANNOTATIONS:
            words.append("test")
    if ACCESS.isdisjoint(words) and _is_in_interface(declared, words):
        yield "public"
    yield from words


def _is_in_interface(node: Node, words: list[str]) -> bool:
    if node.type == "method_declaration" and "static" not in words:
        is_without_body = node.child_by_field_name("body") is None
        return "default" in words or (is_without_body and "abstract" not in words and "native" not in words)
    if node.type in ("constructor_declaration", "compact_constructor_declaration", "local_variable_declaration"):
        return False
    return node.parent is not None and node.parent.type in ("interface_body", "annotation_type_body", "enum_body")


def _call(node: Node, text: Text) -> CallSyntax:
    receiver = field_text(node, "object", text)
    if any(child.type == "super" for child in node.children[1:]):
        receiver = Code.of(f"{receiver}.super", receiver, ".", "super")
    return CallSyntax(receiver, field_text(node, "name", text))


def _new(node: Node, text: Text) -> CallSyntax | None:
    receiver, _, name = _class_name(node.child_by_field_name("type"), text).rpartition(".")
    return CallSyntax(receiver, name, is_new=True) if name else None


def _class_name(type_: Node | None, text: Text) -> str:
    """A type without its arguments."""
    if type_ is not None and type_.type == "generic_type":
        type_ = type_.named_children[0]
    return text(type_)


def _constructor_call(node: Node, text: Text) -> CallSyntax:
    return CallSyntax("", field_text(node, "constructor", text))


def _reference(node: Node, text: Text) -> CallSyntax | None:
    """`String::length` is called by whom it is given to."""
    of, name = node.children[0], node.children[-1]
    if name.type == "new":
        receiver, _, class_name = _class_name(of, text).rpartition(".")
        return CallSyntax(receiver, class_name, is_new=True) if of.type != "array_type" else None
    return CallSyntax(text(of), text(name), mark="::") if name.type == "identifier" else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path = next((child for child in node.named_children if child.type in ("scoped_identifier", "identifier")), None)
    if any(child.type == "asterisk" for child in node.named_children):
        yield ImportSyntax(text(path), "*")
    elif path is not None:
        module, _, name = text(path).rpartition(".")
        yield ImportSyntax(module or name, name if module else None)


def _package(node: Node, text: Text) -> str:
    return text(next((child for child in node.named_children if "identifier" in child.type), None))


def _variables(node: Node, text: Text) -> Iterator[tuple[str, str, str]]:
    """Name, type and made class of each variable of a declaration."""
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value")
        made = value if value is not None and value.type == "object_creation_expression" else None
        made_type = field_text(made, "type", text) if made is not None else ""
        yield field_text(declarator, "name", text), _declared_type(node, declarator, text), made_type


def _fields(node: Node, text: Text) -> Iterator[str]:
    for name, type_, _ in _variables(node, text):
        yield f"{name}: {type_}"


def _component(node: Node, text: Text) -> Iterator[str]:
    """The components of a record, which stand in its head, are its fields."""
    around = node.parent.parent if node.parent is not None else None
    if around is not None and around.type == "record_declaration":
        yield from [f"{typed.name}: {typed.type}" for typed in _typed(node, text)]


def _typed_variables(node: Node, text: Text) -> Iterator[TypedName]:
    for name, type_, made in _variables(node, text):
        yield TypedName(name, made if type_ == "var" else type_)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """A parameter, the variable of a loop or a resource."""
    if node.type == "spread_parameter":
        name, type_ = _spread(node, text)
        yield TypedName(name, Code.of(f"{type_}[]", type_, "[", "]"))
    elif (type_ := _declared_type(node, node, text)) != "var":
        yield TypedName(field_text(node, "name", text), type_)
    elif (value := node.child_by_field_name("value")) is not None and value.type == "object_creation_expression":
        yield TypedName(field_text(node, "name", text), field_text(value, "type", text))


def _typed_pattern(node: Node, text: Text) -> Iterator[TypedName]:
    """`case Circle c`."""
    if node.named_child_count == 2 and text(node.named_children[0]) != "var":
        yield TypedName(text(node.named_children[1]), text(node.named_children[0]))


def _typed_test(node: Node, text: Text) -> Iterator[TypedName]:
    """`shape instanceof Circle c`."""
    yield TypedName(field_text(node, "name", text), field_text(node, "right", text))


def _caught(node: Node, text: Text) -> Iterator[TypedName]:
    types = next((child for child in node.named_children if child.type == "catch_type"), None)
    for type_ in types.named_children if types else ():
        yield TypedName(field_text(node, "name", text), text(type_))


def _result(body: Node) -> Node | None:
    """The expression that a lambda without a block gives."""
    return body if body.type not in BODIES else None


# Lines that look like a definition.
_LINES = (
    rf"[ \t]*{MODIFIERS}*(?:class|interface|enum|@interface)[ \t]+"
    r"(?P<name>[A-Za-z_$][\w$]*)(?=[^;()\"{}]*\{)",
    rf"[ \t]*{MODIFIERS}*record[ \t]+(?P<name>[A-Z]\w*)[ \t]*(?:<[^()]*>[ \t]*)?\(",
    rf"[ \t]*{MODIFIERS}+(?:<[^()]*>[ \t]+)?(?!class|new|return)[\w<>\[\],.?& ]+[ \t]"
    r"(?P<name>[A-Za-z_]\w*)[ \t]*\([^;=\"\n]*$",
    r"[ \t]+(?!(?:return|new|else|throw|if|for|while|switch|case|catch|do|try|synchronized|assert|yield|class)\b)"
    r"[A-Za-z_][\w<>\[\],.?]*[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\([^;=\"()]*\)[ \t]*(?:throws[ \t]+[\w., ]+)?\{",
)

_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_HTML_TAG = re.compile(r"</?(?:p|code|pre|b|i|em|strong|tt|ul|ol|li|dl|dt|dd|br|a|blockquote|h[1-6])\b[^<>]*>", re.I)


def _plain_text(documentation: str) -> str:
    """The words of a comment; lines that hold nothing but tags go."""
    lines = []
    for line in documentation.split("\n"):
        shown = _HTML_TAG.sub("", _INLINE_TAG.sub(r"\1", line))
        if shown.strip() or shown == line:
            lines.append(unescape(shown.rstrip()))
    return "\n".join(lines).strip("\n")


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(methods_decide=True),
    definition_lines=_LINES,
    definitions={
        "class_declaration interface_declaration": _TYPE,
        "enum_declaration record_declaration annotation_type_declaration": _TYPE,
        "enum_constant": _constant_with_body,
        "method_declaration constructor_declaration": defines(SymbolType.FUNCTION, after_annotations),
        "compact_constructor_declaration annotation_type_element_declaration": defines(
            SymbolType.FUNCTION, after_annotations
        ),
        "variable_declarator": _variable,
    },
    docs=Docs.MARKED,
    doc_marks=("/**", "///"),
    plain_doc=_plain_text,
    facts=Facts(
        returns=words("return_statement"),
        raises=words("throw_statement"),
        assignments={"assignment_expression": "left", "update_expression": ""},
        closures=words("lambda_expression"),
        result=_result,
        fields={
            "field_declaration constant_declaration": _fields,
            "enum_constant": names_in("name"),
            "formal_parameter spread_parameter": _component,
        },
    ),
    calls={
        "method_invocation": _call,
        "object_creation_expression": _new,
        "explicit_constructor_invocation": _constructor_call,
        "method_reference": _reference,
    },
    imports={"import_declaration": _import},
    typed={
        "formal_parameter spread_parameter enhanced_for_statement resource": _typed,
        "field_declaration constant_declaration local_variable_declaration": _typed_variables,
        "catch_formal_parameter": _caught,
        "type_pattern record_pattern_component": _typed_pattern,
        "instanceof_expression": _typed_test,
    },
    parameters=_parameters,
    return_type=field_reader("type"),
    bases=_bases,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: "public" in modifiers or "protected" in modifiers,
    package={"package_declaration": _package},
)
