"""The documents of SCIP indexes, and which of them are about which files of a repository.

An index is one message of protobuf: documents one after the other, each with its length before it. They are looked
through once, without holding more than one of them, so that the document of a file can be read later, by its place.

Its messages (https://github.com/sourcegraph/scip, `scip.proto`) are described in `scip_messages.toml` and not compiled:
generated code is tied to a range of versions of protobuf, and its version is not ours to choose. Fields that are not
described are passed over.
"""

import hashlib
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import RefusedIndex

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

_PACKAGE = "scip"


def read_message(name: str, content: bytes) -> Any:
    """Raises `ValueError` if the content is no such message."""
    from google.protobuf.message import DecodeError

    try:
        return message_class(name).FromString(content)
    except DecodeError as error:
        raise ValueError(str(error)) from error


@cache
def message_class(name: str) -> Any:
    """The class of a message, such as `Document`."""
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def _pool() -> "DescriptorPool":
    """Apart from the one of the process, in which another library may describe the same messages."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

    kinds = FieldDescriptorProto
    scalars = {"string": kinds.TYPE_STRING, "int32": kinds.TYPE_INT32, "bool": kinds.TYPE_BOOL}
    described = FileDescriptorProto(name="scip.proto", package=_PACKAGE, syntax="proto3")
    messages = tomllib.loads(resources.files(__package__).joinpath("scip_messages.toml").read_text(encoding="utf-8"))
    for message, fields in messages.items():
        added = described.message_type.add(name=message)
        for name, said in fields.items():
            number, type_name = said.split()
            kind = type_name.removeprefix("*")
            field = added.field.add(name=name, number=int(number), type=scalars.get(kind, kinds.TYPE_MESSAGE))
            field.label = kinds.LABEL_OPTIONAL if kind == type_name else kinds.LABEL_REPEATED
            if kind not in scalars:
                field.type_name = f".{_PACKAGE}.{kind}"
    pool = DescriptorPool()
    pool.Add(described)
    return pool


# No compiler writes more about one file, and all of it is in memory at a time.
MOST_DOCUMENT_BYTES = 64 << 20
# As many files as a repository may have.
MOST_DOCUMENTS = 1_000_000
# A length is at most ten bytes of seven bits each.
_MOST_VARINT_BYTES = 10
_METADATA, _DOCUMENT = 1, 2
_LENGTH_DELIMITED = 2
_FIXED_BYTES = {1: 8, 5: 4}
_VARINT = 0
_NO_FIELD = "what stands at byte {:,} is no field of a protobuf message"


class IndexerIdentity(Struct, frozen=True):
    """What wrote an index: `scip-python`, its version, and the folder that it was run in."""

    name: str
    version: str
    project_root: str


class DocumentPlace(Struct, frozen=True):
    """Where the document of a file is in an index; `path` is as the index has it. `digest` is of its bytes."""

    path: str
    offset: int
    length: int
    digest: str


class OversizedDocument(Struct, frozen=True):
    """A document that is too large to be read."""

    offset: int
    length: int


def read_index_parts(index: Path) -> Iterator[IndexerIdentity | DocumentPlace | OversizedDocument]:
    """What an index holds, in its order. Raises `RefusedIndex` if it is no SCIP index, or is not whole."""
    size = index.stat().st_size
    documents = 0
    with index.open("rb") as file:
        while file.tell() < size:
            tag = _varint(file)
            field, wire = tag >> 3, tag & 7
            if not field:
                raise RefusedIndex(_NO_FIELD.format(file.tell()))
            if wire != _LENGTH_DELIMITED:
                _pass_over(file, wire)
                continue
            length = _varint(file)
            offset = file.tell()
            if length > size - offset:
                raise RefusedIndex(
                    f"it ends within a message at byte {offset:,}: {length:,} bytes are announced and "
                    f"{size - offset:,} are there; it was not written to its end"
                )
            if field == _DOCUMENT:
                documents += 1
                if documents > MOST_DOCUMENTS:
                    raise RefusedIndex(f"it has more than {MOST_DOCUMENTS:,} documents")
                if length > MOST_DOCUMENT_BYTES:
                    yield OversizedDocument(offset, length)
                else:
                    content = file.read(length)
                    path = _parsed("DocumentPath", content, offset).relative_path
                    digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()
                    yield DocumentPlace(path, offset, length, digest)
            elif field == _METADATA and length <= MOST_DOCUMENT_BYTES:
                metadata = _parsed("Metadata", file.read(length), offset)
                yield IndexerIdentity(metadata.tool_info.name, metadata.tool_info.version, metadata.project_root)
            file.seek(offset + length)


def read_document(index: Path, place: DocumentPlace) -> bytes:
    """The bytes of one document."""
    with index.open("rb") as file:
        file.seek(place.offset)
        return file.read(place.length)


def _parsed(name: str, content: bytes, offset: int) -> Any:
    try:
        return read_message(name, content)
    except ValueError as error:
        raise RefusedIndex(f"what stands at byte {offset:,} is no message of SCIP: {error}") from error


def _pass_over(file: IO[bytes], wire: int) -> None:
    """A field of a later version of the format."""
    if wire == _VARINT:
        _varint(file)
    elif wire in _FIXED_BYTES:
        file.seek(_FIXED_BYTES[wire], 1)
    else:
        raise RefusedIndex(_NO_FIELD.format(file.tell()))


def _varint(file: IO[bytes]) -> int:
    value = 0
    for number in range(_MOST_VARINT_BYTES):
        byte = file.read(1)
        if not byte:
            raise RefusedIndex(f"it ends within a number at byte {file.tell():,}; it was not written to its end")
        value |= (byte[0] & 0x7F) << (7 * number)
        if byte[0] < 0x80:
            return value
    raise RefusedIndex(f"the number before byte {file.tell():,} has more than {_MOST_VARINT_BYTES} bytes")


# Where more indexes have documents about a file, the first of them count.
MOST_OFFERS = 4
_UNNAMED_TOOL = "unknown"
_SHOWN_PATH = 200


class Offer(Struct, frozen=True):
    """A document about one file; `tool` is what wrote its index."""

    index: Path
    origin: str
    tool: str
    place: DocumentPlace

    def read(self) -> bytes:
        """The document's bytes."""
        return read_document(self.index, self.place)


class Offers(Struct, frozen=True):
    """The documents of all indexes by the path of their file, those of the first index first.

    `problems` say of each index, by where it came from, what of it cannot be used.
    """

    by_path: Mapping[str, Sequence[Offer]]
    problems: tuple[tuple[str, str], ...]


def find_offers(files: Sequence[IndexFile], folder: Path, paths: Collection[str]) -> Offers:
    """What the indexes in a folder hold about the files of a repository."""
    by_path: defaultdict[str, list[Offer]] = defaultdict(list)
    problems: list[tuple[str, str]] = []
    for file in sorted(files, key=lambda one: one.position):
        if file.problem:
            problems.append((file.origin, file.problem))
            continue
        try:
            found, notes = _offers_of(file, folder / file.sha256, paths)
        except (RefusedIndex, OSError) as error:
            problems.append((file.origin, str(error)))
            continue
        problems.extend((file.origin, note) for note in notes)
        shared = sorted(path for path in found if path in by_path)
        if shared:
            first = f"{shared[0]} in that of {by_path[shared[0]][0].origin}"
            sentence = f"{len(shared):,} of its files are in another index, too ({first}): "
            problems.append((file.origin, f"{sentence}of each file the first document counts that fits its text"))
        for path, offers in found.items():
            by_path[path].extend(offers[: MOST_OFFERS - len(by_path[path])])
    return Offers(by_path, tuple(problems))


def _offers_of(file: IndexFile, index: Path, paths: Collection[str]) -> tuple[dict[str, list[Offer]], list[str]]:
    """The documents of one index that are about files of the repository, and what is to be said about the others. An
    index may have a million documents of files that are not here."""
    found: list[tuple[str, DocumentPlace]] = []
    tool, documents, oversized, first, outside = _UNNAMED_TOOL, 0, 0, "", ""
    for part in read_index_parts(index):
        match part:
            case IndexerIdentity(name, version):
                tool = f"{name or _UNNAMED_TOOL} {version}".strip()
            case OversizedDocument():
                oversized += 1
            case DocumentPlace():
                documents += 1
                first = first or part.path
                path = _path_below(file.root, part.path)
                if path is None:
                    outside = outside or part.path
                elif path in paths:
                    found.append((path, part))
    offers: defaultdict[str, list[Offer]] = defaultdict(list)
    for path, place in found:
        offers[path].append(Offer(index, file.origin, tool, place))
    notes = [f"{oversized:,} of its documents are too large to be read"] if oversized else []
    if outside:
        notes.append(f"it has paths that lead out of the repository, such as {outside[:_SHOWN_PATH]!r}")
    if first and not found:
        notes.append(
            f"none of its {documents:,} documents is about a file that is indexed here (one is about "
            f"{first[:_SHOWN_PATH]!r}): it was made of another repository, or its root has to be named: "
            "`--scip PATH@FOLDER`"
        )
    return offers, notes


def _path_below(root: str, path: str) -> str | None:
    """A document's path in the repository; None if it leads out of it."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith("/") or ".." in parts or ":" in parts[0]:
        return None
    below = "/".join(part for part in parts if part not in ("", "."))
    return f"{root}/{below}" if root and below else below or None
