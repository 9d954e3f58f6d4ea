"""One version of a published index: a folder named by the sha256 of its manifest, which lists its files.

A lane is one way to look at a document, and can be searched alone.
"""

import json
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.data_model.hashing import (
    canonical_json,
    identify_algorithms,
    sha256_hex,
    sha256_of_file,
)
from codesum_pipeline.foundation.store.layout import INDEX_MANIFEST, HomeLayout


class Lane(StrEnum):
    """`summary` is dense and BM25, `fused` dense, `code` and `keywords` BM25, `symbol` names."""

    CODE = "code"
    SUMMARY = "summary"
    FUSED = "fused"
    KEYWORDS = "keywords"
    SYMBOL = "symbol"


LANES = tuple(Lane)
DENSE_LANES = (Lane.FUSED, Lane.SUMMARY)
TERM_LANES = (Lane.CODE, Lane.KEYWORDS, Lane.SUMMARY)


# Raised when a file changes its name, form or meaning; a reader refuses what it does not know.
INDEX_SCHEMA_VERSION = 9
# Also changes where a file comes that a reader can do without, or scores are others: then versions are written anew.
INDEX_FILES_VERSION = f"{INDEX_SCHEMA_VERSION}.0"

MANIFEST = "manifest.json"
DOCUMENTS = "summary.jsonl"
EMBEDDINGS = "dense/embeddings.pt"
INDEX_MAP = "dense/index_map.json"
KEYWORDS_VOCABULARY = "bm25/vocab.json"
KEYWORDS_METADATA = "bm25/metadata.jsonl"

# Where each line of `summary.jsonl` starts, in bytes, and where the last one ends.
OFFSETS = "documents/offsets.npy"
DOCUMENT_ARRAYS = "documents/arrays.npz"
# What a hit shows of each document.
SHOWN_FIELDS = "documents/shown.npz"
# Who calls each document.
CALLERS = "documents/callers.npz"
# Who uses each function, class and file, how, and whether a compiler's index confirms it.
USES = "documents/uses.npz"
# Who uses each constant.
CONSTANTS = "documents/constants.npz"
# The document of each passage.
PASSAGES = "code/passages.npy"
# The long function that each passage is in.
PASSAGE_OWNERS = "code/owners.npy"
SYMBOL_NAMES = "symbol/names.npz"
# The words of each document in each BM25 lane; in `code` those of each passage of a file come after them.
BM25_FILES = {Lane.CODE: "code/bm25.npz", Lane.KEYWORDS: "bm25/index.npz", Lane.SUMMARY: "summary/bm25.npz"}
# Rows as in `embeddings.pt`, which is the `summary` lane.
FUSED = "dense/fused.npy"
VECTOR_FILES = {Lane.FUSED: FUSED, Lane.SUMMARY: EMBEDDINGS}

# Prefix of folders beside the versions into which a build is writing, or was when it was killed.
ASIDE = ".aside-"

# The fields of a document that say when, why and in which run its text was written.
PROVENANCE_FIELDS = ("last_updated", "cause", "cause_ids", "commit", "run_id")
# Manifest fields that say which commit an index is of, not what is in it.
_STAND_FIELDS = ("commit", "tree", "fingerprint", "settings", "content_digest")

Manifest = dict[str, Any]


class Version(Struct, frozen=True):
    """A folder, its name and what its manifest says."""

    folder: Path
    digest: str
    manifest: Manifest

    @property
    def encodings(self) -> Mapping[str, str]:
        """The encodings of the files that are not in UTF-8, by path."""
        found: Mapping[str, str] = self.manifest.get("encodings", {})
        return found

    @property
    def submodules(self) -> Mapping[str, str]:
        """The addresses of the submodules in it, by folder."""
        found: Mapping[str, str] = self.manifest.get("submodules", {})
        return found

    def damaged_files(self, *, read_content: bool) -> list[str]:
        """The files that are missing or differ from the manifest; only their sizes are compared unless
        `read_content`."""
        return [name for name in sorted(self.manifest["files"]) if not self.is_whole(name, read_content=read_content)]

    def is_whole(self, name: str, *, read_content: bool) -> bool:
        """Whether a file is there as the manifest says: its size, and with `read_content` its sha256."""
        entry = self.manifest["files"].get(name)
        # A tick checks ten thousand indexes: building a `Path` takes longer than asking for the size.
        path = f"{self.folder}{os.sep}{name}"
        try:
            is_as_large: bool = entry is not None and os.stat(path).st_size == entry["bytes"]  # noqa: PTH116
            return is_as_large and not (read_content and sha256_of_file(Path(path)) != entry["sha256"])
        except OSError:
            return False


def read_version(folder: Path) -> Version:
    """Read the manifest of a version folder; raises `BrokenIndex`, or `FileNotFoundError` where there is none."""
    data = (folder / MANIFEST).read_bytes()
    digest = sha256_hex(data)
    if digest != folder.name:
        raise BrokenIndex(f"{folder / MANIFEST}: its sha256 is {digest}, not the name of its folder")
    return Version(folder=folder, digest=digest, manifest=json.loads(data))


def version_at(name: Path) -> Version | None:
    """The version that a published name points at, None if it does not exist; raises `BrokenIndex`."""
    if not os.path.lexists(name):
        return None
    try:
        return read_version(name.parent / name.readlink())
    except FileNotFoundError as error:
        raise BrokenIndex(f"{error.filename} is missing: run `codesum doctor`") from error
    except OSError as error:
        raise BrokenIndex(str(error)) from error


class PublishedState(Struct, frozen=True):
    """One repository's published index; where `problem` says that it cannot be read, the manifest is empty."""

    published_at: float
    manifest: Manifest
    problem: str | None = None

    @property
    def commit(self) -> str | None:
        return self.manifest.get("commit")

    def count(self, name: str) -> int | None:
        found: int | None = self.manifest.get("counts", {}).get(name)
        return found


def read_published(layout: HomeLayout, key: str) -> PublishedState | None:
    """The state of a repository's index; None if none was published."""
    layout.files.bring(key, INDEX_MANIFEST)
    name = layout.published(key)
    try:
        version = version_at(name)
    except BrokenIndex as error:
        return PublishedState(name.lstat().st_mtime, {}, str(error))
    return PublishedState(name.lstat().st_mtime, version.manifest) if version else None


class PublishedBrief(Struct, frozen=True):
    """What tells which version is published, and from what it was made: the `algorithms` as `identify_algorithms` names
    them, or the `versions` of all that a manifest lists, and hashes of `settings`."""

    commit: str
    fingerprint: str
    published_at: float
    algorithms: str = ""
    versions: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}

    def is_made_by(self, algorithms: str) -> bool:
        """Whether these algorithms made it, and not those of another version of codesum."""
        return (identify_algorithms(self.versions) if self.versions else self.algorithms) == algorithms


class _BriefManifest(Struct, frozen=True):
    commit: str
    fingerprint: str
    versions: dict[str, str] = {}
    settings: dict[str, str] = {}


def read_brief(layout: HomeLayout, key: str) -> PublishedBrief | None:
    """Which version is published, None if there is none. Raises `BrokenIndex`.

    This is asked of ten thousand repositories at a time: of a manifest nothing else is decoded, and no `Path` is built
    of what is opened, which takes as long as opening it.
    """
    name = str(layout.published(key))
    try:
        published_at = os.lstat(name).st_mtime
        if pointer := layout.files.pointer(key):
            return PublishedBrief(pointer.commit, pointer.fingerprint, published_at, pointer.algorithms)
        with open(f"{name}{os.sep}{MANIFEST}", "rb") as file:  # noqa: PTH123
            found = decode(file.read(), _BriefManifest)
    except FileNotFoundError as error:
        if os.path.lexists(name):
            raise BrokenIndex(f"{error.filename} is missing: run `codesum doctor`") from error
        return None
    except (OSError, DecodeError) as error:
        raise BrokenIndex(f"{name}/{MANIFEST} cannot be read ({error}): run `codesum doctor`") from error
    return PublishedBrief(
        found.commit, found.fingerprint, published_at, versions=found.versions, settings=found.settings
    )


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as it is written: for people too, with one field a line."""
    return (json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def content_digest(manifest: Manifest) -> str:
    """sha256 over the content of an index, apart from provenance and its commit."""
    content = {name: value for name, value in manifest.items() if name not in _STAND_FIELDS}
    content["files"] = {name: entry.get("content_sha256", entry["sha256"]) for name, entry in manifest["files"].items()}
    return sha256_hex(canonical_json(content).encode())
