"""A file that a grammar would try for hours is read as text."""

import pytest
import tree_sitter_kotlin
from tree_sitter import Language, Parser

from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.parsing.bounded import ParserGaveUp, parse_within_bounds
from codesum_pipeline.parsing.parsers import parse_file, parser_version
from codesum_pipeline_tests.parsing.languages.kotlin_case import SOURCE

# What is left of a class after its head and an object's were cut out.
ENDLESS = """\
  val compare: (T, T) -> Int = fun(left: T, right: T): IT : Any {
    get() { return field.trim() }
    private set(value) { field = value }
~    override fun close() = this@Store.forget("all")
  }

  init {
    load()
  }

  /** An empty store. */
  constructor(repo: Repo<T>) : this(repo, 0, "empty") {
    this.size = -1
  }

  companion object {
    const val NONE = "none"

    @JvmStatic
    fun create(vararg names: String, block: suspend (Int) -> Unit = {}): Store<Item>? = null
  }
"""


def test_the_parser_gives_up_where_the_grammar_finds_no_end() -> None:
    with pytest.raises(ParserGaveUp):
        parse_within_bounds(Parser(Language(tree_sitter_kotlin.language())), ENDLESS.encode())


def test_such_a_file_is_kept_as_text_and_counted() -> None:
    parsed = parse_file("a.kt", "kotlin", ENDLESS.encode(), blob="b", hash_policy=HashPolicy.CANONICAL)

    assert parsed.symbols == ()
    assert parsed.facts.source == ENDLESS
    assert parsed.facts.syntax_errors == 1
    assert parsed.facts.language == "kotlin"
    assert parsed.facts.parser == parser_version("kotlin", HashPolicy.CANONICAL)


def test_a_file_of_chunks_parses_like_one_piece() -> None:
    source = SOURCE.encode() * 40
    parser = Parser(Language(tree_sitter_kotlin.language()))

    assert str(parse_within_bounds(parser, source).root_node) == str(parser.parse(source).root_node)
