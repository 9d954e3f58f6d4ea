"""Go."""

import re
from collections.abc import Iterator, Sequence

import tree_sitter_go
from tree_sitter import Node

from codesum_pipeline.languages.declaration import (
    MAX_CHAIN,
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
from codesum_pipeline.languages.hooks import defines, field_reader, field_text, first_values, names_in, raw_text
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Import, Parameter, Symbol, SymbolType

SPEC = LanguageSpec(
    name="go",
    version=2,
    grammar=tree_sitter_go.language,
    lines=words("""
        package_clause import_declaration import_spec const_declaration const_spec var_declaration var_spec
        function_declaration method_declaration type_declaration type_spec type_alias field_declaration method_elem
        type_elem expression_statement send_statement inc_statement dec_statement assignment_statement
        short_var_declaration labeled_statement fallthrough_statement break_statement continue_statement
        goto_statement return_statement go_statement defer_statement if_statement for_statement
        expression_switch_statement type_switch_statement select_statement block expression_case default_case
        type_case communication_case
    """),
    blocks=words("source_file"),
    braced=words("""
        block field_declaration_list interface_type expression_switch_statement type_switch_statement
        select_statement
    """),
    parened=words("import_spec_list var_spec_list const_declaration type_declaration"),
    hanging=words("expression_case default_case type_case communication_case"),
    containers=words("statement_list"),
    atoms=words("interpreted_string_literal raw_string_literal rune_literal"),
    comments=words("comment"),
    # A statement that is nothing but `;`.
    dropped=words("empty_statement"),
    branches=words("if_statement for_statement expression_case type_case communication_case"),
    wrappers=words("type_declaration"),
    lists=lists("argument_list parameter_list type_arguments literal_value"),
    tokens=BRACKETS
    | spaced("""
        TIGHT  .
        COMMA  : ;
        PREFIX ... !
        CLOSE  ++ --
        EITHER * & - + ^ <-
    """),
    tokens_in=spaced_in("""
        TIGHT     slice_expression :  slice_type|array_type|map_type ]
        WORD      func_literal|function_type func  map_type map
        PREFIX    pointer_type *  slice_type|array_type [
        OMITTED   statement_list|source_file|field_declaration_list|interface_type ;
           import_spec_list|const_declaration|var_spec_list|type_declaration ;
    """),
)


def _method(node: Node) -> DefinitionHead | None:
    """A method belongs to its receiver's type, wherever that is declared."""
    name = raw_text(node.child_by_field_name("name"))
    owner = _receiver_type(node)
    parts = (owner, name) if owner else (name,)
    return DefinitionHead(parts, SymbolType.FUNCTION, node.child_by_field_name("body")) if name else None


def _receiver_type(node: Node) -> str:
    receiver = node.child_by_field_name("receiver")
    declared = next(iter(receiver.named_children), None) if receiver else None
    type_ = declared.child_by_field_name("type") if declared else None
    while type_ is not None and type_.type in ("pointer_type", "generic_type", "parenthesized_type"):
        type_ = type_.child_by_field_name("type") or type_.named_children[0]
    return raw_text(type_)


def _type(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name"))
    type_ = node.child_by_field_name("type")
    if not name or type_ is None:
        return None
    body = next((child for child in type_.children if child.type in ("field_declaration_list", "{")), None)
    return DefinitionHead((name,), SymbolType.CLASS, body)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    receiver = node.child_by_field_name("receiver")
    for declared in receiver.named_children if receiver else ():
        for name in declared.children_by_field_name("name"):
            yield Parameter(text(name), field_text(declared, "type", text), None, "receiver")
    parameters = node.child_by_field_name("parameters")
    for declared in parameters.named_children if parameters else ():
        kind = "var_positional" if declared.type == "variadic_parameter_declaration" else "positional"
        for name in declared.children_by_field_name("name"):
            yield Parameter(text(name), field_text(declared, "type", text), None, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    """Embedded fields of a struct, embedded interfaces of an interface."""
    type_ = node.child_by_field_name("type")
    for child in type_.named_children if type_ else ():
        if child.type == "field_declaration_list":
            for declared in child.named_children:
                if declared.type == "field_declaration" and declared.child_by_field_name("name") is None:
                    yield field_text(declared, "type", text)
        elif child.type == "type_elem" and child.named_child_count == 1:
            yield text(child)


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "selector_expression":
        return CallSyntax(field_text(function, "operand", text), field_text(function, "field", text))
    return CallSyntax("", text(function)) if function is not None and function.type == "identifier" else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path = field_text(node, "path", text).strip('"`')
    name = field_text(node, "name", text)
    if path:
        yield ImportSyntax(path, "*") if name == "." else ImportSyntax(path, None, name or None)


def _field_names(node: Node, text: Text) -> Iterator[str]:
    type_ = field_text(node, "type", text)
    for name in node.children_by_field_name("name"):
        yield f"{text(name)} {type_}"


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """Parameters, fields and variables that say their type."""
    type_ = field_text(node, "type", text)
    for name in node.children_by_field_name("name"):
        yield TypedName(text(name), type_)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`x := T{…}`, `x := &T{…}` and `x := y.(T)` say their type."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    for name, value in zip(left.named_children, right.named_children, strict=False):
        made = value.child_by_field_name("operand") if value.type == "unary_expression" else value
        is_typed = made is not None and made.type in ("composite_literal", "type_assertion_expression")
        if name.type == "identifier" and made is not None and is_typed:
            yield TypedName(text(name), field_text(made, "type", text))


def _is_member(node: Node) -> bool:
    """Whether a definition is a method, which is seen through its receiver alone."""
    return node.type in ("method_declaration", "method_elem")


def _switched(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a type switch: no longer of the type that it had."""
    alias = node.child_by_field_name("alias")
    yield from (TypedName(text(name), "") for name in (alias.named_children if alias is not None else ()))


def _typed_case(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a type switch in a case of one type."""
    types = node.children_by_field_name("type")
    # A parent is looked up from the root: affordable, since cases of types are few.
    alias = node.parent.child_by_field_name("alias") if node.parent is not None else None
    if alias is not None and len(types) == 1:
        yield from (TypedName(text(name), text(types[0])) for name in alias.named_children)


def _items(node: Node, text: Text) -> Iterator[TypedName]:
    """The variables of a loop: the second is an element of what it goes through."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    names = left.named_children if left is not None else []
    for number, name in enumerate(names):
        is_short = right is not None and right.end_byte - right.start_byte <= MAX_CHAIN
        items = text(right) if number == 1 and is_short else ""
        yield TypedName(text(name), Code.of(f"{items}[0]", items, "[", "0", "]") if items else "")


def _package(node: Node, text: Text) -> str:
    return text(node.named_children[0]) if node.named_children else ""


# Lines that look like a definition.
_LINES = (
    r"func[ \t]+(?:\([^()]*\)[ \t]*)?(?P<name>\w+)[ \t]*[(\[]",
    r"type[ \t]+(?P<name>\w+)[^=/]*[ \t](?:struct|interface)\b",
)

_TEST_NAME = re.compile(r"(?:Test|Benchmark|Fuzz)(?:[^a-z]|$)")
_TEST_TAG = re.compile(
    rb"^//go:build (?:.*[ (])?(?:integration|e2e|acceptance|functional|smoke|unit|tests?)(?:[ )&|]|$)", re.M
)


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    types = {parameter.type for parameter in symbol.facts.parameters[:1]}
    return bool(_TEST_NAME.match(symbol.name)) and bool(types & {"*testing.T", "*testing.B", "*testing.F"})


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(is_test=_is_test, tag=_TEST_TAG),
    definition_lines=_LINES,
    definitions={
        "function_declaration": defines(SymbolType.FUNCTION),
        "method_declaration": _method,
        "type_spec type_alias": _type,
        "method_elem": defines(SymbolType.FUNCTION),
    },
    docs=Docs.ADJACENT,
    blocks=words("""
        block func_literal if_statement for_statement expression_switch_statement type_switch_statement
        select_statement expression_case default_case type_case communication_case
    """),
    is_member=_is_member,
    facts=Facts(
        returns=words("return_statement"),
        assignments={"assignment_statement": "left", "inc_statement dec_statement": "operand"},
        raising_calls=words("panic"),
        closures=words("func_literal"),
        fields={"field_declaration": _field_names},
    ),
    calls={"call_expression": _call},
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
    package={"package_clause": _package},
    globals={"const_spec var_spec": names_in("name")},
)
