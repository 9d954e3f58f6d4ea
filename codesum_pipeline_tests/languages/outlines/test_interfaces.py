"""Files that declare what other files define."""

from pathlib import Path

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

INTERFACE = "val find : string -> int\n(** Finds a user. *)\n\nval other : int -> int\n"
CALLS = "let main () = Users.find (grow 1)\n"


def _edges(tmp_path: Path, files: dict[str, str]) -> set[tuple[str, str]]:
    repo = GitRepo.create(tmp_path / "repo")
    repo.commit(files)
    built = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("case", str(repo.path)))
    build(built)
    return {(row["src_id"], row["dst"]) for row in table_rows(built)["edges"]}


def test_a_call_leads_to_the_implementation_where_an_interface_declares_the_name_too(tmp_path: Path) -> None:
    files = {
        "src/users.ml": "let find id = 1\nlet grow x = x\n",
        "src/users.mli": INTERFACE + "val grow : int -> int\n",
        "src/main.ml": CALLS,
    }

    assert _edges(tmp_path, files) == {
        ("src/main.ml::main", "src/users.ml::find"),
        ("src/main.ml::main", "src/users.ml::grow"),
        ("src/main.ml", "src/users.ml"),
    }


def test_two_files_of_one_name_in_different_folders_are_not_one(tmp_path: Path) -> None:
    files = {
        "src/users.ml": "let find id = 1\nlet grow x = x\n",
        "lib/users.mli": INTERFACE + "val grow : int -> int\n",
        "src/main.ml": CALLS,
    }

    assert _edges(tmp_path, files) == set()
