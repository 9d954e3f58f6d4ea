"""What keys of a table do that no single file of a language shows."""

from pathlib import Path

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.symbols.outlines.outline_table import outline_tables, respelled_source
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


def test_a_name_of_the_same_folder_is_meant_where_each_folder_has_it(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo")
    variable, reading = 'variable "zone" {}\n', 'resource "aws_vpc" "main" {\n  zone = var.zone\n}\n'
    repo.commit({f"{folder}/{name}": text for folder in "ab" for name, text in (("v.tf", variable), ("m.tf", reading))})
    workspace = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("case", str(repo.path)))
    build(workspace)

    edges = {(row["src_id"], row["dst"]) for row in table_rows(workspace)["edges"] if row["dst"].endswith("var.zone")}
    assert edges == {(f"{folder}/m.tf::aws_vpc.main", f"{folder}/v.tf::var.zone") for folder in "ab"}


def test_what_a_grammar_reads_in_place_of_a_text_moves_no_byte_and_no_line() -> None:
    source = b'syntax = "proto2";\nmessage A {\n  reserved 1,\n    2;\n  required string b = 3;\n}\n'

    respelled = respelled_source(outline_tables()["protobuf"], source)

    assert respelled == source.replace(b"proto2", b"proto3").replace(b"required", b"repeated").replace(
        b"reserved 1,\n    2;", b"           \n      "
    )
