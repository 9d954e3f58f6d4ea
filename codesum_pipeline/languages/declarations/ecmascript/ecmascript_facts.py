"""What definitions of JavaScript and TypeScript say about themselves, and whom they name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter
from codesum_pipeline.languages.declarations.ecmascript.ecmascript_definitions import (
    function_of,
    key_name,
    unwrapped_value,
)
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, TypedName
from codesum_pipeline.languages.declarations.hooks import member_text
from codesum_pipeline.languages.declarations.kin import next_sibling_of
from codesum_pipeline.languages.declarations.node_code import MAX_CHAIN, Code, Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import (
    child_of_type,
    code_children,
    field_children,
    find_field,
    first_code_child,
)
from codesum_pipeline.languages.declarations.spec import split_words

_WORDS = {"static get"} | split_words("""
    abstract accessor async declare default export get override private protected public readonly set static
""")
_CARRIERS = ("accessibility_modifier", "override_modifier")
# The text of each link of a long chain of calls would hold all links before it.
_MAX_RECEIVER = 300
_STATEMENTS = ("export_statement", "expression_statement", "lexical_declaration", "variable_declaration")
_MAX_AROUND = 4
# Nodes that enclose a value and do not change it.
_PASSING_ON = split_words("parenthesized_expression await_expression satisfies_expression non_null_expression")
# Calls that give their first argument.
_GIVING_FIRST = ("Object.assign", "Object.freeze", "Object.seal", "Object.preventExtensions")
_LONGEST_GIVING_FIRST = max(map(len, _GIVING_FIRST))
# The types that documenting comments say: `@param {Type} name`, `@returns {Type}`, `@type {Type}`.
_TAG = re.compile(
    r"@(?:(?P<param>param|arg|argument)|(?P<result>returns?)|type)\s*\{(?P<type>[^{}]*)\}(?:\s*\[?(?P<name>[\w$]+)(?!\.))?"
)
_PIECE = re.compile(r"[\w$]+|\S")
_LONGEST = 4_000


def read_parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """Parameters as written; one that is taken apart has its pattern for a name."""
    function = function_of(node)
    if (single := find_field(function, "parameter")) is not None:
        yield Parameter(text(single), None, None, "positional")
    for child in code_children(function, "parameters"):
        pattern = find_field(child, "pattern") or find_field(child, "left") or child
        default = find_field(child, "value") or find_field(child, "right")
        kind = "receiver" if pattern.type == "this" else "positional"
        if pattern.type == "rest_pattern" and pattern.named_children:
            pattern, kind = pattern.named_children[0], "var_positional"
        yield Parameter(text(pattern), declared_type(child, text) or None, text(default) or None, kind)


def declared_type(node: Node | None, text: Text, field: str = "type") -> str:
    """The type after a colon."""
    return text(next(iter(field_children(node, field)), None))


def return_type(node: Node, text: Text) -> str | None:
    """The type that a function says it returns."""
    return declared_type(function_of(node), text, "return_type") or None


def result_of_body(body: Node) -> Node | None:
    """What an arrow function without braces gives."""
    return None if body.type == "statement_block" else unwrapped_value(body)


def returned_values(value: Node | None) -> Iterator[Node]:
    """What an expression may be: the branches of a condition, what is awaited, never nothing."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node is None or node.type in ("null", "undefined"):
            continue
        if node.type in _PASSING_ON:
            waiting += node.named_children[:1]
        elif node.type == "ternary_expression":
            waiting += [find_field(node, "consequence"), find_field(node, "alternative")]
        elif node.type == "binary_expression" and raw_text(node, "operator") in ("||", "??"):
            waiting += [find_field(node, "left"), find_field(node, "right")]
        elif node.type == "call_expression" and _is_giving_first(find_field(node, "function")):
            waiting += field_children(node, "arguments")[:1]
        else:
            yield node


def _is_giving_first(function: Node | None) -> bool:
    """Whether a call gives its first argument. The text of a long chain is not read: each of its links would ask."""
    is_short = function is not None and function.end_byte - function.start_byte <= _LONGEST_GIVING_FIRST
    return is_short and raw_text(function) in _GIVING_FIRST


def shortened(node: Node | None, text: Text, known: dict[int, Code]) -> Code:
    """An expression without the arguments of its calls, but for their number; empty for one of another kind, and for a
    long one. `known` has those of this file by the id of their nodes: a chain of calls is read once for all its links.
    """
    links: list[tuple[int, tuple[str, ...]]] = []
    found = Code.of("")
    while (node := next(returned_values(node), None)) is not None:
        if node.id in known:
            found = known[node.id]
            break
        kind, id_ = node.type, node.id
        if kind == "call_expression":
            links.append((id_, _brackets_around_values(node)))
            node = find_field(node, "function")
        elif kind == "member_expression":
            links.append((id_, (".", field_text(node, "property", text))))
            node = find_field(node, "object")
        elif kind == "subscript_expression":
            links.append((id_, ("[", "0", "]")))
            node = find_field(node, "object")
        else:
            if kind == "new_expression":
                found = _chain("new ", field_text(node, "constructor", text), *_brackets_around_values(node))
            elif kind in ("identifier", "this"):
                found = text(node)
            known[id_] = found
            break
    for id_, link in reversed(links):
        found = known[id_] = _chain(found, *link) if found else found
    return found


def _brackets_around_values(call: Node) -> tuple[str, str, str]:
    """Brackets around as many values."""
    return "(", ",".join("0" * len(code_children(call, "arguments"))), ")"


def _chain(*parts: str) -> Code:
    """Code of these parts; empty where it is too long for a chain."""
    joined = "".join(parts)
    return Code.of(joined, *parts) if len(joined) <= MAX_CHAIN else Code.of("")


def short_receiver(call: Node, text: Text, known: dict[int, Code]) -> Code:
    """The object that a method is called on, shortened."""
    return shortened(find_field(call, "function", "object"), text, known)


def cast_type(value: Node, text: Text) -> str:
    """The type that a value is said to be of."""
    written = text(value.named_children[-1]) if value.type == "as_expression" else ""
    return written if written != "const" else ""


def read_modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a member's name, and `async` of a function that a name is bound to."""
    name = find_field(node, "name") or find_field(node, "property")
    is_bound = find_field(node, "left") is not None or find_field(node, "key") is not None
    for child in () if is_bound else node.children:
        if child == name:
            break
        if child.type in _WORDS or child.type in _CARRIERS:
            yield from text(child).split()
    function = function_of(node)
    if function is not None and function != node and child_of_type(function, "async"):
        yield "async"


def wrapper_words(wrapper: Node, text: Text) -> Iterator[str]:
    """`export`, `default`, `declare` around a definition."""
    around: Node | None = wrapper
    while around is not None and around.type in ("export_statement", "ambient_declaration"):
        yield from (text(child) for child in around.children if child.type in _WORDS)
        around = find_field(around, "declaration")


def read_bases(node: Node, text: Text) -> Iterator[str]:
    """What a class extends and implements, an interface extends, a type is joined with or another name of."""
    held = unwrapped_value(find_field(node, "value") or find_field(node, "right"))
    for child in (held if held is not None and held.type == "class" else node).named_children:
        if child.type == "class_heritage":
            yield from _heritage(child, text)
        elif child.type == "extends_type_clause":
            yield from (text(type_) for type_ in child.named_children)
    value = find_field(node, "value")
    parts = value.named_children if value is not None and value.type == "intersection_type" else [value]
    yield from (text(part) for part in parts if part is not None and part.type in ("type_identifier", "generic_type"))


def _heritage(heritage: Node, text: Text) -> Iterator[str]:
    for clause in heritage.named_children:
        if clause.type == "extends_clause":
            yield Code.of(text(clause).removeprefix("extends "), *map(text, clause.children[1:]))
        elif clause.type == "implements_clause":
            yield from (text(type_) for type_ in clause.named_children)
        elif not clause.is_extra:
            yield text(clause)


CALLS: Mapping[str, Callable[[Node, Text], CallSyntax | None]] = {
    # `super(…)` is a call of `super`.
    "call_expression": lambda node, text: _called(find_field(node, "function"), text),
    "new_expression": lambda node, text: _called(find_field(node, "constructor"), text, is_new=True),
    # With arguments, a decorator is a call by itself.
    "decorator": lambda node, text: _called(first_code_child(node), text),
}


def read_element(node: Node, text: Text) -> CallSyntax | None:
    """An element of markup counts as a call of its component; names in lower case are elements of HTML."""
    name = find_field(node, "name")
    return None if name is None or (name.type == "identifier" and not text(name)[:1].isupper()) else _called(name, text)


def _called(function: Node | None, text: Text, *, is_new: bool = False) -> CallSyntax | None:
    while function is not None and function.type in ("parenthesized_expression", "non_null_expression"):
        function = next(iter(function.named_children), None)
    if function is None:
        return None
    if function.type in ("member_expression", "nested_identifier"):
        owner = find_field(function, "object")
        is_long = owner is not None and owner.end_byte - owner.start_byte > _MAX_RECEIVER
        return CallSyntax("…" if is_long else text(owner), field_text(function, "property", text), is_new)
    return CallSyntax("", text(function), is_new) if function.type in ("identifier", "super") else None


def typed_parameter(node: Node, text: Text) -> Iterator[TypedName]:
    """A parameter; one with an access modifier is a field too."""
    pattern = find_field(node, "pattern")
    if pattern is not None and pattern.type == "identifier":
        type_ = declared_type(node, text) or _made(find_field(node, "value"), text)
        yield TypedName(text(pattern), type_)
        if _is_field(node):
            yield TypedName(f"this.{text(pattern)}", type_)


def _is_field(parameter: Node) -> bool:
    return child_of_type(parameter, *_CARRIERS, "readonly") is not None


def typed_variable(node: Node, text: Text) -> Iterator[TypedName]:
    """A variable or a field with a type, or made by `new`."""
    yield TypedName(_variable(node, text), declared_type(node, text) or _made(find_field(node, "value"), text))


def _variable(node: Node, text: Text) -> Code | str:
    name = find_field(node, "name") or find_field(node, "property")
    return text(name) if name is not None and not name.type.endswith("_pattern") else ""


def typed_assignment(node: Node, text: Text) -> Iterator[TypedName]:
    """`this.x = new X()`."""
    yield TypedName(_assigned(node, text), _made(find_field(node, "right"), text))


def _assigned(node: Node, text: Text) -> Code | str:
    left = find_field(node, "left")
    return text(left) if left is not None and left.type in ("identifier", "member_expression") else ""


def typed_name(statement: Node, text: Text) -> str:
    """The one variable or field that a statement declares or gives a value; empty for any other."""
    for _ in range(_MAX_AROUND):
        if statement.type == "assignment_expression":
            return _assigned(statement, text)
        if statement.type in ("variable_declarator", "field_definition"):
            return _variable(statement, text)
        named = code_children(statement)
        if statement.type not in _STATEMENTS or len(named) != 1:
            break
        statement = named[0]
    return ""


def _made(value: Node | None, text: Text) -> str:
    """The class of what `new` makes, or the type that a value is said to be of."""
    if value is not None and value.type in ("as_expression", "satisfies_expression"):
        type_ = value.named_children[-1]
        return text(type_) if text(type_) != "const" else ""
    made = unwrapped_value(value)
    return field_text(made, "constructor", text) if made is not None and made.type == "new_expression" else ""


def read_field(node: Node, text: Text) -> Iterator[str]:
    """A member that holds data."""
    name, value = key_name(find_field(node, "name") or find_field(node, "property")), find_field(node, "value")
    if name and (unwrapped_value(value) is None or function_of(node) is None):
        yield member_text(name, declared_type(node, text) or _made(value, text))


def constructor_fields(node: Node, text: Text) -> Iterator[str]:
    """The fields that a constructor's parameters are."""
    for child in field_children(node, "parameters") if field_text(node, "name", text) == "constructor" else ():
        if child.type in ("required_parameter", "optional_parameter") and _is_field(child):
            yield member_text(field_text(child, "pattern", text), declared_type(child, text))


def enum_members(node: Node, text: Text) -> Iterable[str]:
    """The names in an enum."""
    return (key_name(find_field(child, "name") or child) for child in code_children(node))


def documented_types(docstring: str) -> Iterator[TypedName]:
    """The parameters whose type a comment gives; an entry without a name is the type of the result."""
    for tag in _TAG.finditer(docstring[:_LONGEST]):
        if tag["result"]:
            yield TypedName("", _documented_type(tag["type"]))
        elif tag["param"] and tag["name"]:
            yield TypedName(tag["name"], _documented_type(tag["type"]))


def typed_below(comment: Node, text: Text) -> Iterator[TypedName]:
    """The variable or field below a comment that says its type."""
    comment_text = raw_text(comment)
    if "@type" not in comment_text[:_LONGEST] or not comment_text.startswith("/**"):
        return
    tag = next((tag for tag in _TAG.finditer(comment_text[:_LONGEST]) if not (tag["param"] or tag["result"])), None)
    below = next_sibling_of(comment, is_named=True)
    name = typed_name(below, text) if tag is not None and below is not None else ""
    if tag is not None and name:
        yield TypedName(name, _documented_type(tag["type"]))


def _documented_type(written: str) -> Code:
    """A type without the marks that say that it may be missing or repeated."""
    plain = written.strip().removeprefix("...").lstrip("?!").rstrip("=")
    return Code.of(plain, *_PIECE.findall(plain))
