"""Kotlin.

A property is a function if it has a getter or setter with code, or is bound to
a function; one bound to an object is a class. An extension belongs to the type
it extends. Members of a companion without a name belong to the class, as they
are called; one with a name is a class of its own.

`@A(1) expect object B` is read by the grammar as `expect` with the operator `object`, unless what
follows can be nothing but a declaration. So it is shown a modifier in place of such a word that is no name. And a
constructor on the line below its class's name is a declaration of its own there. Where a file does not parse, a body
that ends on the line of its last member is shown with a mark between them, and a word that is a name all the same as
another name.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise

import tree_sitter_kotlin
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import siblings_after
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.languages.declarations.spec import split_words
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside

BODIES = ("class_body", "enum_class_body")
TYPE_NODES = split_words("user_type nullable_type function_type parenthesized_type non_nullable_type")
FUNCTION_VALUES = ("lambda_literal", "anonymous_function")
_NO_RESULTS = split_words("""
    property_declaration assignment for_statement while_statement do_while_statement block return_expression
""")

_PATTERNS = patterns_beside(__file__)
# Words of any such length that can only be a modifier.
_STAND_INS = {4: b"open", 5: b"final", 6: b"public", 8: b"public", 10: b"public"}
# Names that are shown in place of words that the grammar knows as no names.
_STAND_IN_NAMES = {b"suspend": b"sUSPENd", b"dynamic": b"dYNAMIc"}
_NAMES = {shown.decode(): name.decode() for name, shown in _STAND_IN_NAMES.items()}


def _masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long."""
    shown = _PATTERNS["annotated"].sub(_as_modifiers, source) if b"@" in source else source
    if b"constructor" in shown:
        shown = _PATTERNS["constructor"].sub(lambda match: match["head"] + b" " * len(match["between"]), shown)
    if is_broken:
        shown = _PATTERNS["last_member"].sub(lambda match: match["blanks"][:-1] + b";", shown)
        shown = _PATTERNS["soft_name"].sub(_as_name, shown)
    return source if shown == source else shown


def _as_name(match: re.Match[bytes]) -> bytes:
    return (match["head"] or b"") + _STAND_IN_NAMES[match["named"] or match["used"]]


def _as_modifiers(match: re.Match[bytes]) -> bytes:
    def stand_in(word: re.Match[bytes]) -> bytes:
        return _STAND_INS[len(word[0])].ljust(len(word[0]))

    return match["before"] + _PATTERNS["word"].sub(stand_in, match["words"])


def _annotations(source: bytes) -> Iterator[tuple[tuple[int, int], ...]]:
    """All but the last annotation of each declaration: several may make it read as an expression."""
    found = (_PATTERNS[name].finditer(source) for name in ("annotated", "annotated_function"))
    for match in chain.from_iterable(found):
        if spans := tuple(one.span() for one in _PATTERNS["annotation"].finditer(source, *match.span()))[:-1]:
            yield spans


@hooks.unknown_words_reader
def _unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """Guards of branches, fields of properties, contexts, functions that suspend, marks before a text: what the grammar
    does not know."""
    yield from (match.span("guard") for match in _PATTERNS["guard"].finditer(source))
    yield from (match.span("field") for match in _PATTERNS["backing"].finditer(source))
    yield from (match.span() for match in _PATTERNS["context"].finditer(source))


def _name(node: Node | None) -> str:
    """A name without the backticks that let it have blanks."""
    name = raw_text(node).strip("`")
    return _NAMES.get(name, name)


def _named(node: Node | None) -> str:
    return _name(child_of_type(node, "identifier"))


def _type(node: Node) -> DefinitionHead:
    name, body = _name(find_field(node, "name")), child_of_type(node, *BODIES)
    return DefinitionHead((name,), SymbolType.CLASS, body, hooks.node_after_annotations(node))


def _companion(node: Node) -> DefinitionHead:
    """One without a name is no more than a scope."""
    is_named = find_field(node, "name") is not None
    return _type(node) if is_named else DefinitionHead((), None, child_of_type(node, *BODIES))


def _entry_with_body(node: Node) -> DefinitionHead | None:
    body = child_of_type(node, "class_body")
    return DefinitionHead((_named(node),), SymbolType.CLASS, body) if body is not None else None


def _function(node: Node) -> DefinitionHead:
    parts = (*_extended(node), _name(find_field(node, "name")))
    body = child_of_type(node, "function_body")
    return DefinitionHead(parts, SymbolType.FUNCTION, body, hooks.node_after_annotations(node))


def _constructor(node: Node) -> DefinitionHead:
    head = hooks.node_after_annotations(node)
    return DefinitionHead(("constructor",), SymbolType.FUNCTION, child_of_type(node, "block"), head)


def _extended(node: Node) -> tuple[str, ...]:
    """The type that a function or property extends: the part before the dot before its name."""
    for before, child in pairwise(node.children):
        if child.type == "." and before.type in TYPE_NODES:
            type_ = before.named_children[0] if before.type == "nullable_type" and before.named_children else before
            names = [raw_text(part) for part in type_.children if part.type == "identifier"]
            names = names[:-1] if len(names) > 1 and names[-1] == "Companion" else names
            return tuple(names[-1:])
        if child.type in ("function_value_parameters", "variable_declaration"):
            break
    return ()


def _property(node: Node) -> DefinitionHead | None:
    name = _named(child_of_type(node, "variable_declaration"))
    head, value = hooks.node_after_annotations(node), _value(node)
    if value is not None and value.type == "object_literal":
        return DefinitionHead((name,), SymbolType.CLASS, child_of_type(value, "class_body"), head)
    if value is not None and value.type in FUNCTION_VALUES:
        body = child_of_type(value, "function_body") if value.type == "anonymous_function" else value
        return DefinitionHead((name,), SymbolType.FUNCTION, body, head)
    accessors = [child for child in node.children if child.type in ("getter", "setter")]
    has_code = any(child_of_type(accessor, "function_body") for accessor in accessors)
    return DefinitionHead((*_extended(node), name), SymbolType.FUNCTION, accessors[0], head) if has_code else None


def _value(property_: Node) -> Node | None:
    """The value after the `=` of a property."""
    return next((value for mark, value in pairwise(property_.children) if mark.type == "="), None)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if receiver := ".".join(_extended(node)):
        yield Parameter("this", receiver, None, "receiver")
    if node.type == "property_declaration" and (value := _value(node)) is not None:
        node = value
    parameters = child_of_type(node, "function_value_parameters", "lambda_parameters")
    words, children = "", [*parameters.children, None] if parameters is not None else []
    for child, after in pairwise(children):
        if child is None or child.type == "parameter_modifiers":
            words = text(child)
        elif child.type in ("parameter", "variable_declaration"):
            kind = "var_positional" if "vararg" in words.split() else "positional"
            is_default = after is not None and after.type == "="
            default = text(next(islice(siblings_after(child), 1, None), None)) if is_default else None
            yield Parameter(_named(child), _type_of(child, text) or None, default, kind)
            words = ""


def _type_of(node: Node | None, text: Text) -> str:
    """The type behind the colon of a parameter, a variable or a function."""
    children = node.children if node is not None else ()
    return text(next((type_ for mark, type_ in pairwise(children) if mark.type == ":"), None))


def _return_type(node: Node, text: Text) -> str | None:
    if node.type == "property_declaration":
        value = _value(node)
        is_function = value is not None and value.type in FUNCTION_VALUES
        return _type_of(value if is_function else child_of_type(node, "variable_declaration"), text)
    return _type_of(node, text) if node.type == "function_declaration" else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    holder = child_of_type(_value(node) if node.type == "property_declaration" else node, "delegation_specifiers")
    for specifier in holder.named_children if holder is not None else ():
        base = child_of_type(specifier, "constructor_invocation", "explicit_delegation") or specifier
        if type_ := text(child_of_type(base, *TYPE_NODES)):
            yield type_


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in (*preambles, *hooks.annotations_and_words(node)):
        # A word that was shown to the grammar as an annotation has no mark.
        is_annotation = child.type in hooks.ANNOTATIONS or child.type == "annotated_expression"
        if not is_annotation or not text(child).startswith("@"):
            yield text(child)
        elif text(child).removeprefix("@").partition("(")[0].rpartition(".")[2] in hooks.TEST_ANNOTATIONS:
            yield "test"


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.children[0]
    if function.type == "navigation_expression" and function.children[-1].type == "identifier":
        return CallSyntax(text(function.children[0]), text(function.children[-1]))
    return CallSyntax("", text(function)) if function.type == "identifier" else None


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    return CallSyntax(text(node.children[0]), text(node.children[1])) if node.child_count == 3 else None


def _reference(node: Node, text: Text) -> CallSyntax | None:
    """`::find` and `Item::name` are called by whom they are given to."""
    if node.child_count < 2 or node.children[-2].type != "::" or text(node.children[-1]) == "class":
        return None
    return CallSyntax(text(node.children[0]) if node.child_count > 2 else "", text(node.children[-1]), mark="::")


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path = text(child_of_type(node, "qualified_identifier"))
    if child_of_type(node, "*") is not None:
        yield ImportSyntax(path, "*")
    elif path:
        yield hooks.import_of_path(path, ".", text(child_of_type(node, "identifier")))


def _made(node: Node, text: Text) -> Iterator[TypedName]:
    """`val item = Item(…)`: what begins with a capital is a class."""
    variable, value = child_of_type(node, "variable_declaration"), _value(node)
    if variable is not None and value is not None and value.type == "call_expression" and variable.child_count == 1:
        name = text(value.children[0])
        if name.rpartition(".")[2][:1].isupper() and name.replace(".", "").isidentifier():
            yield TypedName(_name(variable.children[0]), name)


def _field(node: Node, text: Text) -> Iterator[str]:
    variable = child_of_type(node, "variable_declaration")
    if (name := _named(variable)) and _property(node) is None:
        yield hooks.member_text(name, _type_of(variable, text))


def _component(node: Node, text: Text) -> Iterator[str]:
    """The parameters of a class that are its properties."""
    if (name := _named(node)) and child_of_type(node, "val", "var") is not None:
        yield hooks.member_text(name, _type_of(node, text))


def _global(node: Node, text: Text) -> Iterator[str]:
    if node.type == "type_alias":
        yield field_text(node, "type", text)
    elif (variable := child_of_type(node, "variable_declaration")) is not None and _property(node) is None:
        yield _named(variable)


def _result(body: Node) -> Node | None:
    """The expression that a body is, or the last one of a lambda."""
    if body.type in ("getter", "setter"):
        held = child_of_type(body, "function_body") if body.type == "getter" else None
        return _result(held) if held is not None else None
    shown = [child for child in body.named_children if not child.is_extra and child.type != "lambda_parameters"]
    return shown[-1] if shown and body.type != "block" and shown[-1].type not in _NO_RESULTS else None


def _aliased_type(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`typealias X = Y`, where `Y` is a plain name."""
    types = [child for child in node.named_children if child.type == "user_type"]
    if len(types) == 1 and all(child.type == "identifier" for child in types[0].named_children):
        yield ImportSyntax("", text(types[0]), field_text(node, "type", text))


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_kotlin.language),
    definitions={
        "class_declaration object_declaration": _type,
        "companion_object": _companion,
        "enum_entry": _entry_with_body,
        "function_declaration": _function,
        "secondary_constructor": _constructor,
        "property_declaration": _property,
    },
    masked=_masked,
    hiding=lambda source, is_broken: (*_annotations(source), *_unknown(source, is_broken)),
    result=_result,
    fields={
        "property_declaration": _field,
        "class_parameter": _component,
        "enum_entry": lambda node, text: [_named(node)],
    },
    calls={
        "call_expression": _call,
        "infix_expression": _infix_call,
        "constructor_delegation_call": lambda node, text: CallSyntax("", node.children[0].type),
        "callable_reference navigation_expression": _reference,
    },
    imports={"import": _import},
    typed={
        "class_parameter parameter variable_declaration catch_block": lambda node, text: [
            TypedName(_named(node), _type_of(node, text))
        ],
        "property_declaration": _made,
    },
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    package={"package_header": lambda node, text: text(child_of_type(node, "qualified_identifier", "identifier"))},
    reexports={"type_alias": _aliased_type},
    globals={"property_declaration type_alias": _global},
)
