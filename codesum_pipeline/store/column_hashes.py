"""A hash of what each column of a table says, however Arrow holds it in memory."""

import hashlib

import pyarrow as pa


class _HashingFile:
    """A file that keeps the hash of what is written to it."""

    closed = False

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing is open."""


def column_hash(values: pa.Array, field: pa.Field) -> str:
    """The sha256 of a column in Arrow's stream format, which leaves out offsets, padding and unused bitmaps.

    The values are one array, for a stream tells chunks apart.
    """
    column = pa.table([values], schema=pa.schema([field]))
    digest = _HashingFile()
    with pa.ipc.new_stream(pa.PythonFile(digest, mode="w"), column.schema) as stream:
        stream.write_table(column)
    return digest.sha256.hexdigest()
