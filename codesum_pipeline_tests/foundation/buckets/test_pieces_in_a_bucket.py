"""What a commit sends of a folder whose files changed in places, and that nothing is lost on the way."""

import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import obstore
import pytest

from codesum_pipeline.foundation.data_model.errors import BrokenStore, LeaseHeld, LeaseLost
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings, StorageSettings
from codesum_pipeline.foundation.store.layout import BucketPlace, HomeLayout
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.bucket_record import send_again
from codesum_pipeline.foundation.store.object_storage.heads import (
    LEAST_GRACE_S,
    RepositoryHead,
    collect_parts,
    head_name,
    read_head,
)
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.pieces import (
    LEAST_WANTED,
    MOST_PIECE_BYTES,
    MOST_SMALL_PARTS,
    PART_BYTES,
)
from codesum_pipeline.foundation.store.object_storage.reading_copy import ReadingCopy
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    PARTS,
    StateFile,
    StateManifest,
    part_name,
)
from codesum_pipeline_tests.foundation.store.test_collecting import later
from codesum_pipeline_tests.support.bucket_workers import taken_over
from codesum_pipeline_tests.support.published_bucket import state_of
from codesum_pipeline_tests.support.requests import counted_requests
from codesum_pipeline_tests.support.settings import changed

Files = dict[str, bytes]
TABLE = "warehouse/symbols/repo=shop/part-0.parquet"
VERSION = "index_root/summary_index_function_level/.versions/shop"


def layout_at(folder: Path, bucket: str) -> HomeLayout:
    return HomeLayout(folder, BucketPlace(bucket, changed(StorageSettings(), retry_s=0)))


@pytest.fixture
def worker(tmp_path: Path, bucket: str) -> HomeLayout:
    return layout_at(tmp_path / "worker", bucket)


@pytest.fixture
def second(tmp_path: Path, bucket: str) -> HomeLayout:
    return layout_at(tmp_path / "second", bucket)


def files_at(number: int, *, size: int = 600_000) -> Files:
    """The files of a repository after so many edits: each changes a few bytes of two files, and moves what follows."""
    chance, table, lines = random.Random(number), bytearray(random.Random(1).randbytes(size)), b"a line\n" * (size // 7)
    for edit in range(number):
        at = random.Random(edit).randrange(len(table))
        table[at:at] = b"edit %d" % edit
        lines = lines[:at] + b"line of edit %d\n" % edit + lines[at:]
    return {
        TABLE: bytes(table),
        f"{VERSION}/{number % 3}/summary.jsonl": lines,
        f"{VERSION}/{number % 3}/copy.jsonl": lines,
        "state/shop.steps/memo.json": chance.randbytes(100),
    }


def put(layout: HomeLayout, files: Files) -> None:
    for folder in ("warehouse", "index_root", "state/shop.steps"):
        shutil.rmtree(layout.home / folder, ignore_errors=True)
    for path, data in files.items():
        (layout.home / path).parent.mkdir(parents=True, exist_ok=True)
        (layout.home / path).write_bytes(data)


def build(layout: HomeLayout, files: Files) -> None:
    with hold_repository(layout, "shop", run_id="build"):
        put(layout, files)


def hydrated(layout: HomeLayout) -> Files:
    """What a worker finds in its folder."""
    with hold_repository(layout, "shop", run_id="look"):
        return {
            path.relative_to(layout.home).as_posix(): path.read_bytes()
            for folder in ("warehouse", "index_root", "state/shop.steps")
            for path in (layout.home / folder).rglob("*")
            if path.is_file()
        }


@pytest.mark.parametrize("size", [600_000, 4_000_000])
def test_bytes_and_requests_of_an_edit_do_not_grow_with_the_repository(
    size: int, worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    build(worker, files_at(0, size=size))
    assert hydrated(second) == files_at(0, size=size)
    size_of_list = len(state_of(objects, "shop").encoded())

    with counted_requests() as requests:
        build(worker, files_at(1, size=size))
    # One object with pieces, and the list of them; the head thrice.
    assert requests == {"get": 1, "put": 5}
    assert requests.sent - size_of_list < 3 * MOST_PIECE_BYTES

    with counted_requests() as requests:
        assert hydrated(second) == files_at(1, size=size)
    assert requests["get"] == 3
    assert requests.fetched - size_of_list < 3 * MOST_PIECE_BYTES


def test_after_many_edits_objects_are_few_and_hold_little_that_is_not_needed(
    worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    count = MOST_SMALL_PARTS + 8
    for number in range(count):
        build(worker, files_at(number, size=300_000))
        manifest = state_of(objects, "shop")
        needed = {piece for pieces in manifest.pieces_of(manifest.files).values() for piece in pieces_noted(pieces)}
        assert len(manifest.parts) <= MOST_SMALL_PARTS + 2
        assert sum(part.size for part in manifest.parts) <= LEAST_WANTED * sum(size for _, size in needed)

    assert hydrated(second) == files_at(count - 1, size=300_000)


def pieces_noted(pieces: bytes) -> list[tuple[bytes, int]]:
    return [
        (pieces[at : at + 32], int.from_bytes(pieces[at + 32 : at + 36], "little")) for at in range(0, len(pieces), 36)
    ]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("at", range(5))
def test_who_is_killed_at_an_upload_leaves_the_old_state_or_the_new_one(
    at: int, worker: HomeLayout, second: HomeLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The uploads: the lease, an object with pieces, the list, the head, the lease again."""
    build(worker, files_at(0))
    count, send = 0, obstore.put

    def send_or_die(*arguments: Any, **keywords: Any) -> Any:
        nonlocal count
        count += 1
        if count > at:
            raise Killed
        return send(*arguments, **keywords)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(obstore, "put", send_or_die)
        build(worker, files_at(1))

    assert hydrated(second) == files_at(at >= 4)
    build(worker, files_at(2))
    assert hydrated(second) == files_at(2)


def test_what_a_worker_sent_that_had_lost_its_lease_is_collected_and_the_others_stays(
    worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    build(worker, files_at(0))
    with pytest.raises(LeaseLost), hold_repository(worker, "shop", run_id="slow"):
        put(worker, files_at(1))
        taken_over(objects)
        build(second, files_at(2))

    assert collect_parts(objects, grace_s=LEAST_GRACE_S, now=later).parts
    assert hydrated(worker) == hydrated(second) == files_at(2)
    named = {part_name(name) for name in state_of(objects, "shop").objects()}
    assert {info.name for info in objects.infos(PARTS)} == {*named, part_name(read_head(objects, "shop").head.state)}


def test_pieces_that_a_state_shares_with_the_next_one_stay_while_what_only_the_old_one_has_waits_for_the_grace(
    worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    build(worker, files_at(0))
    old = state_of(objects, "shop")
    build(worker, files_at(1))

    collect_parts(objects, grace_s=LEAST_GRACE_S)
    assert {part_name(name) for name in old.objects()} <= {info.name for info in objects.infos(PARTS)}
    collect_parts(objects, grace_s=LEAST_GRACE_S, now=later)
    assert hydrated(second) == files_at(1)


@pytest.fixture
def reader(tmp_path: Path, objects: Objects) -> ReadingCopy:
    return ReadingCopy(
        HomeFiles(objects.url, tmp_path / "files"), tmp_path / "reader", changed(ReadingSettings(), fresh_s=0)
    )


def table_of(reader: ReadingCopy) -> bytes:
    reader.bring("shop", "symbols")
    return (reader.layout.home / TABLE).read_bytes()


def test_a_reader_fetches_what_changed_in_a_table_since_it_read_it_last(
    worker: HomeLayout, reader: ReadingCopy, objects: Objects
) -> None:
    build(worker, files_at(0, size=3_000_000))
    reader.refresh()
    assert table_of(reader) == files_at(0, size=3_000_000)[TABLE]
    build(worker, files_at(1, size=3_000_000))
    # Another state, of which it reads another table.
    reader.refresh()
    reader.bring("shop", "documents")
    build(worker, files_at(2, size=3_000_000))
    reader.refresh()

    with counted_requests() as requests:
        assert table_of(reader) == files_at(2, size=3_000_000)[TABLE]
    size_of_list = len(state_of(objects, "shop").encoded())
    assert requests.fetched - size_of_list < 4 * MOST_PIECE_BYTES


def test_a_reader_whose_objects_were_collected_goes_on_with_the_state_that_came_after(
    worker: HomeLayout, reader: ReadingCopy, objects: Objects
) -> None:
    build(worker, files_at(0))
    reader.refresh()
    build(worker, {TABLE: b"another table"})
    assert collect_parts(objects, grace_s=LEAST_GRACE_S, now=later).parts

    assert table_of(reader) == b"another table"


def test_a_bucket_of_an_earlier_version_is_taken_over(worker: HomeLayout, second: HomeLayout, objects: Objects) -> None:
    files = files_at(0, size=2 * PART_BYTES)
    for data in files.values():
        objects.put(part_name(sha256_hex(data)), data)
    kept = {
        path: StateFile(part=sha256_hex(data), size=len(data), modified_ns=10**18 + number)
        for number, (path, data) in enumerate(files.items())
    }
    older = StateManifest(format=1, files=kept).encoded()
    objects.put(part_name(sha256_hex(older)), older)
    objects.create(head_name("shop"), RepositoryHead(state=sha256_hex(older)).encoded())

    assert hydrated(worker) == files
    edited = {**files, "state/shop.steps/memo.json": b"another"}
    with counted_requests() as requests:
        build(worker, edited)
    assert requests.sent < MOST_PIECE_BYTES
    assert hydrated(second) == edited
    build(second, files_at(1, size=2 * PART_BYTES))
    assert not any(file.is_whole for file in state_of(objects, "shop").files.values())
    assert hydrated(worker) == files_at(1, size=2 * PART_BYTES)


def test_two_contents_that_change_places_are_not_mixed_up(worker: HomeLayout, second: HomeLayout) -> None:
    one, other = "state/shop.steps/one.json", "state/shop.steps/other.json"
    contents: list[Mapping[str, bytes]] = [{one: b"1", other: b"2"}, {one: b"2", other: b"1"}, {one: b"3", other: b"2"}]
    for files in contents:
        build(worker, dict(files))
        assert hydrated(second) == files


def test_a_file_that_vanished_from_a_workers_folder_is_fetched_again(worker: HomeLayout) -> None:
    build(worker, files_at(0))
    (worker.home / VERSION / "0" / "summary.jsonl").unlink()

    with counted_requests() as requests:
        assert hydrated(worker) == files_at(0)
    # The other file with its content is here.
    assert requests.fetched < MOST_PIECE_BYTES


@pytest.mark.parametrize("what", ["missing", "changed", "list"])
def test_what_the_bucket_lost_is_sent_again_by_who_has_it(
    what: str, worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    build(worker, files_at(0))
    build(worker, files_at(1))
    state = read_head(objects, "shop").head.state
    lost = part_name(state if what == "list" else state_of(objects, "shop").parts[-1].name)
    if what == "changed":
        data = bytearray(objects.get(lost).data)
        data[len(data) // 2] ^= 1
        objects.put(lost, bytes(data))
    else:
        objects.delete([lost])

    with pytest.raises(BrokenStore, match=lost):
        hydrated(second)
    if what == "list":
        with pytest.raises(BrokenStore, match=lost):
            send_again(second, "shop", run_id="doctor")
    else:
        broken, is_sent = send_again(second, "shop", run_id="doctor")
        assert ([name for name, _ in broken], is_sent) == ([lost], False)
    with counted_requests() as requests:
        broken, is_sent = send_again(worker, "shop", run_id="doctor")
    assert ([name for name, _ in broken], is_sent) == ([lost], True)
    # What is whole stays where it is.
    assert requests.sent < 3 * MOST_PIECE_BYTES

    assert send_again(worker, "shop", run_id="doctor") == ([], False)
    assert hydrated(second) == files_at(1)


def test_while_a_repository_is_built_nothing_is_sent_again(
    worker: HomeLayout, second: HomeLayout, objects: Objects
) -> None:
    build(worker, files_at(0))
    objects.delete([part_name(state_of(objects, "shop").parts[0].name)])

    with hold_repository(worker, "shop", run_id="build"), pytest.raises(LeaseHeld, match="run build"):
        send_again(worker, "shop", run_id="doctor")
