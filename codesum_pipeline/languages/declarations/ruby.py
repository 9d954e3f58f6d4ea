"""Ruby.

Modules and classes are classes, also those that `Struct.new`, `Class.new` and
the like make with a block. A block is a function where a constant, a variable
or `define_method` names it; blocks of tests have no name that code could use.
In the tree, here-documents follow the line that they begin on.
"""

from collections.abc import Iterator
from itertools import takewhile

import tree_sitter_ruby
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.scopes import ImportRow, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.handed_names import find_symbol_of_ruby
from codesum_pipeline.languages.declarations.hook_values import (
    CallSyntax,
    DefinitionHead,
    Extension,
    ImportSyntax,
    TypedName,
)
from codesum_pipeline.languages.declarations.kin import grandparent_of, next_sibling_of, parent_of, siblings_after
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text, short_text
from codesum_pipeline.languages.declarations.nodes import field_children, find_field
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.ruby_heredocs import without_inner_documents, without_tight_shifts
from codesum_pipeline.languages.declarations.rules import Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.syntax_tables import words_beside

_WORDS = words_beside(__file__)
_VISIBILITY, _DEFINING_CALLS, _MIXINS, _CLAUSES = (
    _WORDS[name] for name in ("visibility", "defining_calls", "mixins", "clauses")
)
_CONSTANTS = ("constant", "scope_resolution")
_FIRST_VALUES = hooks.first_values_reader("left", "right")
# The kinds of parameters, and the name shown for one that has none.
_PARAMETERS = {
    "identifier": ("positional", ""),
    "destructured_parameter": ("positional", ""),
    "optional_parameter": ("positional", ""),
    "keyword_parameter": ("keyword", ""),
    "splat_parameter": ("var_positional", "*"),
    "hash_splat_parameter": ("var_keyword", "**"),
    "block_parameter": ("keyword", ""),
    "forward_parameter": ("var_positional", "..."),
}


def _is_alone(node: Node) -> bool:
    """Whether a block holds one expression only."""
    return sum(not child.is_extra for child in node.named_children[:9]) < 2


def _spell_quote(quote: Node, written: str, parent: str, field: str | None) -> str:
    """A double quote, if the text between has the same meaning in quotes of either kind."""
    text = parent_of(quote)
    if written != "'" or parent != "string" or text is None:
        return written
    return '"' if hooks.spell_plain(text, (text.text or b"").decode("latin-1"), parent, field)[0] == '"' else written


def _path(node: Node | None) -> tuple[str, ...]:
    """`A::B` as its names; nothing if that is no constant."""
    if node is None or node.type not in _CONSTANTS:
        return ()
    parts = tuple(part for part in short_text(node).split("::") if part)
    return parts if all(part.isidentifier() for part in parts) else ()


def _class(node: Node) -> DefinitionHead:
    parts, body = _path(find_field(node, "name")), find_field(node, "body") or node.children[-1]
    return DefinitionHead(parts, SymbolType.CLASS, body, is_sectioned=False)


def _method(node: Node) -> DefinitionHead:
    name, body = raw_text(node, "name").replace(" ", ""), find_field(node, "body")
    is_own = node.type == "singleton_method"
    owner = _path(find_field(node, "object")) if is_own else ()
    around = grandparent_of(node)
    if around is not None and around.type in ("class", "module") and owner == _path(find_field(around, "name")):
        owner = ()
    tail = _here_document(node) if body is not None and body.type != "body_statement" else None
    parts, body = (*owner, name), body or node.children[-1]
    return DefinitionHead(parts, SymbolType.FUNCTION, body, tail=tail, is_sectioned=not is_own)


def _assignment(node: Node) -> DefinitionHead | None:
    left, value = find_field(node, "left"), find_field(node, "right")
    if left is None or value is None or left.type not in ("identifier", *_CONSTANTS):
        return None
    parts = (raw_text(left),) if left.type == "identifier" else _path(left)
    is_class = left.type != "identifier" and _makes_class(value)
    block = find_field(value, "block") if is_class else _value_block(value)
    if not parts or (block is None and not is_class):
        return None
    type_, tail = (SymbolType.CLASS, None) if is_class else (SymbolType.FUNCTION, _here_document(node))
    return DefinitionHead(parts, type_, block, tail=tail, is_sectioned=False)


def _defining_call(node: Node) -> DefinitionHead | None:
    """`define_method(:name) { … }`."""
    block = find_field(node, "block")
    if block is None or raw_text(node, "method") not in _DEFINING_CALLS:
        return None
    name = next(iter(_symbols(node)), "")
    return DefinitionHead((name,), SymbolType.FUNCTION, block, tail=_here_document(node))


def _here_document(node: Node) -> Node | None:
    """The last of the texts after the line on which a node of one line ends."""
    around: Node | None = node
    while around is not None:
        bodies = list(takewhile(lambda after: after.type == "heredoc_body", siblings_after(around)))
        if bodies or next_sibling_of(around) is not None:
            return bodies[-1] if bodies else None
        parent = parent_of(around)
        around = parent if parent is not None and parent.type in ("call", "argument_list") else None
    return None


def _value_block(value: Node | None) -> Node | None:
    """The block of `-> {}`, `lambda {}`, `proc do end` and `Proc.new {}`."""
    if value is not None and value.type == "lambda":
        return find_field(value, "body")
    called = (short_text(value, "receiver"), raw_text(value, "method")) if value and value.type == "call" else None
    return find_field(value, "block") if called in (("", "lambda"), ("", "proc"), ("Proc", "new")) else None


def _makes_class(value: Node | None) -> bool:
    """`Struct.new(…)`, `Class.new(Base)`, `Data.define(…)`."""
    is_call = value is not None and value.type == "call" and raw_text(value, "method") in ("new", "define")
    return is_call and short_text(value, "receiver").removeprefix("::") in _WORDS["made"]


def _symbols(call: Node) -> Iterator[str]:
    """The names that a call gets as symbols or texts."""
    for argument in field_children(call, "arguments"):
        if argument.type == "simple_symbol":
            yield raw_text(argument).removeprefix(":")
        elif written := _literal(argument):
            yield written


def _literal(node: Node) -> str:
    """What a text without anything computed says."""
    is_fixed = node.type == "string" and all(child.type != "interpolation" for child in node.children)
    return "".join(map(raw_text, node.named_children)) if is_fixed else ""


def _constants(call: Node | None) -> Iterator[str]:
    """The classes and modules among the arguments of a call."""
    return (raw_text(argument) for argument in field_children(call, "arguments") if argument.type in _CONSTANTS)


def _extension(node: Node, text: Text) -> Extension | None:
    """`Class.include(Module)`, and `Class.send(:include, Module)` of older code."""
    receiver, method = short_text(node, "receiver"), raw_text(node, "method")
    if method == "send":
        method = raw_text(next(iter(field_children(node, "arguments")), None)).lstrip(":")
    is_mixed_in = method in _MIXINS and receiver[:1].isupper()
    return Extension(receiver, tuple(_constants(node))) if is_mixed_in else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    function: Node | None = node
    if node.type == "assignment":
        value = find_field(node, "right")
        function = value if value is not None and value.type == "lambda" else _value_block(value)
    elif node.type == "call":
        function = find_field(node, "block")
    for child in field_children(function, "parameters"):
        if child.type in _PARAMETERS:
            kind, nameless = _PARAMETERS[child.type]
            name: str = field_text(child, "name", text) or nameless
            default: str | None = field_text(child, "value", text) or None
            if child.type in ("identifier", "destructured_parameter"):
                name = text(child)
            elif child.type == "block_parameter":
                name, default = f"&{name}", "nil"
            elif child.type == "optional_parameter":
                default = default or ""
            yield Parameter(name, None, default, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    """The class above, then the modules mixed in, in the order written."""
    if node.type == "assignment":
        value = find_field(node, "right")
        receiver = short_text(value, "receiver").removeprefix("::")
        yield from (receiver,) if receiver in ("Struct", "Data") else _constants(value)
        members = field_children(value, "block", "body")
    else:
        yield from (_base(above, text) for above in field_children(node, "superclass")[:1])
        members = field_children(node, "body")
    for child in members:
        if child.type == "call" and raw_text(child, "method") in _MIXINS and find_field(child, "receiver") is None:
            yield from _constants(child)


def _base(node: Node, text: Text) -> str:
    """The class that `Struct.new(:x)` and `Base[5]` begin with."""
    while node.type in ("call", "element_reference"):
        inner = find_field(node, "receiver") or find_field(node, "object")
        if inner is None:
            break
        node = inner
    return text(node)


def _wrapper_modifiers(wrapper: Node, text: Text) -> Iterator[str]:
    """The calls around a definition: `private def …`, `memoize def …`."""
    call: Node = wrapper
    while call.type == "call":
        arguments, name = field_children(call, "arguments"), raw_text(call, "method")
        if name in _DEFINING_CALLS or not arguments:
            return
        yield name
        call = arguments[0]


def _call(node: Node, text: Text) -> CallSyntax | None:
    method, receiver = find_field(node, "method"), field_text(node, "receiver", text)
    name = raw_text(method) if method is not None else "call"
    if method is not None and method.type not in ("identifier", "constant", "super", "operator"):
        return None
    if name in _WORDS["declaring"]:
        return None
    if name == "new" and (parts := _path(find_field(node, "receiver"))):
        return CallSyntax("::".join(parts[:-1]), parts[-1], is_new=True, mark="::")
    return CallSyntax(receiver, name, mark=raw_text(node, "operator") or ".")


def _bare_call(node: Node, text: Text) -> CallSyntax | None:
    """A name alone on a line is a call, unless it is the last one and may be a variable."""
    name = raw_text(node)
    is_call = name not in _VISIBILITY and (name.endswith(("?", "!")) or not _is_variable(node, name))
    return CallSyntax("", name) if is_call else None


def _is_variable(node: Node, name: str) -> bool:
    """Whether a name is a variable by the code before it in its block, or by the head of its method."""
    around = parent_of(node)
    if around is None or next_sibling_of(node, is_named=True) is not None:
        return False
    for child in around.named_children:
        if name in raw_text(child, "left").replace("*", "").replace(",", " ").split():
            return True
    function = parent_of(around)
    is_named = name in raw_text(function, "parameters")
    return is_named or around.type not in ("body_statement", "program") or function is None or function.type != "method"


def _imports(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require "path"`; a path relative to this file is one level up from it; `autoload :Name, "path"`."""
    name = raw_text(node, "method")
    if name in _WORDS["imports"] and find_field(node, "receiver") is None:
        path = next(filter(None, map(_literal, field_children(node, "arguments"))), "")
        symbol = next(iter(_symbols(node)), "") if name == "autoload" else ""
        if path:
            yield ImportSyntax(path, symbol or None, level=int(name == "require_relative"))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """`x = Foo.new` says its class."""
    left, value = find_field(node, "left"), find_field(node, "right")
    if left is None or left.type not in ("identifier", "instance_variable", "class_variable", "constant"):
        return
    is_call = value is not None and value.type == "call" and raw_text(value, "method") == "new"
    if is_call and not _makes_class(value) and (parts := _path(find_field(value, "receiver"))):
        yield TypedName(text(left), "::".join(parts))


def _attributes(node: Node, text: Text) -> Iterator[str]:
    """What `attr_accessor :a` and the like name, the members of a `Struct.new(:a)`, and the other names of methods."""
    name = raw_text(node, "method")
    if (name in _WORDS["attributes"] and find_field(node, "receiver") is None) or _makes_class(node):
        yield from _symbols(node)
    elif name == "alias_method":
        names = [*_symbols(node)]
        if len(names) == 2:
            yield f"{names[0]}: alias of {names[1]}"


def _alias(node: Node, text: Text) -> Iterator[str]:
    yield f"{raw_text(node, 'name').removeprefix(':')}: alias of {raw_text(node, 'alias').removeprefix(':')}"


def _assigned_fields(node: Node, text: Text) -> Iterator[str]:
    """Constants and variables of a class."""
    left = find_field(node, "left")
    is_field = left is not None and left.type in ("constant", "class_variable", "instance_variable")
    if is_field and not _makes_class(find_field(node, "right")):
        yield text(left)


def _bound(node: Node, text: Text) -> Iterator[TypedName]:
    """The values of variables, and all constants, whatever their values."""
    left, values = find_field(node, "left"), [*_FIRST_VALUES(node, text)]
    yield from values
    if not values and left is not None and left.type == "constant" and not _makes_class(find_field(node, "right")):
        yield TypedName(text(left), "")


def _global(node: Node, text: Text) -> Iterator[str]:
    left = find_field(node, "left")
    is_global = left is not None and left.type in ("constant", "global_variable")
    if is_global and not _makes_class(find_field(node, "right")):
        yield text(left)


def _result(body: Node) -> Node | None:
    """The last expression of a method is what it returns."""
    if body.type in ("block", "do_block"):
        body = find_field(body, "body") or body
    if body.type not in ("body_statement", "block_body"):
        return body if body.is_named and body.type not in _WORDS["statements"] else None
    shown = [child for child in body.named_children if not child.is_extra and child.type not in _CLAUSES]
    last = shown[-1] if shown else None
    is_value = last is not None and last.type not in _WORDS["statements"]
    return last if is_value and raw_text(find_field(last, "method") or last) not in ("raise", "fail") else None


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_ruby.language,
        spec={"flat": {"block_body parenthesized_statements": _is_alone}, "respelled": {'"': _spell_quote}},
        uses={"find_handed": find_symbol_of_ruby},
    ),
    definitions={
        "class module": _class,
        # `class << self` adds to what contains it.
        "singleton_class": lambda node: DefinitionHead((), None, find_field(node, "body"), is_sectioned=False),
        "method singleton_method": _method,
        "assignment": _assignment,
        "call": _defining_call,
    },
    masked=lambda source, is_broken: without_inner_documents(without_tight_shifts(source)) if is_broken else source,
    result=_result,
    fields={"call": _attributes, "alias": _alias, "assignment": _assigned_fields},
    calls={"call": _call, "identifier": _bare_call},
    imports={"call": _imports},
    typed={"assignment": _typed},
    bound={"assignment operator_assignment": _bound},
    parameters=_parameters,
    bases=_bases,
    extensions={"call": _extension},
    modifiers=lambda node, preambles, text: ["self"] if node.type == "singleton_method" else [],
    wrapper_modifiers=_wrapper_modifiers,
    globals={"assignment": _global},
)


class RubyRules(Rules):
    """A plain name is a method of the object or of its class; a constant is one of the scopes around or of the top."""

    languages = frozenset({"ruby"})
    is_one_space = True
    sees_members = True
    is_merged = True
    separator = "::"
    constructors = ("initialize",)

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        name = row.module if row.module.endswith(".rb") else f"{row.module}.rb"
        near = join_path(file.folder, name) if row.level or row.module.startswith(".") else None
        found = [near] if near is not None and near in self.projects.paths else self._on_load_path(name)
        if len(found) == 1:
            yield ResolvedImport(None, None, (found[0],))
        elif not found and not row.level and not row.module.startswith("."):
            yield ResolvedImport(Outside(row.module.partition("/")[0], ""))

    def _on_load_path(self, name: str) -> list[str]:
        found = self.projects.ending(name.removeprefix("./"))
        loaded = [path for path in found if f"/{path}".endswith((f"/lib/{name}", f"/app/{name}"))]
        return loaded or [path for path in found if path == name]
