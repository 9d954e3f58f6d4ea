"""Parents and siblings of nodes are those that tree-sitter finds, during a walk and after it."""

from collections.abc import Iterator

import pytest
from tree_sitter import Node

from codesum_pipeline.languages.kin import WALK, following, grandparent_of, own_walks, parent_of, preceding
from codesum_pipeline.parsing.parsers import PARSERS
from codesum_pipeline.parsing.walk import bytes_as_characters, read_tokens
from codesum_pipeline_tests.parsing.languages.cases import LanguageCase, all_cases


def all_nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


@pytest.mark.parametrize("case", [*filter(None, all_cases().values())], ids=lambda case: case.language)
def test_kin_are_those_of_the_tree(case: LanguageCase) -> None:
    parser = PARSERS[case.language]
    grammar, source = parser._grammar(), case.source.encode()
    tree = grammar.parser().parse(source)
    with own_walks():
        read_tokens(tree, bytes_as_characters(source), grammar)
        noted = set(WALK.parents)
        for node in all_nodes(tree.root_node):
            assert parent_of(node) == node.parent
            assert grandparent_of(node) == (node.parent.parent if node.parent else None)
            after, before = next(following(node), None), next(preceding(node), None)
            assert (after, before) == (node.next_sibling, node.prev_sibling)
            assert next(following(node, is_named=True), None) == node.next_named_sibling
            assert next(preceding(node, is_named=True), None) == node.prev_named_sibling
    assert noted
    assert WALK.parents == {}
