"""The structure of a file's receivers, values and types, as JSON, and where the names of its callees are.

Each text is read once. A name that a hook took from a node has a known
position. Any other is looked for among the last nodes of what can be the callee:
never in arguments, nor past a fixed number of nodes, so that a chain of calls
costs its length.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.expression import chain_to_json, type_to_json
from codesum_pipeline.languages.declarations.hook_values import NAMELESS, CallSyntax
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.node_code import MAX_CHAIN, Code, raw_text
from codesum_pipeline.symbols.parsing.chains import read_chain, read_type
from codesum_pipeline.symbols.parsing.expressions import pieces_between
from codesum_pipeline.symbols.parsing.file_tokens import Tokens

_MAX_TOKENS = 1_000
# The fields of grammars that hold a callee; in a call without any of them it may be anywhere before what is given.
_FIELDS = ("method", "function", "macro", "constructor", "name", "type", "operator", "left_operand")
# What a call is given besides arguments of values and of types.
_BESIDE_ARGUMENTS = frozenset({"call_suffix", "initializer_expression", "template_body"})
# Names with their paths have fewer.
_MOST_NODES = 100


class Structures:
    """Reads the receivers, values and types of one file."""

    def __init__(self, tokens: Tokens, root: Node) -> None:
        self._tokens = tokens
        self._root = root
        self.receivers: list[list[Any] | None] = []
        self._numbers: dict[str, int] = {}
        self._chains: dict[str, list[Any] | None] = {"": []}
        self._types: dict[str, list[Any] | None] = {}

    def receiver(self, expression: str) -> int:
        """The number in `receivers` of what a call is called on: each is written down once."""
        if expression not in self._numbers:
            self._numbers[expression] = len(self.receivers)
            self.receivers.append(self.chain(expression))
        return self._numbers[expression]

    def chain(self, expression: str) -> list[Any] | None:
        """The steps of an expression; no steps for an empty text, None for what is no chain of names."""
        if expression not in self._chains:
            self._chains[expression] = (
                chain_to_json(read_chain(tuple(self._pieces(expression)))) if len(expression) <= MAX_CHAIN else None
            )
        return self._chains[expression]

    def type(self, written_type: str) -> list[Any] | None:
        """The names and arguments of a type; None for what has no name."""
        if written_type not in self._types:
            self._types[written_type] = type_to_json(read_type(tuple(self._pieces(written_type))))
        return self._types[written_type]

    def types(self, written_types: Iterable[str]) -> list[list[Any]]:
        """The types among some texts that have a name."""
        return [type_ for one in written_types if (type_ := self.type(one)) is not None]

    def _pieces(self, code: str) -> list[str]:
        if not isinstance(code, Code) or code.isidentifier():
            return [code]
        if code.span is None:
            return [piece for part in code.parts for piece in self._pieces(part)]
        pieces = pieces_between(self._tokens, *code.span, most=_MAX_TOKENS)
        return pieces or _leaves(self._root.descendant_for_byte_range(*code.span))


def _leaves(node: Node | None) -> list[str]:
    """The leaves of what is embedded in a text that is one token: `"${names.first()}"`."""
    leaves: list[str] = []
    waiting = [node] if node is not None else []
    while waiting and len(leaves) < _MAX_TOKENS:
        current = waiting.pop()
        waiting.extend(reversed(current.children))
        if not current.children:
            leaves.append(raw_text(current))
    return leaves


class CalleeNames:
    """Finds the names of the callees of one file; offsets are bytes of `source`."""

    def __init__(self, source: bytes) -> None:
        self.source = source

    def start(self, call: Node, called: CallSyntax) -> int:
        """The first byte of the last name of what is called; `NAMELESS` where no token spells it."""
        name = called.name
        if isinstance(name, Code) and name.span is not None:
            start, end = name.span
            # PHP names a class by its path.
            return end - len(self.source[start:end].rpartition(b"\\")[2])
        found = (self._last_spelled(callee, _spellings(name)) for callee in _callees(call, called))
        return next((node.start_byte for node in found if node is not None), NAMELESS)

    def _last_spelled(self, callee: Node, spellings: tuple[bytes, ...]) -> Node | None:
        longest = max(map(len, spellings))
        waiting = [callee]
        for _ in range(_MOST_NODES):
            if not waiting:
                break
            node = waiting.pop()
            start, end = node.start_byte, node.end_byte
            text = self.source[start:end] if end - start <= longest else b""
            # `~Name` is a node of two, and so is a name of Haskell in the quotes that make it an operator.
            if text == spellings[0] or (text in spellings and not node.child_count):
                return node
            others = (child for child in node.children if "argument" not in child.type)
            waiting.extend(child for child in others if child.type not in _BESIDE_ARGUMENTS)
        return None


def _spellings(name: str) -> tuple[bytes, ...]:
    """Rust's macros are named with their mark, Scala's methods without the quotes around them."""
    return name.encode(), name.removesuffix("!").encode(), f"`{name}`".encode()


def _callees(call: Node, called: CallSyntax) -> Iterator[Node]:
    """The nodes that may hold the name, the likeliest first."""
    fields = [node for name in _FIELDS if (node := call.child_by_field_name(name)) is not None]
    yield from fields or [call]
    if called.is_new:
        # `Class.new` of Ruby; the type that a variable says for what it is given.
        around = [call.child_by_field_name("receiver"), *_declared_types(call)]
        yield from (node for node in around if node is not None)


def _declared_types(call: Node) -> Iterator[Node | None]:
    around = parent_of(call)
    for _ in range(2):
        if around is not None:
            yield around.child_by_field_name("type")
            around = parent_of(around)
