import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store import row_groups, table_files, table_parts
from codesum_pipeline.foundation.store.memory_tables import MemoryTables
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import MODULUS, PartList, rows_of_files
from codesum_pipeline.foundation.store.tables import TableStore

# Names that are neighbours of each other in one order and not in another: of paths, of ids, and of their bytes.
NAMES = [
    "a",
    "a.py",
    "a.py-x",
    "a.py.bak",
    "a.pyz",
    "a/b.py",
    "a b.py",
    "é.py",
    "é",
    "b.py",
    "\U0001f600.py",
    "\U0010ffff.py",
]
PATHS = st.sampled_from([*NAMES, *(f"f{number:03}.py" for number in range(40))])
IDS = st.sets(st.sampled_from(["", "::f", "::g", "::C::m"]), max_size=3)
FILES = st.dictionaries(PATHS, st.tuples(IDS, st.integers(0, 3)), max_size=30)


@pytest.fixture(params=[1, 3, MODULUS, 0], ids="modulus {}".format)
def modulus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    cut_by(request.param, monkeypatch)
    yield request.param
    table_parts._cuts.cache_clear()


def cut_by(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table_parts._cuts.cache_clear()
    monkeypatch.setattr(table_parts, "MODULUS", number)
    monkeypatch.setattr(table_parts, "LEAST_ROWS", 0)
    monkeypatch.setattr(table_parts, "LEAST_SOURCES", 0)
    monkeypatch.setattr(table_parts, "LEAST_PART_ROWS", 0)
    monkeypatch.setattr(table_files, "_GROUP_ROWS", 3)


def terms_of(files: dict[str, tuple[set[str], int]], lanes: Sequence[str] = ("code", "summary")) -> pa.Table:
    ids = [(f"{path}{end}", str(text)) for path, (ends, text) in files.items() for end in ends]
    columns = [
        [id_ for _ in lanes for id_, _ in ids],
        [lane for lane in lanes for _ in ids],
        [text for _ in lanes for _, text in ids],
        [f"{text} " * int(text) for _ in lanes for _, text in ids],
    ]
    return pa.table(columns, schema=TABLES["terms"].schema)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(FILES, FILES, st.sets(PATHS))
def test_files_that_are_replaced_give_the_same_file_as_if_all_were_written(
    modulus: int,
    tmp_path: Path,
    before: dict[str, tuple[set[str], int]],
    changes: dict[str, tuple[set[str], int]],
    removed: set[str],
) -> None:
    store, memory = TableStore(tmp_path), MemoryTables(tmp_path)
    after = {path: file for path, file in (before | changes).items() if path not in removed or path in changes}
    store.write("terms", "edited", terms_of(before))
    memory.write("terms", "edited", terms_of(before))

    edited = store.replace_files("terms", "edited", terms_of(changes), {*changes, *removed})
    memory.replace_files("terms", "edited", terms_of(changes), {*changes, *removed})

    assert edited == store.write("terms", "clean", terms_of(after))
    assert store.path("terms", "edited").read_bytes() == store.path("terms", "clean").read_bytes()
    assert memory.read("terms", "edited").equals(store.read("terms", "edited"))
    names = TABLES["terms"].schema.names
    for paths in ({*removed}, {*changes}):
        some = store.read_files("terms", "edited", paths, columns=names)
        assert some.equals(rows_of_files(store.read("terms", "edited"), TABLES["terms"], paths))
        assert memory.read_files("terms", "edited", paths, columns=names).equals(some)
    for lane in ("code", "summary"):
        hashes = [store.part_hash("terms", repo, lane, columns=["id", "tokens"]) for repo in ("edited", "clean")]
        assert hashes[0] == hashes[1]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(FILES)
def test_every_reader_finds_the_same_rows_however_a_table_is_cut(
    modulus: int, tmp_path: Path, files: dict[str, tuple[set[str], int]]
) -> None:
    store = TableStore(tmp_path)
    expected = terms_of(files).sort_by([("lane", "ascending"), ("id", "ascending")])

    store.write("terms", "one", terms_of(files))

    path = store.path("terms", "one")
    parts = [*store.read_parts("terms", "one", columns=expected.column_names)]
    pattern = str(path).replace("one", "*")
    found = duckdb.connect().execute(f"SELECT * FROM read_parquet('{pattern}', hive_partitioning = false)")
    assert store.read("terms", "one").equals(expected)
    assert pa.concat_tables([expected[:0], *parts]).equals(expected)
    assert pq.read_table(path, partitioning=None).replace_schema_metadata(None).equals(expected)
    assert sorted(found.fetchall()) == sorted(map(tuple, zip(*expected.to_pydict().values(), strict=True)))


def test_parts_that_are_known_are_not_read_and_an_edit_changes_the_hash_of_its_own(
    modulus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = TABLES["terms"].schema.names
    store, files = TableStore(tmp_path), many_files(60)
    edited = {**files, "src/f0007.py": ({"", "::f"}, 9)}
    store.write("terms", "before", terms_of(files))
    store.write("terms", "after", terms_of(edited))
    before, after = (store.by_parts("terms", repo, columns=names) for repo in ("before", "after"))
    some = store.by_parts("terms", "after", columns=["id", "lane"])

    others = pa.concat_tables(after.read_others(before.hashes()))

    monkeypatch.setattr(table_files, "_GROUP_ROWS", 1 << 15)
    assert pa.concat_tables(after.read_others(())).select(names).equals(store.read("terms", "after"))
    assert {*others["part"].to_pylist()} == {*after.hashes()} - {*before.hashes()}
    assert len(others) == {1: 4, 3: 4, 0: 240}.get(modulus, len(others))
    assert [*after.read_others(after.hashes())] == []
    assert some.hashes() == store.by_parts("terms", "before", columns=["id", "lane"]).hashes()
    around = [table.hashes_around(files) for table in (before, after)]
    differing = {path for path in files if around[0][path] != around[1][path]}
    assert {name.partition("::")[0] for name in others["id"].to_pylist()} == differing


def test_the_rows_decide_how_they_are_hashed_in_a_bundle_and_not_their_parts(
    modulus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = terms_of({path: ({"", "::f"}, 1) for path in NAMES})
    monkeypatch.setattr(table_parts, "LEAST_ROWS", len(rows) + 1)
    whole = TableStore(tmp_path).write("terms", "one", rows)

    assert table_files.hash_rows(TABLES["terms"], rows) == whole.table_hash


HISTORY = HistoryRow(1, "a.py", Level.FILE, HistoryEvent.WRITTEN, None, (), "w", WrittenBy.EXTRACTIVE, *[""] * 5, 0.0)


def many_files(count: int = 400) -> dict[str, tuple[set[str], int]]:
    return {f"src/f{number:04}.py": ({"", "::f"}, number % 4) for number in range(count)}


def parts_of(store: TableStore, repo: str = "one") -> PartList:
    return table_files.parts_in(store._footer("terms", repo))


def test_an_edit_of_a_file_encodes_one_part_of_each_lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_by(16, monkeypatch)
    store, files = TableStore(tmp_path), many_files()
    store.write("terms", "one", terms_of(files))
    before = {part.first: part.hashes for part in parts_of(store).parts}
    encoded: list[int] = []

    class CountingWriter(table_files.PartsWriter):
        def add(self, tables: Iterable[pa.Table]) -> Any:
            some = [*tables]
            encoded.append(sum(map(len, some)))
            return super().add(some)

    monkeypatch.setattr(table_files, "PartsWriter", CountingWriter)
    change = {"src/f0200.py": ({"", "::f", "::new"}, 3)}

    store.replace_files("terms", "one", terms_of(change), [*change])

    after = {part.first: part for part in parts_of(store).parts}
    assert len(before) > 20 and before.keys() == after.keys()
    assert encoded == [part.rows for first, part in after.items() if part.hashes != before[first]]
    assert len(encoded) == 2
    store.write("terms", "one", terms_of(files | change))
    assert len(encoded) == 2


def parts_with_hashes(store: TableStore, repo: str) -> list[tuple[str | None, int]]:
    found = store.by_parts("terms", repo, columns=["id", "lane", "tokens"])
    return [*zip(found.hashes(), found.sizes(), strict=True)]


@pytest.mark.parametrize("number", [16, 0])
def test_an_edit_of_a_file_changes_the_hash_of_its_parts_alone(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(number, monkeypatch)
    store, files = TableStore(tmp_path), many_files()
    store.write("terms", "one", terms_of(files))
    before = parts_with_hashes(store, "one")

    store.replace_files("terms", "one", terms_of({"src/f0200.py": ({"", "::f"}, 3)}), {"src/f0200.py"})

    after = parts_with_hashes(store, "one")
    assert sum(count for _, count in after) == 2 * 800
    assert len({*after} - {*before}) == (2 if number else 1)
    assert len(after) > 20 if number else len(after) == 1
    assert parts_with_hashes(store, "none") == []


@pytest.mark.parametrize(
    ("table", "least"), [("terms", table_parts.LEAST_ROWS), ("file_facts", table_parts.LEAST_SOURCES)]
)
def test_a_table_is_cut_from_so_many_rows_on(table: str, least: int) -> None:
    assert not table_parts.is_cut(TABLES[table], least - 1)
    assert table_parts.is_cut(TABLES[table], least)


@pytest.mark.parametrize(("rows_of_part", "is_in_parts"), [(2, True), (3, False)])
def test_names_that_all_begin_a_part_cut_no_table(
    rows_of_part: int, is_in_parts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(1, monkeypatch)
    # Each file has two rows.
    monkeypatch.setattr(table_parts, "LEAST_PART_ROWS", rows_of_part)
    store, files, change = TableStore(tmp_path), many_files(30), {"src/f0200.py": ({"", "::f"}, 3)}
    store.write("terms", "one", terms_of(files))

    assert len(parts_of(store).parts) == (60 if is_in_parts else 2)
    store.replace_files("terms", "one", terms_of(change), [*change])
    store.write("terms", "clean", terms_of(files | change))
    assert store.path("terms", "one").read_bytes() == store.path("terms", "clean").read_bytes()
    assert len(parts_of(store).parts) == (62 if is_in_parts else 2)
    few = {"src/f0001.py": ({""}, 1), "src/f0002.py": ({""}, 1), "src/f0003.py": ({""}, 1)}
    store.replace_files("terms", "one", terms_of(few), [*few])
    store.write("terms", "clean", terms_of(files | change | few))
    assert store.path("terms", "one").read_bytes() == store.path("terms", "clean").read_bytes()
    assert len(parts_of(store).parts) == 2


def test_a_table_below_the_limit_has_no_parts_and_one_that_grows_or_shrinks_over_it_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    store, files = TableStore(tmp_path), many_files(40)
    rows = terms_of(files)
    monkeypatch.setattr(table_parts, "LEAST_ROWS", len(rows) + 1)
    store.write("terms", "one", rows)
    small = len(parts_of(store).parts)
    more = {"src/new.py": ({"", "::f"}, 1)}

    store.replace_files("terms", "one", terms_of(more), [*more])
    large = len(parts_of(store).parts)
    store.replace_files("terms", "one", terms_of({}), [*more])

    assert small == len(parts_of(store).parts) == 2 < large
    assert store.read("terms", "one").equals(rows.sort_by([("lane", "ascending"), ("id", "ascending")]))


def test_a_table_that_an_older_version_wrote_whole_is_cut_when_it_is_written_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(0, monkeypatch)
    store, files = TableStore(tmp_path), many_files()
    old = store.write("terms", "one", terms_of(files))
    path = store.path("terms", "one")
    footer = pq.read_metadata(path).metadata
    kept = {name: value for name, value in footer.items() if name not in (table_files.PARTS_KEY, b"ARROW:schema")}
    pq.write_table(pq.read_table(path, partitioning=None).replace_schema_metadata(kept), path)
    cut_by(MODULUS, monkeypatch)

    assert store.keep("terms", "one") == old
    change = {"src/f0200.py": ({"::f"}, 3)}
    store.replace_files("terms", "one", terms_of(change), [*change])

    assert len(parts_of(store).parts) > 8
    store.write("terms", "clean", terms_of(files | change))
    assert path.read_bytes() == store.path("terms", "clean").read_bytes()


def test_a_part_that_is_cut_off_is_refused_with_the_command_that_rebuilds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    store, files = TableStore(tmp_path), many_files()
    store.write("terms", "one", terms_of(files))
    path = store.path("terms", "one")
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(content[:2_000] + content[-footer:])

    with pytest.raises(
        BrokenStore, match="table 'terms' of repository 'one' is damaged .*`codesum index one --rebuild`"
    ):
        store.replace_files("terms", "one", terms_of({}), ["src/f0001.py"])
    assert path.read_bytes() == content[:2_000] + content[-footer:]


def test_a_row_of_another_file_than_those_that_are_replaced_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    store = TableStore(tmp_path)
    store.write("terms", "one", terms_of(many_files()))

    with pytest.raises(ValueError, match="of other files"):
        store.replace_files("terms", "one", terms_of({"src/f0399.py": ({"::f"}, 1)}), ["src/f0001.py"])


def test_rows_that_are_added_behind_all_others_give_the_same_file_as_if_all_were_written(
    modulus: int, tmp_path: Path
) -> None:
    store, memory, spec = TableStore(tmp_path), MemoryTables(tmp_path), TABLES["document_history"]
    rows = to_table([replace(HISTORY, sequence=number, id=f"a{number}.py") for number in range(1, 300)], HistoryRow)

    for start, stop in pairwise([0, 1, 63, 64, 200, 201, len(rows)]):
        store.append("document_history", "one", rows[start:stop])
        memory.append("document_history", "one", rows[start:stop])
    store.write("document_history", "clean", rows)

    assert store.path("document_history", "one").read_bytes() == store.path("document_history", "clean").read_bytes()
    assert store.read("document_history", "one").equals(rows.cast(spec.schema))
    assert memory.read("document_history", "one").equals(rows.cast(spec.schema))


def test_many_edits_one_after_another_end_in_the_file_of_a_clean_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(5, monkeypatch)
    # Fewer than a part has, so that one is copied in several pieces.
    monkeypatch.setattr(row_groups, "_COPIED_BYTES", 100)
    chance, store, files = random.Random(7), TableStore(tmp_path), many_files(120)
    store.write("terms", "one", terms_of(files))
    for _ in range(40):
        path = f"src/f{chance.randrange(150):04}.py"
        files.pop(path, None)
        new = {path: ({"", "::f", "::g"}, chance.randrange(4))} if chance.random() < 0.7 else {}
        store.replace_files("terms", "one", terms_of(new), [path])
        files |= new

    store.write("terms", "clean", terms_of(files))

    assert store.path("terms", "one").read_bytes() == store.path("terms", "clean").read_bytes()


def test_a_reader_sees_every_table_whole_while_its_parts_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    store, files, has_ended = TableStore(tmp_path), many_files(60), threading.Event()
    store.write("terms", "one", terms_of(files))
    pattern = store.path("terms", "one").parent.parent / "repo=*" / "*.parquet"
    query = f"SELECT count(*), max(text_hash::INT) FROM '{pattern}'"

    def read_all_the_time() -> tuple[set[int], set[tuple[int, int]]]:
        lengths, counts, connection = set(), set(), duckdb.connect()
        while not has_ended.is_set():
            lengths.add(store.read("terms", "one", columns=["id", "tokens"]).num_rows)
            # DuckDB opens a file once more after it has planned a query: then it finds that the file is another one.
            with suppress(duckdb.Error):
                counts.add(connection.execute(query).fetchall()[0])
        return lengths, counts

    with ThreadPoolExecutor(1) as readers:
        found = readers.submit(read_all_the_time)
        for number in range(10, 60):
            change = {f"src/f{place:04}.py": ({"", "::f"}, number) for place in (0, 20, 59)}
            store.replace_files("terms", "one", terms_of(change), [*change])
        has_ended.set()
        lengths, counts = found.result()

    assert lengths == {rows for rows, _ in counts} == {len(terms_of(files))}
    assert len(counts) > 1


def test_a_flipped_bit_is_found_when_rows_are_read_and_never_taken_over_as_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(16, monkeypatch)
    chance, store, files, change = random.Random(5), TableStore(tmp_path), many_files(60), {"src/f0030.py": ({""}, 3)}
    store.write("terms", "clean", terms_of(files | change))
    store.write("terms", "one", terms_of(files))
    path, names = store.path("terms", "one"), TABLES["terms"].schema.names
    content, read = path.read_bytes(), store.read_files("terms", "one", [*change], columns=names)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            assert store.read_files("terms", "one", [*change], columns=names).equals(read)
            store.replace_files("terms", "one", terms_of(change), [*change])
            assert store.read("terms", "one").equals(store.read("terms", "clean"))
        except BrokenStore:
            refused += 1
        path.unlink(missing_ok=True)

    assert 30 < refused < 120


def test_a_table_whose_parts_are_damaged_is_replaced_by_one_that_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    store, rows = TableStore(tmp_path), terms_of(many_files())
    store.write("terms", "one", rows)
    path = store.path("terms", "one")
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(content[:2_000] + content[-footer:])

    store.write("terms", "one", rows)

    assert path.read_bytes() == content


def test_a_base_that_another_build_replaces_meanwhile_gives_a_preview_no_rows_of_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(3, monkeypatch)
    base, change = TableStore(tmp_path / "base"), {"src/f0200.py": ({""}, 3)}
    base.write("terms", "one", terms_of(many_files()))

    class OvertakenStore(TableStore):
        def _write_parts(self, *args: Any, **options: Any) -> Any:
            base.write("terms", "one", terms_of({f"other/{path}": file for path, file in many_files(90).items()}))
            return super()._write_parts(*args, **options)

    preview = OvertakenStore(tmp_path / "preview", base=base)
    with pytest.raises(BrokenStore, match="'terms' of repository 'one' was replaced by another build"):
        preview.replace_files("terms", "one", terms_of(change), [*change])
    assert not preview.path("terms", "one").exists()


def test_a_path_of_the_last_character_there_is_can_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_by(1, monkeypatch)
    store, files = TableStore(tmp_path), {"a.py": ({""}, 1), "\U0010ffff.py": ({"", "::f"}, 1)}
    store.write("terms", "one", terms_of(files))
    change = {"\U0010ffff.py": ({"::g"}, 2)}

    store.replace_files("terms", "one", terms_of(change), [*change])

    store.write("terms", "clean", terms_of(files | change))
    assert store.path("terms", "one").read_bytes() == store.path("terms", "clean").read_bytes()


def test_every_way_of_reading_names_the_table_whose_rows_are_damaged(tmp_path: Path) -> None:
    store, rows = TableStore(tmp_path), terms_of(many_files(20))
    store.write("terms", "one", rows)
    path, names = store.path("terms", "one"), TABLES["terms"].schema.names
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(200) + content[204:])

    for read in (
        lambda: store.read("terms", "one"),
        lambda: store.read_files("terms", "one", ["src/f0001.py"], columns=names),
        lambda: store.read_at("terms", "one", np.array([1]), columns=names),
        lambda: [*store.read_parts("terms", "one", columns=names)],
    ):
        with pytest.raises(BrokenStore, match="table 'terms' of repository 'one' is damaged"):
            read()
