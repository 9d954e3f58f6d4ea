"""Which rows are made from the same as before, and when nothing may be said of them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Context
from codesum_pipeline.foundation.store import made_from as made_from_rows
from codesum_pipeline.foundation.store import table_by_parts, table_parts
from codesum_pipeline.foundation.store.made_from import MadeFrom, hash_files
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace

IDS = pa.array(["a", "b", "c"])


def made_from(*columns: list[str]) -> MadeFrom:
    return MadeFrom.of_columns(IDS, *map(pa.array, columns))


def kept(home: Path) -> Workspace:
    workspace = make_index_workspace(home)
    made_from(["1", "2", "3"]).keep(workspace, "documents")
    return workspace


def test_a_row_is_the_same_while_all_that_it_was_made_from_is(tmp_path: Path) -> None:
    last = MadeFrom.of_last_build(kept(tmp_path), "documents")

    assert made_from(["1", "2", "3"]).changed_since(last) == set()
    assert made_from(["1", "x", "3"]).changed_since(last) == {"b"}
    assert made_from(["1", "2", "3"], ["", "", ""]).changed_since(last) == {"a", "b", "c"}


def test_a_row_of_another_id_is_not_the_same() -> None:
    last = MadeFrom.of_columns(pa.array(["b"]), pa.array(["2"]))

    assert made_from(["1", "2", "3"]).changed_since(last) == {"a", "c"}
    assert last.changed_since(made_from(["1", "2", "3"])) == {"a", "c"}, "two are gone"


def test_columns_do_not_run_into_each_other() -> None:
    assert made_from(["1 2"] * 3, ["3"] * 3).changed_since(made_from(["1"] * 3, ["2 3"] * 3)) == {"a", "b", "c"}


def test_what_is_unknown_is_never_the_same() -> None:
    unknown = made_from(["1", "2", "3"]).besides(pa.chunked_array([["a", "c", "a"]]))

    assert unknown.changed_since(unknown) == {"a", "c"}
    assert made_from(["1", "2", "3"]).changed_since(unknown.besides(pa.chunked_array([["gone"]]))) == {"a", "c", "gone"}


@pytest.mark.parametrize(
    "change", ["the table", "the settings", "force", "the file is cut off", "the file is empty", "there is no file"]
)
def test_nothing_is_known_where_the_rows_may_be_others(tmp_path: Path, change: str) -> None:
    workspace = kept(tmp_path)
    (path,) = workspace.layout.memos("shop").glob("documents.*")
    if change == "the table":
        documents = workspace.tables.read("documents", "shop")
        workspace.tables.write("documents", "shop", documents.slice(1))
    elif change == "the settings":
        workspace = replace(workspace, versions={**workspace.versions, "parser": "another"})
    elif change == "force":
        workspace = replace(workspace, force=True)
    elif change == "the file is cut off":
        path.write_bytes(path.read_bytes()[:100])
    elif change == "the file is empty":
        path.write_bytes(b"")
    else:
        path.unlink()

    assert len(MadeFrom.of_last_build(workspace, "documents").rows) == 0


def test_nothing_is_known_where_a_bit_of_the_file_is_flipped(tmp_path: Path) -> None:
    workspace = kept(tmp_path)
    (path,) = workspace.layout.memos("shop").glob("documents.*")
    content = path.read_bytes()
    assert len(MadeFrom.of_last_build(workspace, "documents").rows) == 3

    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x40]) + content[place + 1 :])
        assert len(MadeFrom.of_last_build(workspace, "documents").rows) == 0


CONTEXTS = [
    Context("a.py", (), (), "1", ()),
    Context("a.py::f", ("b.py::g",), (), "2", ("x", "y")),
    Context("b.py", (), (), "3", ()),
    Context("c.py::h", (), (), "4", ("x y",)),
]
OF_CONTEXTS = ["id", "graph_hash", "dependencies"]


def with_contexts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace whose table of contexts has a part for each path."""
    for name, number in (("MODULUS", 1), ("LEAST_ROWS", 0), ("LEAST_PART_ROWS", 0)):
        monkeypatch.setattr(table_parts, name, number)
    workspace = make_index_workspace(home)
    workspace.tables.write_rows("contexts", "shop", CONTEXTS, Context)
    return workspace


def hashes(workspace: Workspace) -> dict[str, str]:
    # As in a new process.
    made_from_rows._LAST_HASHES.clear()
    rows = hash_files(workspace, "contexts", OF_CONTEXTS).rows
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))


@pytest.mark.parametrize(
    ("place", "row", "changed"),
    [
        (1, Context("a.py::f", ("b.py::g",), (), "2", ("x y",)), {"a.py"}),
        (1, Context("a.py::f", ("b.py::g",), (), "2", ("y", "x")), {"a.py"}),
        (2, Context("b.py", (), (), "3", ("",)), {"b.py"}),
        (3, Context("c.py::h", (), (), "", ("4",)), {"c.py"}),
        (3, Context("c.py::h", ("not read",), (), "4", ("x y",)), set()),
        (3, Context("d.py::h", (), (), "4", ("x y",)), {"c.py", "d.py"}),
    ],
)
def test_the_hash_of_a_file_is_another_where_a_row_of_it_says_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, row: Context, changed: set[str]
) -> None:
    workspace = with_contexts(tmp_path, monkeypatch)
    before = hash_files(workspace, "contexts", OF_CONTEXTS)
    rows = [*CONTEXTS[:place], row, *CONTEXTS[place + 1 :]]
    workspace.tables.write_rows("contexts", "shop", rows, Context)

    assert hash_files(workspace, "contexts", OF_CONTEXTS).changed_since(before) == changed


def test_parts_that_stay_are_not_read_again_and_give_what_all_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = with_contexts(tmp_path, monkeypatch)
    hashes(workspace)
    rows = [*CONTEXTS[:2], Context("b.py", (), (), "5", ()), *CONTEXTS[3:]]
    workspace.tables.write_rows("contexts", "shop", rows, Context)
    read = []
    read_groups = table_by_parts.read_groups

    def recorded(spec: Any, repo: str, file: Any, groups: Any, columns: list[str]) -> pa.Table:
        found = read_groups(spec, repo, file, groups, columns)
        read.extend(found["id"].to_pylist())
        return found

    monkeypatch.setattr(table_by_parts, "read_groups", recorded)

    found = hashes(workspace)

    assert read == ["b.py"]
    (file,) = workspace.layout.memos("shop").glob("contexts.*")
    file.unlink()
    assert hashes(workspace) == found


def test_damaged_hashes_of_files_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = with_contexts(tmp_path, monkeypatch)
    found = hashes(workspace)
    (file,) = workspace.layout.memos("shop").glob("contexts.*")
    content = file.read_bytes()

    for place in range(0, len(content), 7):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x40]) + content[place + 1 :])
        assert hashes(workspace) == found


def test_a_table_that_was_never_written_has_no_hashes(tmp_path: Path) -> None:
    assert hash_files(make_index_workspace(tmp_path), "contexts", OF_CONTEXTS).rows.num_rows == 0
