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
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

_PACKAGE = "scip"
# Enumerations are read as numbers: a newer index may have values that we do not know.
_SCALARS = {"string": "TYPE_STRING", "int32": "TYPE_INT32", "bool": "TYPE_BOOL"}
_REPEATED = "*"
# Each field: its number and type; `*` where it is repeated.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "ToolInfo": {"name": (1, "string"), "version": (2, "string")},
    "Metadata": {"tool_info": (2, "ToolInfo"), "project_root": (3, "string")},
    "Relationship": {
        "symbol": (1, "string"),
        "is_reference": (2, "bool"),
        "is_implementation": (3, "bool"),
        "is_definition": (5, "bool"),
    },
    "Signature": {"text": (5, "string")},
    "SymbolInformation": {
        "symbol": (1, "string"),
        "documentation": (3, "*string"),
        "relationships": (4, "*Relationship"),
        "kind": (5, "int32"),
        "display_name": (6, "string"),
        "signature_documentation": (7, "Signature"),
        "enclosing_symbol": (8, "string"),
    },
    "SingleLineRange": {"line": (1, "int32"), "start_character": (2, "int32"), "end_character": (3, "int32")},
    "MultiLineRange": {
        "start_line": (1, "int32"),
        "start_character": (2, "int32"),
        "end_line": (3, "int32"),
        "end_character": (4, "int32"),
    },
    "Occurrence": {
        "range": (1, "*int32"),
        "symbol": (2, "string"),
        "symbol_roles": (3, "int32"),
        "enclosing_range": (7, "*int32"),
        "single_line_range": (8, "SingleLineRange"),
        "multi_line_range": (9, "MultiLineRange"),
        "single_line_enclosing_range": (10, "SingleLineRange"),
        "multi_line_enclosing_range": (11, "MultiLineRange"),
    },
    # A document, as far as it has to be read to know its file.
    "DocumentPath": {"relative_path": (1, "string")},
    "Document": {
        "relative_path": (1, "string"),
        "occurrences": (2, "*Occurrence"),
        "symbols": (3, "*SymbolInformation"),
        "language": (4, "string"),
        "text": (5, "string"),
        "position_encoding": (6, "int32"),
    },
    "Index": {
        "metadata": (1, "Metadata"),
        "documents": (2, "*Document"),
        "external_symbols": (3, "*SymbolInformation"),
    },
}


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
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    pool.Add(_file())
    return pool


def _file() -> "FileDescriptorProto":
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

    messages = [
        DescriptorProto(name=name, field=[_field(field, *said) for field, said in fields.items()])
        for name, fields in _MESSAGES.items()
    ]
    return FileDescriptorProto(name="scip.proto", package=_PACKAGE, syntax="proto3", message_type=messages)


def _field(name: str, number: int, said: str) -> "FieldDescriptorProto":
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    type_ = said.removeprefix(_REPEATED)
    is_repeated = said.startswith(_REPEATED)
    field = FieldDescriptorProto(
        name=name,
        number=number,
        label=FieldDescriptorProto.LABEL_REPEATED if is_repeated else FieldDescriptorProto.LABEL_OPTIONAL,
    )
    if type_ in _SCALARS:
        field.type = getattr(FieldDescriptorProto, _SCALARS[type_])
    else:
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{_PACKAGE}.{type_}"
    return field


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
            field, wire = _tag(file)
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
                yield _document(file, offset, length)
            elif field == _METADATA and length <= MOST_DOCUMENT_BYTES:
                yield _tool(file.read(length), offset)
            file.seek(offset + length)


def read_document(index: Path, place: DocumentPlace) -> bytes:
    """The bytes of one document."""
    with index.open("rb") as file:
        file.seek(place.offset)
        return file.read(place.length)


def _document(file: IO[bytes], offset: int, length: int) -> DocumentPlace | OversizedDocument:
    if length > MOST_DOCUMENT_BYTES:
        return OversizedDocument(offset, length)
    content = file.read(length)
    path = _parsed("DocumentPath", content, offset).relative_path
    return DocumentPlace(path, offset, length, hashlib.sha1(content, usedforsecurity=False).hexdigest())


def _tool(content: bytes, offset: int) -> IndexerIdentity:
    metadata = _parsed("Metadata", content, offset)
    return IndexerIdentity(metadata.tool_info.name, metadata.tool_info.version, metadata.project_root)


def _parsed(name: str, content: bytes, offset: int) -> Any:
    try:
        return read_message(name, content)
    except ValueError as error:
        raise RefusedIndex(f"what stands at byte {offset:,} is no message of SCIP: {error}") from error


def _tag(file: IO[bytes]) -> tuple[int, int]:
    tag = _varint(file)
    if not tag >> 3:
        raise RefusedIndex(f"what stands at byte {file.tell():,} is no field of a protobuf message")
    return tag >> 3, tag & 7


def _pass_over(file: IO[bytes], wire: int) -> None:
    """A field of a later version of the format."""
    if wire == _VARINT:
        _varint(file)
    elif wire in _FIXED_BYTES:
        file.seek(_FIXED_BYTES[wire], 1)
    else:
        raise RefusedIndex(f"what stands at byte {file.tell():,} is no field of a protobuf message")


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
