"""Of an expression's brackets only those are left out without which its tree is the same."""

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline_tests.languages.declarations.cases import parse

PARSERS = {
    declaration.spec.name: Parser(Language(declaration.spec.grammar()))
    for declaration in declarations()
    if declaration.spec.name in ("javascript", "typescript")
}
GROUP = "parenthesized_expression"
CHAINED = ("&&", "||", "??")
OPERATORS = (
    [*"+-*/%&|^<>", "**", "<<", ">>", ">>>", "&&", "||", "??", "==", "===", "!=", "<=", ">=", "in", "instanceof"],
    ["!", "-", "+", "~", "typeof ", "void ", "delete ", "await ", "yield ", "++", "--", "...", "new ", "async x => "],
)
ENDINGS = [".x", "?.x", "[0]", "(x)", "(...x)", "++", "`t`", ".x()", "?.()"]
CONTEXTS = [
    "{};", "x = {};", "f({}, {});", "return_[{}];", "for (x = {}; ; ) ;", "for (y of {}) ;", "if ({}) x; else ({});",
    "y => {};", "export default {};", "class A extends ({}) {{ c = ({}); }}", "x = {{ c: {}, [{}]: 1 }};", "throw {};",
    "switch ({}) {{ case {}: }}", "`${{{}}}`;", "let [x = {}] = y, z = {};", "(x = {}) => 1;", "do x; while ({})",
]  # fmt: skip
CASTS = [" as T", " satisfies T", "!"]


def composed(inner: st.SearchStrategy[str], endings: list[str]) -> st.SearchStrategy[str]:
    """Expressions of expressions, in brackets and without, whether or not that can stand."""
    binary, prefixes = OPERATORS
    return st.one_of(
        inner.map("({})".format),
        inner.map("(({}))".format),
        st.tuples(inner, st.sampled_from(binary), inner).map(" ".join),
        st.tuples(st.sampled_from(prefixes), inner).map("".join),
        st.tuples(inner, st.sampled_from(endings)).map("".join),
        st.tuples(inner, inner, inner).map(lambda of: "{} ? {} : {}".format(*of)),
        st.tuples(inner, inner).map(", ".join),
        inner.map("x = {}".format),
        inner.map("x => {}".format),
        inner.map("[{}]".format),
        inner.map("{{ k: {} }}".format),
        inner.map("function () {{ return {}; }}".format),
    )


def programs(endings: list[str]) -> st.SearchStrategy[str]:
    atoms = st.sampled_from(
        ["a", "1", "'s'", "this", "/r/", "{}", "class {}", "function () {}", "let", "async", "new a"]
    )
    whole = st.recursive(atoms, lambda inner: composed(inner, endings), max_leaves=6)
    return st.tuples(st.sampled_from(CONTEXTS), whole).map(
        lambda of: of[0].replace("{}", of[1]).replace("{{", "{").replace("}}", "}")
    )


def held(node: Node) -> list[Node]:
    unshown = {"(", ")", ";", ","} | ({"empty_statement"} if node.type in ("program", "statement_block") else set())
    return [child for child in node.children if not child.is_extra and child.type not in unshown]


def shape(node: Node) -> Any:
    """A tree without brackets; a chain of one logical operator is the same from either end."""
    while node.type == GROUP and len(held(node)) == 1:
        node = held(node)[0]
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    if operator is not None and operator.type in CHAINED:
        return (operator.type, *links(node, operator.type))
    if node.type == "string" or not node.child_count:
        return node.type, (node.text or b"").strip(b"'\"")
    return (node.type, *[shape(child) for child in held(node)])


def links(node: Node, operator: str) -> list[Any]:
    while node.type == GROUP and len(held(node)) == 1:
        node = held(node)[0]
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    own = node.child_by_field_name("operator")
    if node.type != "binary_expression" or left is None or right is None or own is None or own.type != operator:
        return [shape(node)]
    return [*links(left, operator), *links(right, operator)]


def keeps_its_shape(language: str, program: str) -> None:
    tree = PARSERS[language].parse(program.encode())
    assume(not tree.root_node.has_error)
    # A definition starts a line, also where a line's end would end the statement: marks end them here.
    shown = parse(language, program).facts.source.replace("\n", " ")
    assert shape(PARSERS[language].parse(shown.encode()).root_node) == shape(tree.root_node), shown


@given(programs(ENDINGS))
@example("{ k: a, 1 };")
@example("function* f() { new (yield)(); }")
def test_a_program_of_javascript_keeps_its_tree(program: str) -> None:
    keeps_its_shape("javascript", program)


@given(programs([*ENDINGS, *CASTS]))
def test_a_program_of_typescript_keeps_its_tree(program: str) -> None:
    keeps_its_shape("typescript", program)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_thousands_of_programs_keep_their_trees(language: str) -> None:
    @settings(max_examples=10_000, deadline=None)
    @given(programs([*ENDINGS, *(CASTS if language == "typescript" else [])]))
    def hold(program: str) -> None:
        keeps_its_shape(language, program)

    hold()
