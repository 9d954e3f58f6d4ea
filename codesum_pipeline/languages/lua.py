"""functions with dotted names, functions bound to names, and tables that stand for modules and classes."""

from collections.abc import Iterator

import tree_sitter_lua
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
from codesum_pipeline.languages.hooks import field_text, raw_text
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists, spell_quoted
from codesum_pipeline.model.symbols import Parameter, SymbolType

SPEC = LanguageSpec(
    name="lua",
    version=2,
    grammar=tree_sitter_lua.language,
    blocks=words("chunk block"),
    rows=words("chunk block"),
    atoms=words("string"),
    comments=words("comment hash_bang_line"),
    # A statement that is nothing but `;`.
    dropped=words("empty_statement"),
    branches=words("if_statement elseif_statement for_statement while_statement repeat_statement"),
    wrappers=words("variable_declaration"),
    lists=lists("table_constructor"),
    respelled={"string": spell_quoted},
    tokens=BRACKETS
    | spaced("""
        TIGHT  . :
        SPACED ::
        EITHER - ~
        PREFIX #
    """),
    tokens_in=spaced_in("""
        WORD      function_definition function
        OMITTED   return_statement ;
    """),
)

# A call of one of these with a base, or of a class library, makes a class.
_CLASS_MAKERS = words("setmetatable class Class extend subclass")


def _function(node: Node) -> DefinitionHead | None:
    parts = _parts(node.child_by_field_name("name"))
    return DefinitionHead(parts, SymbolType.FUNCTION, node.child_by_field_name("body")) if parts else None


def _parts(node: Node | None) -> tuple[str, ...]:
    """`a.b:c` as its names; nothing for what has no fixed name."""
    parts: list[str] = []
    while node is not None and node.type in ("dot_index_expression", "method_index_expression"):
        parts.append(raw_text(node.child_by_field_name("field") or node.child_by_field_name("method")))
        node = node.child_by_field_name("table")
    if node is None or node.type != "identifier":
        return ()
    return (raw_text(node), *reversed(parts))


def _assignment(node: Node) -> DefinitionHead | None:
    """`name = function … end` is a function; `Name = {}` a class; any other table only the owner of what is in it."""
    name, value = _bound(node)
    parts = _parts(name)
    if not parts or value is None:
        return None
    function = _wrapped_function(value) if len(parts) > 1 else value
    if function.type == "function_definition":
        return DefinitionHead(parts, SymbolType.FUNCTION, function.child_by_field_name("body"))
    is_class = parts[-1][:1].isupper() or parts[-1] == "_M"
    if value.type == "table_constructor":
        return DefinitionHead(parts, SymbolType.CLASS if is_class else None, value.children[0])
    if is_class and value.type == "function_call" and raw_text(_callee(value)) in _CLASS_MAKERS:
        return DefinitionHead(parts, SymbolType.CLASS)
    return None


def _wrapped_function(value: Node) -> Node:
    """The one function among a call's arguments (`M.f = wrap(function … end)`); any other value as it is."""
    arguments = value.child_by_field_name("arguments") if value.type == "function_call" else None
    functions = (
        [child for child in arguments.named_children if child.type == "function_definition"] if arguments else []
    )
    return functions[0] if len(functions) == 1 else value


def _bound(node: Node) -> tuple[Node | None, Node | None]:
    """The one name and the one value of an assignment."""
    lists = [child for child in node.named_children if child.type in ("variable_list", "expression_list")]
    if len(lists) != 2 or any(part.named_child_count != 1 for part in lists):
        return None, None
    return lists[0].named_children[0], lists[1].named_children[0]


def _callee(call: Node) -> Node | None:
    """The last name of what is called."""
    name = call.child_by_field_name("name")
    return name and (name.child_by_field_name("method") or name.child_by_field_name("field") or name)


def _field(node: Node) -> DefinitionHead | None:
    """`name = function … end` and `["name"] = function … end` in a table."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or name.type not in ("identifier", "string") or value is None:
        return None
    function = _wrapped_function(value)
    if function.type != "function_definition":
        return None
    key = raw_text(name.child_by_field_name("content")) if name.type == "string" else raw_text(name)
    return DefinitionHead((key,), SymbolType.FUNCTION, function.child_by_field_name("body")) if key else None


def _function_of(node: Node) -> Node | None:
    """The node that has the parameters of a definition."""
    value = _bound(node)[1] if node.type == "assignment_statement" else node.child_by_field_name("value")
    return _wrapped_function(value) if value is not None else node


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    function = _function_of(node)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    for child in parameters.named_children if parameters is not None else ():
        if child.type == "identifier":
            yield Parameter(text(child), None, None, "receiver" if text(child) == "self" else "positional")
        elif child.type == "vararg_expression":
            yield Parameter("...", None, None, "var_positional")


def _bases(node: Node, text: Text) -> Iterator[str]:
    """`setmetatable({}, {__index = Base})`, `Base:extend()`, `class("Name", Base)`."""
    value = _bound(node)[1]
    if value is None or value.type != "function_call":
        return
    called = value.child_by_field_name("name")
    if called is not None and called.type in ("method_index_expression", "dot_index_expression"):
        yield field_text(called, "table", text)
    arguments = value.child_by_field_name("arguments")
    for argument in arguments.named_children[1:] if arguments is not None else ():
        if argument.type == "table_constructor":
            for entry in argument.named_children:
                if field_text(entry, "name", text) == "__index":
                    yield field_text(entry, "value", text)
        elif argument.type in ("identifier", "dot_index_expression"):
            yield text(argument)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """A table that is local to its file is how modules are made: only functions are hidden by that."""
    value = _bound(node)[1] if node.type == "assignment_statement" else None
    if value is not None and value.type != "function_definition":
        return
    declared = node.parent if node.type == "assignment_statement" else node
    if declared is not None and declared.children and declared.children[0].type == "local":
        yield "local"


def _call(node: Node, text: Text) -> CallSyntax | None:
    name = node.child_by_field_name("name")
    if name is None:
        return None
    if name.type == "method_index_expression":
        return CallSyntax(field_text(name, "table", text), field_text(name, "method", text), mark=":")
    if name.type == "dot_index_expression":
        return CallSyntax(field_text(name, "table", text), field_text(name, "field", text))
    return CallSyntax("", text(name)) if name.type == "identifier" else None


def _require(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`local name = require("path")`."""
    if field_text(node, "name", text) not in ("require", "dofile", "loadfile"):
        return
    arguments = node.child_by_field_name("arguments")
    path = next((child for child in arguments.named_children if child.type == "string"), None) if arguments else None
    if path is None:
        return
    assigned = node.parent.parent if node.parent is not None else None
    name = _bound(assigned)[0] if assigned is not None and assigned.type == "assignment_statement" else None
    yield ImportSyntax(raw_text(path.child_by_field_name("content")), None, text(name) or None)


def _returned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`return { X = require("x"), y = y }` and `return require("x")`."""
    values = next((child.named_children for child in node.named_children if child.type == "expression_list"), [])
    if len(values) != 1:
        return
    if values[0].type == "function_call":
        yield from (ImportSyntax(path, "*") for path in _required(values[0], text))
    elif values[0].type == "table_constructor":
        for field in values[0].named_children:
            name = field.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                yield from _taken(text(name), field.child_by_field_name("value"), text)


def _assigned_fields(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`M.X = require("x")`."""
    name, value = _bound(node)
    if name is None:
        return
    table = name.child_by_field_name("table") if name.type == "dot_index_expression" else None
    if table is not None and table.type == "identifier":
        yield from _taken(field_text(name, "field", text), value, text)


def _taken(name: str, value: Node | None, text: Text) -> Iterator[ImportSyntax]:
    inner = None
    if value is not None and value.type == "dot_index_expression":
        inner, value = field_text(value, "field", text), value.child_by_field_name("table")
    if value is None:
        return
    if value.type == "function_call":
        yield from (ImportSyntax(path, inner, name) for path in _required(value, text))
    elif value.type == "identifier":
        yield ImportSyntax("", f"{text(value)}.{inner}" if inner else text(value), name)


def _required(call: Node, text: Text) -> Iterator[str]:
    arguments = call.child_by_field_name("arguments")
    if field_text(call, "name", text) == "require" and arguments is not None and arguments.named_children:
        path = arguments.named_children[0]
        if path.type == "string":
            yield raw_text(path.child_by_field_name("content"))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """`x = Class.new()`, `x = Class:new()` and `x = Class()` say their class."""
    name, value = _bound(node)
    if name is None or value is None or value.type != "function_call":
        return
    called = value.child_by_field_name("name")
    owner = called
    if called is not None and called.type in ("method_index_expression", "dot_index_expression"):
        if raw_text(_callee(value)) not in ("new", "create", "init"):
            return
        owner = called.child_by_field_name("table")
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


# Lines that look like a definition.
_LINES = (
    r"[ \t]*(?:local[ \t]+)?function[ \t]+(?:[\w.]+[.:])?(?P<name>\w+)[ \t]*\(",
    r"[ \t]*(?:local[ \t]+)?(?:[\w.]+\.)?(?P<name>\w+)[ \t]*=[ \t]*function[ \t]*\(",
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(calls=words("describe it")),
    definition_lines=_LINES,
    definitions={"function_declaration": _function, "assignment_statement": _assignment, "field": _field},
    docs=Docs.ADJACENT,
    facts=Facts(
        returns=words("return_statement"),
        assignments={"assignment_statement": "left"},
        raising_calls=words("error"),
        closures=words("function_definition"),
        fields={"field": _table_field},
    ),
    calls={"function_call": _call},
    imports={"function_call": _require},
    typed={"assignment_statement": _typed},
    parameters=_parameters,
    bases=_bases,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: "local" not in modifiers and not parts[-1].startswith("_"),
    reexports={"return_statement": _returned_fields, "assignment_statement": _assigned_fields},
    globals={"assignment_statement": _global},
)
