import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from codesum_pipeline.model.errors import MissingTable, SchemaMismatch
from codesum_pipeline.model.graph import GraphStats
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.views import connect, create_views, write_serving_file

ROWS = [GraphStats(f"a{n}.py", n, 0, 0.1 * n, 0, 0) for n in range(5)]


def test_equal_rows_in_any_order_give_equal_files(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    shuffled = random.Random(1).sample(ROWS, len(ROWS))

    first = store.write_rows("graph_stats", "one", ROWS, GraphStats)
    other = store.write_rows("graph_stats", "two", shuffled, GraphStats)

    assert first == other
    assert store.path("graph_stats", "one").read_bytes() == store.path("graph_stats", "two").read_bytes()
    assert store.read_rows("graph_stats", "two", GraphStats) == ROWS


def test_a_changed_row_changes_the_hash_of_its_table(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    changed = [*ROWS[:-1], GraphStats("a4.py", 4, 0, 0.41, 0, 0)]

    first = store.write_rows("graph_stats", "one", ROWS, GraphStats)

    assert store.write_rows("graph_stats", "one", changed, GraphStats).table_hash != first.table_hash


def test_a_table_that_was_never_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(MissingTable, match="'one' has no table 'edges' yet: run `codesum index one`"):
        TableStore(tmp_path).read("edges", "one")


def test_a_table_of_another_schema_version_is_refused_with_the_command_that_rebuilds_it(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    path = store.path("edges", "one")
    path.parent.mkdir(parents=True)
    old = TABLES["edges"].schema.with_metadata({b"codesum.schema_version": b"0"})
    pq.write_table(old.empty_table(), path)

    with pytest.raises(SchemaMismatch, match="version 0, this package writes 1: .*codesum index one --rebuild"):
        store.read("edges", "one")


def test_an_overlay_reads_through_and_writes_beside(tmp_path: Path) -> None:
    base = TableStore(tmp_path / "base")
    base.write_rows("graph_stats", "one", ROWS, GraphStats)
    overlay = TableStore(tmp_path / "overlay", base=base.root)

    assert overlay.read_rows("graph_stats", "one", GraphStats) == ROWS
    overlay.write_rows("graph_stats", "one", [], GraphStats)

    assert overlay.read_rows("graph_stats", "one", GraphStats) == []
    assert base.read_rows("graph_stats", "one", GraphStats) == ROWS


def test_views_of_all_repositories_have_a_column_for_the_repository(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS[:1], GraphStats)
    store.write_rows("graph_stats", "two", ROWS[1:2], GraphStats)

    with connect() as connection:
        create_views(connection, store)
        found = connection.execute("SELECT repo, id FROM graph_stats ORDER BY repo").fetchall()
        empty = connection.execute("SELECT repo, id, citations FROM documents").fetchall()

    assert found == [("one", "a0.py"), ("two", "a1.py")]
    assert empty == []


def test_an_empty_view_has_the_columns_of_a_full_one(tmp_path: Path) -> None:
    with connect() as connection:
        create_views(connection, TableStore(tmp_path), repo="one")
        for name, spec in TABLES.items():
            empty = connection.sql(f"SELECT * FROM {name}").to_arrow_table()
            assert empty.schema.names == spec.schema.names
            assert [str(kind) for kind in empty.schema.types] == [
                str(kind) for kind in spec.schema.empty_table().cast(empty.schema).schema.types
            ]


def test_the_serving_file_opens_read_only_while_it_is_replaced(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "warehouse")
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    path = tmp_path / "codesum.duckdb"
    write_serving_file(store, path)

    with duckdb.connect(str(path), read_only=True) as reader:
        write_serving_file(store, path)
        assert reader.execute("SELECT count(*) FROM graph_stats").fetchone() == (5,)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_dropping_a_repository_leaves_the_others(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    store.write_rows("graph_stats", "two", ROWS, GraphStats)

    store.drop("one")

    assert store.repositories("graph_stats") == ["two"]


def test_a_value_of_the_wrong_type_never_reaches_a_file(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, ValueError)):
        store.write("graph_stats", "one", pa.table({"id": ["a"]}))
    assert store.readable_path("graph_stats", "one") is None


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "a[1]*?'b" / "warehouse")
    store.write_rows("graph_stats", "one", ROWS, GraphStats)

    with connect() as connection:
        create_views(connection, store)
        assert connection.execute("SELECT count(*) FROM graph_stats").fetchone() == (5,)
