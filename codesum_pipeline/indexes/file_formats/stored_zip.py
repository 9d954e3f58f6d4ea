"""Archives whose bytes depend on their content alone, and whose members are mapped into memory.

Members are stored, not deflated, without time stamps, and start at a multiple of 64 bytes. numpy's `.npz` and torch's
`.pt` files are such archives; a `.pt` file is written and mapped without torch, whose import takes about two seconds.

Many indexes are open at once, and a process may open few files. Python's own `mmap` keeps a descriptor of each file
(until 3.13, which can leave it out), so the system is asked itself. A process may have 65,530 maps (Linux,
`vm.max_map_count`), which other memory needs too: beyond `_MOST_MAPS`, where the system refuses one, and for what is
shorter than a few pages, a file is read instead.
"""

import ctypes
import io
import mmap
import os
import struct
import weakref
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from codesum_pipeline.foundation.data_model.errors import BrokenIndex

Bytes = npt.NDArray[np.uint8]
Vectors = npt.NDArray[np.float32]

# A quarter of what Linux allows.
_MOST_MAPS = 16_384
# A shorter file is read as fast as it is mapped and its pages touched one by one.
_SHORT = 1 << 14

_SYSTEM = ctypes.CDLL(None)
_SYSTEM.mmap.restype = ctypes.c_void_p
_SYSTEM.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_longlong)
_SYSTEM.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value

# The addresses of the maps that are in use; of the whole process, since the system limits their number for it.
_maps: set[int] = set()


def map_bytes(path: Path) -> Bytes:
    """The content of a file, read-only; it stays readable when the file is deleted."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        may_map = size > _SHORT and len(_maps) < _MOST_MAPS
        content = _mapped(file, size) if may_map else None
        if content is None:
            content = np.frombuffer(file.read(), dtype=np.uint8)
    content.flags.writeable = False
    return content


def _mapped(file: BinaryIO, size: int) -> Bytes | None:
    """The pages of a file, unmapped when no array uses them any more; None if the system refuses."""
    address = _SYSTEM.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0)
    if address == _FAILED:
        return None
    pages = (ctypes.c_uint8 * size).from_address(address)
    _maps.add(address)
    # Not when the process ends: arrays may still be in use then, and the system frees all maps.
    weakref.finalize(pages, _give_back, address, size).atexit = False
    return np.frombuffer(memoryview(pages), dtype=np.uint8)


def _give_back(address: int, size: int) -> None:
    _maps.discard(address)
    _SYSTEM.munmap(address, size)


Array = npt.NDArray[Any]

ALIGNMENT = 64
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LOCAL_HEADER_BYTES = 30
_UNIX = 3
_MODE = 0o644 << 16
# The id of the extra field that torch pads its own archives with.
_PADDING_ID = 0x4246
_EXTRA_HEADER_BYTES = 4
# What comes before the header of an array: magic, version, and the header's length.
_PREAMBLE = struct.Struct("<8xH")
# Indexes have some fifty arrays each, and many of them have the same headers.
_KNOWN_HEADERS = 10_000


def write_stored_zip(path: Path, members: Iterable[tuple[str, Sequence[bytes | memoryview]]]) -> None:
    """Write the members, each a name and its parts, in the given order."""
    with path.open("wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members:
            info = zipfile.ZipInfo(name, date_time=_EPOCH)
            info.create_system = _UNIX
            info.external_attr = _MODE
            info.file_size = sum(len(part) for part in parts)
            info.extra = _padding(file.tell() + _LOCAL_HEADER_BYTES + len(name.encode()))
            with archive.open(info, "w") as member:
                for part in parts:
                    member.write(part)


def member_spans(path: Path) -> dict[str, tuple[int, int]]:
    """Where each member's content starts in the file, and its length, both in bytes."""
    spans = {}
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            file.seek(info.header_offset)
            name_bytes, extra_bytes = struct.unpack("<26x2H", file.read(_LOCAL_HEADER_BYTES))
            start = info.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
            spans[info.filename] = (start, info.file_size)
    return spans


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write what `numpy.load` reads: one `.npy` member per array, in name order."""
    write_stored_zip(path, [(f"{name}.npy", npy_parts(arrays[name])) for name in sorted(arrays)])


def write_npy(path: Path, *blocks: Array) -> None:
    """Write an array, or one of the rows of several."""
    with path.open("wb") as file:
        file.writelines(npy_parts(*blocks))


def map_npz(path: Path) -> dict[str, Array]:
    """The arrays of a file that `write_npz` wrote, read-only and memory-mapped."""
    content = map_bytes(path)
    return {
        name.removesuffix(".npy"): _array_at(content, start, size) for name, (start, size) in member_spans(path).items()
    }


def map_npy(path: Path) -> Array:
    """The array of a `.npy` file, read-only and memory-mapped."""
    content = map_bytes(path)
    return _array_at(content, 0, len(content))


def npy_parts(*blocks: Array) -> list[bytes | memoryview]:
    contiguous = [np.ascontiguousarray(block).reshape(block.shape) for block in blocks]
    head = np.lib.format.header_data_from_array_1_0(contiguous[0])
    if len(blocks) > 1:
        head["shape"] = (sum(map(len, blocks)), *blocks[0].shape[1:])
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, head)
    return [header.getvalue(), *(block.reshape(-1).view(np.uint8).data for block in contiguous)]


def _array_at(content: npt.NDArray[np.uint8], start: int, size: int) -> Array:
    length = _PREAMBLE.unpack(content[start : start + _PREAMBLE.size].tobytes())[-1]
    first = start + _PREAMBLE.size + length
    shape, dtype = _shape_and_type(content[start:first].tobytes())
    return content[first : start + size].view(dtype).reshape(shape)


@lru_cache(_KNOWN_HEADERS)
def _shape_and_type(header: bytes) -> tuple[tuple[int, ...], "np.dtype[Any]"]:
    """The shape and type in a header, a Python literal: parsing them would be most of the time to open an index."""
    stream = io.BytesIO(header)
    np.lib.format.read_magic(stream)
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    return shape, dtype


def _padding(offset: int) -> bytes:
    """An extra field that moves the content behind it to the next multiple of `ALIGNMENT`."""
    free = -(offset + _EXTRA_HEADER_BYTES) % ALIGNMENT
    return struct.pack("<HH", _PADDING_ID, free) + bytes(free)


_ROOT = "embeddings"
_STORAGE = f"{_ROOT}/data/0"


def write_tensor(path: Path, *blocks: Vectors) -> None:
    """Write the rows of float32 matrices of d columns as one CPU tensor."""
    contents = [np.ascontiguousarray(block, dtype="<f4") for block in blocks]
    members: list[tuple[str, list[bytes | memoryview]]] = [
        (f"{_ROOT}/data.pkl", [_pickled_tensor(sum(map(len, contents)), contents[0].shape[1])]),
        (f"{_ROOT}/byteorder", [b"little"]),
        (_STORAGE, [content.reshape(-1).view(np.uint8).data for content in contents]),
        (f"{_ROOT}/version", [b"3\n"]),
    ]
    write_stored_zip(path, members)


def write_matrix(path: Path, *blocks: Vectors) -> None:
    """Write a matrix in the form that the name of its file says."""
    (write_npy if path.suffix == ".npy" else write_tensor)(path, *blocks)


def map_matrix(path: Path, dimensions: int) -> Vectors:
    """The matrix of a file that `write_matrix` wrote, read-only and memory-mapped."""
    return map_npy(path) if path.suffix == ".npy" else map_tensor(path, dimensions)


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
