"""Whether a bucket still has what the head of a repository names, byte by byte, whatever this worker has a copy of."""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from codesum_pipeline.store.bucket_place import BucketPlace
from codesum_pipeline.store.heads import part_name, read_head, read_manifest
from codesum_pipeline.store.part_notes import hash_of_file


@dataclass(frozen=True, slots=True)
class BrokenPart:
    """An object of a bucket that is not there or not what its name says, and a file that it is."""

    name: str
    file: str
    is_missing: bool


def broken_parts(place: BucketPlace, key: str, *, near: Path) -> list[BrokenPart]:
    """Those that the newest state of a repository needs; each is fetched once, into a folder beside `near`.

    Raises `BucketUnavailable`, and `BrokenStore` where the list of them is broken.
    """
    state = _state(place, key)
    broken = list(_broken(place, state, near)) if state else []
    # What a build has replaced meanwhile may be gone.
    return broken if not broken or _state(place, key) == state else broken_parts(place, key, near=near)


def _state(place: BucketPlace, key: str) -> str | None:
    found = read_head(place.objects(), key)
    return found[0].state if found else None


def _broken(place: BucketPlace, state: str, near: Path) -> Iterator[BrokenPart]:
    objects = place.objects()
    files: dict[str, list[str]] = defaultdict(list)
    for path, file in read_manifest(objects, state).files.items():
        files[file.part].append(path)
    near.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=near, prefix=".parts-") as folder,
        ThreadPoolExecutor(place.storage.transfers) as threads,
    ):

        def look(part: str) -> BrokenPart | None:
            copy = Path(folder) / part
            if not objects.download(part_name(part), copy):
                return BrokenPart(part_name(part), min(files[part]), is_missing=True)
            is_whole = hash_of_file(copy) == part
            copy.unlink()
            return None if is_whole else BrokenPart(part_name(part), min(files[part]), is_missing=False)

        yield from filter(None, threads.map(look, sorted(files)))
