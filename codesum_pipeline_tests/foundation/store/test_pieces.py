"""Files as pieces, and which objects are kept where files change."""

import random
from operator import attrgetter
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.foundation.data_model.hashing import sha256_of_file
from codesum_pipeline.foundation.store.object_storage import pieces
from codesum_pipeline.foundation.store.object_storage.pieces import (
    MOST_PIECE_BYTES,
    PART_BYTES,
    PIECE_BYTES,
    FilePiece,
    StatePart,
    choose_parts,
    cut_file,
    from_bytes,
    place_pieces,
    runs_of,
    to_bytes,
)


def piece(name: int, size: int = PIECE_BYTES) -> FilePiece:
    return FilePiece(name.to_bytes(32, "big"), size)


def part(name: str, *held: FilePiece) -> StatePart:
    return StatePart(name, to_bytes(held))


@pytest.mark.parametrize("size", [0, 1, 5_000, 1_000_000])
def test_pieces_make_up_the_file(tmp_path: Path, size: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(random.Random(size).randbytes(size))

    found, cut = cut_file(file)

    assert (found, sum(each.size for each in cut)) == (sha256_of_file(file), size)
    assert all(0 < each.size <= MOST_PIECE_BYTES for each in cut)
    assert from_bytes(to_bytes(cut)) == cut


def test_equal_bytes_are_cut_off_by_their_length_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(10 * MOST_PIECE_BYTES))

    assert {each.size for each in cut_file(file)[1]} <= {MOST_PIECE_BYTES, PIECE_BYTES // 4}


@pytest.mark.parametrize("at", [0, 700_000, 1_999_999])
def test_bytes_that_come_between_change_few_pieces(tmp_path: Path, at: int) -> None:
    data, file = random.Random(1).randbytes(2_000_000), tmp_path / "file"
    file.write_bytes(data)
    before = cut_file(file)[1]
    file.write_bytes(data[:at] + b"some more" + data[at:])

    assert len({*cut_file(file)[1]} - {*before}) <= 3
    assert len(before) > 30


def test_what_notes_no_pieces_is_refused() -> None:
    with pytest.raises(ValueError, match="35 bytes note no pieces"):
        from_bytes(bytes(35))


def test_numbers_become_runs() -> None:
    assert runs_of([3, 4, 5, 1, 2, 9, 9]) == ((3, 3), (1, 2), (9, 1), (9, 1))
    assert runs_of([]) == ()


def test_new_pieces_are_grouped_up_to_the_size_of_an_object() -> None:
    some = [piece(number) for number in range(2 * PART_BYTES // PIECE_BYTES + 1)]

    groups = bounded_batches(some, attrgetter("size"), most=PART_BYTES)

    assert [len(group) for group in groups] == [PART_BYTES // PIECE_BYTES] * 2 + [1]


def test_a_part_of_which_less_than_a_quarter_is_wanted_is_not_kept() -> None:
    quarter, less = part("quarter", *map(piece, range(1, 5))), part("less", *map(piece, range(5, 10)))

    assert choose_parts([quarter, less], {piece(1), piece(5)}) == [quarter]


def test_what_another_part_has_too_counts_once() -> None:
    first, second = part("first", piece(1), piece(2)), part("second", piece(1), piece(2))

    assert choose_parts([first, second], {piece(1), piece(2)}) == [first]


@pytest.mark.parametrize("count", [pieces.MOST_SMALL_PARTS, pieces.MOST_SMALL_PARTS + 1])
def test_many_small_parts_become_few(count: int) -> None:
    large = part("large", *(piece(number, MOST_PIECE_BYTES) for number in range(1_000, 1_032)))
    small = [part(str(number), piece(number)) for number in range(count)]
    wanted = {placed.piece for placed in place_pieces([large, *small])}

    are_kept = count == pieces.MOST_SMALL_PARTS
    assert choose_parts([large, *small], wanted) == [large, *(small if are_kept else [])]
