"""Files of a state that go to a bucket as pieces and come back."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import json, structs

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.object_storage import state_files
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline.foundation.store.object_storage.pieces import (
    MOST_PIECE_BYTES,
    PART_BYTES,
    FilePiece,
    PlacedPiece,
    cut_file,
)
from codesum_pipeline.foundation.store.object_storage.state_files import (
    CutFile,
    PieceSource,
    fetch_files,
    read_files,
    send_files,
)
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    PartGone,
    StateFile,
    StateManifest,
    part_name,
    read_manifest,
)
from codesum_pipeline_tests.support.requests import counted_requests

Contents = Mapping[str, bytes]


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return open_objects(f"memory://{tmp_path}")


def some_bytes(number: int, size: int) -> bytes:
    return random.Random(number).randbytes(size)


def sent(objects: Objects, home: Path, contents: Contents, base: StateManifest = StateManifest()) -> StateManifest:  # noqa: B008
    files = {}
    for path, data in contents.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(data)
        part, pieces = cut_file(home / path)
        files[path] = CutFile(StateFile(part=part, size=len(data), modified_ns=10**18), pieces)
    return send_files(objects, home, files, base, transfers=2)


def fetched(
    objects: Objects,
    manifest: StateManifest,
    folder: Path,
    *paths: str,
    here: Mapping[FilePiece, PieceSource] | None = None,
) -> Contents:
    folder.mkdir()
    fetch_files(objects, manifest, paths or manifest.files.keys(), folder, here=here or {}, transfers=2)
    assert {path.stat().st_mtime_ns for path in folder.iterdir()} == {10**18}
    return {path: (folder / manifest.files[path].part).read_bytes() for path in paths or manifest.files}


CONTENTS = {
    "empty": b"",
    "large": some_bytes(1, 3 * PART_BYTES),
    "small": b"some text",
    "twice": b"some text",
    "zeros": bytes(5 * MOST_PIECE_BYTES),
}


def test_what_was_sent_is_fetched_again(objects: Objects, tmp_path: Path) -> None:
    manifest = sent(objects, tmp_path / "home", CONTENTS)

    assert fetched(objects, manifest, tmp_path / "all") == CONTENTS
    assert fetched(objects, manifest, tmp_path / "one", "small") == {"small": b"some text"}
    assert read_files(objects, manifest, ["small", "twice", "large", "none"]) == {
        path: CONTENTS[path] for path in ("small", "twice", "large")
    }


def test_objects_have_their_size_at_most_and_equal_pieces_are_sent_once(objects: Objects, tmp_path: Path) -> None:
    with counted_requests() as requests:
        manifest = sent(objects, tmp_path / "home", CONTENTS)

    assert max(part.size for part in manifest.parts) <= PART_BYTES
    assert requests["put"] == len(manifest.parts) == 4
    assert requests.sent < 3 * PART_BYTES + 2 * MOST_PIECE_BYTES


@pytest.mark.parametrize("size", [PART_BYTES, 4 * PART_BYTES])
def test_bytes_and_requests_after_an_edit_do_not_grow_with_the_files(
    objects: Objects, tmp_path: Path, size: int
) -> None:
    data = some_bytes(2, size)
    before = sent(objects, tmp_path / "home", {"a": data, "b": data[: size // 2]})
    edited = {"a": data[: size // 3] + b"an edit" + data[size // 3 + 3 :], "b": data[: size // 2]}

    with counted_requests() as requests:
        after = sent(objects, tmp_path / "home", edited, before)

    assert (requests["put"], requests.sent < 3 * MOST_PIECE_BYTES) == (1, True)
    with counted_requests() as requests:
        here = {piece: PieceSource(tmp_path / "home" / "b", 0) for piece in cut_file(tmp_path / "home" / "b")[1][:1]}
        assert fetched(objects, after, tmp_path / "all", here=here) == edited
    # Less than all, since one piece was here.
    assert requests.fetched < size + 3 * MOST_PIECE_BYTES


def test_pieces_that_are_here_are_not_fetched_and_damaged_ones_are(objects: Objects, tmp_path: Path) -> None:
    home = tmp_path / "home"
    manifest = sent(objects, home, {"large": CONTENTS["large"]})
    here, start = {}, 0
    for piece in cut_file(home / "large")[1]:
        here[piece] = PieceSource(home / "large", start)
        start += piece.size
    with counted_requests() as requests:
        assert fetched(objects, manifest, tmp_path / "all", here=here)["large"] == CONTENTS["large"]
    assert requests.fetched == 0

    with (home / "large").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"damage")
        file.truncate(2 * PART_BYTES)
    with counted_requests() as requests:
        assert fetched(objects, manifest, tmp_path / "again", here=here)["large"] == CONTENTS["large"]
    assert 0 < requests.fetched <= PART_BYTES + 4 * MOST_PIECE_BYTES


@pytest.mark.parametrize(("gap", "requests"), [(0, 1), (state_files._GAP_BYTES, 1), (state_files._GAP_BYTES + 1, 2)])
def test_pieces_that_lie_close_together_are_fetched_by_one_request(gap: int, requests: int) -> None:
    placed = [PlacedPiece(FilePiece(b"", 10), 0, 0), PlacedPiece(FilePiece(b"", 10), 0, 10 + gap)]

    assert len([*state_files._spans(placed, {0, 1})]) == requests
    assert len([*state_files._spans([placed[0], placed[1]._replace(part=1)], {0, 1})]) == 2


def test_a_file_of_an_earlier_version_stays_an_object_until_it_changes(objects: Objects, tmp_path: Path) -> None:
    data = CONTENTS["large"]
    file = StateFile(part=sha256_hex(data), size=len(data), modified_ns=10**18)
    objects.put(part_name(file.part), data)
    older = StateManifest(format=1, files={"large": file})
    assert fetched(objects, older, tmp_path / "older") == read_files(objects, older, ["large"]) == {"large": data}

    with counted_requests() as requests:
        same = sent(objects, tmp_path / "home", {"large": data, "new": b"new"}, older)
    assert (requests.sent, same.files["large"]) == (3, file)
    assert fetched(objects, same, tmp_path / "same") == {"large": data, "new": b"new"}

    edited = sent(objects, tmp_path / "home", {"large": data + b"more"}, same)
    assert not edited.files["large"].is_whole
    assert fetched(objects, edited, tmp_path / "edited") == {"large": data + b"more"}


def damage(objects: Objects, name: str, how: str) -> None:
    data = objects.get(name)
    assert data
    if how == "missing":
        objects.delete([name])
    else:
        objects.put(name, {"cut off": data.data[:5], "empty": b"", "changed": data.data[:-1] + b"?"}[how])


@pytest.mark.parametrize("how", ["missing", "cut off", "empty", "changed"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_a_damaged_object_is_named_with_a_file_that_needs_it(
    objects: Objects, tmp_path: Path, how: str, is_whole: bool
) -> None:
    file = StateFile(part=sha256_hex(b"some text"), size=9, modified_ns=10**18)
    objects.put(part_name(file.part), b"some text")
    older = StateManifest(files={"notes": file})
    manifest = older if is_whole else sent(objects, tmp_path / "home", {"notes": b"some text"})
    [(name, paths)] = manifest.paths_by_object().items()
    assert paths == ["notes"]
    damage(objects, part_name(name), how)

    kind, text = (PartGone, "is not there") if how == "missing" else (BrokenStore, "has another content")
    for fetch in (
        lambda: fetched(objects, manifest, tmp_path / "all"),
        lambda: read_files(objects, manifest, ["notes"]),
    ):
        with pytest.raises(kind, match=f"{name} {text}.*notes"):
            fetch()


HOSTILE: dict[str, dict[str, Any]] = {
    "a run behind the end": {"runs": ((0, 2),)},
    "a run before the beginning": {"runs": ((-1, 1),)},
    "a run of nothing": {"runs": ((0, 0),)},
    "another size": {"size": 10},
    "no pieces": {"runs": (), "size": 0, "parts": b"?"},
    "an enormous piece": {"size": 2**31, "parts": bytes(32) + (2**31).to_bytes(4, "little")},
    "a piece of nothing": {"size": 0, "parts": bytes(36)},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_manifest_that_makes_no_sense_is_refused(objects: Objects, tmp_path: Path, what: str) -> None:
    manifest = sent(objects, tmp_path / "home", {"notes": b"some text"})
    changes = dict(HOSTILE[what])
    parts = changes.pop("parts", manifest.parts[0].pieces)
    hostile = StateManifest(
        files={"notes": structs.replace(manifest.files["notes"], **changes)},
        parts=(structs.replace(manifest.parts[0], pieces=parts),),
    ).encoded()
    objects.put(part_name(sha256_hex(hostile)), hostile)

    with pytest.raises(BrokenStore, match=r"pieces|piece of"):
        read_manifest(objects, sha256_hex(hostile))


def test_a_manifest_of_a_later_version_is_refused(objects: Objects) -> None:
    later = json.encode({"format": 3})
    objects.put(part_name(sha256_hex(later)), later)

    with pytest.raises(BrokenStore, match="a later version of codesum"):
        read_manifest(objects, sha256_hex(later))
