"""What is done for one file is counted; a file that takes too much is kept as text and named as failed."""

import sys
from functools import partial

import pytest
import tree_sitter_kotlin
from tree_sitter import Language, Parser

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.worker_processes.limits import TooMuchHere, WorkLimits
from codesum_pipeline.symbols.parsing import bounded
from codesum_pipeline.symbols.parsing.batches import ParseFiles, SourceText
from codesum_pipeline.symbols.parsing.bounded import (
    FREE_STEPS,
    NODE_STEPS,
    TooMuchWork,
    WorkBudget,
    may_take_gigabytes,
    parse_within_bounds,
)
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file, parser_version
from codesum_pipeline_tests.languages.declarations.cases import all_cases
from codesum_pipeline_tests.languages.declarations.kotlin_case import SOURCE

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
# At each of these words the grammar looks through the rest of the file for the end of a text.
LOOKING_AHEAD = "fun f() { val x =\n" + "x = <<A\n" * 15_000


def kotlin() -> Parser:
    return Parser(Language(tree_sitter_kotlin.language()))


def budget_of(source: bytes) -> WorkBudget:
    return WorkBudget.of(len(source), 20)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ENDLESS, id="endless ways out"),
        pytest.param(ENDLESS * 20, id="endless ways out, each through a long file"),
        pytest.param(LOOKING_AHEAD, id="the rest of the file is scanned at each word"),
    ],
)
def test_the_parser_gives_up_where_the_grammar_finds_no_end(text: str) -> None:
    source = text.encode()
    budget = budget_of(source)

    with pytest.raises(TooMuchWork, match=rf"^too much work: more than {budget.limit:,} steps, the limit for .* \(max"):
        parse_within_bounds(kotlin(), source, budget)


def test_such_a_file_is_kept_as_text_and_says_why() -> None:
    parsed = parse_file("a.kt", "kotlin", ENDLESS.encode(), blob="b", hash_policy=HashPolicy.CANONICAL)

    limit = FREE_STEPS + 20 * len(ENDLESS)
    assert parsed.symbols == ()
    assert parsed.facts.source == ENDLESS
    assert parsed.facts.syntax_errors == 1
    assert parsed.facts.language == "kotlin"
    assert parsed.facts.parser == parser_version("kotlin", HashPolicy.CANONICAL)
    assert parsed.facts.failure == (
        f"too much work: more than {limit:,} steps, the limit for {len(ENDLESS)} bytes (max_steps_per_byte = 20)"
    )


def test_the_same_file_takes_the_same_steps_each_time() -> None:
    source = ENDLESS.encode()
    spent = set()
    for _ in range(3):
        budget = WorkBudget(300_000)
        with pytest.raises(TooMuchWork):
            PARSERS["kotlin"].parse(source, "a.kt", budget=budget)
        spent.add(budget.spent)

    assert len(spent) == 1


@pytest.mark.parametrize("language", sorted(all_cases()))
def test_the_setting_moves_the_limit_in_every_language(language: str) -> None:
    """Both sides: the steps that a file takes are enough, and one less is not."""
    case = all_cases()[language]
    assert case
    source, path = case.source.encode(), case.path
    needed = WorkBudget(1 << 60)
    PARSERS[language].parse(source, path, budget=needed)

    PARSERS[language].parse(source, path, budget=WorkBudget(needed.spent))
    with pytest.raises(TooMuchWork):
        PARSERS[language].parse(source, path, budget=WorkBudget(needed.spent - 1))


# The grammar knows no condition in a `when`, which costs it what is below.
UNKNOWN_WORD = b"""\
class A {
  fun f(x: Any) {
    when (x) {
      is Int if x > 1 -> g(x)
      else -> h()
    }
  }

  fun g() = 1
}
"""


def test_the_walk_over_the_tree_counts_beside_the_parse() -> None:
    once, whole = WorkBudget(1 << 60), WorkBudget(1 << 60)
    tree = parse_within_bounds(kotlin(), SOURCE.encode(), once)
    PARSERS["kotlin"].parse(SOURCE.encode(), "a.kt", budget=whole)

    assert whole.spent == once.spent + NODE_STEPS * tree.root_node.descendant_count


@pytest.mark.parametrize(
    ("steps", "found"),
    [pytest.param(10, [], id="little"), pytest.param(200_000, ["A", "f", "g"], id="enough")],
)
def test_the_search_for_a_better_reading_has_a_budget_of_its_own_and_never_costs_the_file(
    steps: int, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "FREE_STEPS", steps)
    monkeypatch.setattr(bounded, "SEARCH_STEPS_PER_BYTE", 0)

    read = PARSERS["kotlin"].parse(UNKNOWN_WORD, "a.kt", budget=WorkBudget(1 << 60))

    assert sorted(symbol.name for symbol in read.symbols) == found


def test_the_search_in_a_large_file_takes_no_more_than_in_one_of_a_hundred_kilobytes() -> None:
    budgets = [budget_of(b"").of_search(size).limit for size in (0, 10_000, 1_000_000, 9_000_000)]

    assert budgets == [500_000, 1_140_000, 4_500_000, 4_500_000]


def test_what_takes_more_than_this_process_has_patience_for_is_for_another() -> None:
    source = SOURCE.encode()
    needed = WorkBudget(1 << 60)
    PARSERS["kotlin"].parse(source, "a.kt", budget=needed)
    read = partial(parse_file, "a.kt", "kotlin", source, blob="b", hash_policy=HashPolicy.CANONICAL)

    assert read(patience=needed.spent) == read()
    with pytest.raises(TooMuchHere):
        read(patience=needed.spent - 1)


def test_a_file_of_chunks_parses_like_one_piece() -> None:
    source = SOURCE.encode() * 40

    found = parse_within_bounds(kotlin(), source, budget_of(source))

    assert str(found.root_node) == str(kotlin().parse(source).root_node)
    assert [child.text for child in found.root_node.children[:9]] == [
        source[child.start_byte : child.end_byte] for child in found.root_node.children[:9]
    ]


def test_a_source_is_let_go_after_it_was_parsed() -> None:
    """The binding of tree-sitter keeps whatever a parser was handed."""
    source = SOURCE.encode() * 40
    before = sys.getrefcount(source)

    parse_within_bounds(kotlin(), source, budget_of(source))

    assert sys.getrefcount(source) == before


# 16 KB of each of them would take gigabytes.
MUCH_BEGUN = {
    "c": "int f(int a) {\n  return " + "a => \n" * 3_000,
    "c-sharp": "class A {\n  int F(int a) {\n    return " + "a<" * 8_000,
    "java": "class A {\n  int f(int a) {\n    return " + "%q(" * 5_000,
    "python": "def f(a):\n    return (" + "/*\n" * 5_000,
    "rust": "fn f(a: A) -> A {\n    " + "%q(\n" * 4_000,
    "zig": "fn f() void {\n    return " + "%q(" * 5_000,
}


@pytest.mark.parametrize("language", MUCH_BEGUN)
def test_a_text_in_which_much_is_begun_is_left_to_a_worker(language: str) -> None:
    source = MUCH_BEGUN[language].encode()
    work = ParseFiles(HashPolicy.CANONICAL)

    assert may_take_gigabytes(source, language)
    assert not may_take_gigabytes(source[:1_500], language)
    with pytest.raises(TooMuchHere):
        work.here([SourceText("odd", language, "b", source)])


@pytest.mark.parametrize(
    ("text", "language", "is_risk"),
    [
        pytest.param("f(" + "a + " * 499, "python", False, id="a bracket open for 2,000 bytes"),
        pytest.param("f(" + "a + " * 501, "python", True, id="a bracket open for more"),
        pytest.param("f(" + "a + " * 501 + ")", "python", False, id="a bracket that is closed"),
        pytest.param("'f('; # (\n" + "a\n" * 5_000, "ruby", False, id="brackets in a text and in a comment"),
        pytest.param('"""It\'s 1) or (2."""\n' + "a\n" * 5_000, "python", False, id="brackets in a docstring"),
        pytest.param("'''(\\'''(" + '"""' + "'''\n" + "a\n" * 5_000, "python", False, id="marks in a docstring"),
        pytest.param('"""(\n' + "a\n" * 5_000, "python", True, id="a docstring without an end"),
        pytest.param('# """\n(\n# """\n' + "a\n" * 5_000, "python", True, id="marks of docstrings in comments"),
        pytest.param("/* ( */ // (\n" + "a;\n" * 5_000, "go", False, id="brackets in comments as in C"),
        pytest.param("-- (\n" + "a\n" * 5_000, "lua", False, id="a bracket in a comment behind dashes"),
        pytest.param("% (\n" + "a\n" * 5_000, "erlang", False, id="a bracket in a comment of Erlang"),
        pytest.param("; (\n" + "a\n" * 5_000, "clojure", False, id="a bracket in a comment of Clojure"),
        pytest.param("a = " * 1_000, "java", False, id="no end of a statement for 4,000 bytes"),
        pytest.param("a = " * 1_001, "java", True, id="none for more"),
        pytest.param("a = b;\n" * 1_001, "java", False, id="statements that end"),
        pytest.param("a = " * 1_001, "go", False, id="a language whose lines end statements"),
        pytest.param("/* " * 60_000, "c", False, id="comments that never end"),
    ],
)
def test_what_may_take_gigabytes_is_told_by_what_stays_open(text: str, language: str, is_risk: bool) -> None:
    assert may_take_gigabytes(text.encode(), language) is is_risk


def test_files_of_every_language_are_no_risk() -> None:
    sources = {language: case.source.encode() for language, case in all_cases().items() if case}

    assert [language for language, source in sources.items() if may_take_gigabytes(source, language)] == []


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        pytest.param(WorkLimits(memory_mb=0), "it needed more than 0 MB of memory (worker_memory_mb)", id="memory"),
        pytest.param(
            WorkLimits(processor_s=0), "it took more than 0 s of processor time (worker_processor_s)", id="time"
        ),
    ],
)
def test_a_parser_that_meets_a_limit_is_ended_and_its_file_is_not_settled(limits: WorkLimits, reason: str) -> None:
    source = b"x = 1\n" * 40_000
    files = [SourceText("large.py", "python", "b", source), SourceText("b.py", "python", "b", b"def f():\n    pass\n")]

    batch = ParseFiles(HashPolicy.CANONICAL, limits=limits)(files)

    assert [(one.item, one.reason, one.is_settled) for one in batch.failures] == [
        ("large.py", f"the parser ended: {reason}", False)
    ]
    assert batch.rows.facts["language"].to_pylist() == [TEXT, "python"]
    with pytest.raises(TooMuchHere):
        parse_file(
            "large.py", "python", source, blob="b", hash_policy=HashPolicy.CANONICAL, patience=10**9, limits=limits
        )
