"""Ruby.

Modules and classes are classes, also those that `Struct.new`, `Class.new` and
the like make with a block. A block is a function where a constant, a variable
or `define_method` names it; blocks of tests have no name that code could use.
Here-documents stand in the tree after the line that they begin on.
"""

from collections.abc import Iterator

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
from codesum_pipeline.languages.hooks import field_text, first_values, hidden_by, raw_text
from codesum_pipeline.languages.ruby.layout import SPEC
from codesum_pipeline.languages.ruby.values import (
    MIXINS,
    constants,
    extension,
    here_document,
    makes_class,
    raw,
    value_block,
)
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter, SymbolType

_VISIBILITY = words("private protected public module_function")


_DEFINING_CALLS = words("define_method define_singleton_method")


_ATTRIBUTES = words("attr_accessor attr_reader attr_writer attr cattr_accessor mattr_accessor class_attribute")


_IMPORTS = words("require require_relative load autoload")


# Calls that declare something, and so are no calls here.
_DECLARING = _VISIBILITY | _DEFINING_CALLS | MIXINS | _ATTRIBUTES | {"alias_method", "private_constant"}


_CLAUSES = words("rescue else ensure")


_STATEMENTS = _CLAUSES | words("""
    return if unless case case_match while until for begin assignment if_modifier unless_modifier while_modifier
    until_modifier alias undef break next redo retry method singleton_method class module
""")


_BLOCKS = words("block do_block")


def _path(node: Node | None) -> tuple[str, ...]:
    """`A::B` as its names; nothing where that is no constant."""
    if node is None or node.type not in ("constant", "scope_resolution"):
        return ()
    parts = tuple(part for part in raw_text(node).split("::") if part)
    return parts if all(part.isidentifier() for part in parts) else ()


def _class(node: Node) -> DefinitionHead | None:
    parts = _path(node.child_by_field_name("name"))
    body = node.child_by_field_name("body") or node.children[-1]
    return DefinitionHead(parts, SymbolType.CLASS, body, is_sectioned=False) if parts else None


def _own_class(node: Node) -> DefinitionHead:
    """`class << self` adds to what it stands in."""
    return DefinitionHead((), None, node.child_by_field_name("body"), is_sectioned=False)


def _method(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name")).replace(" ", "")
    if not name:
        return None
    body = node.child_by_field_name("body")
    is_endless = body is not None and body.type != "body_statement"
    tail = here_document(node) if is_endless else None
    owner: tuple[str, ...] = ()
    if node.type == "singleton_method":
        owner = _path(node.child_by_field_name("object"))
        owner = () if owner and owner == _class_around(node) else owner
    is_sectioned = node.type == "method"
    return DefinitionHead(
        (*owner, name), SymbolType.FUNCTION, body or node.children[-1], tail=tail, is_sectioned=is_sectioned
    )


def _class_around(node: Node) -> tuple[str, ...]:
    """The names of the class that a method stands directly in."""
    around = node.parent.parent if node.parent is not None else None
    return (
        _path(around.child_by_field_name("name")) if around is not None and around.type in ("class", "module") else ()
    )


def _assignment(node: Node) -> DefinitionHead | None:
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or value is None or left.type not in ("constant", "scope_resolution", "identifier"):
        return None
    if left.type != "identifier" and makes_class(value):
        block = value.child_by_field_name("block")
        parts = _path(left)
        return DefinitionHead(parts, SymbolType.CLASS, block, is_sectioned=False) if parts else None
    block = value_block(value)
    parts = (raw_text(left),) if left.type == "identifier" else _path(left)
    if block is None or not parts:
        return None
    return DefinitionHead(parts, SymbolType.FUNCTION, block, tail=here_document(node), is_sectioned=False)


def _defining_call(node: Node) -> DefinitionHead | None:
    """`define_method(:name) { … }`."""
    block = node.child_by_field_name("block")
    if block is None or raw(node, "method") not in _DEFINING_CALLS:
        return None
    name = next(iter(_symbols(node)), "")
    return DefinitionHead((name,), SymbolType.FUNCTION, block, tail=here_document(node)) if name else None


def _symbols(call: Node) -> Iterator[str]:
    """The names that a call gets as symbols or texts."""
    arguments = call.child_by_field_name("arguments")
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "simple_symbol":
            yield raw_text(argument).removeprefix(":")
        elif argument.type == "string" and (written := _literal(argument)):
            yield written


def _literal(node: Node | None) -> str:
    """What a text without anything computed says."""
    if node is None or node.type != "string" or any(child.type == "interpolation" for child in node.children):
        return ""
    return "".join(raw_text(child) for child in node.named_children)


def _function_of(node: Node) -> Node | None:
    """The node that has the parameters of a definition."""
    if node.type == "assignment":
        value = node.child_by_field_name("right")
        return value if value is not None and value.type == "lambda" else value_block(value)
    return node.child_by_field_name("block") if node.type == "call" else node


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    function = _function_of(node)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    for child in parameters.named_children if parameters is not None else ():
        name, value = field_text(child, "name", text), field_text(child, "value", text)
        match child.type:
            case "identifier" | "destructured_parameter":
                yield Parameter(text(child), None, None, "positional")
            case "optional_parameter":
                yield Parameter(name, None, value, "positional")
            case "keyword_parameter":
                yield Parameter(name, None, value or None, "keyword")
            case "splat_parameter":
                yield Parameter(name or "*", None, None, "var_positional")
            case "hash_splat_parameter":
                yield Parameter(name or "**", None, None, "var_keyword")
            case "block_parameter":
                yield Parameter(f"&{name}", None, "nil", "keyword")
            case "forward_parameter":
                yield Parameter("...", None, None, "var_positional")


def _bases(node: Node, text: Text) -> Iterator[str]:
    """The class above, then the modules mixed in, in the order written."""
    if node.type == "assignment":
        value = node.child_by_field_name("right")
        assert value is not None
        receiver = raw(value, "receiver").removeprefix("::")
        yield from (receiver,) if receiver in ("Struct", "Data") else constants(value)
        block = value.child_by_field_name("block")
        body = block.child_by_field_name("body") if block is not None else None
    else:
        above = node.child_by_field_name("superclass")
        if above is not None and above.named_children:
            yield _base(above.named_children[0], text)
        body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        if child.type == "call" and raw(child, "method") in MIXINS and not raw(child, "receiver"):
            yield from constants(child)


def _base(node: Node, text: Text) -> str:
    """The class that `Struct.new(:x)` and `Base[5]` begin with."""
    while node.type in ("call", "element_reference"):
        inner = node.child_by_field_name("receiver") or node.child_by_field_name("object")
        if inner is None:
            break
        node = inner
    return text(node)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    if node.type == "singleton_method":
        yield "self"


def _wrapper_modifiers(wrapper: Node, text: Text) -> Iterator[str]:
    """The calls around a definition: `private def …`, `memoize def …`."""
    call: Node | None = wrapper
    while call is not None and call.type == "call":
        arguments = call.child_by_field_name("arguments")
        name = raw(call, "method")
        if name in _DEFINING_CALLS or arguments is None or not arguments.named_children:
            return
        yield name
        call = arguments.named_children[0]


def _call(node: Node, text: Text) -> CallSyntax | None:
    method, receiver = node.child_by_field_name("method"), field_text(node, "receiver", text)
    name = raw_text(method) if method is not None else "call"
    mark = raw(node, "operator") or "."
    if method is not None and method.type not in ("identifier", "constant", "super", "operator"):
        return None
    if name in _DECLARING:
        return None
    if name == "new" and receiver:
        owner = node.child_by_field_name("receiver")
        if parts := _path(owner):
            return CallSyntax("::".join(parts[:-1]), parts[-1], is_new=True, mark="::")
    return CallSyntax(receiver, name, mark=mark) if name else None


def _bare_call(node: Node, text: Text) -> CallSyntax | None:
    """A name alone on a line is a call, unless it is the last one and may be a variable."""
    name = raw_text(node)
    if name in _VISIBILITY:
        return None
    if name.endswith(("?", "!")) or not _is_variable(node, name):
        return CallSyntax("", name)
    return None


def _is_variable(node: Node, name: str) -> bool:
    """Whether what stands before a name in its block, or the head of its method, makes it a variable."""
    around = node.parent
    if around is None or node.next_named_sibling is not None:
        return False
    for child in around.named_children:
        left = child.child_by_field_name("left")
        if left is not None and name in raw_text(left).replace("*", "").replace(",", " ").split():
            return True
    function = around.parent
    parameters = function.child_by_field_name("parameters") if function is not None else None
    is_named = parameters is not None and name in raw_text(parameters)
    return is_named or around.type not in ("body_statement", "program") or function is None or function.type != "method"


def _imports(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require "path"`; a path relative to this file is one level up from it; `autoload :Name, "path"`."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or (name := raw(node, "method")) not in _IMPORTS or raw(node, "receiver"):
        return
    path = next((written for child in arguments.named_children if (written := _literal(child))), "")
    if not path:
        return
    symbol = next(iter(_symbols(node)), "") if name == "autoload" else ""
    yield ImportSyntax(path, symbol or None, level=int(name == "require_relative"))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """`x = Foo.new` says its class."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if (
        left is None
        or value is None
        or left.type not in ("identifier", "instance_variable", "class_variable", "constant")
    ):
        return
    is_made = value.type == "call" and raw(value, "method") == "new" and not makes_class(value)
    if is_made and (parts := _path(value.child_by_field_name("receiver"))):
        yield TypedName(text(left), "::".join(parts))


def _attributes(node: Node, text: Text) -> Iterator[str]:
    """What `attr_accessor :a` and the like name, the members of a `Struct.new(:a)`, and the other names of methods."""
    name = raw(node, "method")
    if (name in _ATTRIBUTES and not raw(node, "receiver")) or makes_class(node):
        yield from _symbols(node)
    elif name == "alias_method":
        names = [*_symbols(node)]
        if len(names) == 2:
            yield f"{names[0]}: alias of {names[1]}"


def _alias(node: Node, text: Text) -> Iterator[str]:
    yield f"{raw(node, 'name').removeprefix(':')}: alias of {raw(node, 'alias').removeprefix(':')}"


def _assigned_fields(node: Node, text: Text) -> Iterator[str]:
    """Constants and variables of a class."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and not makes_class(value) and left.type in ("constant", "class_variable", "instance_variable"):
        yield text(left)


def _global(node: Node, text: Text) -> Iterator[str]:
    left = node.child_by_field_name("left")
    is_made = makes_class(node.child_by_field_name("right"))
    if left is not None and left.type in ("constant", "global_variable") and not is_made:
        yield text(left)


def _result(body: Node) -> Node | None:
    """The last expression of a method is what it returns."""
    if body.type in _BLOCKS:
        body = body.child_by_field_name("body") or body
    if body.type not in ("body_statement", "block_body"):
        return body if body.is_named and body.type not in _STATEMENTS else None
    shown = [child for child in body.named_children if not child.is_extra and child.type not in _CLAUSES]
    last = shown[-1] if shown else None
    if last is None or last.type in _STATEMENTS:
        return None
    is_raised = raw_text(last.child_by_field_name("method") or last) in ("raise", "fail")
    return None if is_raised else last


# Lines that look like a definition.
_LINES = (
    r"[ \t]*(?:(?:private|protected|public|private_class_method|module_function|memoize)[ \t]+)?def[ \t]+"
    r"(?:\w+\.)?(?P<name>[A-Za-z_]\w*[?!=]?)(?:[ \t]*\(|[ \t]|;|$)",
    r"[ \t]*(?:class|module)[ \t]+(?:[\w:]*::)?(?P<name>[A-Z]\w*)",
)


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(calls=words("describe RSpec shared_examples"), methods_decide=True),
    definition_lines=_LINES,
    definitions={
        "class module": _class,
        "singleton_class": _own_class,
        "method singleton_method": _method,
        "assignment": _assignment,
        "call": _defining_call,
    },
    docs=Docs.ADJACENT,
    sections=words("identifier"),
    section_words=_VISIBILITY,
    facts=Facts(
        returns=words("return"),
        assignments={"assignment operator_assignment": "left"},
        raising_calls=words("raise fail"),
        closures=words("lambda"),
        result=_result,
        fields={"call": _attributes, "alias": _alias, "assignment": _assigned_fields},
    ),
    calls={"call": _call, "identifier": _bare_call},
    imports={"call": _imports},
    typed={"assignment": _typed},
    bound={"assignment operator_assignment": first_values("left", "right")},
    parameters=_parameters,
    bases=_bases,
    extensions={"call": extension},
    modifiers=_modifiers,
    wrapper_modifiers=_wrapper_modifiers,
    is_public=hidden_by("private protected private_class_method"),
    globals={"assignment": _global},
)
