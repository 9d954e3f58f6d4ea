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
    NOTEBOOK = "notebook"
    LANGUAGE = "language"
    INVALID_PATH = "invalid_path"
    TOO_DEEP = "too_deep"
    UNREADABLE = "unreadable"
    FAILED = "failed"


class EncodingEvidence(StrEnum):
    """What tells a file's encoding."""

    MARK = "mark"
    SETTING = "setting"
    DECLARATION = "declaration"
    CONTENT = "content"
    ATTRIBUTES = ".gitattributes"
    EDITOR = ".editorconfig"
    GUESS = "guess"
    UNKNOWN = "unknown"


class FileEncoding(Struct, frozen=True):
    """What a file's bytes are read as: Python's name of the encoding, and the evidence for it.

    `problem` names the declarations that do not fit or that nobody knows, and what could not be read; empty without.
    """

    name: str
    evidence: EncodingEvidence
    problem: str = ""


UTF_8 = "utf-8"
# What a notebook's bytes are read as: a script of its cells.
NOTEBOOK = "notebook"
PLAIN = FileEncoding(UTF_8, EncodingEvidence.CONTENT)


class SourceFile(Struct, frozen=True):
    """One file of a snapshot. `blob` is git's object id, `size` in bytes, `rules` the version of the scan rules and
    what they found declared about the file. The encoding's three columns are null where no content was read."""

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
    encoding: str | None = None
    encoding_evidence: EncodingEvidence | None = None
    encoding_problem: str | None = None

    @property
    def is_declared_elsewhere(self) -> bool:
        """Whether a setting, or another file, says what this one is read as: its other versions, too."""
        return self.encoding_evidence in (
            EncodingEvidence.SETTING,
            EncodingEvidence.ATTRIBUTES,
            EncodingEvidence.EDITOR,
        )

    @property
    def read_as(self) -> FileEncoding | None:
        """The encoding as a value."""
        if self.encoding is None or self.encoding_evidence is None:
            return None
        return FileEncoding(self.encoding, self.encoding_evidence, self.encoding_problem or "")


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
