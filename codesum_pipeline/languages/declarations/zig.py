"""Zig."""

from collections.abc import Iterator

import tree_sitter_zig
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words

CONTAINERS = split_words(
    "struct_declaration enum_declaration union_declaration opaque_declaration error_set_declaration"
)
# Nodes that enclose a function's return type or a variable's type.
_AROUND_TYPES = split_words("labeled_type_expression parenthesized_expression")


def _test(node: Node) -> DefinitionHead:
    """`test "name"`: a function by the text of its name."""
    name = raw_text(child_of_type(node, "string", "identifier")).strip('"')
    return DefinitionHead((f"test {name}" if name else "test",), SymbolType.FUNCTION, child_of_type(node, "block"))


def _variable(node: Node) -> DefinitionHead | None:
    """`const Name = struct { … }`: a class; of any other value, none."""
    declared, value = _declared(node)
    type_ = _container(value)
    if declared is None or type_ is None:
        return None
    return DefinitionHead((raw_text(declared),), SymbolType.CLASS, child_of_type(type_, "{"))


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
    listed = child_of_type(node, "parameters")
    for number, child in enumerate(listed.named_children if listed is not None else ()):
        if child.type == "parameter":
            is_receiver = not number and field_text(child, "name", text) in ("self", "this")
            yield hooks.read_parameter(child, text, "receiver" if is_receiver else "positional")


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in node.children:
        if child.type in ("identifier", "fn", "const", "var"):
            return
        if not child.is_named:
            yield child.type
        if child.type == "test":
            return


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`const name = @import("path").inner;`."""
    declared, value = _declared(node)
    inner: list[str] = []
    while value is not None and value.type == "field_expression":
        inner.append(field_text(value, "member", text))
        value = find_field(value, "object")
    path = _imported_path(value, text)
    if declared is not None and path:
        yield ImportSyntax(path, ".".join(reversed(inner)) or None, text(declared))


def _imported_path(node: Node | None, text: Text) -> str:
    if node is None or node.type != "builtin_function" or text(child_of_type(node, "builtin_identifier")) != "@import":
        return ""
    return text(child_of_type(child_of_type(node, "arguments"), "string")).strip('"')


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    if type_ := field_text(node, "type", text):
        yield TypedName(field_text(node, "name", text), type_)


def _typed_variable(node: Node, text: Text) -> Iterator[TypedName]:
    """`var x: T`, `x = T{ … }` and `x = T.init(…)` say their type."""
    declared, value = _declared(node)
    type_ = field_text(node, "type", text) or _made(value, text)
    if declared is not None and type_:
        yield TypedName(text(declared), type_)


def _made(value: Node | None, text: Text) -> str:
    if value is not None and value.type == "try_expression":
        value = child_of_type(value, "call_expression")
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
    name = field_text(node, "name", text) or text(child_of_type(node, "identifier"))
    yield hooks.member_text(name, type_ if type_ != name else "")


def _global(node: Node, text: Text) -> Iterator[str]:
    """Constants and variables that are no types and name nothing imported."""
    declared, value = _declared(node)
    if declared is not None and _container(value) is None and not any(_import(node, text)):
        yield text(declared)


def _handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`pub const X = @import("x.zig").X`, and `pub const X = x.X` of an import `x`."""
    yield from (imported := tuple(_import(node, text)))
    names = [child for child in node.named_children if child.type in ("identifier", "field_expression")]
    if not imported and [name.type for name in names] == ["identifier", "field_expression"]:
        yield ImportSyntax("", text(names[1]), text(names[0]))


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_zig.language),
    definitions={
        "function_declaration": hooks.definition_reader(SymbolType.FUNCTION),
        "variable_declaration": _variable,
        "test_declaration": _test,
    },
    fields={"container_field": _field, "error_set_declaration": hooks.texts_of_children("identifier")},
    calls={"call_expression": hooks.call_reader("function", "field_expression object . member")},
    imports={"variable_declaration": _import},
    typed={"parameter container_field": _typed, "variable_declaration": _typed_variable},
    parameters=_parameters,
    return_type=hooks.field_reader("type"),
    modifiers=_modifiers,
    reexports={"variable_declaration": hooks.public_imports_reader(_handed_on)},
    globals={"variable_declaration": _global},
)


class ZigRules(Rules):
    """Each file is a struct, which `@import` returns."""

    languages = frozenset({"zig"})
    sees_members = True
    files_are_types = True

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        if row.module.endswith(".zig"):
            path = join_path(file.folder, row.module)
            if path is None or path not in self.projects.paths:
                return
            inner = tuple((row.name or "").split(".")) if row.name else ()
            target = Member((path, *inner[:-1]), inner[-1]) if inner else ModuleValue((path,))
            yield ResolvedImport(target, row.alias or (inner[-1] if inner else None), (path,), is_handed_on=True)
        else:
            yield ResolvedImport(Outside(row.module, row.name or ""), row.alias)
