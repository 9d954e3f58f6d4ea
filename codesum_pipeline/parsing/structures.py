"""What a file's receivers, values and types are made of, as JSON; each text is read once."""

from collections.abc import Iterable
from typing import Any

from tree_sitter import Node

from codesum_pipeline.languages.declaration import MAX_CHAIN, Code
from codesum_pipeline.languages.hooks import raw_text
from codesum_pipeline.model.expressions import chain_to_json, type_to_json
from codesum_pipeline.parsing.chains import read_chain, read_type
from codesum_pipeline.parsing.expressions import pieces_between
from codesum_pipeline.parsing.walk import Tokens

_MAX_TOKENS = 1_000


class Structures:
    """Reads those of one file."""

    def __init__(self, tokens: Tokens, root: Node) -> None:
        self._tokens = tokens
        self._root = root
        self.receivers: list[list[Any] | None] = []
        self._numbers: dict[str, int] = {}
        self._chains: dict[str, list[Any] | None] = {"": []}
        self._types: dict[str, list[Any] | None] = {}

    def receiver(self, said: str) -> int:
        """The number in `receivers` of what a call is called on: each is written down once."""
        if said not in self._numbers:
            self._numbers[said] = len(self.receivers)
            self.receivers.append(self.chain(said))
        return self._numbers[said]

    def chain(self, said: str) -> list[Any] | None:
        """The steps of an expression, none of nothing; None for what is no chain."""
        if said not in self._chains:
            self._chains[said] = (
                chain_to_json(read_chain(tuple(self._pieces(said)))) if len(said) <= MAX_CHAIN else None
            )
        return self._chains[said]

    def type(self, said: str) -> list[Any] | None:
        """The names and arguments of a type; None for what has no name."""
        if said not in self._types:
            self._types[said] = type_to_json(read_type(tuple(self._pieces(said))))
        return self._types[said]

    def types(self, said: Iterable[str]) -> list[list[Any]]:
        """Those that have a name."""
        return [type_ for one in said if (type_ := self.type(one)) is not None]

    def _pieces(self, said: str) -> list[str]:
        if not isinstance(said, Code) or said.isidentifier():
            return [said]
        if said.span is None:
            return [piece for part in said.parts for piece in self._pieces(part)]
        pieces = pieces_between(self._tokens, *said.span, most=_MAX_TOKENS)
        return pieces or _leaves(self._root.descendant_for_byte_range(*said.span))


def _leaves(node: Node | None) -> list[str]:
    """The leaves of what stands in a text that is one token: `"${names.first()}"`."""
    leaves: list[str] = []
    waiting = [node] if node is not None else []
    while waiting and len(leaves) < _MAX_TOKENS:
        current = waiting.pop()
        waiting.extend(reversed(current.children))
        if not current.children:
            leaves.append(raw_text(current))
    return leaves
