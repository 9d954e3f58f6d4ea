"""Parents and siblings of nodes are those that tree-sitter finds, during a walk and after it."""

from collections.abc import Iterator

import pytest
from tree_sitter import Node

from codesum_pipeline.languages.declarations.kin import (
    current_walk,
    grandparent_of,
    own_walks,
    parent_of,
    siblings_after,
    siblings_before,
)
from codesum_pipeline.symbols.parsing.file_tokens import bytes_as_characters
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline.symbols.parsing.walk import read_tokens
from codesum_pipeline_tests.languages.declarations.cases import LanguageCase, all_cases


def all_nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def has_width(node: Node) -> bool:
    return node.end_byte > node.start_byte


def first(node: Node | None, *, is_before: bool = False) -> Node | None:
    """The first of a node and what follows it that has a width."""
    while node is not None and not has_width(node):
        node = node.prev_sibling if is_before else node.next_sibling
    return node


@pytest.mark.parametrize("case", [*filter(None, all_cases().values())], ids=lambda case: case.language)
def test_kin_are_those_of_the_tree(case: LanguageCase) -> None:
    parser = PARSERS[case.language]
    grammar, source = parser._grammar(), case.source.encode()
    tree = grammar.parser().parse(source)
    with own_walks():
        read_tokens(tree, bytes_as_characters(source), grammar)
        noted = set(current_walk().parents)
        for node in all_nodes(tree.root_node):
            assert parent_of(node) == node.parent
            assert grandparent_of(node) == (node.parent.parent if node.parent else None)
            # tree-sitter passes over siblings without a width.
            assert next(filter(has_width, siblings_after(node)), None) == first(node.next_sibling)
            assert next(filter(has_width, siblings_before(node)), None) == first(node.prev_sibling, is_before=True)
    assert noted
    assert current_walk().parents == {}
