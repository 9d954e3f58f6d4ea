"""A repository's files as one snapshot sees them: each is indexed, or skipped for a reason."""

from enum import StrEnum

from msgspec import Struct


class FileStatus(StrEnum):
    INDEXED = "indexed"
    SKIPPED = "skipped"


class SkipReason(StrEnum):
    """Why a file gives no document; a closed set, counted in every report."""

    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    NESTED_REPOSITORY = "nested_repository"
    IGNORED = "ignored"
    CODESUMIGNORE = ".codesumignore"
    OUTSIDE_SUBDIR = "outside_subdir"
    NOT_INCLUDED = "not_included"
    EXCLUDED = "excluded"
    SKIP_PATTERN = "skip_pattern"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    NOT_TEXT = "not_text"
    LFS_POINTER = "lfs_pointer"
    GENERATED = "generated"
    MINIFIED = "minified"
    KEYS = "keys"
    LANGUAGE = "language"
    INVALID_PATH = "invalid_path"
    TOO_DEEP = "too_deep"
    UNREADABLE = "unreadable"
    FAILED = "failed"


class SourceFile(Struct, frozen=True):
    """One file of a snapshot. `blob` is git's object id, `size` in bytes, `rules` the version of the scan rules."""

    path: str
    blob: str
    size: int
    mode: str
    language: str
    status: FileStatus
    reason: SkipReason | None
    is_test: bool
    is_vendored: bool
    rules: str = ""


class FilePlace(Struct, frozen=True):
    """What a file is by its path alone: columns of `files` that stay when its content changes."""

    path: str
    status: FileStatus
    is_test: bool
    is_vendored: bool


class Submodule(Struct, frozen=True):
    """A submodule of a snapshot: its folder, its pinned commit and where that was fetched from, as far as it was.

    `problem` says why one that was wanted is not indexed.
    """

    path: str
    commit: str
    address: str = ""
    is_indexed: bool = False
    problem: str = ""


class Snapshot(Struct, frozen=True):
    """The commit that a build covers; a plain folder has a commit made from its content alone.

    `index_state` identifies the compilers' indexes that are not part of the commit; empty if there are none, None for a
    snapshot from before such indexes were supported.
    """

    repo: str
    commit: str
    tree: str
    ref: str
    subject: str
    committed_at: str
    index_state: str | None = ""
