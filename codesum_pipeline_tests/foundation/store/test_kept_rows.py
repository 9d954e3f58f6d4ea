"""What is kept of parts of a table: it is what all of the table would give, in the same order, and is made once."""

from pathlib import Path

import pyarrow as pa
import pytest

from codesum_pipeline.foundation.data_model.edge import Context
from codesum_pipeline.foundation.store import table_parts
from codesum_pipeline.foundation.store.kept_rows import part_by_part, rows_of_parts
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace

PATHS = [f"{letter}.py" for letter in "abcdefg"]


def write(workspace: Workspace, **hashes: str) -> None:
    """Write the table of contexts, with the hash of each path, or "1"."""
    rows = [Context(path, (), (), hashes.get(path[0], "1"), ()) for path in PATHS if hashes.get(path[0]) != "gone"]
    workspace.tables.write_rows("contexts", "shop", rows, Context)


def found(workspace: Workspace, made: list[str]) -> list[tuple[str, str]]:
    """What is found in all parts but that of e.py, which has nothing; `made` gets what was looked at for it."""

    def make(rows: pa.Table) -> pa.Table:
        made.extend(rows["id"].to_pylist())
        is_wanted = [id_ != "e.py" for id_ in rows["id"].to_pylist()]
        return rows.filter(pa.array(is_wanted, pa.bool_()))

    by_parts = workspace.tables.by_parts("contexts", "shop", columns=["id", "graph_hash"])
    rows = rows_of_parts(workspace, by_parts, "contexts.test", part_by_part(make))
    return list(zip(rows["id"].to_pylist(), rows["graph_hash"].to_pylist(), strict=True))


def test_after_a_change_the_rows_are_those_of_all_parts_in_order_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in (("MODULUS", 1), ("LEAST_ROWS", 0), ("LEAST_PART_ROWS", 0)):
        monkeypatch.setattr(table_parts, name, number)
    workspace = make_index_workspace(tmp_path)
    write(workspace)
    found(workspace, [])
    changes: list[tuple[dict[str, str], list[str]]] = [
        ({}, []),
        ({"b": "2"}, ["b.py"]),
        ({"b": "2", "a": "3", "g": "3"}, ["a.py", "g.py"]),
        ({"b": "2", "a": "gone", "g": "3"}, []),
        ({"b": "2", "a": "4", "e": "5", "g": "3"}, ["a.py", "e.py"]),
    ]
    for hashes, looked_at in changes:
        write(workspace, **hashes)
        made: list[str] = []
        rows = found(workspace, made)

        assert made == looked_at
        expected = [(path, hashes.get(path[0], "1")) for path in PATHS if path != "e.py"]
        assert rows == [row for row in expected if row[1] != "gone"]
        # What was made is kept now.
        assert found(workspace, made) == rows
        assert made == looked_at
