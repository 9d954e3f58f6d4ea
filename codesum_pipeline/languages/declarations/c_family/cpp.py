"""C++, and the headers of C."""

from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations.c_family import declarators, shared
from codesum_pipeline.languages.declarations.c_family.declarators import name_parts, template_arguments
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.hooks import call_of_path
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field


def _namespace(node: Node) -> DefinitionHead | None:
    """A namespace. One without a name is visible in its own file alone."""
    name = raw_text(node, "name")
    parts = tuple(part.removeprefix("inline ").strip() for part in name.split("::")) if name else ()
    return DefinitionHead(parts, None, find_field(node, "body"), section="" if parts else "anonymous")


def _lambda(node: Node) -> DefinitionHead | None:
    """`auto name = [](…) {…}`: a function with a name."""
    value, declarator = find_field(node, "value"), find_field(node, "declarator")
    if value is None or value.type != "lambda_expression" or declarator is None or declarator.type != "identifier":
        return None
    return DefinitionHead((raw_text(declarator),), SymbolType.FUNCTION, find_field(value, "body"))


def _bases(node: Node, text: Text) -> Iterator[str]:
    for clause in node.named_children:
        for child in clause.named_children if clause.type == "base_class_clause" else ():
            if child.type in ("type_identifier", "qualified_identifier", "template_type"):
                yield text(child)


def _using(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`using ns::name` and `using namespace ns`."""
    name = text(node.named_children[-1]) if node.named_children else ""
    if child_of_type(node, "namespace"):
        yield ImportSyntax(name, "*")
    elif "::" in name:
        module, _, taken = name.rpartition("::")
        yield ImportSyntax(module, taken)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`auto x = new T(…)`, `= T{…}` and `= std::make_unique<T>(…)` say their type."""
    name, value = find_field(node, "declarator"), find_field(node, "value")
    if name is None or name.type not in ("identifier", "pointer_declarator") or value is None:
        return
    if value.type in ("new_expression", "compound_literal_expression"):
        yield TypedName(text(name).lstrip("*"), field_text(value, "type", text))
    elif value.type == "call_expression":
        function = find_field(value, "function")
        arguments = template_arguments(function)
        if arguments and name_parts(function)[-1:] in (("make_unique",), ("make_shared",)):
            yield TypedName(text(name), text(arguments[0]))


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_cpp.language),
    **shared.HOOKS,
    definitions={
        **declarators.DEFINITIONS,
        "field_declaration": declarators.define_prototype,
        "class_specifier": declarators.define_structure,
        "concept_definition": lambda node: DefinitionHead(
            (raw_text(node, "name"),), SymbolType.CLASS, node.named_children[-1]
        ),
        "namespace_definition": _namespace,
        # A friend is no member: its prototype is one as outside of the class.
        "friend_declaration": lambda node: DefinitionHead((), None),
        "init_declarator": _lambda,
    },
    calls={
        "call_expression": shared.read_call,
        "new_expression": lambda node, text: call_of_path(
            "::".join(name_parts(find_field(node, "type"))), "::", is_new=True
        ),
    },
    imports={"preproc_include": shared.read_include, "using_declaration": _using},
    typed={
        "declaration parameter_declaration": shared.read_typed,
        "optional_parameter_declaration field_declaration for_range_loop": shared.read_typed,
        "init_declarator": _typed_by_value,
    },
    bases=_bases,
)
