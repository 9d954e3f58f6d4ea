"""Grammars without a node around the statements of a block, as Julia's: nodes that hold statements behind a head.

Two grammars that languages of this package use are read so: the branches of a shell's `if`, which a word closes, and
the cases of a `switch`, which nothing closes.
"""

import tree_sitter_bash
import tree_sitter_c

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.symbols.languages.declaration import Declaration
from codesum_pipeline.symbols.languages.hook_values import DefinitionHead
from codesum_pipeline.symbols.languages.hooks import child_of_type, definition_reader, find_field, raw_text
from codesum_pipeline.symbols.languages.spec import LanguageSpec, split_words
from codesum_pipeline.symbols.languages.token_spacing import TokenSpacing
from codesum_pipeline.symbols.parsing.parsers import LanguageParser
from codesum_pipeline.symbols.parsing.text import ParsedFile

SHELL = Declaration(
    spec=LanguageSpec(
        name="shell",
        version=1,
        grammar=tree_sitter_bash.language,
        rows=split_words("program compound_statement"),
        blocks=split_words("program"),
        braced=split_words("compound_statement"),
        headed={
            "if_statement elif_clause": lambda branch: child_of_type(branch, "then"),
            "else_clause do_group": lambda node: None,
        },
        closers=split_words("fi done"),
        lowered=split_words("elif_clause else_clause"),
        comments=split_words("comment"),
        dropped=frozenset({";"}),
        branches=split_words("if_statement elif_clause while_statement"),
        tokens={
            "(": TokenSpacing.OPEN,
            ")": TokenSpacing.CLOSE,
            "then": TokenSpacing.LED,
            "do": TokenSpacing.LED,
        },
    ),
    definitions={"function_definition": definition_reader(SymbolType.FUNCTION)},
)
SWITCHES = Declaration(
    spec=LanguageSpec(
        name="switches",
        version=1,
        grammar=tree_sitter_c.language,
        rows=split_words("translation_unit compound_statement"),
        blocks=split_words("translation_unit"),
        braced=split_words("compound_statement"),
        headed={"case_statement": lambda case: find_field(case, "value") or case.children[1]},
        tokens={
            "(": TokenSpacing.OPEN,
            ")": TokenSpacing.CLOSE,
            "}": TokenSpacing.CLOSE,
            ";": TokenSpacing.COMMA,
            ":": TokenSpacing.COMMA,
        },
    ),
    definitions={
        "function_definition": lambda node: DefinitionHead(
            (raw_text(node, "declarator", "declarator"),), SymbolType.FUNCTION, find_field(node, "body")
        )
    },
)
SCRIPT = """start() {
    if ready
    then
        run one
    elif waiting; then
        if deep; then run two; fi; run three
    else
        run four
        run five
    fi
    if nothing; then :; fi
    while ready; do run six; done
}
run seven
"""
SCRIPT_IN_LINES = """start() {
    if ready; then
        run one
    elif waiting; then
        if deep; then
            run two
        fi
        run three
    else
        run four
        run five
    fi
    if nothing; then
        :
    fi
    while ready; do
        run six
    done
}
run seven"""
SCRIPT_ANOTHER_WAY = """start() { # Begins.
  if ready; then run one
  elif waiting
  then
    if deep
    then run two
    fi
    run three
  else run four; run five; fi
      if nothing
      then
        :
      fi
  while ready
  do run six
  done
}
run seven
"""
SWITCH = """int f(int a) {
    switch (a) {
        case 1: g(); return 2;
        case 3: { h(); }
        default: return 4;
    }
    return 5;
}
"""
SWITCH_IN_LINES = """int f(int a) {
    switch (a) {
        case 1:
            g();
            return 2;
        case 3:
            {
                h();
            }
        default:
            return 4;
    }
    return 5;
}"""


def read(declaration: Declaration, source: str) -> ParsedFile:
    return LanguageParser(declaration).parse(source.encode(), "file", hash_policy=HashPolicy.CANONICAL)


def words_of(source: str) -> list[str]:
    return source.replace(";", " ").split()


def test_each_statement_behind_a_head_is_a_line_of_its_block() -> None:
    assert read(SHELL, SCRIPT).facts.source == SCRIPT_IN_LINES


def test_a_block_that_nothing_closes_ends_with_its_node() -> None:
    assert read(SWITCHES, SWITCH).facts.source == SWITCH_IN_LINES


def test_another_layout_is_the_same_content() -> None:
    (one,), (other,) = read(SHELL, SCRIPT).symbols, read(SHELL, SCRIPT_ANOTHER_WAY).symbols

    assert (one.id, one.content_hash, one.complexity) == (other.id, other.content_hash, 6)


def test_the_canonical_source_is_a_fixed_point() -> None:
    for declaration, source in ((SHELL, SCRIPT_IN_LINES), (SWITCHES, SWITCH_IN_LINES)):
        assert read(declaration, source).facts.source == source


def test_a_file_that_does_not_parse_keeps_all_its_words() -> None:
    broken = SCRIPT.replace("    fi\n    if nothing", "    if nothing")
    facts = read(SHELL, broken).facts

    assert facts.syntax_errors
    assert words_of(facts.source) == words_of(broken)
