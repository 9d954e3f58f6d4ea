"""What keys of a table do that no case of a language shows."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.languages.outlines.outline_table import outline_tables, respelled_source
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.support.comparing import first_difference, table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


def test_a_name_is_that_of_its_folder_where_folders_share_names(tmp_path: Path) -> None:
    def zones(workspace: Workspace) -> set[tuple[str, str]]:
        build(workspace)
        rows = table_rows(workspace)["edges"]
        return {(row["src_id"], row["dst"]) for row in rows if row["dst"].endswith("var.zone")}

    repo = GitRepo.create(tmp_path / "repo")
    entry = RepositoryEntry("case", str(repo.path))
    built = workspace_of(open_home(tmp_path / "home"), entry)
    variable, reading = 'variable "zone" {}\n', 'resource "aws_vpc" "main" {\n  zone = var.zone\n}\n'
    repo.commit({"a/v.tf": variable, "a/m.tf": reading, "b/m.tf": reading})

    assert zones(built) == {("a/m.tf::aws_vpc.main", "a/v.tf::var.zone")}

    repo.commit({"b/v.tf": variable})

    assert zones(built) == {(f"{folder}/m.tf::aws_vpc.main", f"{folder}/v.tf::var.zone") for folder in "ab"}
    clean = workspace_of(open_home(tmp_path / "clean"), entry)
    build(clean)
    assert first_difference(table_rows(built), table_rows(clean)) is None


def test_what_a_grammar_reads_in_place_of_a_text_moves_no_byte_and_no_line() -> None:
    source = b'syntax = "proto2";\nmessage A {\n  reserved 1,\n    2;\n  required string b = 3;\n}\n'

    respelled = respelled_source(outline_tables()["protobuf"], source)

    assert respelled == source.replace(b"proto2", b"proto3").replace(b"required", b"repeated").replace(
        b"reserved 1,\n    2;", b"           \n      "
    )


def read_names(language: str, source: str) -> list[tuple[str, str | None]]:
    """The names that are read from a source, each with what documents it."""
    parsed = parse_file(f"a.{language}", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    return [(symbol.name, symbol.docstring) for symbol in parsed.symbols]


@pytest.mark.parametrize(
    "first", ["// Copyright of nobody.\n\n", "package shop.orders;\n", "/*\n * Orders of a shop.\n */\n\n"]
)
def test_protobuf_is_read_without_the_line_that_names_its_version(first: str) -> None:
    assert read_names("protobuf", f"{first}// What is bought.\nmessage Order {{\n  required string id = 1;\n}}\n") == [
        ("Order", "What is bought.")
    ]


def test_a_text_without_an_end_hides_no_statement_after_it() -> None:
    source = (
        "INSERT INTO a VALUES ('it\\'s', 'C:\\');\nCREATE TABLE b (c int);\n"
        "INSERT INTO a VALUES ('\nCREATE VIEW d AS SELECT 1;\n"
    )

    assert [name for name, _ in read_names("sql", source)] == ["b", "d"]


def test_a_block_that_is_run_hides_no_statement_in_it_and_after_it() -> None:
    blocks = "".join(f"DO ${tag}$\nBEGIN\n  CREATE TABLE a{tag} (b int);\nEND ${tag}$;\n" for tag in ("", "x", "x"))

    assert [name for name, _ in read_names("sql", f"{blocks}CREATE VIEW d AS SELECT 1;\n")] == ["a", "ax", "ax", "d"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("terraform", "a = " + "a.b.c + " * 40_000 + "1"),
        ("graphql", "query Q {" + "a {" * 10_000),
        ("protobuf", 'syntax = "proto3"; message A { option (x) = ' + "{a:" * 10_000),
        ("sql", "CREATE TABLE a (" + "(" * 10_000),
        ("sql", "/*" * 50_000 + "CREATE PROCEDURE p() " + "BEGIN " * 10_000),
        ("sql", "".join(f"$a{number}$ " for number in range(10_000))),
        ("sql", "ALTER PROCEDURE p " + "@a int, " * 10_000),
    ],
    ids=["deep", "nested", "options", "brackets", "no end", "marks", "parameters"],
)
def test_hostile_sources_end_and_give_a_file(language: str, source: str) -> None:
    parsed = parse_file("a.x", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)

    assert (parsed.facts.file_path, parsed.facts.failure) == ("a.x", None)


def test_a_signature_file_of_f_sharp_is_read_by_the_grammar_of_sources() -> None:
    source = (
        "module Shop.Users\n\n"
        "/// A user.\ntype User =\n    { Name: string }\n    new: string -> User\n    member IsOld: bool\n"
        "    member Grow: int -> User\n    static member Create: string -> User\n    interface System.IDisposable\n\n"
        "/// Reads one.\nval inline parse: row: string -> style: int -> User\n"
        "val internal hidden<'T> : int -> int\n"
    )

    parsed = parse_file("users.fsi", "f-sharp", source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)

    assert [(one.name, one.signature, one.docstring, one.is_public) for one in parsed.symbols] == [
        ("Users", "module Shop.Users", None, True),
        ("User", "type User", "A user.", True),
        ("Grow", "member Grow: int -> User", None, True),
        ("Create", "static member Create: string -> User", None, True),
        ("parse", "val inline parse: row: string -> style: int -> User", "Reads one.", True),
        ("hidden", "val internal hidden<'T> : int -> int", None, False),
    ]
    assert parsed.facts.syntax_errors == 0


def test_a_declaration_of_f_sharp_that_begins_in_two_branches_is_the_one_of_the_last() -> None:
    source = "#if DEBUG\nlet\n#else\nlet inline\n#endif\n  grow x = x\n\nlet shrink x = x\n"

    assert read_names("f-sharp", source) == [("grow", None), ("shrink", None)]


def test_documentation_of_f_sharp_belongs_to_what_follows_and_a_comment_further_in_to_what_is_before() -> None:
    source = (
        "type A() =\n    member _.First = 1\n        // Of the first.\n\n"
        "    // Of the second.\n    member _.Second = 2\n"
    )

    parsed = parse_file("a.fs", "f-sharp", source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)

    assert [(one.name, one.start_line, one.end_line, one.docstring) for one in parsed.symbols] == [
        ("A", 1, 6, None),
        ("First", 2, 3, None),
        ("Second", 6, 6, "Of the second."),
    ]
