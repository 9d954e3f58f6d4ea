"""The homes in buckets that this process has opened."""

import math
from pathlib import Path

from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings
from codesum_pipeline.foundation.store.layout import BucketPlace, LocalFiles
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline.foundation.store.object_storage.reading_copy import ReadingCopy


class OpenedHomes:
    """Each bucket, each folder of a home's own files and each copy for readers once, however many threads ask for it:
    two would ask the bucket twice, and write one folder at the same time."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, float], Objects] = {}
        self._files: dict[Path, HomeFiles] = {}
        self._copies: dict[Path, ReadingCopy] = {}

    def objects(self, place: BucketPlace, *, most_retry_s: float = math.inf) -> Objects:
        """The objects of a bucket; a request is tried again for `most_retry_s` at most."""
        wanted = (place.url, min(place.storage.retry_s, most_retry_s))
        if wanted not in self._objects:
            # Nothing is asked of the bucket yet; of two threads, both get what the first opened.
            self._objects.setdefault(wanted, open_objects(place.url, retry_s=wanted[1]))
        return self._objects[wanted]

    def home_files(self, url: str, folder: Path) -> HomeFiles:
        """The home's own files, copied to `folder`."""
        return self._files.setdefault(folder, HomeFiles(url, folder))

    def reading_copy(
        self, files: HomeFiles, folder: Path, reading: ReadingSettings, *, is_offline: bool
    ) -> ReadingCopy:
        """The copy at `folder` for readers of the home with these files."""
        return self._copies.setdefault(folder, ReadingCopy(files, folder, reading, is_offline=is_offline))

    def local_files(self, url: str, folder: Path) -> LocalFiles:
        """The files at `folder`: a copy for readers if one was opened there, else the home's own."""
        return self._copies.get(folder) or self.home_files(url, folder)


OPENED_HOMES = OpenedHomes()
