"""Which nodes of a language decide what runs, and what they decide: the table `[conditions]` of a `*.syntax.toml`.

A node is described by what its direct children are, in parts with ` : ` between them. A part names children by their
field, their type or their spelling; together they reach from the first that has one of the names to the last. `a<b` is
all that lies between the tokens `a` and `b`, `a<` all behind `a`, and `<b` all before `b` but for a word that the node
begins with.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.languages.declarations.spec import Names, Span, split_keys


class Sense(StrEnum):
    """When a branch runs: if its condition holds or fails; if the subject matches the condition, which is a pattern, or
    no pattern beside it; if an error of such a class was caught; if the condition has no value."""

    HOLDS = "holds"
    FAILS = "fails"
    MATCHES = "matches"
    OTHER = "other"
    CAUGHT = "caught"
    ABSENT = "absent"
    FAILED = "failed"


class Branch(Struct, frozen=True):
    """The bytes from `start` to `end` run only under conditions, which are the bytes `of`."""

    start: int
    end: int
    sense: Sense
    of: tuple[Span, ...] = ()
    subject: Span | None = None


class ConditionSyntax(Struct, frozen=True, kw_only=True):
    """The nodes that decide; each field is empty by default, for a language that needs none."""

    # The condition, which `!` before it says must fail; then what is run where that is so no more. What lies between
    # is run where it is so. Go: "condition : alternative".
    choices: Mapping[str, str] = field(default_factory=dict)
    # The same of what is written before its condition. Ruby: `raise X if y`.
    modifiers: Mapping[str, str] = field(default_factory=dict)
    # The subject; then the arms, among the node's children or theirs; then the pattern in one. A subject `!` is an
    # error that was caught. Java: "condition : switch_rule : switch_label".
    switches: Mapping[str, str] = field(default_factory=dict)
    # What is run where an error was caught, and the part that says of which class. PHP: "type".
    catches: Mapping[str, str] = field(default_factory=dict)
    # What else asks a condition: loops, filters, guards of patterns. C: "condition", for `while (a)`.
    checks: Mapping[str, str] = field(default_factory=dict)
    # Operations whose right side is run by what the left side gives. C: "binary_expression", for `a && b()`.
    shortcuts: Names = frozenset()
    # Whether a pattern that is one name in lower case matches everything. Rust: true.
    has_name_patterns: bool = False
    # What a table cannot say. Elixir: the calls `if` and `case`.
    branches: Mapping[str, Callable[[Node], Iterable[Branch]]] = field(default_factory=dict)
    # How a condition is written in words: patterns, each with what replaces it, one after the other. Rust:
    # `let Some(x) = y` is "y is Some(x)".
    words: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        split_keys(self, "choices", "modifiers", "switches", "catches", "checks", "branches")

    @property
    def marked(self) -> Names:
        """All node types that decide."""
        return self.shortcuts.union(
            self.choices, self.modifiers, self.switches, self.catches, self.checks, self.branches
        )
