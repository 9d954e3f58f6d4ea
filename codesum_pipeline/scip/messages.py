"""The messages of a SCIP index, as far as they are read (https://github.com/sourcegraph/scip, `scip.proto`).

They are described here and not compiled: generated code is tied to a range of versions of protobuf, and its version
is not ours to choose. Fields that are not described are passed over.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

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
