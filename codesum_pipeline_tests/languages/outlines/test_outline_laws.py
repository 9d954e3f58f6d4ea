"""The laws that hold for every language that is read by a table."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.language_facts.file_languages import language_of_file
from codesum_pipeline_tests.languages.outlines.cases import OutlineCase, all_outline_cases, parse_outline, symbols_of
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FOUND = all_outline_cases()
CASES = [case for case in FOUND.values() if case is not None]
EVERY_LANGUAGE = pytest.mark.parametrize("case", CASES, ids=[case.language for case in CASES])


def test_every_table_has_a_case() -> None:
    assert [name for name, case in FOUND.items() if case is None] == []


@EVERY_LANGUAGE
def test_a_file_is_known_by_its_name_and_parses_without_errors(case: OutlineCase) -> None:
    assert language_of_file(case.path, case.source.encode()) == case.language
    for source in (case.source, case.source.replace(*case.edit), case.source.replace(*case.rename)):
        facts = parse_outline(case, source).facts
        assert (facts.syntax_errors, facts.failure) == (0, None)


@EVERY_LANGUAGE
def test_definitions_have_kinds_names_nesting_and_lines(case: OutlineCase) -> None:
    symbols = symbols_of(case, case.source)

    assert {id_: (one.type.value, one.start_line, one.end_line) for id_, one in symbols.items()} == case.found
    assert len(case.found) >= 6
    assert {id_ for id_, one in symbols.items() if not one.is_public} == case.private


@EVERY_LANGUAGE
def test_a_definition_is_inside_of_the_one_whose_names_come_before_its_own(case: OutlineCase) -> None:
    for id_, symbol in symbols_of(case, case.source).items():
        around = id_.rpartition("::")[0]
        assert symbol.parent_id == (f"{case.path}::{around}" if around in case.found else None)


@EVERY_LANGUAGE
def test_documentation_fields_calls_and_constants(case: OutlineCase) -> None:
    symbols = symbols_of(case, case.source)

    assert case.documented
    assert {id_: symbols[id_].docstring for id_ in symbols if symbols[id_].docstring} == case.documented
    assert {id_: tuple(one.text for one in symbols[id_].facts.fields) for id_ in case.fields} == case.fields
    assert {id_: tuple(one.text for one in symbols[id_].facts.calls) for id_ in case.calls} == case.calls
    assert parse_outline(case, case.source).facts.globals == case.constants


@EVERY_LANGUAGE
def test_lines_of_definitions_point_into_the_file(case: OutlineCase) -> None:
    rows = case.source.split("\n")
    for symbol in symbols_of(case, case.source).values():
        shown = symbol.canonical_source.split("\n")
        assert len(symbol.line_map) == len(shown)
        assert [rows[number - 1].strip() for number in symbol.line_map][1:-1] == [row.strip() for row in shown][1:-1]
        assert all(1 <= fact.line <= len(shown) for fact in (*symbol.facts.calls, *symbol.facts.fields))
        assert 1 <= symbol.facts.signature_line <= len(shown)


@EVERY_LANGUAGE
def test_other_line_ends_and_a_byte_order_mark_are_the_same_content(case: OutlineCase) -> None:
    before = {id_: one.content_hash for id_, one in symbols_of(case, case.source).items()}
    windows = b"\xef\xbb\xbf" + case.source.replace("\n", "\r\n").encode()

    assert {id_: one.content_hash for id_, one in symbols_of(case, windows).items()} == before


@EVERY_LANGUAGE
def test_a_body_edit_changes_that_definition_and_what_it_stands_in(case: OutlineCase) -> None:
    assert case.source.count(case.edit[0]) == 1
    before, after = symbols_of(case, case.source), symbols_of(case, case.source.replace(*case.edit))

    assert before.keys() == after.keys()
    assert {id_ for id_ in before if before[id_].content_hash != after[id_].content_hash} == case.edited


@EVERY_LANGUAGE
def test_a_rename_gives_new_ids(case: OutlineCase) -> None:
    assert case.rename[0] in case.source
    before, after = symbols_of(case, case.source), symbols_of(case, case.source.replace(*case.rename))

    assert case.renamed
    assert [case.renamed.get(id_, id_) for id_ in before] == list(after)


@EVERY_LANGUAGE
def test_a_file_that_ends_anywhere_is_read_without_an_error(case: OutlineCase) -> None:
    data = case.source.encode()
    for end in range(0, len(data), 37):
        parsed = parse_outline(case, data[:end].decode(errors="ignore"))
        assert parsed.facts.failure is None
        assert all(1 <= one.start_line <= one.end_line for one in parsed.symbols)


def test_changes_one_after_the_other_equal_a_clean_build_and_edges_are_those_of_the_cases(tmp_path: Path) -> None:
    assert len({case.path for case in CASES}) == len(CASES)
    repo = GitRepo.create(tmp_path / "repo")
    entry = RepositoryEntry("case", str(repo.path))
    changes = (lambda case: case.source, lambda case: case.source.replace(*case.edit), lambda case: case.source)
    for number, source_of in enumerate(changes):
        repo.commit({**{case.path: source_of(case) for case in CASES}, "README.md": f"# Change {number}\n"})
        built = workspace_of(open_home(tmp_path / "home"), entry)
        build(built)
    clean = workspace_of(open_home(tmp_path / "clean"), entry)
    build(clean)

    assert first_difference(table_rows(built), table_rows(clean)) is None
    assert first_difference(published_files(built), published_files(clean)) is None
    edges = {(row["src_id"], row["dst"]) for row in table_rows(built)["edges"]}
    for case in CASES:
        wanted = {(f"{case.path}::{one}", f"{case.path}::{other}") for one, other in case.uses}
        assert {(one, other) for one, other in edges if one.startswith(f"{case.path}::")} == wanted
