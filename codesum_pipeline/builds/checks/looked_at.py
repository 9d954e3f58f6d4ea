"""What a check looked at and found without a fault, kept beside the memos of the steps: it need not look again.

A query over whole tables is passed over while the columns that it reads are what they were. Rows of a part of a table
are passed over while the part is there; what later questions need of them is kept. A fault is never kept, so what has
one is looked at each time.
"""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Self

from msgspec import MsgspecError, Struct, json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.hashing import hash_of, sha256_hex
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.workspace import Workspace

# Rises where the code that looks at rows changes, or what it keeps of them.
_VERSION = 1


class LookedAt(Struct, frozen=True):
    """What one check need not look at again, as long as its `rules`, and all else that it depends on, are the same.

    `queries` has the hash of what a query read, by the fault that it did not find. `parts` has, by the hash of a part
    without a fault, an id and a word for each thing to remember of its rows. `names` are those of neighbours that may
    stand in a document's text, by its id, and `own` its own ones: each with the hash of what they were made from.
    """

    rules: str
    queries: dict[str, str] = {}
    parts: dict[str, list[tuple[str, str]]] = {}
    names: tuple[str, dict[str, list[str]]] = ("", {})
    own: dict[str, tuple[str, list[str]]] = {}

    @classmethod
    def of_last_build(cls, ws: Workspace, check: str, rules: Sequence[object]) -> Self:
        """Nothing where it is not known, or damaged."""
        nothing = cls(hash_of([_VERSION, metadata.version("duckdb"), ws.memo_settings(), *rules]))
        if (last := ws.last_build) is None:
            return nothing
        try:
            digest, _, content = _path(last, check).read_bytes().partition(b"\n")
            found = decode(content, cls) if digest.decode() == sha256_hex(content) else nothing
        except (OSError, UnicodeError, MsgspecError):
            return nothing
        return found if found.rules == nothing.rules else nothing

    def keep(self, ws: Workspace, check: str) -> None:
        """Keep it behind its hash for the next build, unless the tables are for one use."""
        if not ws.tables.is_scratch:
            content = json.encode(self)
            write_bytes_atomically(_path(ws, check), b"\n".join([sha256_hex(content).encode(), content]))


def _path(ws: Workspace, check: str) -> Path:
    return ws.layout.memos(ws.key) / f"{check}.looked_at.json"
