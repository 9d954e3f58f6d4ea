"""The forms that Elixir is made of: calls with a word, attributes, keyword lists, heads, `do` blocks; and what decides
in it: guards, and the calls `if`, `unless`, `case`, `cond` and `try`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from tree_sitter import Node

from codesum_pipeline.languages.declarations.condition_syntax import Branch, Sense
from codesum_pipeline.languages.declarations.kin import next_sibling_of, parent_of, siblings_before
from codesum_pipeline.languages.declarations.node_code import Text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, code_children, find_field
from codesum_pipeline.languages.declarations.spec import Span, split_words

DEFINERS = split_words("def defp defmacro defmacrop defguard defguardp defdelegate defn defnp")
SECTIONS = split_words("else_block rescue_block catch_block after_block")
OPERATORS = ("binary_operator", "unary_operator")
# Each is a branch; so are the clauses of what has some.
_BRANCHING = split_words("if unless for while")
# How many calls and operators a line may end with before its last `do` block is looked for no longer.
_MAX_TAIL = 20
_CHOICES = {"if": (Sense.HOLDS, Sense.FAILS), "unless": (Sense.FAILS, Sense.HOLDS)}
_HANDLERS = ("rescue_block", "catch_block")
_SIGIL = re.compile(r"^~[a-zA-Z]+")


def has_one_row(node: Node) -> bool:
    """Whether there are no several clauses or expressions, each of which would need a line."""
    return len(code_children(node)) <= 1 and node.child_count > 0


def fits_line(body: Node) -> bool:
    """Whether the body of a clause is one expression that does not end with a block."""
    if not has_one_row(body):
        return False
    last = next(iter(code_children(body)), None)
    for _ in range(_MAX_TAIL):
        if last is None or last.type == "do_block":
            return last is None
        if last.type not in ("call", "arguments", *OPERATORS):
            return True
        last = last.children[-1] if last.children else None
    return True


def count_branches(node: Node) -> int:
    """The branches that a node adds: an `if` or `for`, or the clauses in a block but for the default."""
    if node.type == "call":
        return int(called_word(node) in _BRANCHING)
    clauses = [child for child in node.named_children if child.type == "stab_clause"]
    if node.type == "anonymous_function":
        return max(0, len(clauses) - 1)
    return sum(raw_text(clause, "left") not in ("_", "true", "") for clause in clauses)


def called_word(node: Node | None) -> str:
    """`word` of `word arguments`; empty for any other node."""
    target = find_field(node, "target") if node is not None and node.type == "call" else None
    return target.text.decode() if target is not None and target.type == "identifier" and target.text else ""


def plain_arguments(call: Node | None) -> list[Node]:
    """The arguments of a call."""
    return code_children(child_of_type(call, "arguments"))


def first_argument(call: Node | None) -> Node | None:
    """The first argument of a call."""
    return next(iter(plain_arguments(call)), None)


def keyword_value(call: Node, name: str) -> Node | None:
    """The value of `name: value` among the arguments of a call."""
    last = next(reversed(plain_arguments(call)), None)
    pairs = last.named_children if last is not None and last.type == "keywords" else ()
    return next((find_field(pair, "value") for pair in pairs if raw_text(pair, "key") == f"{name}:"), None)


def keys_of(node: Node, text: Text) -> Iterable[str]:
    """The keys of a keyword list."""
    keywords = node if node.type == "keywords" else child_of_type(node, "keywords")
    keys = (find_field(pair, "key") for pair in (keywords.named_children if keywords is not None else ()))
    return (text(key).removesuffix(":") for key in keys if key is not None)


def body_of(call: Node) -> Node | None:
    """The `do` block of a definition, or the comma before its `do:`."""
    last = call.children[-1] if call.children else None
    if last is None or last.type == "do_block":
        return last
    if keyword_value(call, "do") is None:
        return None
    children = last.children
    number = next(k for k, child in enumerate(children) if child.type == "keywords")
    return children[number - 1] if number else children[number]


def result_of_body(body: Node) -> Node | None:
    """The value of a body: that of its last expression."""
    if body.type == "do_block":
        last = [child for child in code_children(body) if child.type not in SECTIONS]
        return last[-1] if last and last[-1].type != "stab_clause" else None
    keywords = body if body.type == "keywords" else next_sibling_of(body, is_named=True)
    pairs = keywords.named_children if keywords is not None and keywords.type == "keywords" else ()
    return next((find_field(pair, "value") for pair in pairs if raw_text(pair, "key") == "do:"), None)


def head_of(definition: Node) -> Node | None:
    """`name(arguments)` of `def name(arguments) when guard`."""
    head = first_argument(definition)
    while operator_of(head) == "when":
        head = find_field(head, "left")
    return head


def head_name(head: Node | None) -> str:
    """The name that a head defines: a plain one, or an operator's; empty if it is computed."""
    if head is not None and head.type == "identifier":
        return raw_text(head)
    return operator_of(head) or (called_word(head) if called_word(head) != "unquote" else "")


def arguments_of(head: Node | None) -> Sequence[Node]:
    """The parameters of a head."""
    if head is None or head.type == "identifier":
        return ()
    return code_children(head) if operator_of(head) else plain_arguments(head)


def operator_of(node: Node | None) -> str:
    """The operator of an operation; empty for any other node."""
    return raw_text(node, "operator") if node is not None and node.type in OPERATORS else ""


def named_pattern(pattern: Node) -> tuple[Node, Node | None]:
    """The name that a pattern is bound to, or itself, and the struct that it must be."""
    sides = [pattern]
    if operator_of(pattern) == "=":
        sides = [side for side in map(pattern.child_by_field_name, ("left", "right")) if side is not None]
    name = next((side for side in sides if side.type == "identifier"), pattern)
    structs = [child for side in sides if side.type == "map" for child in side.named_children if child.type == "struct"]
    return name, structs[0] if structs else None


def module_parts(name: str) -> tuple[str, ...]:
    """The names that a module's name is made of."""
    return tuple(part for part in name.replace(" ", "").removeprefix("Elixir.").split(".") if part)


def attribute_name(node: Node) -> str:
    """`name` of `@name value`; empty for any other node, and for a use of the attribute."""
    is_attribute = node.type == "unary_operator" and operator_of(node) == "@"
    return called_word(find_field(node, "operand")) if is_attribute else ""


def attribute_value(node: Node | None) -> Node | None:
    """`value` of `@name value`."""
    return first_argument(find_field(node, "operand"))


def attribute_above(node: Node, name: str, between: frozenset[str]) -> Node | None:
    """The attribute of a name directly above a node, with others of some names between."""
    for above in siblings_before(node, is_named=True):
        if not (above.is_extra or attribute_name(above) in between):
            break
        if attribute_name(above) == name:
            return above
    return None


def type_head(attribute: Node) -> Node | None:
    """`name(types)` of `@callback name(types) :: type when …`."""
    value = attribute_value(attribute)
    while operator_of(value) in ("when", "::"):
        value = find_field(value, "left")
    return value


def string_value(node: Node | None) -> str:
    """What a string or a sigil says, without its quotes and its margin; empty for what is neither."""
    if node is None or node.type not in ("string", "sigil"):
        return ""
    literal = _SIGIL.sub("", node.text.decode("utf-8", "replace") if node.text else "")
    for quotes in ('"""', "'''"):
        if literal.startswith(quotes):
            return dedent(literal[3:].rstrip().removesuffix(quotes)).strip()
    return literal[1:-1].strip()


def branches_of_call(call: Node) -> Iterator[Branch]:
    """What a call runs under conditions."""
    word = called_word(call)
    if word in _CHOICES:
        yield from _choice(call, *_CHOICES[word])
    elif word in DEFINERS:
        yield from _guarded(call)
    elif word in ("case", "cond"):
        yield from _arms(call, None if word == "cond" else _subject(call), is_case=word == "case")
    block = child_of_type(call, "do_block")
    for handler in block.named_children if block is not None else ():
        if handler.type in _HANDLERS:
            for pattern, clause in _clauses(handler):
                yield Branch(pattern[1], clause.end_byte, Sense.CAUGHT, (pattern,))


def _choice(call: Node, sense: Sense, otherwise: Sense) -> Iterator[Branch]:
    condition = first_argument(call)
    if condition is None:
        return
    tested = (_bytes(condition),)
    yield Branch(condition.end_byte, call.end_byte, sense, tested)
    block = child_of_type(call, "do_block")
    other = child_of_type(block, "else_block") if block is not None else keyword_value(call, "else")
    if other is not None:
        yield Branch(other.start_byte, other.end_byte, otherwise, tested)


def _guarded(definition: Node) -> Iterator[Branch]:
    """`def name(…) when guard`."""
    head = first_argument(definition)
    guard = find_field(head, "right") if operator_of(head) == "when" else None
    if guard is not None:
        yield Branch(guard.end_byte, definition.end_byte, Sense.HOLDS, (_bytes(guard),))


def _subject(case: Node) -> Span | None:
    """What a `case` asks about: its argument, or what is piped into it."""
    subject, around = first_argument(case), parent_of(case)
    if subject is None and operator_of(around) == "|>":
        subject = find_field(around, "left")
    return _bytes(subject) if subject is not None else None


def _arms(call: Node, subject: Span | None, *, is_case: bool) -> Iterator[Branch]:
    block = child_of_type(call, "do_block")
    if block is not None and (subject is not None or not is_case):
        for pattern, clause in _clauses(block):
            yield Branch(pattern[1], clause.end_byte, Sense.MATCHES, (pattern,), subject)


def _clauses(block: Node) -> Iterator[tuple[Span, Node]]:
    """The patterns of a block's clauses."""
    for clause in block.named_children:
        pattern = find_field(clause, "left") if clause.type == "stab_clause" else None
        if pattern is not None:
            yield _bytes(pattern), clause


def _bytes(node: Node) -> Span:
    return node.start_byte, node.end_byte
