import random
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.data_model.edge import Edge, GraphStats
from codesum_pipeline.foundation.data_model.errors import BrokenStore, DamagedTable, MissingTable, SchemaMismatch
from codesum_pipeline.foundation.store import table_files, table_parts
from codesum_pipeline.foundation.store.rows import rows_to_read
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import connect_in_memory, create_views, write_serving_file


@pytest.fixture
def uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """No path begins a part."""
    monkeypatch.setattr(table_parts, "MODULUS", 0)


ROWS = [GraphStats(f"a{n}.py", n, 0, 0.1 * n, 0, 0) for n in range(5)]


def test_equal_rows_in_any_order_give_equal_files(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    shuffled = random.Random(1).sample(ROWS, len(ROWS))

    first = store.write_rows("graph_stats", "one", ROWS, GraphStats)
    other = store.write_rows("graph_stats", "two", shuffled, GraphStats)

    assert first == other
    assert store.path("graph_stats", "one").read_bytes() == store.path("graph_stats", "two").read_bytes()
    assert store.read_rows("graph_stats", "two", GraphStats) == ROWS


def test_no_hash_covers_the_note_that_rows_are_written_with(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    rows = many_rows(3)

    plain, noted = store.write("graph_stats", "one", rows), store.write("graph_stats", "two", rows, note="with x")

    assert noted == plain
    assert [store.note("graph_stats", repo) for repo in ("one", "two", "none")] == ["", "with x", ""]


def many_rows(count: int) -> pa.Table:
    """More rows than one row group holds, the last first."""
    numbers = range(count - 1, -1, -1)
    return pa.table(
        {
            "id": [f"a{number:06}.py" for number in numbers],
            "in_degree": list(numbers),
            "out_degree": [0] * count,
            "pagerank": [0.5] * count,
            "component": [0] * count,
            "community": [0] * count,
        }
    )


@pytest.mark.usefixtures("uncut")
def test_a_large_table_is_written_in_groups_and_read_back_whole_or_in_parts(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    rows = many_rows(70_000)
    written = store.write("graph_stats", "one", rows)

    parts = list(store.read_parts("graph_stats", "one", columns=["id", "in_degree"]))

    expected = rows.sort_by("id")
    assert written.rows == 70_000
    assert store.read("graph_stats", "one").equals(expected.cast(TABLES["graph_stats"].schema))
    assert [part.num_rows for part in parts] == [32_768, 32_768, 4_464]
    assert pa.concat_tables(parts).equals(store.read("graph_stats", "one", columns=["id", "in_degree"]))
    assert pa.concat_tables(parts).column("in_degree").to_pylist() == list(range(70_000))


def test_rows_are_read_by_their_numbers_across_groups(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write("graph_stats", "one", many_rows(70_000))
    wanted = np.array([0, 32_767, 32_768, 69_999])

    found = store.read_at("graph_stats", "one", wanted, columns=["in_degree"])
    none = store.read_at("graph_stats", "one", wanted[:0], columns=["in_degree"])

    assert found.to_pylist() == [{"in_degree": number} for number in wanted.tolist()]
    assert (none.num_rows, none.column_names) == (0, ["in_degree"])


@pytest.mark.parametrize("kept", [1, 3])
def test_a_reader_gives_the_same_rows_however_many_groups_it_keeps(tmp_path: Path, kept: int) -> None:
    store = TableStore(tmp_path)
    store.write("graph_stats", "one", many_rows(70_000))
    reader = store.reader("graph_stats", "one", columns=["in_degree"], kept=kept)
    queries = [[0, 40_000, 69_999], [32_767, 32_768], [], [0, 69_999]]

    found = [reader.at(np.array(rows, dtype=np.int64)).column("in_degree").to_pylist() for rows in queries]

    assert found == queries


@pytest.mark.usefixtures("uncut")
def test_parts_with_one_value_hold_its_rows_alone_and_leave_out_groups_without_it(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    lanes = ["code"] * 40_000 + ["summary"] * 30_000
    columns = [[f"{number:05}" for number in range(70_000)], lanes, lanes, lanes]
    store.write("terms", "one", pa.table(columns, schema=TABLES["terms"].schema))

    parts = list(store.read_parts("terms", "one", columns=["id", "lane"], having=("lane", "summary")))

    groups = store.read_parts("terms", "one", columns=["lane"])
    assert [part.num_rows for part in groups] == [32_768, 7_232, 30_000]
    assert [part.num_rows for part in parts] == [30_000]
    assert pa.concat_tables(parts).column("id").to_pylist() == columns[0][40_000:]
    assert list(store.read_parts("terms", "one", columns=["lane"], having=("lane", "words"))) == []


def test_the_hash_of_a_part_changes_with_the_rows_of_that_part_alone(tmp_path: Path) -> None:
    store = TableStore(tmp_path)

    def hashes(repo: str, words: list[str]) -> list[str | None]:
        columns = [["1", "2", "1"], ["code", "code", "summary"], ["", "", ""], words]
        store.write("terms", repo, pa.table(columns, schema=TABLES["terms"].schema))
        parts = [store.part_hash("terms", repo, part, columns=["id", "tokens"]) for part in ("code", "summary", "none")]
        return [store.content_hash("terms", repo), *parts]

    (whole, code, summary, none), (other, other_code, same, _) = hashes("one", [*"abc"]), hashes("two", [*"axc"])

    assert whole != other and code != other_code and summary == same and none is None
    assert hashes("three", [*"abc"]) == [whole, code, summary, none]


@pytest.mark.usefixtures("uncut")
@pytest.mark.parametrize("count", [32_767, 32_768, 32_769])
def test_rows_at_the_edge_of_a_group_are_all_there_once(tmp_path: Path, count: int) -> None:
    store = TableStore(tmp_path)
    store.write("graph_stats", "one", many_rows(count))

    parts = list(store.read_parts("graph_stats", "one", columns=["in_degree"]))

    assert [part.num_rows for part in parts] == [min(count, 32_768), *([1] if count > 32_768 else [])]
    assert pa.concat_tables(parts).column("in_degree").to_pylist() == list(range(count))


def test_a_large_table_gives_the_same_file_in_any_order_and_in_any_chunks(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    rows = many_rows(40_000)
    shuffled = rows.take(pa.array(random.Random(1).sample(range(40_000), 40_000)))
    chunked = pa.concat_tables([rows.slice(20_000), rows.slice(0, 20_000)])
    ordered = pa.concat_tables([rows.sort_by("id").slice(0, 7), rows.sort_by("id").slice(7)])

    written = [
        store.write("graph_stats", name, table)
        for name, table in {"one": rows, "two": shuffled, "three": chunked, "four": ordered}.items()
    ]

    files = {store.path("graph_stats", name).read_bytes() for name in ("one", "two", "three", "four")}
    assert len(set(written)) == len(files) == 1


def test_parts_of_a_table_without_rows_and_of_one_never_written_hold_nothing(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", [], GraphStats)

    empty = list(store.read_parts("graph_stats", "one", columns=["id"]))

    assert [row for part in empty for row in part.to_pylist()] == []
    assert list(store.read_parts("graph_stats", "never", columns=["id"])) == []


def test_parts_of_an_overlay_are_those_of_its_base_until_it_has_its_own(tmp_path: Path) -> None:
    base = TableStore(tmp_path / "base")
    base.write_rows("graph_stats", "one", ROWS, GraphStats)
    overlay = TableStore(tmp_path / "overlay", base=base)

    def ids() -> list[str]:
        parts = overlay.read_parts("graph_stats", "one", columns=["id"])
        return [row["id"] for part in parts for row in part.to_pylist()]

    assert ids() == [row.id for row in ROWS]
    overlay.write_rows("graph_stats", "one", ROWS[:1], GraphStats)
    assert ids() == ["a0.py"]


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

    with pytest.raises(SchemaMismatch, match="version 0, this package writes 3: .*codesum index one --rebuild"):
        store.read("edges", "one")
    with pytest.raises(SchemaMismatch, match="version 0, this package writes 3: .*codesum index one --rebuild"):
        list(store.read_parts("edges", "one", columns=["caller"]))


@pytest.mark.parametrize("harm", ["cut off", "overwritten"])
def test_a_damaged_table_is_refused_with_the_command_that_rebuilds_it(tmp_path: Path, harm: str) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    path = store.path("graph_stats", "one")
    content = path.read_bytes()
    path.write_bytes(content[:100] if harm == "cut off" else content[:4] + b"\xff" * 400 + content[404:])

    with pytest.raises(BrokenStore, match="of repository 'one' is damaged .*`codesum index one --rebuild`"):
        store.read("graph_stats", "one")


@pytest.mark.parametrize(("table", "kept"), [("evaluation_lift", 8), ("graph_stats", 0)])
def test_of_a_mended_table_the_rows_that_can_be_read_are_kept_or_none(
    table: str, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "_GROUP_ROWS", 4)
    store, schema = TableStore(tmp_path), TABLES[table].schema
    names = {name for name in schema.names if schema.field(name).type == pa.string()}
    rows = pa.table({n: [str(i) if n in names else i for i in range(12)] for n in schema.names}).cast(schema)
    store.write(table, "one", rows)
    path = store.path(table, "one")
    content = bytearray(path.read_bytes())
    # In the second row group.
    start = pq.read_metadata(path).row_group(1).column(0).data_page_offset + 40
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(DamagedTable):
        store.read(table, "one")

    assert store.mend(table, "one") == kept

    assert store.read_or_empty(table, "one") == (pa.concat_tables([rows[:4], rows[8:]]) if kept else rows[:0])


def test_an_overlay_reads_through_and_writes_beside(tmp_path: Path) -> None:
    base = TableStore(tmp_path / "base")
    base.write_rows("graph_stats", "one", ROWS, GraphStats)
    overlay = TableStore(tmp_path / "overlay", base=base)

    assert overlay.read_rows("graph_stats", "one", GraphStats) == ROWS
    overlay.write_rows("graph_stats", "one", [], GraphStats)

    assert overlay.read_rows("graph_stats", "one", GraphStats) == []
    assert base.read_rows("graph_stats", "one", GraphStats) == ROWS


def test_views_of_all_repositories_have_a_column_for_the_repository(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS[:1], GraphStats)
    store.write_rows("graph_stats", "two", ROWS[1:2], GraphStats)

    with connect_in_memory() as connection:
        create_views(connection, store)
        found = connection.execute("SELECT repo, id FROM graph_stats ORDER BY repo").fetchall()
        empty = connection.execute("SELECT repo, id, citations FROM documents").fetchall()

    assert found == [("one", "a0.py"), ("two", "a1.py")]
    assert empty == []


def test_an_empty_view_has_the_columns_of_a_full_one(tmp_path: Path) -> None:
    with connect_in_memory() as connection:
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
        store.write_rows("edges", "one", [], Edge)
        write_serving_file(store, path)
        assert reader.execute("SELECT count(*) FROM graph_stats").fetchone() == (5,)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_a_serving_file_stays_while_its_views_would_be_the_same(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "warehouse")
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    path = tmp_path / "codesum.duckdb"
    write_serving_file(store, path)
    first = path.stat().st_ino

    store.write_rows("graph_stats", "two", ROWS, GraphStats)
    write_serving_file(store, path)

    assert path.stat().st_ino == first
    with duckdb.connect(str(path), read_only=True) as reader:
        assert reader.execute("SELECT count(*) FROM graph_stats").fetchone() == (10,)


def test_a_serving_file_that_was_replaced_is_built_again(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "warehouse")
    path = tmp_path / "codesum.duckdb"
    write_serving_file(store, path)
    path.unlink()
    path.write_bytes(b"something else")

    write_serving_file(store, path)

    with duckdb.connect(str(path), read_only=True) as reader:
        assert reader.execute("SELECT count(*) FROM graph_stats").fetchone() == (0,)


def test_dropping_a_repository_leaves_the_others(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    store.write_rows("graph_stats", "two", ROWS, GraphStats)

    store.drop("one")

    assert store.repositories("graph_stats") == ["two"]


def test_what_no_build_can_make_anew_is_kept_while_it_can_be_read(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    for table in ("graph_stats", "ledger", "avoided"):
        store.write(table, "one", TABLES[table].schema.empty_table())
    store.path("avoided", "one").write_bytes(b"of another version")

    store.drop("one", keeping=("ledger", "avoided"))

    assert [table for table in TABLES if store.repositories(table)] == ["ledger"]


def test_a_value_of_the_wrong_type_never_reaches_a_file(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, ValueError)):
        store.write("graph_stats", "one", pa.table({"id": ["a"]}))
    assert store.readable_path("graph_stats", "one") is None


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "a[1]*?'b" / "warehouse")
    store.write_rows("graph_stats", "one", ROWS, GraphStats)

    with connect_in_memory() as connection:
        create_views(connection, store)
        assert connection.execute("SELECT count(*) FROM graph_stats").fetchone() == (5,)


def test_rows_are_read_once_each_and_placed_as_they_were_asked_for() -> None:
    wanted, places = rows_to_read(np.array([7, -1, 2, 7]))

    assert wanted.tolist() == [2, 7]
    assert places.to_pylist() == [1, None, 0, 1]
