"""Zig."""

from collections.abc import Iterator

import tree_sitter_zig
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
from codesum_pipeline.languages.hooks import child_of, defines, field_reader, field_text, of_public, raw_text
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Parameter, SymbolType

CONTAINERS = words("struct_declaration enum_declaration union_declaration opaque_declaration error_set_declaration")
# What stands around the type that a function gives back or a variable is.
_AROUND_TYPES = words("labeled_type_expression parenthesized_expression")

SPEC = LanguageSpec(
    name="zig",
    version=3,
    grammar=tree_sitter_zig.language,
    lines=words("""
        function_declaration variable_declaration container_field test_declaration comptime_declaration
        using_namespace_declaration switch_case
    """),
    # A line of a string in lines ends with the line, so what comes after starts another.
    blocks=words("source_file multiline_string"),
    braced=CONTAINERS | {"block", "switch_expression"},
    rows=words("source_file block"),
    # An identifier may be any text: `@"zls env"`.
    atoms=words("string character multiline_string identifier"),
    comments=words("comment"),
    branches=words("""
        if_statement if_expression while_statement while_expression for_statement for_expression switch_case
        catch_expression
    """),
    lists=lists("call_expression parameters initializer_list"),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . .. ...
        CLOSE  .* .?
        COMMA  : ;
        PREFIX ! ? ~
        SPACED =>
        EITHER - -% & *
    """),
    tokens_in=spaced_in("""
        PREFIX   pointer_type *  pointer_type|slice_type|array_type [
           anonymous_struct_initializer|field_initializer .  error_union_type !
        TIGHT    pointer_type|slice_type|array_type ]  pointer_type|slice_type :
        WORD     error_type error  struct_declaration struct  enum_declaration|union_declaration enum
           union_declaration union  calling_convention callconv
    """),
)


def _test(node: Node) -> DefinitionHead | None:
    """`test "name"`: a function by the text of its name."""
    named = child_of(node, "string", "identifier")
    name = raw_text(named).strip('"')
    return DefinitionHead((f"test {name}" if name else "test",), SymbolType.FUNCTION, child_of(node, "block"))


def _variable(node: Node) -> DefinitionHead | None:
    """`const Name = struct { … }`: a class; of any other value, none."""
    declared, value = _declared(node)
    type_ = _container(value)
    if declared is None or type_ is None:
        return None
    return DefinitionHead(
        (raw_text(declared),), SymbolType.CLASS, next((c for c in type_.children if c.type == "{"), None)
    )


def _container(value: Node | None) -> Node | None:
    """The type that a value is, or the first that it may be: `if (fast) Other else struct { … }`."""
    while value is not None and value.type not in CONTAINERS:
        branches = [child for child in value.named_children[1:] if child.type in ("switch_case", *CONTAINERS)]
        if value.type == "if_expression":
            value = next(iter([*branches, *value.named_children[-1:]]), None)
        elif value.type == "switch_expression":
            types = (case.named_children[-1] for case in branches if case.named_children)
            return next((type_ for type_ in types if type_.type in CONTAINERS), None)
        else:
            return None
    return value


def _declared(node: Node) -> tuple[Node | None, Node | None]:
    """The name of a `const` or `var`, and its value; none for an assignment."""
    name: Node | None = None
    is_declared = is_value = False
    for child in node.children:
        if child.type in ("const", "var"):
            is_declared = True
        elif name is None and child.type == "identifier":
            name = child
        elif child.type == "=":
            is_value = True
        elif is_value and child.is_named and child.type not in ("comment", *_AROUND_TYPES):
            return (name if is_declared else None), child
    return (name if is_declared else None), None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    parameters = child_of(node, "parameters")
    for number, child in enumerate(parameters.named_children if parameters is not None else ()):
        if child.type == "parameter":
            name = field_text(child, "name", text)
            kind = "receiver" if not number and name in ("self", "this") else "positional"
            yield Parameter(name, field_text(child, "type", text) or None, None, kind)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in node.children:
        if child.type in ("identifier", "fn", "const", "var"):
            return
        if not child.is_named:
            yield child.type
        if child.type == "test":
            return


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "field_expression":
        return CallSyntax(field_text(function, "object", text), field_text(function, "member", text))
    return CallSyntax("", text(function)) if function is not None and function.type == "identifier" else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`const name = @import("path").inner;`."""
    declared, value = _declared(node)
    inner: list[str] = []
    while value is not None and value.type == "field_expression":
        inner.append(field_text(value, "member", text))
        value = value.child_by_field_name("object")
    path = _imported_path(value, text)
    if declared is not None and path:
        yield ImportSyntax(path, ".".join(reversed(inner)) or None, text(declared))


def _using(node: Node, text: Text) -> Iterator[ImportSyntax]:
    if path := _imported_path(child_of(node, "builtin_function"), text):
        yield ImportSyntax(path, "*")


def _imported_path(node: Node | None, text: Text) -> str:
    if node is None or node.type != "builtin_function" or text(child_of(node, "builtin_identifier")) != "@import":
        return ""
    return text(child_of(child_of(node, "arguments"), "string")).strip('"')


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    name, type_ = field_text(node, "name", text), field_text(node, "type", text)
    if name and type_:
        yield TypedName(name, type_)


def _typed_variable(node: Node, text: Text) -> Iterator[TypedName]:
    """`var x: T`, `x = T{ … }` and `x = T.init(…)` say their type."""
    declared, value = _declared(node)
    if declared is None:
        return
    if said := field_text(node, "type", text):
        yield TypedName(text(declared), said)
    elif made := _made(value, text):
        yield TypedName(text(declared), made)


def _made(value: Node | None, text: Text) -> str:
    if value is not None and value.type == "try_expression":
        value = child_of(value, "call_expression")
    if value is None or not value.named_children:
        return ""
    first = value.named_children[0]
    if value.type == "struct_initializer":
        return text(first)
    if value.type != "call_expression" or first.type != "field_expression":
        return ""
    owner, name = field_text(first, "object", text), field_text(first, "member", text)
    return owner if name.startswith("init") and owner.rpartition(".")[2][:1].isupper() else ""


def _field(node: Node, text: Text) -> Iterator[str]:
    type_ = field_text(node, "type", text)
    name = field_text(node, "name", text) or text(child_of(node, "identifier"))
    yield f"{name}: {type_}" if type_ and type_ != name else name


def _global(node: Node, text: Text) -> Iterator[str]:
    """Constants and variables that are no types and name nothing imported."""
    declared, value = _declared(node)
    if declared is None or _container(value) is not None or any(_import(node, text)):
        return
    yield text(declared)


def _errors(node: Node, text: Text) -> Iterator[str]:
    yield from (text(child) for child in node.named_children if child.type == "identifier")


# Lines that look like a definition.
_LINES = (
    r"[ \t]*(?:(?:pub|export|inline|noinline|extern)[ \t]+)*fn[ \t]+(?P<name>\w+)[ \t]*\(",
    r"(?:[ \t]*pub[ \t]+)?const[ \t]+(?P<name>\w+)[ \t]*=[ \t]*(?:(?:packed|extern)[ \t]+)?"
    r"(?:struct|union|enum|opaque)\b(?=[^;{}]*\{)",
)


def _handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`pub const X = @import("x.zig").X`, and `pub const X = x.X` of an import `x`."""
    yield from (imported := tuple(_import(node, text)))
    names = [child for child in node.named_children if child.type in ("identifier", "field_expression")]
    if not imported and [name.type for name in names] == ["identifier", "field_expression"]:
        yield ImportSyntax("", text(names[1]), text(names[0]))


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(stands_beside=True),
    definition_lines=_LINES,
    definitions={
        "function_declaration": defines(SymbolType.FUNCTION),
        "variable_declaration": _variable,
        "test_declaration": _test,
    },
    docs=Docs.MARKED,
    doc_marks=("///",),
    file_doc_marks=("//!",),
    facts=Facts(
        returns=words("return_expression"),
        raises=words("error_type"),
        assignments={"assignment_expression": "left"},
        raising_calls=words("panic"),
        fields={"container_field": _field, "error_set_declaration": _errors},
    ),
    calls={"call_expression": _call},
    imports={"variable_declaration": _import, "using_namespace_declaration": _using},
    typed={"parameter container_field": _typed, "variable_declaration": _typed_variable},
    parameters=_parameters,
    return_type=field_reader("type"),
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: bool({"pub", "export"} & set(modifiers)),
    reexports={"variable_declaration": of_public(_handed_on)},
    globals={"variable_declaration": _global},
)
