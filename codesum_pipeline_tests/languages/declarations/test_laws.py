"""The laws that hold for every declared language."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.languages.declarations.token_spacing import TokenSpacing
from codesum_pipeline_tests.languages.declarations.cases import LanguageCase, all_cases, hashes, parse, symbols_by_name
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FOUND = all_cases()
CASES = [case for case in FOUND.values() if case is not None]
EVERY_LANGUAGE = pytest.mark.parametrize("case", CASES, ids=[case.language for case in CASES])
BRACED = pytest.mark.parametrize(
    "case", [case for case in CASES if case.is_braced], ids=[case.language for case in CASES if case.is_braced]
)
BY_NAME = {declaration.spec.name: declaration for declaration in declarations()}


def test_every_declared_language_has_a_case() -> None:
    assert [name for name, case in FOUND.items() if case is None] == []


@EVERY_LANGUAGE
def test_the_case_parses_without_errors_and_has_enough_to_show(case: LanguageCase) -> None:
    for source in (case.source, case.reformatted, case.commented, case.edited_source(), case.renamed_source()):
        assert parse(case.language, source).facts.syntax_errors == 0
    assert len(symbols_by_name(case.language, case.source)) >= 8


@EVERY_LANGUAGE
def test_another_layout_is_the_same_content(case: LanguageCase) -> None:
    assert case.reformatted != case.source
    assert parse(case.language, case.reformatted).facts.source == parse(case.language, case.source).facts.source
    assert hashes(case, case.reformatted) == hashes(case, case.source)


@EVERY_LANGUAGE
def test_other_comments_are_the_same_content(case: LanguageCase) -> None:
    assert case.commented != case.source
    assert hashes(case, case.commented) == hashes(case, case.source)
    assert (
        parse(case.language, case.commented).facts.content_hash == parse(case.language, case.source).facts.content_hash
    )


@EVERY_LANGUAGE
def test_a_body_edit_changes_that_symbol_and_what_it_stands_in(case: LanguageCase) -> None:
    before, after = hashes(case, case.source), hashes(case, case.edited_source())

    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == case.edited


@EVERY_LANGUAGE
def test_a_rename_gives_new_ids(case: LanguageCase) -> None:
    before, after = hashes(case, case.source), hashes(case, case.renamed_source())

    assert case.renamed
    assert [case.renamed.get(name, name) for name in before] == list(after)


@EVERY_LANGUAGE
def test_nothing_but_comments_and_blanks_is_left_out_of_the_canonical_source(case: LanguageCase) -> None:
    facts = parse(case.language, case.source).facts
    declaration = BY_NAME[case.language]

    assert _tokens(facts.source, declaration) == _tokens(_without_comments(case), declaration)


@EVERY_LANGUAGE
def test_lines_of_symbols_point_into_the_file(case: LanguageCase) -> None:
    rows = case.source.split("\n")
    for symbol in parse(case.language, case.source).symbols:
        assert 1 <= symbol.start_line <= symbol.end_line <= len(rows)
        assert len(symbol.line_map) == len(symbol.canonical_source.split("\n"))
        assert list(symbol.line_map) == sorted(symbol.line_map)
        assert symbol.line_map[-1] <= symbol.end_line
        assert symbol.name.split()[-1] in "\n".join(rows[symbol.start_line - 1 : symbol.end_line])


@EVERY_LANGUAGE
def test_each_call_says_under_which_condition_it_is_made(case: LanguageCase) -> None:
    found = parse(case.language, case.conditions)

    assert found.facts.syntax_errors == 0
    assert {call.text: call.when for symbol in found.symbols for call in symbol.facts.calls} == case.when


@EVERY_LANGUAGE
def test_conditions_are_those_of_the_canonical_source(case: LanguageCase) -> None:
    spread = parse(case.language, case.conditions)
    again = parse(case.language, spread.facts.source) if case.is_braced else spread

    assert [symbol.facts for symbol in again.symbols] == [symbol.facts for symbol in spread.symbols]


@EVERY_LANGUAGE
def test_a_comment_opens_a_body_where_it_is_certainly_about_all_of_it(case: LanguageCase) -> None:
    said = "Walk all of it once, in order."
    expected = {"apart": said, "whole": said, "first": None, "task": None, "code": None}
    found = {symbol.name: symbol.opening_comment for symbol in parse(case.language, case.opening).symbols}

    assert {name: found[name] for name in found if name in expected} == {
        name: expected[name] for name in expected if name in found
    }
    assert {"apart", "whole", "task", "code"} <= found.keys()


@EVERY_LANGUAGE
def test_the_comment_that_opens_a_body_is_no_part_of_its_content(case: LanguageCase) -> None:
    rows = case.opening.split("\n")
    bare = "\n".join(row for row in rows if not re.match(r"\s*(?://|#|--) ", row))

    assert bare != case.opening
    assert hashes(case, bare) == hashes(case, case.opening)


def test_every_name_in_a_table_of_conditions_is_one_of_the_grammar() -> None:
    unknown = [(name, word) for name, declaration in BY_NAME.items() for word in _unknown_words(declaration)]

    assert unknown == []


def _unknown_words(declaration: Declaration) -> set[str]:
    """Words of a language's conditions that are no field, node type or token of its grammar."""
    from tree_sitter import Language

    grammar, table = Language(declaration.spec.grammar()), declaration.conditions
    known = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    known |= {grammar.field_name_for_id(number) for number in range(1, grammar.field_count + 1)}
    tables = (table.choices, table.modifiers, table.switches, table.catches, table.checks)
    parts = [part for each in tables for part in each.values()]
    words = {word for part in parts for name in part.split() for word in name.split("<")}
    return words - known - {"", ":", "!"}


@BRACED
def test_canonical_source_is_a_fixed_point(case: LanguageCase) -> None:
    first = parse(case.language, case.source)
    again = parse(case.language, first.facts.source)

    assert again.facts.source == first.facts.source
    assert [(s.id, s.content_hash) for s in again.symbols] == [(s.id, s.content_hash) for s in first.symbols]


def hold_the_law(cases: Sequence[LanguageCase], tmp_path: Path) -> None:
    """Build after each change, made to the files of all these languages, then compare with a clean build."""
    repo = GitRepo.create(tmp_path / "repo")
    entry = RepositoryEntry("case", str(repo.path))
    states = [(case.source, case.reformatted, case.edited_source(), case.renamed_source()) for case in cases]
    for number, sources in enumerate(zip(*states, strict=True)):
        files = {case.path: source for case, source in zip(cases, sources, strict=True)}
        repo.commit({**files, "README.md": f"# Change {number}\n"})
        built = workspace_of(open_home(tmp_path / "home"), entry)
        build(built)
    clean = workspace_of(open_home(tmp_path / "clean"), entry)
    build(clean)

    assert first_difference(table_rows(built), table_rows(clean)) is None
    assert first_difference(published_files(built), published_files(clean)) is None


@pytest.mark.slow
def test_changes_one_after_the_other_equal_a_clean_build(tmp_path: Path) -> None:
    assert len({case.path for case in CASES}) == len(CASES)

    hold_the_law(CASES, tmp_path)


@pytest.mark.slow
@EVERY_LANGUAGE
def test_changes_of_one_language_one_after_the_other_equal_a_clean_build(case: LanguageCase, tmp_path: Path) -> None:
    hold_the_law([case], tmp_path)


def _without_comments(case: LanguageCase) -> str:
    """The source with each comment that the canonical source leaves out taken out, found by the grammar alone."""
    spec = BY_NAME[case.language].spec
    grammar_comments = spec.comments | spec.remarks
    kept = parse(case.language, case.source).facts.source
    data = case.source.encode()
    tree = _tree(case.language, data)
    waiting, spans = [tree.root_node], []
    while waiting:
        node = waiting.pop()
        if node.type in grammar_comments:
            text = data[node.start_byte : node.end_byte].decode()
            if _squeezed(text) not in _squeezed(kept):
                spans.append((node.start_byte, node.end_byte))
        else:
            waiting.extend(node.children)
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + b" " + data[end:]
    return data.decode()


def _tree(language: str, data: bytes):  # type: ignore[no-untyped-def]
    from tree_sitter import Language, Parser

    return Parser(Language(BY_NAME[language].spec.grammar())).parse(data)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _tokens(text: str, declaration: Declaration) -> str:
    """The text without blanks and without tokens that the language leaves out somewhere."""
    omitted = {name for (_, name), token in declaration.spec.tokens_in.items() if token is TokenSpacing.OMITTED}
    squeezed = re.sub(r",(?=[)\]}>])|_(?=\d)", "", _squeezed(text)).replace("'", '"')
    squeezed = re.sub(r"\((\w+)\)=>", r"\1=>", squeezed)
    if "parenthesized_expression" in declaration.spec.bare:
        omitted |= {"(", ")"}
    for name in omitted | {name for name in declaration.spec.dropped if not name.isidentifier()}:
        squeezed = squeezed.replace(name, "")
    return squeezed
