"""Go."""

import re
from collections.abc import Iterator, Sequence

import tree_sitter_go
from tree_sitter import Node

from codesum_pipeline.languages.declaration import (
    MAX_CHAIN,
    Code,
    Declaration,
    DefinitionHead,
    FrameworkRules,
    ImportSyntax,
    Text,
    TypedName,
)
from codesum_pipeline.languages.hooks import (
    at,
    called,
    defines,
    field_reader,
    field_text,
    first_values,
    inside,
    names_in,
    raw_text,
)
from codesum_pipeline.languages.spec import LanguageSpec, syntax_beside
from codesum_pipeline.model.symbols import Import, Parameter, Symbol, SymbolType

SYNTAX = syntax_beside(__file__)
_TEST_NAME = re.compile(r"(?:Test|Benchmark|Fuzz)(?:[^a-z]|$)")


def _method(node: Node) -> DefinitionHead | None:
    """A method belongs to its receiver's type, wherever that is declared."""
    name = raw_text(node, "name")
    type_ = at(next(iter(inside(node, "receiver")), None), "type")
    while type_ is not None and type_.type in ("pointer_type", "generic_type", "parenthesized_type"):
        type_ = type_.child_by_field_name("type") or type_.named_children[0]
    parts = tuple(filter(None, (raw_text(type_), name)))
    return DefinitionHead(parts, SymbolType.FUNCTION, at(node, "body")) if name else None


def _type(node: Node) -> DefinitionHead | None:
    name, type_ = raw_text(node, "name"), at(node, "type")
    if not name or type_ is None:
        return None
    body = next((child for child in type_.children if child.type in ("field_declaration_list", "{")), None)
    return DefinitionHead((name,), SymbolType.CLASS, body)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    for field in ("receiver", "parameters"):
        for declared in inside(node, field):
            kind = "receiver" if field == "receiver" else "positional"
            kind = "var_positional" if declared.type == "variadic_parameter_declaration" else kind
            for name in declared.children_by_field_name("name"):
                yield Parameter(text(name), field_text(declared, "type", text), None, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    """Embedded fields of a struct, embedded interfaces of an interface."""
    for child in inside(node, "type"):
        if child.type == "field_declaration_list":
            for declared in child.named_children:
                if declared.type == "field_declaration" and at(declared, "name") is None:
                    yield field_text(declared, "type", text)
        elif child.type == "type_elem" and child.named_child_count == 1:
            yield text(child)


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path, name = field_text(node, "path", text).strip('"`'), field_text(node, "name", text)
    if path:
        yield ImportSyntax(path, "*") if name == "." else ImportSyntax(path, None, name or None)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """Parameters, fields and variables that say their type."""
    type_ = field_text(node, "type", text)
    for name in node.children_by_field_name("name"):
        yield TypedName(text(name), type_)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`x := T{…}`, `x := &T{…}` and `x := y.(T)` say their type."""
    for name, value in zip(inside(node, "left"), inside(node, "right"), strict=False):
        made = at(value, "operand") if value.type == "unary_expression" else value
        is_typed = made is not None and made.type in ("composite_literal", "type_assertion_expression")
        if name.type == "identifier" and is_typed:
            yield TypedName(text(name), field_text(made, "type", text))


def _switched(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a type switch: no longer of the type that it had."""
    yield from (TypedName(text(name), "") for name in inside(node, "alias"))


def _typed_case(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a type switch in a case of one type."""
    types = node.children_by_field_name("type")
    # A parent is looked up from the root: affordable, since cases of types are few.
    if len(types) == 1:
        yield from (TypedName(text(name), text(types[0])) for name in inside(node.parent, "alias"))


def _items(node: Node, text: Text) -> Iterator[TypedName]:
    """The variables of a loop: the second is an element of what it goes through."""
    right = at(node, "right")
    is_short = right is not None and right.end_byte - right.start_byte <= MAX_CHAIN
    for number, name in enumerate(inside(node, "left")):
        items = text(right) if number == 1 and is_short else ""
        yield TypedName(text(name), Code.of(f"{items}[0]", items, "[", "0", "]") if items else "")


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    types = {parameter.type for parameter in symbol.facts.parameters[:1]}
    return bool(_TEST_NAME.match(symbol.name)) and bool(types & {"*testing.T", "*testing.B", "*testing.F"})


DECLARATION = Declaration(
    **SYNTAX["declaration"],
    spec=LanguageSpec(grammar=tree_sitter_go.language, **SYNTAX["spec"]),
    tests=FrameworkRules(is_test=_is_test, **SYNTAX["tests"]),
    definitions={
        "function_declaration method_elem": defines(SymbolType.FUNCTION),
        "method_declaration": _method,
        "type_spec type_alias": _type,
    },
    # A method is seen through its receiver alone.
    is_member=lambda node: node.type in ("method_declaration", "method_elem"),
    fields={"field_declaration": lambda node, text: (f"{one.name} {one.type}" for one in _typed(node, text))},
    calls={"call_expression": called("function", "selector_expression operand . field")},
    imports={"import_spec": _import},
    typed={
        "parameter_declaration field_declaration var_spec": _typed,
        "short_var_declaration": _typed_by_value,
        "type_case": _typed_case,
    },
    bound={
        "short_var_declaration": first_values("left", "right"),
        "range_clause": _items,
        "type_switch_statement": _switched,
        "var_spec": first_values("name", "value", unless="type"),
    },
    parameters=_parameters,
    return_type=field_reader("result"),
    bases=_bases,
    is_public=lambda parts, modifiers: parts[-1][:1].isupper(),
    package={"package_clause": lambda node, text: text(next(iter(node.named_children), None))},
    globals={"const_spec var_spec": names_in("name")},
)
