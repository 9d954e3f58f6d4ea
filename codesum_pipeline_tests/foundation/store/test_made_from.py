"""Which rows are made from the same as before, and when nothing may be said of them."""

from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.store.made_from import MadeFrom
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

    assert made_from(["1", "2", "3"]).is_same_in(last).to_pylist() == [True, True, True]
    assert made_from(["1", "x", "3"]).is_same_in(last).to_pylist() == [True, False, True]
    assert made_from(["1", "2", "3"], ["", "", ""]).is_same_in(last).to_pylist() == [False, False, False]


def test_a_row_of_another_id_is_not_the_same() -> None:
    last = MadeFrom.of_columns(pa.array(["b"]), pa.array(["2"]))

    assert made_from(["1", "2", "3"]).is_same_in(last).to_pylist() == [False, True, False]


def test_columns_do_not_run_into_each_other() -> None:
    assert not any(made_from(["1 2"] * 3, ["3"] * 3).is_same_in(made_from(["1"] * 3, ["2 3"] * 3)).to_pylist())


def test_what_is_unknown_is_never_the_same() -> None:
    unknown = made_from(["1", "2", "3"])
    unknown = replace(unknown, rows=unknown.rows.set_column(1, "hash", pa.nulls(3, pa.binary(20))))

    assert unknown.is_same_in(unknown).to_pylist() == [False, False, False]


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
