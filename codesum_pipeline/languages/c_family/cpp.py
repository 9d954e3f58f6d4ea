"""C++, and the headers of C."""

from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Node

from codesum_pipeline.languages.c_family import shared as c_family
from codesum_pipeline.languages.c_family.declarators import (
    declaration,
    function,
    macro,
    macro_with_block,
    name_parts,
    named_by_typedef,
    structure,
    template_arguments,
)
from codesum_pipeline.languages.c_family.macros import masked, unknown
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
from codesum_pipeline.languages.hooks import field_text, hidden_by, raw_text, unknown_words
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import SymbolType

SPEC = LanguageSpec(
    name="cpp",
    version=5,
    grammar=tree_sitter_cpp.language,
    lines=c_family.LINES
    | words("""
        class_specifier namespace_definition template_declaration template_instantiation friend_declaration
        using_declaration alias_declaration static_assert_declaration concept_definition namespace_alias_definition
        access_specifier for_range_loop try_statement throw_statement co_return_statement co_yield_statement
    """),
    blocks=words("translation_unit"),
    braced=c_family.BRACED | {"requirement_seq"},
    rows=c_family.BRACED | {"translation_unit", "requirement_seq"},
    containers=c_family.CONTAINERS,
    hanging=words("case_statement"),
    atoms=c_family.ATOMS | {"raw_string_literal", "user_defined_literal"},
    dropped=frozenset({"\n"}),
    comments=words("comment"),
    branches=c_family.BRANCHES | {"for_range_loop", "catch_clause"},
    wrappers=c_family.WRAPPERS | {"template_declaration", "friend_declaration"},
    directives=c_family.DIRECTIVES,
    directive_texts=words("preproc_arg"),
    lists=lists("initializer_list enumerator_list"),
    tokens=c_family.TOKENS
    | spaced("""
        WORD  static_assert decltype noexcept explicit
        TIGHT .* ->*
    """),
    tokens_in=c_family.TOKENS_IN
    | spaced_in("""
        CLOSE    operator_name ()  operator_name []  operator_name +  operator_name -  operator_name *
           operator_name /  operator_name %  operator_name ^  operator_name &  operator_name |  operator_name ~
           operator_name !  operator_name =  operator_name <
           operator_name|template_argument_list|template_parameter_list >  operator_name +=  operator_name -=
           operator_name *=  operator_name /=  operator_name %=  operator_name ^=  operator_name &=
           operator_name |=  operator_name <<  operator_name >>  operator_name >>=  operator_name <<=
           operator_name ==  operator_name !=  operator_name <=  operator_name >=  operator_name <=>
           operator_name &&  operator_name ||  operator_name ++  operator_name --  operator_name ,
           operator_name ->*  operator_name ->
           parameter_pack_expansion|variadic_declarator|variadic_type_parameter_declaration ...
           sizeof_expression ...
        PREFIX   reference_declarator|abstract_reference_declarator|lambda_capture_specifier &
           lambda_default_capture &  reference_declarator|abstract_reference_declarator &&
           lambda_capture_specifier *
        WORD     operator_name operator  operator_name new  operator_name delete  operator_name co_await
        TIGHT    operator_name ""
        OPEN     template_argument_list|template_parameter_list <  compound_requirement {
        COMMA    field_declaration_list|preproc_if|preproc_ifdef|preproc_else|preproc_elif :
        INFIX    trailing_return_type|compound_requirement ->
    """),
)


def _namespace(node: Node) -> DefinitionHead | None:
    """What has no name is seen in its own file alone."""
    name = raw_text(node.child_by_field_name("name"))
    parts = tuple(part.removeprefix("inline ").strip() for part in name.split("::")) if name else ()
    return DefinitionHead(parts, None, node.child_by_field_name("body"), section="" if parts else "anonymous")


def _friend(node: Node) -> DefinitionHead | None:
    """A friend is no member: its prototype is one as outside of the class."""
    return DefinitionHead((), None)


def _concept(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name"))
    return DefinitionHead((name,), SymbolType.CLASS, node.named_children[-1]) if name else None


def _lambda(node: Node) -> DefinitionHead | None:
    """`auto name = [](…) {…}`: a function with a name."""
    value, declarator = node.child_by_field_name("value"), node.child_by_field_name("declarator")
    if value is None or value.type != "lambda_expression" or declarator is None or declarator.type != "identifier":
        return None
    return DefinitionHead((raw_text(declarator),), SymbolType.FUNCTION, value.child_by_field_name("body"))


def _bases(node: Node, text: Text) -> Iterator[str]:
    for clause in node.named_children:
        if clause.type == "base_class_clause":
            for child in clause.named_children:
                if child.type in ("type_identifier", "qualified_identifier", "template_type"):
                    yield text(child)


def _made(node: Node, text: Text) -> CallSyntax | None:
    parts = name_parts(node.child_by_field_name("type"))
    return CallSyntax("::".join(parts[:-1]), parts[-1], is_new=True, mark="::") if parts else None


def _using(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`using ns::name` and `using namespace ns`."""
    name = text(node.named_children[-1]) if node.named_children else ""
    if any(child.type == "namespace" for child in node.children):
        yield ImportSyntax(name, "*")
    elif "::" in name:
        module, _, taken = name.rpartition("::")
        yield ImportSyntax(module, taken)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`auto x = new T(…)`, `= T{…}` and `= std::make_unique<T>(…)` say their type."""
    name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    if name is None or name.type not in ("identifier", "pointer_declarator") or value is None:
        return
    if value.type in ("new_expression", "compound_literal_expression"):
        yield TypedName(text(name).lstrip("*"), field_text(value, "type", text))
    elif value.type == "call_expression":
        function = value.child_by_field_name("function")
        arguments = template_arguments(function)
        if arguments and name_parts(function)[-1:] in (("make_unique",), ("make_shared",)):
            yield TypedName(text(name), text(arguments[0]))


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(signatures=c_family.TEST_MACROS, needs_methods=False),
    definition_lines=(
        rf"[ \t]*{c_family.FUNCTION_LINE}",
        *c_family.LINES_OF_DEFINITIONS[1:],
        r"[ \t]*(?:template[ \t]*<.*>[ \t]*)?(?:class|struct)[ \t]+(?:[A-Z][A-Z0-9_]+(?:\([^()]*\))?[ \t]+)?"
        r"(?P<name>[A-Za-z_]\w*)[ \t]*(?:final[ \t]*)?(?:\{|:[^:].*|$)",
    ),
    definitions={
        "function_definition": function,
        "declaration field_declaration": declaration,
        "class_specifier struct_specifier union_specifier enum_specifier": structure,
        "type_definition": named_by_typedef,
        "concept_definition": _concept,
        "namespace_definition": _namespace,
        "friend_declaration": _friend,
        "init_declarator": _lambda,
        "preproc_function_def": macro,
        "expression_statement": macro_with_block,
    },
    docs=Docs.ADJACENT,
    sections=words("access_specifier"),
    masked=masked,
    hiding=unknown_words(unknown),
    facts=Facts(
        returns=words("return_statement co_return_statement"),
        raises=words("throw_statement"),
        yields=words("co_yield_statement"),
        assignments=c_family.ASSIGNMENTS,
        closures=words("lambda_expression"),
        fields=c_family.FIELDS,
    ),
    calls={"call_expression": c_family.call, "new_expression": _made},
    reexports={"translation_unit": c_family.forwarded_headers},
    imports={"preproc_include": c_family.include, "using_declaration": _using},
    typed={
        "declaration parameter_declaration": c_family.typed,
        "optional_parameter_declaration field_declaration for_range_loop": c_family.typed,
        "init_declarator": _typed_by_value,
    },
    parameters=c_family.parameters,
    return_type=c_family.return_type,
    bases=_bases,
    modifiers=c_family.modifiers,
    is_public=hidden_by("static private protected anonymous"),
    globals={"declaration": c_family.variables, "preproc_def": c_family.constant},
)
