"""Definitions of a file, nested as they are written."""

from dataclasses import dataclass, field

from tree_sitter import Node

from codesum_pipeline.languages.spec import LanguageSpec
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.walk import Mark, Tokens

# Deeper definitions belong to the one around them. CPython refuses deeper blocks; without a bound, the
# canonical sources of definitions nested in each other would grow with the square of a file.
MAX_NESTING = 100


@dataclass(frozen=True, slots=True)
class SyntaxDefinition:
    """One definition: its node, the bytes it spans with its wrapper (decorators), the nodes marked directly in it."""

    node: Node
    wrapper: Node | None
    type: SymbolType
    parts: tuple[str, ...]
    parent: int | None
    start_byte: int
    end_byte: int
    marks: list[Mark] = field(default_factory=list)


def find_definitions(tokens: Tokens, spec: LanguageSpec) -> tuple[list[SyntaxDefinition], list[Mark]]:
    """All named definitions in source order, and the marked nodes outside of any."""
    found: list[SyntaxDefinition] = []
    enclosing: list[int] = []
    outside: list[Mark] = []
    wrapper: Mark | None = None
    for mark in tokens.marks:
        kind, start, node = mark
        while enclosing and start >= found[enclosing[-1]].end_byte:
            enclosing.pop()
        if kind in spec.wrappers:
            wrapper = mark
        elif kind in spec.definitions and (name := _name_of(node, tokens)) and len(enclosing) < MAX_NESTING:
            parent = enclosing[-1] if enclosing else None
            end = node.end_byte
            wrapped = wrapper if wrapper and wrapper[2].end_byte >= end else None
            enclosing.append(len(found))
            found.append(
                SyntaxDefinition(
                    node=node,
                    wrapper=wrapped[2] if wrapped else None,
                    type=spec.definitions[kind],
                    parts=(*(found[parent].parts if parent is not None else ()), name),
                    parent=parent,
                    start_byte=wrapped[1] if wrapped else start,
                    end_byte=end,
                )
            )
            wrapper = None
        else:
            (found[enclosing[-1]].marks if enclosing else outside).append(mark)
    return found, outside


def _name_of(node: Node, tokens: Tokens) -> str:
    name = node.child_by_field_name("name")
    return tokens.text(name.start_byte, name.end_byte) if name else ""
