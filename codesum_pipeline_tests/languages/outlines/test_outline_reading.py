"""What holds for files that are read by a table, whatever the language."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.languages.outlines.grammars import MissingGrammar, load_grammar
from codesum_pipeline.languages.outlines.outline_table import OutlineTable, WrongTable, compiled_query, outline_tables
from codesum_pipeline.symbols.parsing.outline_definitions import MATCH_LIMIT, find_outline
from codesum_pipeline.symbols.parsing.parsers import parse_file, usual_budget
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline_tests.support.comparing import first_difference, table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.loaded_grammars import forget_grammars
from codesum_pipeline_tests.support.repositories import GitRepo

STORE = """\
/// Keeps users.
class UserStore {
  User find(String id) => parseUser(id);
}
"""
PARSING = """\
User parseUser(String text) => User(text);
"""


def parse_dart(source: str | bytes, *, policy: HashPolicy = HashPolicy.CANONICAL) -> ParsedFile:
    data = source.encode() if isinstance(source, str) else source
    return parse_file("lib/a.dart", "dart", data, blob="", hash_policy=policy)


def test_a_call_is_resolved_by_a_name_that_only_one_definition_has(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"lib/store.dart": STORE, "lib/parsing.dart": PARSING})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("one", str(repo.path)))
    build(ws)
    edges = ws.tables.read("edges", ws.key).to_pylist()

    assert [(row["src_id"], row["dst"], row["reason"]) for row in edges if not row["is_external"]] == [
        ("lib/store.dart::UserStore::find", "lib/parsing.dart::parseUser", "ast:unique-name")
    ]

    repo.commit({"lib/other.dart": PARSING})
    build(ws)
    clean = workspace_of(open_home(tmp_path / "clean"), RepositoryEntry("one", str(repo.path)))
    build(clean)

    assert ws.tables.read("edges", ws.key).num_rows == 0
    assert first_difference(table_rows(ws), table_rows(clean)) is None


def test_a_file_without_definitions_is_a_text(tmp_path: Path) -> None:
    files = {
        "lib/a.dart": STORE,
        "lib/list.dart": "// Lists the pages that the menu shows.\nfinal pages = ['/a', '/b'];\n",
    }
    repo = GitRepo.create(tmp_path / "repo", files)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("one", str(repo.path)))
    build(ws)
    documents = {row["id"]: row for row in ws.tables.read("documents", ws.key).to_pylist()}

    assert "lists the pages that the menu shows" in documents["lib/list.dart"]["summary"].lower()
    assert documents["lib/a.dart::UserStore"]["summary"].startswith("Keeps users.")


def test_a_licence_of_many_comments_documents_nothing() -> None:
    licence = "// Copyright 2026 The Authors.\n// You may not use this file\n// without any warranties.\n\n"

    assert parse_dart(licence + "// Keeps users.\n\n" + STORE).facts.docstring == "Keeps users."
    assert parse_dart(licence + STORE).facts.docstring is None
    assert parse_dart(licence.strip() + "\n" + STORE.partition("\n")[2]).symbols[0].docstring is None
    assert parse_dart("/// Reads a licence.\nvoid read() {}\n").symbols[0].docstring == "Reads a licence."


def test_what_has_no_members_is_told_by_its_head(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"lib/a.dart": "class Empty extends Base {}\n"})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("one", str(repo.path)))
    build(ws)
    documents = {row["id"]: row for row in ws.tables.read("documents", ws.key).to_pylist()}

    assert documents["lib/a.dart::Empty"]["summary"] == "Class Empty extends Base."


def test_a_grammar_that_cannot_be_unpacked_is_named_and_the_next_build_reads_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None
) -> None:
    files = {"lib/store.dart": STORE, "main.py": "def start():\n    return 1\n"}
    repo = GitRepo.create(tmp_path / "repo", files)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("one", str(repo.path)))
    blocked = tmp_path / "no-folder"
    blocked.write_text("")
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(blocked))
    failures = build(ws, may_fail=True)["symbols"].failures

    assert [failure.item for failure in failures] == ["lib/store.dart"]
    assert "SEMBLE_GRAMMARS_CACHE_DIR" in failures[0].reason
    assert {row["id"] for row in ws.tables.read("symbols", ws.key).to_pylist()} == {"main.py::start"}

    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    assert build(ws)["symbols"].failures == ()
    assert "lib/store.dart::UserStore::find" in ws.tables.read("symbols", ws.key)["id"].to_pylist()
    assert list((tmp_path / "grammars").rglob("*dart*"))


def test_a_library_that_is_damaged_is_named_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None
) -> None:
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path))
    # Another one than those that this process holds.
    load_grammar("just")
    (library,) = tmp_path.rglob("*just*")
    damaged = tmp_path / "damaged" / library.relative_to(tmp_path)
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"")
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "damaged"))
    forget_grammars()

    with pytest.raises(MissingGrammar, match="too short; set SEMBLE_GRAMMARS_CACHE_DIR to an empty folder"):
        load_grammar("just")


@pytest.mark.parametrize(("match_limit", "errors"), [(1, 1), (MATCH_LIMIT, 0)])
def test_a_query_that_meets_its_limit_is_an_error_of_the_file(match_limit: int, errors: int) -> None:
    source = STORE.encode()
    found = find_outline(outline_tables()["dart"], source, usual_budget(source), match_limit=match_limit)

    assert found.errors == errors


def test_a_package_of_grammars_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, unloaded: None) -> None:
    monkeypatch.setitem(sys.modules, "semble_grammars", None)

    with pytest.raises(MissingGrammar, match="pip install semble-grammars"):
        load_grammar("dart")
    monkeypatch.setitem(sys.modules, "tree_sitter_perl", None)
    with pytest.raises(MissingGrammar, match="pip install tree-sitter-perl"):
        load_grammar("tree-sitter-perl")


def test_a_grammar_that_the_package_does_not_have_is_named() -> None:
    with pytest.raises(MissingGrammar, match="no grammar 'klingon'"):
        load_grammar("klingon")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("(class_definition name: (identifier) @title) @definition.class", "capture @title"),
        ("(class_definition name: (identifier) @name) @definition.thing", "capture @definition.thing"),
        ("(clazz) @definition.class", "dart.toml"),
        ("(class_definition", "dart.toml"),
        ('((identifier) @_a (#not-any-of? @_a "b"))', "always holds"),
    ],
)
def test_a_mistake_in_a_table_is_named(query: str, said: str) -> None:
    with pytest.raises(WrongTable, match=said):
        compiled_query(OutlineTable("dart", "dart", "classes", query))


def test_a_table_that_changes_reads_all_files_again() -> None:
    assert all(table.hash and table.hash in version for table, version in _versions())


def _versions() -> Iterator[tuple[OutlineTable, str]]:
    from codesum_pipeline.symbols.parsing.parsers import parser_version

    yield from ((table, parser_version(name, HashPolicy.CANONICAL)) for name, table in outline_tables().items())


def test_the_policy_of_raw_bytes_sees_each_blank() -> None:
    one, other = (
        parse_dart(STORE, policy=HashPolicy.RAW),
        parse_dart(STORE.replace("\n}", " \n}"), policy=HashPolicy.RAW),
    )

    assert one.symbols[0].content_hash != other.symbols[0].content_hash
    assert parse_dart(STORE).symbols[0].content_hash == parse_dart(STORE.replace("\n}", " \n}")).symbols[0].content_hash


def test_columns_are_counted_in_bytes_and_documentation_is_in_any_script() -> None:
    parsed = parse_dart("/// 食べる量。\nint size() => find('größe') + parse(1);\n")

    assert [(one.name, one.docstring) for one in parsed.symbols] == [("size", "食べる量。")]
    assert [one.text for one in parsed.symbols[0].facts.calls] == ["find", "parse"]
    assert parsed.facts.call_places == (2, len("int size() => "), 2, len("int size() => find('größe') + ".encode()))


@pytest.mark.parametrize(
    "source",
    [
        "class A { " * 5_000,
        "class " + "A" * 100_000 + " {}",
        "// c\n" * 20_000 + "int f() {}\n" + "@a\n" * 20_000 + "int g() {}",
        'var s = """' + "class A { f() {} }\n" * 5_000,
        "int x = " + "(" * 20_000 + "1" + ")" * 20_000 + ";",
        "class A {" + "class B { f() {} }" * 5_000,
    ],
    ids=["nested", "long name", "many comments", "unclosed text", "brackets", "nested wrongly"],
)
def test_hostile_files_end_and_give_a_file(source: str) -> None:
    parsed = parse_dart(source)

    assert parsed.facts.file_path == "lib/a.dart"
    assert sum(len(one.canonical_source) for one in parsed.symbols) <= 1_000_000 + 21 * len(source)


@pytest.mark.parametrize("terms", [60_000, 70_000])
def test_a_tree_that_is_deeper_than_a_query_counts_is_read(terms: int) -> None:
    source = f"total <- function() 1{' + 1' * terms}".encode()
    parsed = parse_file("sum.R", "r", source, blob="", hash_policy=HashPolicy.CANONICAL)

    assert ([symbol.name for symbol in parsed.symbols], parsed.facts.failure) == (["total"], None)
