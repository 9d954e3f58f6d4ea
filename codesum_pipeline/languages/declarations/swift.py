"""Swift."""

import re
from collections.abc import Iterator

import tree_sitter_swift
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import (
    CallSyntax,
    DefinitionHead,
    Extension,
    ImportSyntax,
    TypedName,
)
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.rules import Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside

_PATTERNS = patterns_beside(__file__)
_PARTS = split_words("struct class enum protocol func let var")
# Names that are shown in place of operators that the grammar knows as no names.
_STAND_INS = {b"...": b"~~~", b"..<": b"~~<"}
_OPERATORS = {shown.decode(): name.decode() for name, shown in _STAND_INS.items()}
_MEMBERS = {"init_declaration": "init", "deinit_declaration": "deinit", "subscript_declaration": "subscript"}


_PRIVATE = split_words("private fileprivate")
_UNKNOWN = ("condition", "foreign", "written_members")


def _unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """The compiler's conditions, functions without a body, and macros among members."""
    return (match.span() for name in _UNKNOWN for match in _PATTERNS[name].finditer(source))


def _masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long."""
    if not is_broken:
        return source
    shown = _PATTERNS["conditions"].sub(_on_one_line, source)
    shown = _PATTERNS["range_function"].sub(lambda match: match["head"] + _STAND_INS[match["operator"]], shown)
    shown = _PATTERNS["range_end"].sub(lambda match: match["blanks"] + b"_", shown)
    return _PATTERNS["range_start"].sub(b"_", shown)


def _on_one_line(match: re.Match[bytes]) -> bytes:
    return match["head"] + match["conditions"].replace(b"\n", b" ")


def _function(node: Node) -> DefinitionHead:
    name = _MEMBERS.get(node.type) or raw_text(node, "name")
    name = _OPERATORS.get(name, name)
    body = find_field(node, "body") or child_of_type(node, "computed_property")
    return DefinitionHead((name,), SymbolType.FUNCTION, body)


def _macro(node: Node) -> DefinitionHead:
    name, definition = child_of_type(node, "simple_identifier"), find_field(node, "definition")
    return DefinitionHead((raw_text(name),), SymbolType.FUNCTION, definition)


def _is_extension(node: Node) -> bool:
    return raw_text(node, "declaration_kind") == "extension"


def _type(node: Node) -> DefinitionHead:
    """A class, struct, enum, actor or protocol; what an extension holds belongs to the type it extends."""
    name, body = raw_text(node, "name"), find_field(node, "body")
    if _is_extension(node):
        return DefinitionHead(tuple(name.partition("<")[0].split(".")), None, body)
    return DefinitionHead((name,), SymbolType.CLASS, body)


def _property(node: Node) -> DefinitionHead | None:
    """A computed property, or a variable that holds a closure."""
    name, body = find_field(node, "name"), find_field(node, "computed_value") or find_field(node, "value")
    if name is None or body is None or body.type not in ("computed_property", "lambda_literal"):
        return None
    return DefinitionHead((raw_text(name),), SymbolType.FUNCTION, body)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    holder = find_field(node, "value") if node.type == "property_declaration" else node
    if holder is None or holder.type == "lambda_literal":
        return
    found: list[Parameter] = []
    for number, child in enumerate(holder.children):
        if child.type == "parameter":
            kind = "var_positional" if child_of_type(child, "...") else "positional"
            found.append(Parameter(field_text(child, "name", text), _stated_type(child, text), None, kind))
        elif found and holder.field_name_for_child(number) == "default_value":
            found[-1] = Parameter(found[-1].name, found[-1].type, text(child), found[-1].kind)
    yield from found


def _stated_type(node: Node | None, text: Text, mark: str = ":") -> str | None:
    """The type after the first colon, or after another mark."""
    children = node.children if node is not None else []
    marks = [number for number, child in enumerate(children) if child.type == mark]
    behind = [child for child in children[marks[0] + 1 :] if child.is_named] if marks else []
    types = [child for child in behind if mark == "->" or child.type != "parameter_modifiers"]
    return text(types[0]) if types else None


def _return_type(node: Node, text: Text) -> str | None:
    if node.type == "property_declaration":
        return _stated_type(child_of_type(node, "type_annotation"), text)
    return _stated_type(node, text, "->")


def _bases(node: Node, text: Text) -> Iterator[str]:
    for child in node.named_children:
        if child.type == "inheritance_specifier":
            yield field_text(child, "inherits_from", text) or text(child)


def _extension(node: Node, text: Text) -> Extension | None:
    """`extension Type: Protocol`."""
    return Extension(field_text(node, "name", text), tuple(_bases(node, text))) if _is_extension(node) else None


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in node.children:
        if child.type == "modifiers":
            for word in child.named_children:
                if word.type != "attribute":
                    yield text(word)
                elif text(child_of_type(word, "user_type")) == "Test":
                    yield "test"
        elif child.type in ("async", "throws"):
            yield child.type


def _call(node: Node, text: Text) -> CallSyntax | None:
    """`f()`, `Type()`, `a.b()`; `a[0]` is one to the grammar, but calls nothing that has a name."""
    function = node.named_children[0] if node.named_children else None
    arguments = child_of_type(child_of_type(node, "call_suffix"), "value_arguments")
    if function is None or (arguments is not None and arguments.children[0].type == "["):
        return None
    if function.type == "navigation_expression":
        return CallSyntax(field_text(function, "target", text), field_text(function, "suffix", text).lstrip("."))
    name = text(function)
    return CallSyntax("", name, is_new=name[:1].isupper()) if function.type == "simple_identifier" else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`import A` takes a module, `import struct A.B` one name of it."""
    path = text(child_of_type(node, "identifier"))
    module, _, name = path.rpartition(".")
    if path:
        yield ImportSyntax(module, name) if module and child_of_type(node, *_PARTS) else ImportSyntax(path)


def _exported_module(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`@_exported import X`."""
    path = text(child_of_type(node, "identifier"))
    if path and "@_exported" in raw_text(node.named_children[0]):
        yield ImportSyntax(path, "*")


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    if type_ := _stated_type(node, text):
        yield TypedName(field_text(node, "name", text), type_)


def _typed_property(node: Node, text: Text) -> Iterator[TypedName]:
    """`var x: T`, and `let x = T(…)`."""
    name, value = field_text(node, "name", text), find_field(node, "value")
    type_ = _stated_type(child_of_type(node, "type_annotation"), text)
    made = _call(value, text) if value is not None and value.type == "call_expression" else None
    if type_ or (made is not None and made.is_new):
        yield TypedName(name, type_ or (made.name if made else ""))


def _stored(node: Node, text: Text) -> Iterator[str]:
    """The stored properties that a declaration names."""
    if find_field(node, "computed_value") is None:
        type_ = _return_type(node, text)
        yield from (hooks.member_text(text(name), type_ or "") for name in node.children_by_field_name("name"))


def _global(node: Node, text: Text) -> Iterator[str]:
    if find_field(node, "computed_value") is None and _property(node) is None:
        yield from (text(name) for name in node.children_by_field_name("name"))


def _result(body: Node) -> Node | None:
    """The one expression of a body is its value, if there is to be one."""
    if body.type == "function_body" and child_of_type(parent_of(body), "->") is None:
        return None
    statements = field_children(child_of_type(body, "statements"))
    is_expression = len(statements) == 1 and not statements[0].type.endswith(("_statement", "_declaration"))
    return statements[0] if is_expression and statements[0].type != "assignment" else None


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_swift.language),
    definitions={
        "function_declaration protocol_function_declaration": _function,
        "init_declaration deinit_declaration subscript_declaration": _function,
        "macro_declaration": _macro,
        "class_declaration protocol_declaration": _type,
        "property_declaration": _property,
    },
    masked=_masked,
    hiding=hooks.unknown_words_reader(_unknown),
    fields={
        "property_declaration protocol_property_declaration": _stored,
        "enum_entry": hooks.texts_of_children("simple_identifier"),
    },
    result=_result,
    calls={"call_expression": _call},
    imports={"import_declaration": _import},
    reexports={"import_declaration": _exported_module},
    typed={"parameter": _typed, "property_declaration": _typed_property},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    extensions={"class_declaration": _extension},
    modifiers=_modifiers,
    globals={"property_declaration": _global},
)


class SwiftRules(Rules):
    """The files of a target see each other: those of a folder below `Sources`, or of the repository."""

    languages = frozenset({"swift"})
    names_files = False
    sees_members = True
    is_merged = True
    has_overloads = True
    constructors = ("init",)

    def unit_of(self, file: ScopedFile) -> Key:
        parts = file.folder.split("/")
        for marker in ("Sources", "Tests"):
            if marker in parts and parts.index(marker) + 1 < len(parts):
                return ("/".join(parts[: parts.index(marker) + 2]),)
        return (parts[0],)

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        name = row.module.partition(".")[0]
        found = [unit for unit in self.tree.units.rows if unit and unit[0].rpartition("/")[2] == name]
        if len(found) == 1:
            yield ResolvedImport(ModuleValue(found[0]), None, (), is_star=True)
        elif not found:
            yield ResolvedImport(Outside(name, ""), None, (), is_star=True)

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """Not what is private to another file, nor by a plain name what only the type around an extended one has:
        `extension Page.Item` sees nothing of `Page`; nor a method with the name of a property beside it."""
        if found.file is not scope.file and not _PRIVATE.isdisjoint(found.modifiers):
            return None
        is_method = not found.is_class and found.most != 0
        if is_method and self.tree.fields(found.key[:-1], found.name):
            return None
        holder = found.key[:-1]
        is_inner = len(use.path) == 1 and len(holder) > len(scope.file.unit)
        return None if is_inner and any(_is_beside(one, holder) for one in scope.around()) else found


def _is_beside(definition: Scope, holder: Key) -> bool:
    """Whether a definition is in an extension of something that is inside of a type."""
    extended = definition.key[:-1]
    return definition.is_apart and len(extended) > len(holder) and extended[: len(holder)] == holder
