"""The file of a shared build: a zip of a header, a signature and the tables of one commit's index.

The header lists the size and sha256 of every other part, so its own sha256, the *digest*, stands for all of them. It is
what is signed and what a caller pins, and it is checked before anything else is read. All members are stored, so that
none grows while it is read, and each has one of a few known names, so that no path of a bundle is ever written to.
"""

import hashlib
import os
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, NoReturn

import msgspec
from msgspec import Struct, to_builtins

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import BundleRefused
from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha256_hex
from codesum_pipeline.foundation.data_model.ids import is_repository_key
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.store.atomic import explain_refused_writes, flush_to_disk, temporary_beside
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, texts_table
from codesum_pipeline.indexes.file_formats.stored_zip import write_stored_zip
from codesum_pipeline.source.git.remote import is_commit_id

FORMAT = "codesum.bundle.v2"
HEADER, SIGNATURE, RESOLUTION = "bundle.json", "bundle.json.sig", "resolution.json"
# What the steps of a build take rows over from. Tables of what was paid, of runs and of evaluations stay at home, and
# those that a build makes anew of the commit itself are not needed.
BUNDLED_TABLES = (
    *("files", "symbols", "compiler_files", "file_facts"),
    *("call_sites", "syntax_edges", "edges", "aliases", "graph_stats", "contexts"),
    *(texts_table(level) for level in Level),
    *("documents", "document_history", "vectors", "terms"),
)
_KNOWN_NAMES = frozenset({HEADER, SIGNATURE, RESOLUTION, *(f"tables/{table}.parquet" for table in BUNDLED_TABLES)})
_MOST_HEADER_BYTES = 1 << 20
_MOST_SIGNATURE_BYTES = 64 << 10
# More than the directory of all known names; zipfile keeps ten times as much of one in memory.
_MOST_DIRECTORY_BYTES = 64 << 10
# The record at the end of a zip, without a comment, and before it the one of archives beyond 4 GB.
_END = struct.Struct("<4s4H2LH")
_FAR_END_BYTES = 20
_MB = 1 << 20


def table_member(table: str) -> str:
    """The name of a table's part."""
    return f"tables/{table}.parquet"


class BundledPart(Struct, frozen=True):
    """The size and content of one member."""

    bytes: int
    sha256: str


class BundledTable(Struct, frozen=True):
    """How many rows a table has, and the hash of the values of its columns."""

    rows: int
    content: str


class BundleHeader(Struct, frozen=True, kw_only=True):
    """The header: of which commit of which repository the parts are, and by which version of the package.

    `shaping` is a hash of the settings, the parts of the repository and the versions that shape an index.
    """

    format: str = FORMAT
    made_by: str
    schema_version: int = SCHEMA_VERSION
    key: str
    commit: str
    shaping: str
    documents: int
    tables: dict[str, BundledTable]
    parts: dict[str, BundledPart]

    def to_bytes(self) -> bytes:
        """The member `bundle.json`."""
        return f"{canonical_json(to_builtins(self))}\n".encode()


class _FormatField(Struct):
    format: str
    made_by: str = "another version"
    schema_version: int = 0


def write_bundle(path: Path, header: bytes, signature: str | None, parts: Mapping[str, Path | bytes]) -> None:
    """Write the bundle; the same parts give the same bytes. Raises `CannotWrite`."""

    def members() -> Iterator[tuple[str, list[bytes | memoryview]]]:
        yield HEADER, [header]
        if signature is not None:
            yield SIGNATURE, [signature.encode()]
        for name in sorted(parts):
            part = parts[name]
            # One at a time in memory.
            yield name, [part if isinstance(part, bytes) else part.read_bytes()]

    with explain_refused_writes(path):
        aside = temporary_beside(path)
        try:
            write_stored_zip(aside, members())
            flush_to_disk(aside)
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)


class OpenedBundle:
    """A bundle whose header was read; nobody has checked yet whose it is."""

    def __init__(self, called: str, archive: zipfile.ZipFile) -> None:
        self.called = called
        self._members = self._known_members(archive)
        self._archive = archive
        self.header_bytes = self._read_member(HEADER, most_bytes=_MOST_HEADER_BYTES)
        self.digest = sha256_hex(self.header_bytes)
        self.header = self._checked_header()

    def refuse(self, why: str) -> NoReturn:
        """Raise `BundleRefused` that names the file."""
        raise BundleRefused(f"{self.called}: {why}")

    @cached_property
    def signature(self) -> str | None:
        """The text of the signature; None for a bundle without one."""
        if SIGNATURE not in self._members:
            return None
        return self._read_member(SIGNATURE, most_bytes=_MOST_SIGNATURE_BYTES).decode("utf-8", "replace")

    def read(self, name: str) -> bytes:
        """A part, which is the one of the header; raises `BundleRefused`."""
        data = self._read_member(name, most_bytes=self.header.parts[name].bytes)
        if hashlib.sha256(data).hexdigest() != self.header.parts[name].sha256:
            self.refuse(f"its part {name} is not the one of its header: it was changed or damaged; fetch it again")
        return data

    def _known_members(self, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        found: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            # `filename` ends where a NUL is.
            if info.orig_filename not in _KNOWN_NAMES:
                self.refuse(f"it holds {shorten_text(info.orig_filename, 100)!r}, which is no part of a bundle")
            if info.filename in found:
                self.refuse(f"it holds {info.filename} twice")
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                self.refuse(f"its part {info.filename} is compressed, as no part of a bundle is")
            found[info.filename] = info
        if HEADER not in found:
            self.refuse(f"it is no bundle: it holds no {HEADER}")
        return found

    def _read_member(self, name: str, *, most_bytes: int) -> bytes:
        info = self._members[name]
        if info.file_size > most_bytes:
            self.refuse(f"its part {name} has {info.file_size:,} bytes, at most {most_bytes:,} may be")
        try:
            return self._archive.read(info)
        # What zipfile raises of an archive that contradicts itself.
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error) as error:
            self.refuse(f"its part {name} is damaged ({one_line(str(error))}): fetch it again")

    def _checked_header(self) -> BundleHeader:
        try:
            found = decode(self.header_bytes, _FormatField)
            self._check_version(found)
            header = decode(self.header_bytes, BundleHeader)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self.refuse(f"its {HEADER} cannot be read: {one_line(str(error))}")
        if header.to_bytes() != self.header_bytes:
            self.refuse(f"its {HEADER} is not in canonical form, or has unknown fields")
        if not is_commit_id(header.commit, full=True):
            self.refuse(f"its commit {shorten_text(header.commit, 100)!r} is no full commit id")
        if not is_repository_key(header.key):
            self.refuse(f"its key {shorten_text(header.key, 100)!r} can be no repository's")
        if {*header.parts} != self._members.keys() - {HEADER, SIGNATURE}:
            self.refuse(f"its parts are not those that its {HEADER} lists")
        if {table_member(table) for table in header.tables} != {*header.parts} - {RESOLUTION}:
            self.refuse(f"its {HEADER} lists other tables than parts")
        for name, part in header.parts.items():
            if part.bytes != self._members[name].file_size:
                self.refuse(f"its part {name} has another size than its {HEADER} says")
        return header

    def _check_version(self, found: _FormatField) -> None:
        by = f"codesum {shorten_text(found.made_by, 40)}"
        if found.format != FORMAT or found.schema_version > SCHEMA_VERSION:
            self.refuse(
                f"it was made by {by}, whose form ({shorten_text(found.format, 40)!r}, tables of version "
                f"{found.schema_version}) this one does not know: install that version here, as in "
                "`pipx upgrade codesum-pipeline`, or export it with this one"
            )
        if found.schema_version < SCHEMA_VERSION:
            self.refuse(
                f"it was made by {by}, with tables of version {found.schema_version}; this one reads {SCHEMA_VERSION}: "
                "export it again with this version"
            )


@contextmanager
def opened_bundle(path: Path, *, called: str, max_mb: int) -> Iterator[OpenedBundle]:
    """Open a bundle and read its header; raises `BundleRefused`."""
    try:
        # A pipe is not waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BundleRefused(f"{called}: it cannot be read: {reason}") from error
    found = os.fstat(handle)
    if not S_ISREG(found.st_mode):
        os.close(handle)
        raise BundleRefused(f"{called}: it is no file: name one that `codesum export` wrote")
    with os.fdopen(handle, "rb") as file:
        if found.st_size > max_mb * _MB:
            raise BundleRefused(
                f"{called}: it has {found.st_size:,} bytes, more than the {max_mb:,} MB that are taken: "
                "raise bundles.max_mb"
            )
        try:
            _check_end(called, file, found.st_size)
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            raise BundleRefused(f"{called}: it is no bundle, or damaged: {one_line(str(error))}") from error
        with archive:
            yield OpenedBundle(called, archive)


def _check_end(called: str, file: BinaryIO, size: int) -> None:
    """Look at the size of the directory before zipfile reads it into memory."""
    file.seek(max(0, size - _END.size - _FAR_END_BYTES))
    far, end = file.read(_FAR_END_BYTES) if size >= _END.size + _FAR_END_BYTES else b"", file.read()
    if len(end) != _END.size or not end.startswith(b"PK\x05\x06") or far.startswith(b"PK\x06\x07"):
        raise BundleRefused(f"{called}: it is no bundle, or cut off: name a file that `codesum export` wrote")
    _, _, _, _, members, directory, _, _ = _END.unpack(end)
    if members > len(_KNOWN_NAMES) or directory > _MOST_DIRECTORY_BYTES:
        raise BundleRefused(f"{called}: it is no bundle: it lists {members:,} members in {directory:,} bytes")


def describe_parts(parts: Iterable[tuple[str, Path | bytes]]) -> dict[str, BundledPart]:
    """The size and sha256 of each part."""
    found: dict[str, Any] = {}
    for name, part in parts:
        data = part if isinstance(part, bytes) else part.read_bytes()
        found[name] = BundledPart(len(data), sha256_hex(data))
    return found
