"""Lua: functions with dotted names, functions bound to names, and tables that serve as modules and classes."""

from collections.abc import Iterator

import tree_sitter_lua
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import grandparent_of, parent_of
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.rules import Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words

# A call of one of these with a base, or of a class library, makes a class.
_CLASS_MAKERS = split_words("setmetatable class Class extend subclass")
_MEMBERS = ("dot_index_expression", "method_index_expression")


def _parts(node: Node | None) -> tuple[str, ...]:
    """`a.b:c` as its names; nothing for what has no fixed name."""
    parts: list[str] = []
    while node is not None and node.type in _MEMBERS:
        parts.append(raw_text(find_field(node, "field") or find_field(node, "method")))
        node = find_field(node, "table")
    return (raw_text(node), *reversed(parts)) if node is not None and node.type == "identifier" else ()


def _assignment(node: Node) -> DefinitionHead | None:
    """`name = function … end` is a function; `Name = {}` a class; any other table only the owner of what is in it."""
    name, value = _bound(node)
    parts = _parts(name)
    if not parts or value is None:
        return None
    function = _wrapped_function(value) if len(parts) > 1 else value
    if function.type == "function_definition":
        return DefinitionHead(parts, SymbolType.FUNCTION, find_field(function, "body"))
    is_class = parts[-1][:1].isupper() or parts[-1] == "_M"
    if value.type == "table_constructor":
        return DefinitionHead(parts, SymbolType.CLASS if is_class else None, value.children[0])
    is_made = value.type == "function_call" and raw_text(_callee(value)) in _CLASS_MAKERS
    return DefinitionHead(parts, SymbolType.CLASS) if is_class and is_made else None


def _wrapped_function(value: Node) -> Node:
    """The one function among a call's arguments (`M.f = wrap(function … end)`); any other value as it is."""
    arguments = field_children(value, "arguments") if value.type == "function_call" else ()
    functions = [child for child in arguments if child.type == "function_definition"]
    return functions[0] if len(functions) == 1 else value


def _bound(node: Node | None) -> tuple[Node | None, Node | None]:
    """The one name and the one value of an assignment."""
    children = node.named_children if node is not None else ()
    lists = [child.named_children for child in children if child.type in ("variable_list", "expression_list")]
    return (lists[0][0], lists[1][0]) if [len(one) for one in lists] == [1, 1] else (None, None)


def _callee(call: Node) -> Node | None:
    """The last name of what is called."""
    return find_field(call, "name", "method") or find_field(call, "name", "field") or find_field(call, "name")


def _field(node: Node) -> DefinitionHead | None:
    """`name = function … end` and `["name"] = function … end` in a table."""
    name, value = find_field(node, "name"), find_field(node, "value")
    if name is None or name.type not in ("identifier", "string") or value is None:
        return None
    function = _wrapped_function(value)
    key = raw_text(name, "content") if name.type == "string" else raw_text(name)
    is_function = function.type == "function_definition"
    return DefinitionHead((key,), SymbolType.FUNCTION, find_field(function, "body")) if is_function else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    value = _bound(node)[1] if node.type == "assignment_statement" else find_field(node, "value")
    for child in field_children(_wrapped_function(value) if value is not None else node, "parameters"):
        if child.type == "identifier":
            yield Parameter(text(child), None, None, "receiver" if text(child) == "self" else "positional")
        elif child.type == "vararg_expression":
            yield Parameter("...", None, None, "var_positional")


def _bases(node: Node, text: Text) -> Iterator[str]:
    """`setmetatable({}, {__index = Base})`, `Base:extend()`, `class("Name", Base)`."""
    value = _bound(node)[1]
    if value is None or value.type != "function_call":
        return
    if owner := text(find_field(value, "name", "table")):
        yield owner
    for argument in field_children(value, "arguments")[1:]:
        if argument.type == "table_constructor":
            for entry in argument.named_children:
                if field_text(entry, "name", text) == "__index":
                    yield field_text(entry, "value", text)
        elif argument.type in ("identifier", "dot_index_expression"):
            yield text(argument)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """A table that is local to its file is how modules are made: only functions are hidden by that."""
    declared: Node | None = node
    if node.type == "assignment_statement":
        value = _bound(node)[1]
        declared = parent_of(node) if value is None or value.type == "function_definition" else None
    if declared is not None and declared.children and declared.children[0].type == "local":
        yield "local"


def _require(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`local name = require("path")`."""
    if field_text(node, "name", text) not in ("require", "dofile", "loadfile"):
        return
    assigned = grandparent_of(node)
    name = _bound(assigned)[0] if assigned is not None and assigned.type == "assignment_statement" else None
    if (path := child_of_type(find_field(node, "arguments"), "string")) is not None:
        yield ImportSyntax(raw_text(path, "content"), None, text(name) or None)


def _returned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`return { X = require("x"), y = y }` and `return require("x")`."""
    values = field_children(child_of_type(node, "expression_list"))
    if len(values) != 1:
        return
    if values[0].type == "function_call":
        yield from (ImportSyntax(path, "*") for path in _required(values[0], text))
    elif values[0].type == "table_constructor":
        for field in values[0].named_children:
            name = find_field(field, "name")
            if name is not None and name.type == "identifier":
                yield from _taken(text(name), find_field(field, "value"), text)


def _assigned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`M.X = require("x")`."""
    name, value = _bound(node)
    table = find_field(name, "table") if name is not None and name.type == "dot_index_expression" else None
    if table is not None and table.type == "identifier":
        yield from _taken(field_text(name, "field", text), value, text)


def _taken(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "dot_index_expression":
        inner, value = field_text(value, "field", text), find_field(value, "table")
    if value is not None and value.type == "function_call":
        yield from (ImportSyntax(path, inner, name) for path in _required(value, text))
    elif value is not None and value.type == "identifier":
        yield ImportSyntax("", f"{text(value)}.{inner}" if inner else text(value), name)


def _required(call: Node, text: Text) -> Iterator[str]:
    for path in field_children(call, "arguments")[:1] if field_text(call, "name", text) == "require" else ():
        if path.type == "string":
            yield raw_text(path, "content")


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """`x = Class.new()`, `x = Class:new()` and `x = Class()` say their class."""
    name, value = _bound(node)
    if value is None or value.type != "function_call":
        return
    owner = find_field(value, "name")
    if owner is not None and owner.type in _MEMBERS:
        if raw_text(_callee(value)) not in ("new", "create", "init"):
            return
        owner = find_field(owner, "table")
    if text(owner).rpartition(".")[2][:1].isupper():
        yield TypedName(text(name), text(owner))


def _table_field(node: Node, text: Text) -> Iterator[str]:
    name = field_text(node, "name", text)
    if name and not name.startswith("__") and _field(node) is None:
        yield name


def _global(node: Node, text: Text) -> Iterator[str]:
    name, value = _bound(node)
    if name is not None and name.type == "identifier" and text(name).isupper() and value is not None:
        yield text(name)


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_lua.language, spec={"respelled": {"string": hooks.spell_quoted}}),
    definitions={
        "function_declaration": lambda node: DefinitionHead(
            _parts(find_field(node, "name")), SymbolType.FUNCTION, find_field(node, "body")
        ),
        "assignment_statement": _assignment,
        "field": _field,
    },
    fields={"field": _table_field},
    calls={
        "function_call": hooks.call_reader(
            "name", "method_index_expression table : method  dot_index_expression table . field"
        )
    },
    imports={"function_call": _require},
    typed={"assignment_statement": _typed},
    parameters=_parameters,
    bases=_bases,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: not parts[-1].startswith("_"),
    reexports={"return_statement": _returned_fields, "assignment_statement": _assigned_fields},
    globals={"assignment_statement": _global},
)


class LuaRules(Rules):
    """`require` finds files by their path from a source folder."""

    languages = frozenset({"lua"})

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """The functions of a table are seen only through it."""
        yield from ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        path = self._file(file, row.module)
        if path is not None:
            yield ResolvedImport(ModuleValue((path,)), row.alias, (path,))
        elif not row.module.endswith(".lua"):
            yield ResolvedImport(Outside(row.module.partition(".")[0], ".".join(row.module.split(".")[1:])), row.alias)

    def _file(self, file: ScopedFile, module: str) -> str | None:
        if module.endswith(".lua"):
            near = join_path(file.folder, module)
            return near if near in self.projects.paths else None
        inner = module.replace(".", "/")
        found = [*self.projects.ending(f"{inner}.lua"), *self.projects.ending(f"{inner}/init.lua")]
        first = [path for path in found if path in (f"{inner}.lua", f"lua/{inner}.lua", f"{inner}/init.lua",
                                                    f"lua/{inner}/init.lua", f"src/{inner}.lua")]  # fmt: skip
        chosen = first or found
        return chosen[0] if len(chosen) == 1 else None

    def local_key(self, key: Key, name: str) -> Key:
        """A member of the table that a file returns: the only one with that name."""
        if key not in self.tree.units or (*key, name) in self.tree.entries:
            return (*key, name)
        named = self.tree.by_name.get(name, ())
        owners = {entry.key for entry in named if entry.key[:1] == key and len(entry.key) == 3}
        return next(iter(owners)) if len(owners) == 1 else (*key, name)
