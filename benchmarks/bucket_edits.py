"""What a bucket receives, and what those who read it fetch, after small changes of a repository.

    python -m benchmarks.bucket_edits REPOSITORY [--home FOLDER] [--kinds "edited body" ...] [--repeat 1]

As for `benchmarks.edits`, the repository is copied, the copy is changed, and `--home` has an index already or keeps the
one that is made. After each build the home is committed to a bucket in this process's memory. Another worker, and a
reader of the published index, follow it in folders of their own. *Whole files* are the bytes and objects that would be
sent if each file whose content is new were an object.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.edits import KEY, Changes, copy_beside, measure_steps
from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings, StorageSettings
from codesum_pipeline.foundation.store.layout import INDEX, BucketPlace, HomeLayout
from codesum_pipeline.foundation.store.object_storage.bucket_record import BucketRecord, open_record
from codesum_pipeline.foundation.store.object_storage.head_lease import take_head
from codesum_pipeline.foundation.store.object_storage.heads import read_head
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline.foundation.store.object_storage.reading_copy import ReadingCopy
from codesum_pipeline.foundation.store.object_storage.state_manifest import StateManifest, read_manifest
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.requests import Requests, counted_requests
from codesum_pipeline_tests.support.settings import changed

FIRST = "first build"
_MB = 1e6


class Exchange(NamedTuple):
    """Requests and bytes of one party, and the processor seconds that it took."""

    requests: Requests
    seconds: float

    def cells(self) -> str:
        """As cells of a table."""
        asked = self.requests
        return (
            f"{asked['put']} | {asked.sent / _MB:.2f} | {asked['get']} | {asked.fetched / _MB:.2f} | {self.seconds:.2f}"
        )


class FollowedBucket:
    """A bucket, the worker whose home is committed to it, another worker and a reader."""

    def __init__(self, home: Path, others: Path) -> None:
        self._objects = open_objects(f"memory://{others}")
        self._place = BucketPlace(self._objects.url, StorageSettings())
        self._worker, self._other = (HomeLayout(folder, self._place) for folder in (home, others / "worker"))
        files = HomeFiles(self._objects.url, others / "files")
        self._reader = ReadingCopy(files, others / "reader", changed(ReadingSettings(), fresh_s=0))
        self._contents: dict[str, int] = {}

    def commit(self) -> Exchange:
        """Commit the home of the worker."""
        with _exchange() as found:
            # Not brought up to date: the build, which went before, held no lease.
            lease = take_head(self._objects, KEY, run_id="measured", lease_s=self._place.storage.lease_s)
            record = BucketRecord(self._worker, KEY, self._objects, lease, transfers=self._place.storage.transfers)
            record.commit()
            record.close()
        return found[0]

    def follow(self) -> Exchange:
        """Bring the other worker's folder up to date."""
        with _exchange() as found:
            open_record(self._other, KEY, run_id="other", wait_s=0).close()
        return found[0]

    def read(self) -> Exchange:
        """Bring the reader's copy of the published index up to date."""
        with _exchange() as found:
            self._reader.refresh()
            self._reader.bring(KEY, INDEX)
        return found[0]

    def take_new_files(self) -> tuple[int, int]:
        """How many files of the state have a content that none had at the last call, and their bytes."""
        before, self._contents = self._contents, {file.part: file.size for file in self.manifest.files.values()}
        new = self._contents.keys() - before.keys()
        return len(new), sum(map(self._contents.__getitem__, new))

    @property
    def manifest(self) -> StateManifest:
        """The state of the bucket."""
        found = read_head(self._objects, KEY)
        assert found and found.head.state
        return read_manifest(self._objects, found.head.state)


@contextmanager
def _exchange() -> Iterator[list[Exchange]]:
    found: list[Exchange] = []
    started = time.process_time()
    with counted_requests() as requests:
        yield found
    found.append(Exchange(requests, time.process_time() - started))


def measure(home: Path, copy: Path, kinds: list[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The row of each change, and of the first commit."""
    changes = Changes(GitRepo(copy), home)
    with tempfile.TemporaryDirectory() as others:
        bucket = FollowedBucket(home, Path(others))
        for kind in (FIRST, *kinds):
            if kind != FIRST:
                changes.make(kind)
                measure_steps(home)
            committed = bucket.commit()
            files, size = bucket.take_new_files()
            parts = bucket.manifest.parts
            yield (
                kind,
                {
                    "whole files": f"{files} | {size / _MB:.1f}",
                    "worker": committed.cells(),
                    "other worker": bucket.follow().cells(),
                    "reader": bucket.read().cells(),
                    "parts": f"{len(parts)} | {sum(part.size for part in parts) / _MB:.1f}",
                },
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["edited body", "added line", "new function"])
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = (arguments.home or Path(scratch) / "home").resolve()
        copy = copy_beside(home, arguments.repository)
        if not arguments.home:
            measure_steps(home)
        for kind, cells in measure(home, copy, arguments.kinds * arguments.repeat):
            print(" | ".join([kind, *cells.values()]), flush=True)


if __name__ == "__main__":
    main()
