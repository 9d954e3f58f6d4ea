"""Kotlin.

A property is a function if it has a getter or setter with code, or is bound to
a function; one bound to an object is a class. An extension belongs to the type
it extends. Members of a companion without a name belong to the class, as they
are called; one with a name is a class of its own.
"""

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from codesum_pipeline.languages.annotations import ANNOTATIONS, SPEC_BASES, after_annotations, annotations_and_words
from codesum_pipeline.languages.declaration import (
    CallSyntax,
    Declaration,
    DefinitionHead,
    Docs,
    Facts,
    ImportSyntax,
    Text,
    TypedName,
)
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.hooks import child_of, field_text, hidden_by, raw_text, unknown_words
from codesum_pipeline.languages.kotlin.layout import BODIES, SPEC
from codesum_pipeline.languages.kotlin.words import annotations, masked, unknown
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter, SymbolType

TYPE_NODES = words("user_type nullable_type function_type parenthesized_type non_nullable_type")


FUNCTION_VALUES = words("lambda_literal anonymous_function")


TEST_ANNOTATIONS = words("Test ParameterizedTest RepeatedTest TestFactory TestTemplate")


STATEMENTS = words("property_declaration assignment for_statement while_statement do_while_statement")


def _type(node: Node) -> DefinitionHead | None:
    name = _name(node.child_by_field_name("name"))
    return DefinitionHead((name,), SymbolType.CLASS, child_of(node, *BODIES), after_annotations(node)) if name else None


def _name(node: Node | None) -> str:
    """A name without the backticks that let it have blanks."""
    return raw_text(node).strip("`")


def _companion(node: Node) -> DefinitionHead | None:
    return _type(node) or DefinitionHead((), None, child_of(node, *BODIES))


def _entry_with_body(node: Node) -> DefinitionHead | None:
    body = child_of(node, "class_body")
    return DefinitionHead((_name(child_of(node, "identifier")),), SymbolType.CLASS, body) if body is not None else None


def _function(node: Node) -> DefinitionHead | None:
    name = _name(node.child_by_field_name("name"))
    parts = (*_extended(node), name)
    return (
        DefinitionHead(parts, SymbolType.FUNCTION, child_of(node, "function_body"), after_annotations(node))
        if name
        else None
    )


def _constructor(node: Node) -> DefinitionHead | None:
    return DefinitionHead(("constructor",), SymbolType.FUNCTION, child_of(node, "block"), after_annotations(node))


def _extended(node: Node) -> tuple[str, ...]:
    """The type that a function or property extends: what stands before a dot before its name."""
    for before, child in pairwise(node.children):
        if child.type == "." and before.type in TYPE_NODES:
            type_ = before.named_children[0] if before.type == "nullable_type" and before.named_children else before
            names = [raw_text(part) for part in type_.children if part.type == "identifier"]
            names = names[:-1] if len(names) > 1 and names[-1] == "Companion" else names
            return (names[-1],) if names else ()
        if child.type in ("function_value_parameters", "variable_declaration"):
            break
    return ()


def _property(node: Node) -> DefinitionHead | None:
    name = _name(child_of(child_of(node, "variable_declaration"), "identifier"))
    if not name:
        return None
    head, value = after_annotations(node), _value(node)
    if value is not None and value.type == "object_literal":
        return DefinitionHead((name,), SymbolType.CLASS, child_of(value, "class_body"), head)
    if value is not None and value.type in FUNCTION_VALUES:
        body = child_of(value, "function_body") if value.type == "anonymous_function" else value
        return DefinitionHead((name,), SymbolType.FUNCTION, body, head)
    accessors = [child for child in node.children if child.type in ("getter", "setter")]
    if not any(child_of(accessor, "function_body") for accessor in accessors):
        return None
    return DefinitionHead((*_extended(node), name), SymbolType.FUNCTION, accessors[0], head)


def _value(property_: Node) -> Node | None:
    """What stands after the `=` of a property."""
    return next((value for mark, value in pairwise(property_.children) if mark.type == "="), None)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if receiver := ".".join(_extended(node)):
        yield Parameter("this", receiver, None, "receiver")
    if node.type == "property_declaration" and (value := _value(node)) is not None:
        node = value
    parameters = child_of(node, "function_value_parameters", "lambda_parameters")
    words, children = "", [*parameters.children, None] if parameters is not None else []
    for child, after in pairwise(children):
        if child is None or child.type == "parameter_modifiers":
            words = text(child)
        elif child.type in ("parameter", "variable_declaration"):
            kind = "var_positional" if "vararg" in words.split() else "positional"
            is_default = after is not None and after.type == "="
            default = text(child.next_sibling.next_sibling) if is_default and child.next_sibling else None
            yield Parameter(_name(child_of(child, "identifier")), _type_of(child, text) or None, default, kind)
            words = ""


def _type_of(node: Node, text: Text) -> str:
    """The type behind the colon of a parameter, a variable or a function."""
    return text(next((type_ for mark, type_ in pairwise(node.children) if mark.type == ":"), None))


def _return_type(node: Node, text: Text) -> str | None:
    if node.type == "property_declaration":
        variable, value = child_of(node, "variable_declaration"), _value(node)
        if value is not None and value.type in FUNCTION_VALUES:
            return _type_of(value, text) or None
        return (_type_of(variable, text) if variable is not None else "") or None
    return _type_of(node, text) or None if node.type == "function_declaration" else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    holder = _value(node) if node.type == "property_declaration" else node
    for specifier in getattr(child_of(holder, "delegation_specifiers"), "named_children", ()):
        base = child_of(specifier, "constructor_invocation", "explicit_delegation") or specifier
        if type_ := text(child_of(base, *TYPE_NODES)):
            yield type_


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in (*preambles, *annotations_and_words(node)):
        # A word that was shown to the grammar as an annotation has no mark.
        if (child.type not in ANNOTATIONS and child.type != "annotated_expression") or not text(child).startswith("@"):
            yield text(child)
        elif text(child).removeprefix("@").partition("(")[0].rpartition(".")[2] in TEST_ANNOTATIONS:
            yield "test"


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.children[0]
    if function.type == "identifier":
        return CallSyntax("", text(function))
    if function.type == "navigation_expression" and function.children[-1].type == "identifier":
        return CallSyntax(text(function.children[0]), text(function.children[-1]))
    return None


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    return CallSyntax(text(node.children[0]), text(node.children[1])) if node.child_count == 3 else None


def _delegation(node: Node, text: Text) -> CallSyntax | None:
    return CallSyntax("", node.children[0].type)


def _reference(node: Node, text: Text) -> CallSyntax | None:
    """`::find` and `Item::name` are called by whom they are given to."""
    if node.child_count < 2 or node.children[-2].type != "::" or text(node.children[-1]) == "class":
        return None
    return CallSyntax(text(node.children[0]) if node.child_count > 2 else "", text(node.children[-1]), mark="::")


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path = text(child_of(node, "qualified_identifier"))
    if child_of(node, "*") is not None:
        yield ImportSyntax(path, "*")
    elif path:
        module, _, name = path.rpartition(".")
        yield ImportSyntax(module or name, name if module else None, text(child_of(node, "identifier")) or None)


def _package(node: Node, text: Text) -> str:
    return text(child_of(node, "qualified_identifier", "identifier"))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    yield TypedName(_name(child_of(node, "identifier")), _type_of(node, text))


def _made(node: Node, text: Text) -> Iterator[TypedName]:
    """`val item = Item(…)`: what begins with a capital is a class."""
    variable, value = child_of(node, "variable_declaration"), _value(node)
    if variable is not None and value is not None and value.type == "call_expression" and variable.child_count == 1:
        name = text(value.children[0])
        if name.rpartition(".")[2][:1].isupper() and name.replace(".", "").isidentifier():
            yield TypedName(_name(variable.children[0]), name)


def _field(node: Node, text: Text) -> Iterator[str]:
    variable = child_of(node, "variable_declaration")
    if variable is not None and _property(node) is None:
        yield _named_type(_name(child_of(variable, "identifier")), _type_of(variable, text))


def _component(node: Node, text: Text) -> Iterator[str]:
    """The parameters of a class that are its properties."""
    if child_of(node, "val", "var") is not None:
        yield _named_type(_name(child_of(node, "identifier")), _type_of(node, text))


def _named_type(name: str, type_: str) -> str:
    return f"{name}: {type_}" if name and type_ else name


def _entry(node: Node, text: Text) -> Iterator[str]:
    yield _name(child_of(node, "identifier"))


def _global(node: Node, text: Text) -> Iterator[str]:
    if node.type == "type_alias":
        yield field_text(node, "type", text)
    elif (variable := child_of(node, "variable_declaration")) is not None and _property(node) is None:
        yield _name(child_of(variable, "identifier"))


def _result(body: Node) -> Node | None:
    """The expression that a body is, or the last one of a lambda."""
    if body.type in ("getter", "setter"):
        held = child_of(body, "function_body") if body.type == "getter" else None
        return _result(held) if held is not None else None
    shown = [child for child in body.named_children if not child.is_extra and child.type != "lambda_parameters"]
    if not shown or body.type == "block" or shown[-1].type in STATEMENTS | {"block", "return_expression"}:
        return None
    return shown[-1]


_BEFORE = (
    r"(?:@[\w.:]+(?:\([^()]*\))?[ \t]+)*(?:(?:public|private|protected|internal|open|abstract|final|override|inline"
    r"|suspend|operator|infix|tailrec|external|expect|actual|data|sealed|enum|annotation|value|inner|fun)[ \t]+)*"
)


# Lines that look like a definition.
_LINES = (
    rf"[ \t]*{_BEFORE}(?<=[ \tn])?fun[ \t]+(?:<[^()]*>[ \t]*)?(?:[\w<>?*,. ]+\.)?"
    r"(?P<name>\w+|`[^`]+`)[ \t]*\(",
    rf"[ \t]*{_BEFORE}(?:class|interface)[ \t]+(?P<name>\w+)",
    rf"[ \t]*{_BEFORE}(?:companion[ \t]+)?object[ \t]+(?P<name>(?!:)\w+)",
)


def _aliased_type(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`typealias X = Y`, where `Y` is a plain name."""
    types = [child for child in node.named_children if child.type == "user_type"]
    if len(types) == 1 and all(child.type == "identifier" for child in types[0].named_children):
        yield ImportSyntax("", text(types[0]), field_text(node, "type", text))


_unknown = unknown_words(unknown)


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(specs=SPEC_BASES, methods_decide=True),
    definition_lines=_LINES,
    definitions={
        "class_declaration object_declaration": _type,
        "companion_object": _companion,
        "enum_entry": _entry_with_body,
        "function_declaration": _function,
        "secondary_constructor": _constructor,
        "property_declaration": _property,
    },
    masked=masked,
    hiding=lambda source, is_broken: (*annotations(source), *_unknown(source, is_broken)),
    docs=Docs.MARKED,
    doc_marks=("/**",),
    # What the grammar takes an annotation with arguments on a line of its own for.
    preambles=words("annotated_expression"),
    facts=Facts(
        returns=words("return_expression"),
        raises=words("throw_expression"),
        assignments={"assignment": "left"},
        raising_calls=words("error TODO"),
        closures=words("anonymous_function"),
        delegations=words("constructor_delegation_call"),
        result=_result,
        fields={"property_declaration": _field, "class_parameter": _component, "enum_entry": _entry},
    ),
    calls={
        "call_expression": _call,
        "infix_expression": _infix_call,
        "constructor_delegation_call": _delegation,
        "callable_reference navigation_expression": _reference,
    },
    imports={"import": _import},
    typed={"class_parameter parameter variable_declaration catch_block": _typed, "property_declaration": _made},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    is_public=hidden_by("private internal"),
    package={"package_header": _package},
    reexports={"type_alias": _aliased_type},
    globals={"property_declaration type_alias": _global},
)
