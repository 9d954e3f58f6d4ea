"""What C and C++ have in common: the facts of functions and structures."""

from collections.abc import Iterator
from typing import Any

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter
from codesum_pipeline.languages.declarations.c_family import declarators, macros
from codesum_pipeline.languages.declarations.c_family.declarators import Shape, name_parts, shape_of
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.hooks import texts_of_fields, unknown_words_reader
from codesum_pipeline.languages.declarations.node_code import Code, Text, field_text
from codesum_pipeline.languages.declarations.nodes import field_children, find_field
from codesum_pipeline.languages.declarations.spec import split_words

# Types that are not classes.
_BUILT_IN = split_words("primitive_type sized_type_specifier placeholder_type_specifier auto decltype")
_STRUCTURES = split_words("struct_specifier union_specifier enum_specifier class_specifier")
_FUNCTION_WORDS = split_words("storage_class_specifier virtual explicit_function_specifier virtual_specifier noexcept")
_CLAUSES = {
    "default_method_clause": "default",
    "delete_method_clause": "delete",
    "pure_virtual_clause": "abstract",
}
_GUARDS = split_words("preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef")
# The nodes of a header that only includes others: its words and conditions.
_IDLE = frozenset({
    "comment", "identifier", "number_literal", "preproc_call", "preproc_defined", "preproc_directive",
    "binary_expression", "call_expression", "parenthesized_expression", "unary_expression",
    "#ifndef", "#ifdef", "#if", "#else", "#elif", "#elifdef", "#elifndef", "#endif", "\n", ";",
})  # fmt: skip


def _shape_of_function(node: Node) -> Shape | None:
    """How a definition declares its function; a lambda has a declarator of its own."""
    value = find_field(node, "value")
    return shape_of(value if value is not None and value.type == "lambda_expression" else node)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """The parameters of a function or a macro. In K&R's style, they say no types there."""
    if node.type == "preproc_function_def":
        listed = find_field(node, "parameters")
        for child in listed.children if listed is not None else ():
            if child.type in ("identifier", "..."):
                yield Parameter(text(child), None, None, "var_positional" if child.type == "..." else "positional")
        return
    shape = _shape_of_function(node)
    if shape is None or declarators.is_macro_call(node, shape):
        return
    is_old = _is_old_style(node, shape.function, text)
    for child in field_children(shape.function, "parameters"):
        if child.type == "identifier" or is_old:
            yield Parameter(text(child), None, None, "positional")
        elif child.type == "variadic_parameter":
            yield Parameter("...", None, None, "var_positional")
        elif child.type.endswith("parameter_declaration") and text(child) != "void":
            kind = "var_positional" if child.type.startswith("variadic") else "positional"
            default = field_text(child, "default_value", text) or None
            declared = shape_of(child)
            name = text(declared.name).removeprefix("...") if declared else ""
            yield Parameter(name or "_", _type_without(text(child), name, default), default, kind)


def _is_old_style(node: Node, head: Node | None, text: Text) -> bool:
    """Whether parameters look like types since the grammar was not shown their declarations, behind the brackets."""
    listed = field_children(head, "parameters")
    are_names = all([part.type for part in child.named_children] == ["type_identifier"] for child in listed)
    return are_names and bool(listed and text(node).partition(text(head))[2].partition("{")[0].strip())


def _type_without(declared: str, name: str, default: str | None) -> str | None:
    """The text of a declaration without the name that it declares."""
    if default:
        declared = declared.removesuffix(default).rstrip().removesuffix("=").rstrip()
    before, found, after = declared.rpartition(name) if name else (declared, "", "")
    if name and not found:
        return declared
    return f"{before.rstrip()}{'' if after.startswith(')') else ' '}{after}".strip()


def _shapes(node: Node) -> list[Shape]:
    """What a declaration declares."""
    return [*filter(None, map(declarators.shape_of_declarator, node.children_by_field_name("declarator")))]


def _return_type(node: Node, text: Text) -> str | None:
    """The return type, which is before the name or after the arrow; None for constructors."""
    shape = _shape_of_function(node)
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


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """Storage, qualifiers and what a method is said to be."""
    if node.type == "preproc_function_def":
        yield "#define"
        return
    shape = _shape_of_function(node)
    if shape and declarators.is_macro_call(node, shape) and "TEST" in text(shape.name):
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


def read_call(node: Node, text: Text) -> CallSyntax | None:
    """`f(…)`, `a.f(…)`, `a->f(…)`, `ns::f(…)`."""
    function = find_field(node, "function")
    if function is not None and function.type == "template_function":
        function = find_field(function, "name")
    if function is None:
        return None
    if function.type == "field_expression":
        name = "".join(name_parts(find_field(function, "field"))[-1:])
        mark = field_text(function, "operator", text) or "."
        return CallSyntax(field_text(function, "argument", text), name, mark=mark)
    if function.type == "qualified_identifier":
        *scopes, name = name_parts(function) or ("",)
        return CallSyntax("::".join(scopes), name, mark="::")
    return CallSyntax("", text(function)) if function.type == "identifier" else None


def read_include(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`#include` imports all of a file; if a macro replaces the path, nothing is known."""
    path = field_text(node, "path", text)
    if path[:1] in ('"', "<"):
        yield ImportSyntax(path[1:-1], "*")


def _forwarded_headers(unit: Node, text: Text) -> Iterator[ImportSyntax]:
    """The headers that a file includes, if it does nothing else: include guards, comments and pragmas do not count."""
    waiting, included = [unit], []
    while waiting:
        for child in waiting.pop().children:
            is_guard = child.type == "preproc_def" and find_field(child, "value") is None
            if child.type in _GUARDS:
                waiting.append(child)
            elif child.type == "preproc_include":
                included.append(child)
            elif not is_guard and child.type not in _IDLE:
                return
    for node in sorted(included, key=lambda found: found.start_byte):
        yield from read_include(node, text)


def read_typed(node: Node, text: Text) -> Iterator[TypedName]:
    """Variables, parameters and fields of a class that is not built in."""
    type_ = find_field(node, "type")
    if type_ is None or type_.type in _BUILT_IN:
        return
    type_name = field_text(type_, "name", text) if type_.type in _STRUCTURES else text(type_)
    for shape in _shapes(node) if type_name else ():
        # In a function, `Type name(value);` looks like a prototype.
        if shape.function is None or shape.name.type == "identifier":
            yield TypedName(text(shape.name), type_name)


def _fields(node: Node, text: Text) -> Iterator[str]:
    """The members that a declaration gives a structure."""
    structure = find_field(node, "type")
    type_: str = field_text(structure, "name", text) if find_field(structure, "body") is not None else text(structure)
    type_ = " ".join([*(text(child) for child in node.children if child.type == "type_qualifier"), type_])
    for shape in _shapes(node):
        if shape.function is None:
            yield f"{text(shape.name)}: {type_} {shape.marks}".rstrip(" :")


def _variables(node: Node, text: Text) -> Iterator[str]:
    """The names that a declaration outside of functions gives to variables."""
    return (text(shape.name) for shape in _shapes(node) if shape.function is None)


def _constant(node: Node, text: Text) -> Iterator[str]:
    """A macro with a value; one without a value is a switch."""
    if find_field(node, "value") is not None:
        yield field_text(node, "name", text)


# The hooks of a declaration that both have.
HOOKS: dict[str, Any] = {
    "masked": macros.mask_macros,
    "rewritten": macros.rewritten_parts,
    "without_templates": macros.without_macro_bodies,
    "hiding": unknown_words_reader(macros.unknown_macros),
    "fields": {"field_declaration": _fields, "enumerator": texts_of_fields("name")},
    "reexports": {"translation_unit": _forwarded_headers},
    "parameters": _parameters,
    "return_type": _return_type,
    "modifiers": _modifiers,
    "globals": {"declaration": _variables, "preproc_def": _constant},
}
