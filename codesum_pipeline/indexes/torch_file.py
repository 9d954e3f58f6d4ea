"""A matrix as `torch.load(weights_only=True)` reads it, without torch.

A `.pt` file is a stored zip: a pickle that says "a contiguous float32 tensor of
this shape over storage 0", and the storage itself, which can be mapped into
memory like any other array. torch takes about two seconds to import.
"""

from pathlib import Path

import numpy as np

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.mapped_file import map_bytes
from codesum_pipeline.indexes.stored_zip import member_spans, write_stored_zip
from codesum_pipeline.model.errors import BrokenIndex

_ROOT = "embeddings"
_STORAGE = f"{_ROOT}/data/0"


def write_tensor(path: Path, matrix: Vectors) -> None:
    """Write a float32 (n, d) matrix as one CPU tensor."""
    content = np.ascontiguousarray(matrix, dtype="<f4")
    members: list[tuple[str, list[bytes | memoryview]]] = [
        (f"{_ROOT}/data.pkl", [_pickled_tensor(*content.shape)]),
        (f"{_ROOT}/byteorder", [b"little"]),
        (_STORAGE, [content.reshape(-1).view(np.uint8).data]),
        (f"{_ROOT}/version", [b"3\n"]),
    ]
    write_stored_zip(path, members)


def map_tensor(path: Path, dimensions: int) -> Vectors:
    """The matrix of a file that `write_tensor` wrote, read-only and memory-mapped."""
    start, size = member_spans(path)[_STORAGE]
    if size % (4 * dimensions):
        raise BrokenIndex(f"{path}: {size} bytes are no rows of {dimensions} float32")
    return map_bytes(path)[start : start + size].view(np.float32).reshape(-1, dimensions)


def _pickled_tensor(rows: int, columns: int) -> bytes:
    """Pickle protocol 2 of `torch._utils._rebuild_tensor_v2(storage, 0, shape, stride, False, OrderedDict())`."""
    mark, tuple_, tuple2, persistent_id, reduce, stop = b"(", b"t", b"\x86", b"Q", b"R", b"."
    storage = (
        mark + _text("storage") + b"ctorch\nFloatStorage\n" + _text("0") + _text("cpu") + _integer(rows * columns)
    ) + tuple_
    shape = _integer(rows) + _integer(columns) + tuple2
    stride = _integer(columns) + _integer(1) + tuple2
    no_gradient, no_hooks = b"\x89", b"ccollections\nOrderedDict\n)" + reduce
    arguments = mark + storage + persistent_id + _integer(0) + shape + stride + no_gradient + no_hooks + tuple_
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + reduce + stop


def _text(value: str) -> bytes:
    encoded = value.encode()
    return b"X" + len(encoded).to_bytes(4, "little") + encoded


def _integer(value: int) -> bytes:
    """LONG1: a length, and a two's complement number of that many bytes."""
    encoded = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + len(encoded).to_bytes(1, "little") + encoded
