"""PHP."""

from collections.abc import Iterator

import tree_sitter_php
from tree_sitter import Node

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
from codesum_pipeline.languages.hooks import child_of, defines, field_reader, field_text, hidden_by, names_in, raw_text
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists, spell_plain
from codesum_pipeline.model.symbols import Parameter, SymbolType

_CLOSURES = words("anonymous_function arrow_function")
_TEST_ATTRIBUTES = ("Test", "DataProvider", "TestWith")

STATEMENTS = words("""
    break_statement compound_statement continue_statement declare_statement do_statement echo_statement
    exit_statement expression_statement for_statement foreach_statement function_definition
    function_static_declaration global_declaration goto_statement if_statement named_label_statement
    return_statement switch_statement try_statement unset_statement while_statement class_declaration
""")

SPEC = LanguageSpec(
    name="php",
    version=4,
    grammar=tree_sitter_php.language_php,
    lines=frozenset(
        {
            "case_statement",
            "default_statement",
            "match_conditional_expression",
            "match_default_expression",
            *STATEMENTS,
        }
    ),
    containers=words("case_statement default_statement"),
    blocks=words("program"),
    braced=words("""
        compound_statement declaration_list enum_declaration_list switch_block match_block property_hook_list
    """),
    hanging=words("case_statement default_statement"),
    rows=words("program compound_statement declaration_list enum_declaration_list colon_block property_hook_list"),
    atoms=words("""
        string encapsed_string heredoc nowdoc shell_command_expression variable_name namespace_name qualified_name
        relative_name text_interpolation
    """),
    deep=words("encapsed_string heredoc shell_command_expression"),
    comments=words("comment"),
    branches=words("""
        if_statement else_if_clause while_statement do_statement for_statement foreach_statement case_statement
        catch_clause match_conditional_expression
    """),
    respelled={"string encapsed_string": spell_plain},
    lists=lists("arguments formal_parameters array_creation_expression anonymous_function_use_clause"),
    tokens=BRACKETS
    | spaced(r"""
        TIGHT  -> ?-> :: \
        COMMA  : ;
        STEP   ++ --
        PREFIX ! @ ~ ...
        INFIX  ?
        EITHER & - +
        OPEN   #[
    """),
    tokens_in=spaced_in("""
        PREFIX   optional_type ?  reference_modifier|by_ref &  array_creation_expression|list_literal [
           cast_expression (
        INFIX    conditional_expression :  type_list |  anonymous_function function
        TIGHT    union_type |
        WORD     arrow_function fn  array_creation_expression array  list_literal list  exit_statement exit
    """),
)


def _bound_function(node: Node) -> DefinitionHead | None:
    """`$name = function (…) { … }`, and an anonymous class given to a variable."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type != "variable_name" or right is None:
        return None
    name = raw_text(left).removeprefix("$")
    if right.type == "anonymous_function":
        return DefinitionHead((name,), SymbolType.FUNCTION, right.child_by_field_name("body"))
    made = child_of(right, "anonymous_class") if right.type == "object_creation_expression" else None
    return DefinitionHead((name,), SymbolType.CLASS, made.child_by_field_name("body")) if made is not None else None


def _namespace(node: Node) -> DefinitionHead | None:
    """`namespace A { … }` is a scope without a part in names, like the namespace of a whole file."""
    body = node.child_by_field_name("body")
    return DefinitionHead((), None, body) if body is not None else None


def _signed(node: Node) -> Node:
    """The node that has the parameters of a definition."""
    right = node.child_by_field_name("right")
    return right if right is not None else node


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    parameters = _signed(node).child_by_field_name("parameters")
    for child in parameters.named_children if parameters is not None else ():
        if child.type in ("simple_parameter", "property_promotion_parameter", "variadic_parameter"):
            yield Parameter(
                field_text(child, "name", text).removeprefix("$"),
                field_text(child, "type", text) or None,
                field_text(child, "default_value", text) or None,
                "var_positional" if child.type == "variadic_parameter" else "positional",
            )


def _return_type(node: Node, text: Text) -> str | None:
    return field_text(_signed(node), "return_type", text) or None


def _bases(node: Node, text: Text) -> Iterator[str]:
    """What a class extends, implements and uses (traits)."""
    clauses = [child for child in node.named_children if child.type in ("base_clause", "class_interface_clause")]
    body = node.child_by_field_name("body")
    clauses += [child for child in body.named_children if child.type == "use_declaration"] if body is not None else []
    for clause in clauses:
        for child in clause.named_children:
            if child.type in ("name", "qualified_name"):
                yield text(child)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    attributes = node.child_by_field_name("attributes")
    for group in attributes.named_children if attributes is not None else ():
        for attribute in group.named_children:
            if attribute.named_children and text(attribute.named_children[0]).endswith(_TEST_ATTRIBUTES):
                yield "test"
    for child in node.named_children:
        if child.type.endswith("_modifier"):
            yield text(child)


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is None or function.type not in ("name", "qualified_name"):
        return None
    receiver, _, name = text(function).rpartition("\\")
    return CallSyntax(receiver, name, mark="\\")


def _method_call(node: Node, text: Text) -> CallSyntax | None:
    name = node.child_by_field_name("name")
    if name is None or name.type != "name":
        return None
    return CallSyntax(field_text(node, "object", text), text(name), mark="->")


def _static_call(node: Node, text: Text) -> CallSyntax | None:
    name = node.child_by_field_name("name")
    return CallSyntax(field_text(node, "scope", text), text(name), mark="::") if name and name.type == "name" else None


def _new(node: Node, text: Text) -> CallSyntax | None:
    name = child_of(node, "name", "qualified_name")
    return CallSyntax("", text(name), is_new=True) if name is not None else None


def _use(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`use A\\B;`, `use function A\\f;`, `use A\\{B, C as D};`."""
    prefix = text(child_of(node, "namespace_name"))
    group = node.child_by_field_name("body")
    for clause in (group or node).named_children:
        if clause.type != "namespace_use_clause":
            continue
        named = [child for child in clause.named_children if child.type in ("name", "qualified_name", "namespace_name")]
        if not named:
            continue
        whole = f"{prefix}\\{text(named[0])}" if group is not None else text(named[0])
        module, _, name = whole.strip("\\").rpartition("\\")
        yield ImportSyntax(module or name, name if module else None, text(named[1]) if len(named) > 1 else None)


def _include(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require __DIR__ . '/x.php'`: the part that is a literal."""
    waiting = list(node.named_children)
    while waiting:
        part = waiting.pop()
        if part.type in ("string", "encapsed_string"):
            if path := raw_text(part).strip("'\""):
                yield ImportSyntax(path.lstrip("/"))
            return
        if part.type in ("binary_expression", "parenthesized_expression"):
            waiting.extend(part.named_children)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    type_, name = field_text(node, "type", text), field_text(node, "name", text)
    if type_ and name:
        yield TypedName(name, type_)
        if node.type == "property_promotion_parameter":
            yield TypedName(f"$this->{name.removeprefix('$')}", type_)


def _typed_property(node: Node, text: Text) -> Iterator[TypedName]:
    type_ = field_text(node, "type", text)
    for element in node.named_children:
        if type_ and element.type == "property_element":
            yield TypedName(field_text(element, "name", text).removeprefix("$"), type_)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`$x = new Foo(…)`, `$this->x = new Foo(…)`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    made = child_of(right, "name", "qualified_name") if right and right.type == "object_creation_expression" else None
    if left is not None and made is not None and left.type in ("variable_name", "member_access_expression"):
        yield TypedName(text(left), text(made))


def _property(node: Node, text: Text) -> Iterator[str]:
    type_ = field_text(node, "type", text)
    for element in node.named_children:
        if element.type == "property_element":
            name = field_text(element, "name", text).removeprefix("$")
            yield f"{name}: {type_}" if type_ else name


def _constants(node: Node, text: Text) -> Iterator[str]:
    for element in node.named_children:
        if element.type == "const_element" and element.named_children:
            yield text(element.named_children[0])


# Lines that look like a definition.
_LINES = (
    r"[ \t]*(?:(?:public|private|protected|static|final|abstract)[ \t]+)*function[ \t]+&?[ \t]*"
    r"(?P<name>\w+)[ \t]*\(",
    r"[ \t]*(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait)[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*"
    r"(?:\{|$|extends|implements)",
    r"[ \t]*enum[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?(?:\{|$|implements)",
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(calls=words("describe it test"), methods_decide=True),
    definition_lines=_LINES,
    definitions={
        "function_definition method_declaration": defines(SymbolType.FUNCTION),
        "class_declaration interface_declaration trait_declaration enum_declaration": defines(SymbolType.CLASS),
        "assignment_expression": _bound_function,
        "namespace_definition": _namespace,
    },
    docs=Docs.MARKED,
    doc_marks=("/**",),
    facts=Facts(
        returns=words("return_statement"),
        raises=words("throw_expression"),
        yields=words("yield_expression"),
        assignments={"assignment_expression augmented_assignment_expression": "left"},
        raising_calls=words("trigger_error"),
        closures=_CLOSURES,
        fields={"property_declaration": _property, "enum_case": names_in("name"), "const_declaration": _constants},
    ),
    calls={
        "function_call_expression": _call,
        "member_call_expression nullsafe_member_call_expression": _method_call,
        "scoped_call_expression": _static_call,
        "object_creation_expression": _new,
    },
    imports={
        "namespace_use_declaration": _use,
        "require_expression require_once_expression include_expression include_once_expression": _include,
    },
    typed={
        "simple_parameter variadic_parameter property_promotion_parameter": _typed,
        "property_declaration": _typed_property,
        "assignment_expression": _typed_by_value,
    },
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    is_public=hidden_by("private protected"),
    package={"namespace_definition": field_reader("name")},
    globals={"const_declaration": _constants},
)
