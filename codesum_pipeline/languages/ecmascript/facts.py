"""What definitions of JavaScript and TypeScript say about themselves, and whom they name."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declaration import CallSyntax, Code, Facts, Text, TypedName
from codesum_pipeline.languages.ecmascript.definitions import function_of, key_name, unwrapped
from codesum_pipeline.languages.hooks import field_text, raw_text
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter

_WORDS = frozenset({
    "abstract", "accessor", "async", "declare", "default", "export", "get", "override", "private", "protected",
    "public", "readonly", "set", "static", "static get",
})  # fmt: skip
_CARRIERS = words("accessibility_modifier override_modifier")
# The text of each link of a long chain of calls would hold all links before it.
_MAX_RECEIVER = 300
_HIDING = words("private protected")


def parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """Parameters as written; one that is taken apart has its pattern for a name."""
    function = function_of(node)
    single = function.child_by_field_name("parameter") if function else None
    if single is not None:
        yield Parameter(text(single), None, None, "positional")
    listed = function.child_by_field_name("parameters") if function else None
    for child in listed.named_children if listed else ():
        if not child.is_extra:
            yield _parameter(child, text)


def _parameter(node: Node, text: Text) -> Parameter:
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    default = node.child_by_field_name("value") or node.child_by_field_name("right")
    kind = "receiver" if pattern.type == "this" else "positional"
    if pattern.type == "rest_pattern" and pattern.named_children:
        pattern, kind = pattern.named_children[0], "var_positional"
    return Parameter(text(pattern), declared_type(node, text) or None, text(default) or None, kind)


def declared_type(node: Node, text: Text, field: str = "type") -> str:
    """The type after a colon."""
    annotation = node.child_by_field_name(field)
    return text(annotation.named_children[0]) if annotation is not None and annotation.named_children else ""


def return_type(node: Node, text: Text) -> str | None:
    """The type that a function says it returns."""
    function = function_of(node)
    return declared_type(function, text, "return_type") or None if function is not None else None


def result(body: Node) -> Node | None:
    """What an arrow function without braces gives."""
    return None if body.type == "statement_block" else unwrapped(body)


_STATEMENTS = ("export_statement", "expression_statement", "lexical_declaration", "variable_declaration")
_MAX_AROUND = 4
_MAX_LINKS = 80
# Calls that give their first argument.
_GIVING_FIRST = ("Object.assign", "Object.freeze", "Object.seal", "Object.preventExtensions")
_LONGEST_GIVING_FIRST = max(map(len, _GIVING_FIRST))
_EITHER = ("||", "??")
_NOTHING = ("null", "undefined")


def _is_giving_first(function: Node | None) -> bool:
    """Whether a call gives its first argument. The text of a long chain is not read: each of its links would ask."""
    is_short = function is not None and function.end_byte - function.start_byte <= _LONGEST_GIVING_FIRST
    return is_short and raw_text(function) in _GIVING_FIRST


def given_back(value: Node | None) -> Iterator[Node]:
    """What an expression may be: the branches of a condition, what is awaited, never nothing."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node is None or node.type in _NOTHING:
            continue
        if node.type in ("parenthesized_expression", "await_expression", "satisfies_expression", "non_null_expression"):
            waiting.append(node.named_children[0] if node.named_children else None)
        elif node.type == "ternary_expression":
            waiting += [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
        elif node.type == "binary_expression" and raw_text(node.child_by_field_name("operator")) in _EITHER:
            waiting += [node.child_by_field_name("left"), node.child_by_field_name("right")]
        elif node.type == "call_expression" and _is_giving_first(node.child_by_field_name("function")):
            arguments = node.child_by_field_name("arguments")
            waiting.append(arguments.named_children[0] if arguments is not None and arguments.named_children else None)
        else:
            yield node


def shortened(node: Node | None, text: Text) -> Code | str:
    """An expression without the arguments of its calls, but for their number; empty for one of another kind."""
    parts: list[str] = []
    for _ in range(_MAX_LINKS):
        node = next(given_back(node), None)
        if node is None:
            return ""
        if node.type in ("call_expression", "new_expression"):
            parts += _short_arguments(node.child_by_field_name("arguments"))
        if node.type == "call_expression":
            node = node.child_by_field_name("function")
        elif node.type == "member_expression":
            parts += [field_text(node, "property", text), "."]
            node = node.child_by_field_name("object")
        elif node.type == "subscript_expression":
            parts += ["]", "0", "["]
            node = node.child_by_field_name("object")
        elif node.type in ("identifier", "this", "new_expression"):
            parts.append(text(node) if node.type != "new_expression" else field_text(node, "constructor", text))
            parts += ["new "] if node.type == "new_expression" else []
            return Code.of("".join(reversed(parts)), *reversed(parts))
        else:
            return ""
    return ""


def _short_arguments(arguments: Node | None) -> list[str]:
    """Brackets around as many values, from right to left."""
    count = sum(not child.is_extra for child in arguments.named_children) if arguments is not None else 0
    return [")", *",".join("0" * count), "("]


def short_receiver(call: Node, text: Text) -> Code | str:
    """What a call is called on."""
    function = call.child_by_field_name("function")
    return shortened(function.child_by_field_name("object"), text) if function is not None else ""


def is_object(value: Node) -> bool:
    """Whether a value is an object as it is written."""
    return value.type == "object"


def cast_type(value: Node, text: Text) -> str:
    """The type that a value is said to be of."""
    said = text(value.named_children[-1]) if value.type == "as_expression" else ""
    return said if said != "const" else ""


def modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a member's name, and `async` of a function that a name is bound to."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    is_bound = node.child_by_field_name("left") is not None or node.child_by_field_name("key") is not None
    for child in () if is_bound else node.children:
        if child == name:
            break
        if child.type in _WORDS or child.type in _CARRIERS:
            yield from text(child).split()
    function = function_of(node)
    if function is not None and function != node and any(child.type == "async" for child in function.children):
        yield "async"


def wrapper_words(wrapper: Node, text: Text) -> Iterator[str]:
    """`export`, `default`, `declare` around a definition."""
    around: Node | None = wrapper
    while around is not None and around.type in ("export_statement", "ambient_declaration"):
        yield from (text(child) for child in around.children if child.type in _WORDS)
        around = around.child_by_field_name("declaration")


def is_public(parts: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """By the words and the marks that hide a name; what a module exports is said by its exports."""
    return not _HIDING.intersection(words) and not parts[-1].startswith(("#", "_"))


def bases(node: Node, text: Text) -> Iterator[str]:
    """What a class extends and implements, an interface extends, a type is joined with or another
    name of."""
    class_ = node if node.type == "class" or node.child_by_field_name("body") else _class_in(node)
    for child in class_.named_children:
        if child.type == "class_heritage":
            yield from _heritage(child, text)
        elif child.type == "extends_type_clause":
            yield from (text(type_) for type_ in child.named_children)
    value = node.child_by_field_name("value")
    parts = value.named_children if value is not None and value.type == "intersection_type" else [value]
    yield from (text(part) for part in parts if part is not None and part.type in ("type_identifier", "generic_type"))


def _class_in(node: Node) -> Node:
    value = unwrapped(node.child_by_field_name("value") or node.child_by_field_name("right"))
    return value if value is not None and value.type == "class" else node


def _heritage(heritage: Node, text: Text) -> Iterator[str]:
    for clause in heritage.named_children:
        if clause.type == "extends_clause":
            yield Code.of(text(clause).removeprefix("extends "), *map(text, clause.children[1:]))
        elif clause.type == "implements_clause":
            yield from (text(type_) for type_ in clause.named_children)
        elif not clause.is_extra:
            yield text(clause)


def read_call(node: Node, text: Text) -> CallSyntax | None:
    """A call of a name or of a member; `super(…)` is a call of `super`."""
    return _called(node.child_by_field_name("function"), text)


def read_new(node: Node, text: Text) -> CallSyntax | None:
    """`new Name(…)`."""
    return _called(node.child_by_field_name("constructor"), text, is_new=True)


def read_element(node: Node, text: Text) -> CallSyntax | None:
    """Markup uses a component as a call would; names in lower case are the browser's own."""
    name = node.child_by_field_name("name")
    return None if name is None or (name.type == "identifier" and not text(name)[:1].isupper()) else _called(name, text)


def read_decorator(node: Node, text: Text) -> CallSyntax | None:
    """A decorator without arguments; with them, it is a call by itself."""
    shown = node.named_children
    return _called(shown[0], text) if shown and shown[0].type != "call_expression" else None


def _called(function: Node | None, text: Text, *, is_new: bool = False) -> CallSyntax | None:
    while function is not None and function.type in ("parenthesized_expression", "non_null_expression"):
        function = function.named_children[0] if function.named_children else None
    if function is None:
        return None
    if function.type in ("identifier", "super"):
        return CallSyntax("", text(function), is_new)
    if function.type in ("member_expression", "nested_identifier"):
        owner = function.child_by_field_name("object")
        is_long = owner is not None and owner.end_byte - owner.start_byte > _MAX_RECEIVER
        return CallSyntax("…" if is_long else text(owner), field_text(function, "property", text), is_new)
    return None


def typed_parameter(node: Node, text: Text) -> Iterator[TypedName]:
    """A parameter; one with an access modifier is a field too."""
    pattern = node.child_by_field_name("pattern")
    if pattern is None or pattern.type != "identifier":
        return
    type_ = declared_type(node, text) or _made(node.child_by_field_name("value"), text)
    yield TypedName(text(pattern), type_)
    if _is_field(node):
        yield TypedName(f"this.{text(pattern)}", type_)


def _is_field(parameter: Node) -> bool:
    return any(child.type in (*_CARRIERS, "readonly") for child in parameter.children)


def typed_variable(node: Node, text: Text) -> Iterator[TypedName]:
    """A variable or a field with a type, or made by `new`."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if name is not None and not name.type.endswith("_pattern"):
        yield TypedName(text(name), declared_type(node, text) or _made(node.child_by_field_name("value"), text))


def typed_assignment(node: Node, text: Text) -> Iterator[TypedName]:
    """`this.x = new X()`."""
    left = node.child_by_field_name("left")
    if left is not None and left.type in ("identifier", "member_expression"):
        yield TypedName(text(left), _made(node.child_by_field_name("right"), text))


def typed_name(statement: Node, text: Text) -> str:
    """The one variable or field that a statement declares or gives a value; empty for any other."""
    for _ in range(_MAX_AROUND):
        named = [child for child in statement.named_children if not child.is_extra]
        if statement.type == "assignment_expression":
            left = statement.child_by_field_name("left")
            return text(left) if left is not None and left.type in ("identifier", "member_expression") else ""
        if statement.type in ("variable_declarator", "field_definition"):
            name = statement.child_by_field_name("name") or statement.child_by_field_name("property")
            return text(name) if name is not None and not name.type.endswith("_pattern") else ""
        if statement.type not in _STATEMENTS or len(named) != 1:
            return ""
        statement = named[0]
    return ""


def _made(value: Node | None, text: Text) -> str:
    """The class of what `new` makes, or the type that a value is said to be of."""
    if value is not None and value.type in ("as_expression", "satisfies_expression"):
        said = value.named_children[-1]
        return text(said) if text(said) != "const" else ""
    made = unwrapped(value)
    return field_text(made, "constructor", text) if made is not None and made.type == "new_expression" else ""


def field(node: Node, text: Text) -> Iterator[str]:
    """A member that holds data."""
    name = key_name(node.child_by_field_name("name") or node.child_by_field_name("property"))
    held = unwrapped(node.child_by_field_name("value"))
    if not name or (held is not None and function_of(node) is not None):
        return
    type_ = declared_type(node, text) or _made(node.child_by_field_name("value"), text)
    yield f"{name}: {type_}" if type_ else name


def constructor_fields(node: Node, text: Text) -> Iterator[str]:
    """The fields that a constructor's parameters are."""
    if field_text(node, "name", text) != "constructor":
        return
    listed = node.child_by_field_name("parameters")
    for child in listed.named_children if listed else ():
        if child.type in ("required_parameter", "optional_parameter") and _is_field(child):
            name, type_ = field_text(child, "pattern", text), declared_type(child, text)
            yield f"{name}: {type_}" if type_ else name


def enum_members(node: Node, text: Text) -> Iterable[str]:
    """The names in an enum."""
    for child in node.named_children:
        if not child.is_extra:
            yield key_name(child.child_by_field_name("name") or child)


_RETURNS = words("return_statement")
_CLOSURES = words("arrow_function function_expression generator_function")
_ASSIGNMENTS = {
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "update_expression": "argument",
}
JAVASCRIPT_FACTS = Facts(
    returns=_RETURNS,
    raises=words("throw_statement"),
    yields=words("yield_expression"),
    assignments=_ASSIGNMENTS,
    closures=_CLOSURES,
    result=result,
    fields={"field_definition": field},
)
TYPESCRIPT_FACTS = Facts(
    returns=_RETURNS,
    raises=words("throw_statement"),
    yields=words("yield_expression"),
    assignments=_ASSIGNMENTS,
    closures=_CLOSURES,
    result=result,
    fields={
        "public_field_definition property_signature": field,
        "method_definition": constructor_fields,
        "enum_body": enum_members,
    },
)
