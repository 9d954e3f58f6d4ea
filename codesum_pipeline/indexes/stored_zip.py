"""Archives whose bytes depend on their content alone, and whose members can be mapped into memory.

Members are stored, not deflated, without time stamps, and start at a multiple
of 64 bytes. numpy's `.npz` and torch's `.pt` files are such archives.
"""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.mapped_file import map_bytes

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


def write_stored_zip(path: Path, members: Sequence[tuple[str, Sequence[bytes | memoryview]]]) -> None:
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


def npy_parts(array: Array) -> tuple[bytes, memoryview]:
    """The header and the content of a `.npy` file."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(contiguous))
    return header.getvalue(), contiguous.reshape(-1).view(np.uint8).data


def _array_at(content: npt.NDArray[np.uint8], start: int, size: int) -> Array:
    length = _PREAMBLE.unpack(content[start : start + _PREAMBLE.size].tobytes())[-1]
    first = start + _PREAMBLE.size + length
    shape, dtype = _shape_and_type(content[start:first].tobytes())
    return content[first : start + size].view(dtype).reshape(shape)


@lru_cache(_KNOWN_HEADERS)
def _shape_and_type(header: bytes) -> tuple[tuple[int, ...], "np.dtype[Any]"]:
    """Headers are Python literals: to parse those of one index takes longer than all else about opening it."""
    stream = io.BytesIO(header)
    np.lib.format.read_magic(stream)
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    return shape, dtype


def _padding(offset: int) -> bytes:
    """An extra field that moves the content behind it to the next multiple of `ALIGNMENT`."""
    free = -(offset + _EXTRA_HEADER_BYTES) % ALIGNMENT
    return struct.pack("<HH", _PADDING_ID, free) + bytes(free)
