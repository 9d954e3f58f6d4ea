"""What is read from C."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.c_case import SOURCE
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of


def test_functions_structures_and_macros_with_parameters_are_found() -> None:
    found = symbols_by_name("c", SOURCE)

    assert {name: (symbol.type.value, symbol.signature) for name, symbol in found.items()} == {
        "LIST_EACH": ("function", "#define LIST_EACH(list, item)"),
        "UNUSED": ("function", "#define UNUSED(x)"),
        "item_kind": ("class", "typedef enum"),
        "item": ("class", "struct item"),
        "list": ("class", "typedef struct list"),
        "compare_names": ("function", "static inline int compare_names(const char *a, const char *b)"),
        "list_new": ("function", "list *list_new(int (*compare)(const struct item *, const struct item *))"),
        "list_add": ("function", "int list_add(list *l, struct item *it, ...)"),
        "comparison": ("function", "int (*comparison(item_kind kind))(const char *, const char *)"),
        "old_style": ("function", "long old_style(a, b) int a; char *b"),
    }


def test_any_comment_right_above_documents_and_the_first_that_is_no_license_is_the_files() -> None:
    found = symbols_by_name("c", SOURCE)

    assert found["list_add"].docstring == "Adds an item at the end.\nReturns how many there are."
    assert found["item_kind"].docstring == "\\brief What an item is."
    assert found["list_new"].docstring is None
    assert parse("c", SOURCE).facts.docstring == "A list of items, kept in the order in which they came."


def test_what_a_function_says_about_itself() -> None:
    found = symbols_by_name("c", SOURCE)
    add, comparison = found["list_add"], found["comparison"]

    assert add.facts.parameters == (
        Parameter("l", "list *", None, "positional"),
        Parameter("it", "struct item *", None, "positional"),
        Parameter("...", None, None, "var_positional"),
    )
    assert add.facts.return_type == "int"
    assert add.complexity == 8
    assert [fact.text for fact in add.facts.writes] == ["l->tail->next"]
    assert [fact.text for fact in add.facts.calls] == ["log_item", "UNUSED", "l->compare"]
    assert [fact.text for fact in add.facts.returned] == ["n ? n : ~n"]
    assert comparison.facts.return_type == "int (*)(const char *, const char *)"
    assert comparison.facts.parameters == (Parameter("kind", "item_kind", None, "positional"),)


def test_parameters_of_the_old_style_have_names_and_no_types() -> None:
    assert symbols_by_name("c", SOURCE)["old_style"].facts.parameters == (
        Parameter("a", None, None, "positional"),
        Parameter("b", None, None, "positional"),
    )


def test_a_static_function_is_not_public() -> None:
    found = symbols_by_name("c", SOURCE)

    assert found["compare_names"].modifiers == ("static", "inline")
    assert [name for name, symbol in found.items() if not symbol.is_public] == ["compare_names"]


def test_members_and_enumerators_are_fields() -> None:
    found = symbols_by_name("c", SOURCE)

    assert [fact.text for fact in found["item_kind"].facts.fields] == ["KIND_BOOK", "KIND_FILM", "KIND_GAME"]
    assert [fact.text for fact in found["list"].facts.fields] == [
        "head: struct item *",
        "tail: struct item *",
        "compare: int (*)(const struct item *a, const struct item *b)",
        "lengths: size_t [2]",
    ]


def test_includes_globals_and_typed_names() -> None:
    facts = parse("c", SOURCE).facts
    references = references_of(facts)

    assert facts.imports == (
        Import(module="stdlib.h", level=0, name="*", alias=None, scope_id=None, line=5),
        Import(module="list.h", level=0, name="*", alias=None, scope_id=None, line=6),
    )
    assert facts.globals == ("LIST_MAX", "counter", "names")
    assert [3, "next", "item"] in references["typed"]
    assert [6, "made", "list"] in references["typed"]
    assert [7, "l", "compare", 0] in references["calls"]


def test_a_prototype_counts_where_it_is_documented_and_the_file_has_no_definition() -> None:
    header = (
        "/* Opens. */\nint open_it(void);\nint close_it(void);\n\n/* Ends. */\nvoid end(void);\nvoid end(void) {}\n"
    )
    found = symbols_by_name("c", header)

    assert {name: symbol.docstring for name, symbol in found.items()} == {"open_it": "Opens.", "end": None}


def test_a_variable_that_points_to_a_function_and_a_call_with_a_block_are_no_functions() -> None:
    source = "int (*handler)(int);\nvoid f(void) {\n  LIST_FOREACH(a, b) { g(a); }\n  struct s (*p)(void);\n}\n"

    assert list(symbols_by_name("c", source)) == ["f"]


def test_directives_take_lines_of_their_own_wherever_they_stand() -> None:
    source = (
        "int f(int a) {\n  return g(a,\n#ifdef B\n    1,\n#else\n    2,\n#endif\n    3);\n}\n"
        "int h(void) { return 1; }\n"
    )
    parsed = parse("c", source)

    assert parsed.facts.source == (
        "int f(int a) {\n    return g(a,\n    #ifdef B\n    1,\n    #else\n    2,\n#endif\n    3);\n}\n"
        "int h(void) {\n    return 1;\n}"
    )
    assert [symbol.name for symbol in parsed.symbols] == ["f", "h"]
    assert parse("c", parsed.facts.source).facts.source == parsed.facts.source


def test_a_macro_does_not_go_on_in_an_empty_line() -> None:
    parsed = parse("c", "#define EACH(a) for (a) \\\n   \nint b;\n")

    assert parsed.facts.source == parse("c", "#define EACH(a) for (a)\n\nint b;\n").facts.source
    assert [symbol.canonical_source for symbol in parsed.symbols] == ["#define EACH(a) for (a)"]


def test_branches_that_open_a_brace_twice_do_not_lose_what_follows() -> None:
    source = (
        "void f(int a) {\n#ifdef A\n  if (a) {\n#else\n  if (!a) {\n#endif\n    g();\n  }\n}\n"
        "static int next(void) { return 2; }\n"
    )
    parsed = parse("c", source)

    assert [(symbol.name, symbol.start_line, symbol.end_line) for symbol in parsed.symbols] == [
        ("f", 1, 9),
        ("next", 10, 10),
    ]
    assert parsed.facts.syntax_errors == 0


def test_a_function_made_by_a_macro_is_called_by_what_the_macro_is_given() -> None:
    source = 'TEST_BEGIN(fast) {\n  check(1);\n}\nTEST_END\n\nTEST_CASE("is slow") {\n  LOOP(a) { check(2); }\n}\n'
    found = symbols_by_name("c", source)

    assert {
        name: (symbol.signature, symbol.start_line, symbol.end_line, [fact.text for fact in symbol.facts.calls])
        for name, symbol in found.items()
    } == {
        "fast": ("TEST_BEGIN (fast)", 1, 3, ["check"]),
        "is slow": ('TEST_CASE("is slow")', 6, 8, ["check"]),
    }


def test_a_broken_function_leaves_the_others_readable() -> None:
    parsed = parse("c", "int a(void) { return 1; }\nint b(void) { return (; }\nint c(void) { return 3; }\n")

    assert [symbol.name for symbol in parsed.symbols] == ["a", "b", "c"]
    assert [symbol.has_syntax_errors for symbol in parsed.symbols] == [False, True, False]
