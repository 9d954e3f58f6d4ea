"""What C and C++ have in common: layout, spacing, and the facts of functions and structures."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.c_family.declarators import (
    Shape,
    is_macro_call,
    name_parts,
    shape_of,
    shape_of_declarator,
)
from codesum_pipeline.languages.declaration import CallSyntax, Code, ImportSyntax, Text, TypedName
from codesum_pipeline.languages.hooks import field_text, names_in
from codesum_pipeline.languages.spacing import TokenSpacing
from codesum_pipeline.languages.spec import BRACKETS, spaced, spaced_in, words
from codesum_pipeline.model.symbols import Parameter

DIRECTIVES = words("""
    #if #ifdef #ifndef #elif #elifdef #elifndef #else #endif #define #include preproc_directive comment
""")
# Statements and declarations; with directives around them they do not stand between the braces that hold them.
LINES = words("""
    declaration function_definition type_definition linkage_specification struct_specifier union_specifier
    enum_specifier field_declaration enumerator compound_statement expression_statement if_statement
    switch_statement case_statement while_statement do_statement for_statement return_statement break_statement
    continue_statement goto_statement labeled_statement attributed_statement preproc_if preproc_ifdef
    preproc_include preproc_def preproc_function_def preproc_call preproc_else preproc_elif
""")
BRACED = words("compound_statement declaration_list field_declaration_list enumerator_list")
CONTAINERS = words("""
    preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef case_statement labeled_statement
""")
# An attribute may be a macro's name in the clothes of one.
ATOMS = words("string_literal char_literal system_lib_string attribute_declaration preproc_arg")
BRANCHES = words("if_statement for_statement while_statement do_statement case")
WRAPPERS = words("type_definition declaration field_declaration linkage_specification")

_CALLED_LIKE_FUNCTIONS = words("""
    sizeof alignof _Alignof __alignof__ alignas offsetof defined _Generic __attribute__ __attribute __declspec asm
    __asm__ __asm
""")
TOKENS = {
    **BRACKETS,
    **dict.fromkeys(_CALLED_LIKE_FUNCTIONS, TokenSpacing.WORD),
    **spaced("""
    TIGHT  . -> ::
    COMMA  ;
    STEP   ++ --
    PREFIX ! ~
    OPEN   [[
    CLOSE  ]]
"""),
}
TOKENS_IN = spaced_in("""
    PREFIX   pointer_declarator|abstract_pointer_declarator|pointer_expression *  pointer_expression &
       unary_expression -  unary_expression +  parenthesized_declarator|abstract_parenthesized_declarator (
       field_designator .  subscript_designator [
    COMMA    case_statement|labeled_statement :
    TIGHT    cast_expression )
    OPEN     initializer_list {
""")
ASSIGNMENTS = {"assignment_expression": "left", "update_expression": "argument"}
# Types that no class stands behind.
_BUILT_IN = words("primitive_type sized_type_specifier placeholder_type_specifier auto decltype")
_STRUCTURES = words("struct_specifier union_specifier enum_specifier class_specifier")
_FUNCTION_WORDS = words("storage_class_specifier virtual explicit_function_specifier virtual_specifier noexcept")
_CLAUSES = {
    "default_method_clause": "default",
    "delete_method_clause": "delete",
    "pure_virtual_clause": "abstract",
}


def function_shape(node: Node) -> Shape | None:
    """How a definition declares its function; a lambda has a declarator of its own."""
    value = node.child_by_field_name("value")
    if value is not None and value.type == "lambda_expression":
        return shape_of(value)
    return shape_of(node)


def parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """Those of a function or a macro; what K&R's style declares below its brackets has its type there."""
    if node.type == "preproc_function_def":
        yield from _macro_parameters(node, text)
        return
    shape = function_shape(node)
    if shape is None or is_macro_call(node, shape):
        return
    listed = shape.function.child_by_field_name("parameters") if shape.function else None
    for child in listed.named_children if listed else ():
        if child.type == "identifier":
            yield Parameter(text(child), _type_below(node, text(child), text), None, "positional")
        elif child.type == "variadic_parameter":
            yield Parameter("...", None, None, "var_positional")
        elif child.type.endswith("parameter_declaration") and text(child) != "void":
            kind = "var_positional" if child.type.startswith("variadic") else "positional"
            default = field_text(child, "default_value", text) or None
            declared = shape_of(child)
            name = text(declared.name).removeprefix("...") if declared else ""
            yield Parameter(name or "_", _type_without(text(child), name, default), default, kind)


def _macro_parameters(node: Node, text: Text) -> Iterator[Parameter]:
    listed = node.child_by_field_name("parameters")
    for child in listed.children if listed else ():
        if child.type == "identifier":
            yield Parameter(text(child), None, None, "positional")
        elif child.type == "...":
            yield Parameter("...", None, None, "var_positional")


def _type_below(node: Node, name: str, text: Text) -> str | None:
    for declared in node.named_children:
        if declared.type == "declaration":
            for declarator in declared.children_by_field_name("declarator"):
                shape = shape_of_declarator(declarator)
                if shape and text(shape.name) == name:
                    return f"{field_text(declared, 'type', text)} {shape.marks}".strip()
    return None


def _type_without(declared: str, name: str, default: str | None) -> str | None:
    """The text of a declaration without the name that it declares."""
    if default:
        declared = declared.removesuffix(default).rstrip().removesuffix("=").rstrip()
    before, found, after = declared.rpartition(name) if name else (declared, "", "")
    if name and not found:
        return declared
    return f"{before.rstrip()}{'' if after.startswith(')') else ' '}{after}".strip()


def return_type(node: Node, text: Text) -> str | None:
    """As declared before the name, or after the arrow; None for constructors."""
    shape = function_shape(node)
    if shape is None or shape.function is None:
        return None
    for child in shape.function.children:
        if child.type == "trailing_return_type":
            return text(child.named_children[-1] if child.named_children else None)
    type_ = field_text(node, "type", text)
    if not type_ or node.type == "init_declarator":
        return None
    qualifiers = [text(child) for child in node.children if child.type == "type_qualifier"]
    words = [word for word in qualifiers if word in ("const", "volatile")]
    return Code.of(" ".join([*words, type_, *([shape.marks] if shape.marks else [])]), type_, *shape.marks)


def modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """Storage, qualifiers and what a method is said to be."""
    if node.type == "preproc_function_def":
        yield "#define"
        return
    shape = function_shape(node)
    if shape and is_macro_call(node, shape) and "TEST" in text(shape.name):
        yield "test"
    for child in [*node.children, *(shape.function.children if shape and shape.function else ())]:
        if child.type in _FUNCTION_WORDS:
            yield text(child).partition("(")[0]
        elif child.type == "type_qualifier" and (child.start_byte > node.start_byte or text(child) != "const"):
            yield text(child)
        elif word := _CLAUSES.get(child.type):
            yield word
    if node.type == "field_declaration" and field_text(node, "default_value", text) == "0":
        yield "abstract"


def call(node: Node, text: Text) -> CallSyntax | None:
    """`f(…)`, `a.f(…)`, `a->f(…)`, `ns::f(…)`."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "template_function":
        function = function.child_by_field_name("name")
    if function is None:
        return None
    if function.type == "field_expression":
        name = name_parts(function.child_by_field_name("field"))
        mark = field_text(function, "operator", text) or "."
        return CallSyntax(field_text(function, "argument", text), name[-1], mark=mark) if name else None
    if function.type == "qualified_identifier":
        parts = name_parts(function)
        return CallSyntax("::".join(parts[:-1]), parts[-1], mark="::") if parts else None
    return CallSyntax("", text(function)) if function.type == "identifier" else None


def include(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`#include` takes all of a file; a macro's name in its place says nothing."""
    path = field_text(node, "path", text)
    if path[:1] in ('"', "<"):
        yield ImportSyntax(path[1:-1], "*")


_GUARDS = words("preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef")
# What may stand in a header that does nothing but include others: its words and what they ask.
_IDLE = frozenset({
    "comment", "identifier", "number_literal", "preproc_call", "preproc_defined", "preproc_directive",
    "binary_expression", "call_expression", "parenthesized_expression", "unary_expression",
    "#ifndef", "#ifdef", "#if", "#else", "#elif", "#elifdef", "#elifndef", "#endif", "\n", ";",
})  # fmt: skip


def forwarded_headers(unit: Node, text: Text) -> Iterator[ImportSyntax]:
    """All headers that a file includes which does nothing else."""
    waiting, included = [unit], []
    while waiting:
        for child in waiting.pop().children:
            if child.type in _GUARDS:
                waiting.append(child)
            elif child.type == "preproc_include":
                included.append(child)
            elif not _is_idle(child):
                return
    for node in sorted(included, key=lambda found: found.start_byte):
        path = field_text(node, "path", text)
        if path[:1] in ('"', "<"):
            yield ImportSyntax(path[1:-1], "*")


def _is_idle(node: Node) -> bool:
    """Whether a node of a header is a comment, a pragma or its guard."""
    is_guard = node.type == "preproc_def" and node.child_by_field_name("value") is None
    return is_guard or node.type in _IDLE


def declared_type(node: Node, text: Text) -> str:
    """The class that a declaration names; empty for one that is built in."""
    type_ = node.child_by_field_name("type")
    if type_ is None or type_.type in _BUILT_IN:
        return ""
    return field_text(type_, "name", text) if type_.type in _STRUCTURES else text(type_)


def typed(node: Node, text: Text) -> Iterator[TypedName]:
    """Variables, parameters and fields of a class."""
    type_ = declared_type(node, text)
    for declarator in node.children_by_field_name("declarator") if type_ else ():
        shape = shape_of_declarator(declarator)
        # In a function, `Type name(value);` looks like a prototype.
        if shape is not None and (shape.function is None or shape.name.type == "identifier"):
            yield TypedName(text(shape.name), type_)


def fields(node: Node, text: Text) -> Iterator[str]:
    """The members that a declaration gives a structure."""
    structure = node.child_by_field_name("type")
    has_body = structure is not None and structure.child_by_field_name("body") is not None
    type_: str = field_text(structure, "name", text) if structure is not None and has_body else text(structure)
    words = [text(child) for child in node.children if child.type == "type_qualifier"]
    type_ = " ".join([*words, type_])
    for declarator in node.children_by_field_name("declarator"):
        shape = shape_of_declarator(declarator)
        if shape is not None and shape.function is None:
            yield f"{text(shape.name)}: {type_} {shape.marks}".rstrip(" :")


def variables(node: Node, text: Text) -> Iterator[str]:
    """The names that a declaration outside of functions gives to variables."""
    for declarator in node.children_by_field_name("declarator"):
        shape = shape_of_declarator(declarator)
        if shape is not None and shape.function is None:
            yield text(shape.name)


def constant(node: Node, text: Text) -> Iterator[str]:
    """A macro that stands for something; one without a value is a switch."""
    if node.child_by_field_name("value") is not None:
        yield field_text(node, "name", text)


FIELDS = {"field_declaration": fields, "enumerator": names_in("name")}

_NO_NAMES = (
    r"if|else|for|while|switch|do|return|sizeof|case|throw|new|delete|catch|using|typedef|namespace|goto|not|defined"
    r"|static_assert|alignas|decltype|operator|co_await|co_return|public|private|protected|asm|template|friend|requires"
)
# What no statement and no call begins with, and what no name of a function is.
_NO_STATEMENT = rf"(?!(?:{_NO_NAMES})\b)"
_NO_WORD = (
    rf"(?!(?:{_NO_NAMES}|class|struct|union|enum|extern|typename|static|inline|const|__attribute__|__declspec|bool"
    r"|char|int|void|float|double|string)\b)"
)
FUNCTION_LINE = (
    # A macro that names its argument has no type before it.
    rf"{_NO_STATEMENT}(?!(?:struct|class)[ \t]+\w+[ \t]*<|[\w:]+,|(?:static|extern|inline)[ \t]+[A-Z_][A-Z0-9_]+\()"
    rf"(?:[A-Za-z_][\w:<>,&*\[\]]*[ \t]+)(?:{_NO_STATEMENT}[\w:<>,&*\[\]]+[ \t]+)*[*&]*(?:\w+::)*~?"
    rf"(?P<name>{_NO_WORD}[A-Za-z_]\w*)[ \t]*(?!\([^()]*\)[ \t]*\n?[ \t]*\w+[ \t]*\()\("
    # Neither a variable made with a function or a number as an argument, nor a pointer to a member, nor the type of
    # what a function returns a reference to, nor an argument of a template.
    r"(?!(?:[^;\"={]*[(,])?[ \t\n]*\[(?!\[)|[\w:]+::\*|[ \t\n]*\d|[*&]+\w+[ \t]*[(\[])"
    r"[^;\"={]*(?:(?<!\)>)\{(?:.*\})?[ \t]*$|\)(?:[ \t]*(?:const|noexcept|override|final))*[ \t]*\n[ \t]*[{:])"
)
# The type on the line above.
_OWN_LINE = rf"{_NO_WORD}(?P<name>[a-z_]\w*)[ \t]*\([^;{{}}()\"]*\)[ \t]*\n\{{"
_STRUCTURE_LINE = r"[ \t]*(?:typedef[ \t]+)?(?:struct|union|enum)[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\{"
# Lines that look like a definition, at the beginning of a line.
LINES_OF_DEFINITIONS = (FUNCTION_LINE, _OWN_LINE, _STRUCTURE_LINE)
# Macros that make tests.
TEST_MACROS = re.compile(
    r"(?:TYPED_)?TEST(?:_\w+)?\(|TEMPLATE_TEST_CASE\w*\(|SCENARIO\(|BOOST_\w*TEST_CASE\w*\(|MU_TEST\("
)
