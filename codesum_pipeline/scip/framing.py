"""The documents of a SCIP index, found without holding more than one of them.

An index is one message of protobuf: documents one after the other, each with its length before it. They are looked
through once, so that the document of a file can be read later, by its place.

Its messages (https://github.com/sourcegraph/scip, `scip.proto`) are described here, as far as they are read, and not
compiled: generated code is tied to a range of versions of protobuf, and its version is not ours to choose. Fields that
are not described are passed over.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct

from codesum_pipeline.model.errors import RefusedIndex

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

_PACKAGE = "scip"
# Each message with its fields: number, name and type, `*` where it is repeated. Enumerations are read as numbers: a
# newer index may have values that we do not know. `DocumentPath` is as much of a document as says what its file is.
_MESSAGES = """
ToolInfo: 1 name string, 2 version string
Metadata: 2 tool_info ToolInfo, 3 project_root string
Relationship: 1 symbol string, 2 is_reference bool, 3 is_implementation bool, 5 is_definition bool
Signature: 5 text string
SymbolInformation: 1 symbol string, 3 documentation *string, 4 relationships *Relationship, 5 kind int32,
  6 display_name string, 7 signature_documentation Signature, 8 enclosing_symbol string
SingleLineRange: 1 line int32, 2 start_character int32, 3 end_character int32
MultiLineRange: 1 start_line int32, 2 start_character int32, 3 end_line int32, 4 end_character int32
Occurrence: 1 range *int32, 2 symbol string, 3 symbol_roles int32, 7 enclosing_range *int32,
  8 single_line_range SingleLineRange, 9 multi_line_range MultiLineRange,
  10 single_line_enclosing_range SingleLineRange, 11 multi_line_enclosing_range MultiLineRange
DocumentPath: 1 relative_path string
Document: 1 relative_path string, 2 occurrences *Occurrence, 3 symbols *SymbolInformation, 4 language string,
  5 text string, 6 position_encoding int32
Index: 1 metadata Metadata, 2 documents *Document, 3 external_symbols *SymbolInformation
"""


def read_message(name: str, content: bytes) -> Any:
    """Raises `ValueError` where the content is no such message."""
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
    for line in _MESSAGES.replace(",\n ", ",").strip().splitlines():
        message, _, fields = line.partition(": ")
        added = described.message_type.add(name=message)
        for number, name, said in (field.split() for field in fields.split(", ")):
            kind = said.removeprefix("*")
            field = added.field.add(name=name, number=int(number), type=scalars.get(kind, kinds.TYPE_MESSAGE))
            field.label = kinds.LABEL_OPTIONAL if kind == said else kinds.LABEL_REPEATED
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
    """Where the document of a file stands in an index; `path` is as the index has it. `digest` is of its bytes."""

    path: str
    offset: int
    length: int
    digest: str


class OversizedDocument(Struct, frozen=True):
    """A document that is too large to be read."""

    offset: int
    length: int


def look_through(index: Path) -> Iterator[IndexerIdentity | DocumentPlace | OversizedDocument]:
    """What an index holds, in its order. Raises `RefusedIndex` where it is no SCIP index, or is not whole."""
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
