"""The texts of a version's files one after the other, in one file that is mapped into memory.

It is made from the mirror when somebody first asks for lines of the version; the texts of files that did not change
are copied from the file of another version. Nothing in it is masked, so it stays in the home of this machine: it is
never published, and never sent to a bucket.
"""

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import NOTEBOOK
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Bytes, map_bytes, map_npy, write_npy
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import lines_of
from codesum_pipeline.source.files.notebooks import NOTEBOOKS_VERSION
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.source.git.trees import read_tree, tree_of_commit

_TEXT, _STARTS, _FILES = "text", "starts.npy", "files.json"
_ASIDE = ".aside-"
_BUFFER = 1 << 20

# What the text of a file is made from: its path, its blob, and its encoding where that is not UTF-8; of a notebook what
# reads it.
FileKey = tuple[str, str, str]


class PackedTexts(Struct, frozen=True):
    """The lines of the k-th file of an index, in the order of its rows, are the bytes `starts[k]` to `starts[k + 1]` of
    `text`: UTF-8, the last line with an end, too. A file that the mirror lacks has none."""

    text: Bytes
    starts: Array

    def of_file(self, number: int) -> Bytes:
        return self.text[self.starts[number] : self.starts[number + 1]]

    @classmethod
    def map_folder(cls, folder: Path) -> "PackedTexts":
        """Open what was kept. Raises `OSError` where nothing is, and `ValueError` where it is not whole."""
        found = cls(map_bytes(folder / _TEXT), map_npy(folder / _STARTS))
        if len(found.text) != int(found.starts[-1]):
            raise ValueError(f"{folder} is not whole")
        # The last use, by which the oldest are deleted; a home may be read-only.
        with suppress(OSError):
            os.utime(folder)
        return found


class KeptTexts(Struct, frozen=True):
    """The texts that a home keeps of one repository: a folder for each version, of at most `most_bytes` with those of
    all other repositories. `others` are such folders of the same repository in other homes."""

    folder: Path
    most_bytes: int
    others: tuple[Path, ...] = ()

    def open(self, index: PublishedIndex, mirror: Path, *, timeout_s: float) -> tuple[PackedTexts, str]:
        """The texts of an index, made from its `mirror` where they are not kept; and why they cannot be kept, empty if
        they are. Raises `RepositoryUnavailable` where git cannot read the commit."""
        kept = self.folder / index.version.digest
        with suppress(OSError, ValueError):
            return PackedTexts.map_folder(kept), ""
        try:
            with lock_exclusively(self.folder.with_name(f".{self.folder.name}.lock")):
                # Another process may have made them meanwhile.
                with suppress(OSError, ValueError):
                    return PackedTexts.map_folder(kept), ""
                return self._make(index, mirror, kept, timeout_s), ""
        except OSError as error:
            with tempfile.TemporaryDirectory(prefix="codesum-") as aside:
                self._write(index, mirror, Path(aside), timeout_s)
                return PackedTexts.map_folder(Path(aside)), f"{self.folder}: {error.strerror or error}"

    def _make(self, index: PublishedIndex, mirror: Path, kept: Path, timeout_s: float) -> PackedTexts:
        self.folder.mkdir(parents=True, exist_ok=True)
        aside = self.folder / f"{_ASIDE}{uuid.uuid4().hex}"
        aside.mkdir()
        try:
            is_whole = self._write(index, mirror, aside, timeout_s)
            found = PackedTexts.map_folder(aside)
            # Those of other versions, what killed processes left, and a damaged folder of this one.
            for path in self.folder.iterdir():
                if path != aside:
                    shutil.rmtree(path, ignore_errors=True)
            # A mirror that lacks files may have them later.
            if is_whole:
                aside.rename(kept)
                drop_least_used(self.folder.parent, self.most_bytes)
            return found
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _write(self, index: PublishedIndex, mirror: Path, aside: Path, timeout_s: float) -> bool:
        """Write the texts into a folder; returns whether the mirror has all files."""
        keys = _keys_of(index, mirror, timeout_s)
        known = _known_texts([self.folder, *self.others], aside)
        missing = [key for key in keys if key not in known]
        ends, is_whole = [0], True
        with (aside / _TEXT).open("wb", buffering=_BUFFER) as file, closing(_read(mirror, missing)) as texts:
            for key in keys:
                stop_if_cancelled()
                text = known[key].data if key in known else next(texts)
                is_whole = is_whole and text is not None
                ends.append(ends[-1] + (file.write(text) if text is not None else 0))
        write_npy(aside / _STARTS, np.array(ends, dtype=np.int64))
        (aside / _FILES).write_text(json.dumps(keys), encoding="utf-8")
        return is_whole


def _keys_of(index: PublishedIndex, mirror: Path, timeout_s: float) -> list[FileKey]:
    tree, encodings = tree_of_commit(mirror, index.commit), index.version.encodings
    blobs = {
        file.path.decode("utf-8", "replace"): file.blob for file in read_tree(tree, git_dir=mirror, timeout_s=timeout_s)
    }
    paths = (index.ids[row] for row in index.rows_at(Level.FILE))
    read_as = {path: NOTEBOOKS_VERSION if name == NOTEBOOK else name for path, name in encodings.items()}
    return [(path, blobs.get(path, ""), read_as.get(path, "")) for path in paths]


def _read(mirror: Path, keys: Sequence[FileKey]) -> Generator[bytes | None, None, None]:
    """The text of each file; None for one that the mirror lacks, empty for what is no text."""
    with BlobReader(mirror) as reader:
        contents = reader.read_many(blob for _, blob, _ in keys if blob)
        for path, blob, read_as in keys:
            encoding = NOTEBOOK if read_as == NOTEBOOKS_VERSION else read_as
            data = next(contents) if blob else None
            try:
                yield None if data is None else lines_of(path, data, encoding or None)
            except SkippedFile:
                yield b""


def _known_texts(folders: Sequence[Path], aside: Path) -> Mapping[FileKey, Bytes]:
    """The texts that are kept in some folders, of any version."""
    found: dict[FileKey, Bytes] = {}
    for folder in folders:
        for version in folder.iterdir() if folder.is_dir() else ():
            with suppress(OSError, ValueError):
                if version != aside:
                    packed = PackedTexts.map_folder(version)
                    keys = json.loads((version / _FILES).read_bytes())
                    found.update((tuple(key), packed.of_file(number)) for number, key in enumerate(keys))
    return found


def drop_least_used(top: Path, most_bytes: int) -> None:
    """Delete the texts that were searched longest ago, until those of all repositories below `top` have at most so many
    bytes. Opened ones stay readable."""
    sizes: dict[Path, tuple[float, int]] = {}
    for text in top.glob(f"*/*/{_TEXT}"):
        with suppress(OSError):
            sizes[text.parent] = text.parent.stat().st_mtime, text.stat().st_size
    total = sum(size for _, size in sizes.values())
    for folder, (_, size) in sorted(sizes.items(), key=lambda each: (each[1], each[0])):
        if total <= most_bytes:
            return
        total -= size
        shutil.rmtree(folder, ignore_errors=True)
