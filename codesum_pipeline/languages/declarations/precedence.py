"""How tightly the operators of a language bind, and which expressions need no brackets where."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import find_field, only_code_child

# The kind of the node around an expression, and the expression's field in it.
Place = tuple[str, str | None]


class Precedence:
    """The rules in the file `*.syntax.toml` beside a module.

    `order` are levels, the loosest first: of each there are the node types
    and the operators that have it, and the `places` whose expressions need at
    least it. `sets` are places by the name of what holds of them.
    """

    def __init__(self, module: str) -> None:
        tables = tomllib.loads(Path(module).with_suffix(".syntax.toml").read_text(encoding="utf-8"))
        order = tables["order"].split()
        self._numbers = {name: number for number, name in enumerate(order)}
        self.never = len(order)
        self.kinds = dict(self._by_word(tables["kinds"]))
        self.operators = dict(self._by_word(tables["operators"]))
        self.places = {_place(word): number for word, number in self._by_word(tables["places"])}
        self.sets = {name: frozenset(map(_place, words.split())) for name, words in tables["sets"].items()}

    def levels(self, names: str) -> list[int]:
        """The numbers of some levels."""
        return [self._numbers[name] for name in names.split()]

    def _by_word(self, table: Mapping[str, str]) -> Iterator[tuple[str, int]]:
        return ((word, self._numbers[name]) for name, words in table.items() for word in words.split())

    def level(self, inner: Node, otherwise: int) -> int:
        """The level of an expression: that of its kind, or of its operator where the kind has several."""
        level = self.kinds.get(inner.type)
        return self.operators.get(operator_of(inner), otherwise) if level is None else level


def operator_of(node: Node | None) -> str:
    """The operator of an operation; empty for any other expression."""
    operator = find_field(node, "operator")
    return operator.type if operator is not None else ""


def held_in(node: Node, kind: str) -> Node | None:
    """What brackets of a kind hold, also where several are around each other; None if they hold several things."""
    inner = only_code_child(node)
    while inner is not None and inner.type == kind:
        inner = only_code_child(inner)
    return inner


def _place(word: str) -> Place:
    kind, _, field = word.partition(".")
    return kind, field or None
