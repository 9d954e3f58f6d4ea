"""A file's bytes without holding the file: many indexes are open at once, and a process may open few files.

Python's own `mmap` keeps a descriptor of each file (until 3.13, which can leave it out), so the system is asked itself.
A process may have 65,530 maps (Linux, `vm.max_map_count`), which other memory needs too: beyond `_MOST_MAPS`, where the
system refuses one, and for what is shorter than a few pages, a file is read instead.
"""

import ctypes
import mmap
import os
import weakref
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

# A quarter of what Linux allows.
_MOST_MAPS = 16_384
# To read this takes no longer than to map it, and to touch its pages one by one.
_SHORT = 1 << 14

_SYSTEM = ctypes.CDLL(None)
_SYSTEM.mmap.restype = ctypes.c_void_p
_SYSTEM.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_longlong)
_SYSTEM.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value

# The addresses of the maps that are in use.
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
    """The pages of a file, given back when no array looks at them any more; None where the system refuses."""
    address = _SYSTEM.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0)
    if address == _FAILED:
        return None
    pages = (ctypes.c_uint8 * size).from_address(address)
    _maps.add(address)
    # Not when the process ends: arrays may still be in use then, and the system takes back all maps.
    weakref.finalize(pages, _give_back, address, size).atexit = False
    return np.frombuffer(memoryview(pages), dtype=np.uint8)


def _give_back(address: int, size: int) -> None:
    _maps.discard(address)
    _SYSTEM.munmap(address, size)
