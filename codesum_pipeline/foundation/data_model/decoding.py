"""Values of our types, from JSON and from plain values, in any thread.

msgspec learns a type at its first use, and while it learns other threads find what it has learned so far: two threads
that begin with a type at the same moment can end the process (seen with 0.22). So one thread has each type learned, and
others wait for it. Nothing else in the package calls msgspec's own `decode` with a type, or its `convert`.
"""

import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

# For the whole process, since msgspec has one memory of types for it.
_learned: set[Any] = set()
_learning = threading.Lock()


@overload
def decode(data: bytes | str, kind: type[T]) -> T: ...
@overload
def decode(data: bytes | str, kind: Any) -> Any: ...
def decode(data: bytes | str, kind: Any) -> Any:
    """The value in a text of JSON; raises `msgspec.DecodeError`."""
    return msgspec.json.decode(data, type=_known(kind))


def convert(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """The value that is said by dicts, lists, strings and numbers; raises `msgspec.ValidationError`."""
    found: T = msgspec.convert(value, _known(kind), strict=strict)
    return found


def _known(kind: Any) -> Any:
    if kind not in _learned:
        with _learning:
            msgspec.json.Decoder(kind)
            _learned.add(kind)
    return kind
