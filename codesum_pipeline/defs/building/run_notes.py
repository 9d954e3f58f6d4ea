"""What a run found changed in its repository, noted when it takes its snapshot, for the summary at its end."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Self

from codesum_pipeline.defs.building.values import Value
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.workspace import Workspace

_FILE = "last_change.json"


@dataclass(frozen=True, slots=True)
class FileStates:
    """The commit that the tables stand at, None where there is none, and the contents of its indexed files."""

    commit: str | None
    blobs: Mapping[str, str]

    @classmethod
    def of(cls, ws: Workspace) -> Self:
        """As the tables are now."""
        rows = ws.tables.read_rows_or_empty("snapshot", ws.key, Snapshot)
        if not rows or ws.tables.readable_path("files", ws.key) is None:
            return cls(None, {})
        files = ws.tables.read("files", ws.key, columns=["path", "blob", "status"]).to_pylist()
        return cls(rows[0].commit, {row["path"]: row["blob"] for row in files if row["status"] == "indexed"})


@dataclass(frozen=True, slots=True)
class FileChanges:
    """From one commit to the next, in files; of the run that found it."""

    run_id: str
    since: str | None
    commit: str
    added: int
    changed: int
    removed: int

    @property
    def files(self) -> int:
        return self.added + self.changed + self.removed

    @classmethod
    def between(cls, before: FileStates, after: FileStates, *, run_id: str) -> Self:
        """What differs."""
        both = before.blobs.keys() & after.blobs.keys()
        return cls(
            run_id=run_id,
            since=before.commit,
            commit=after.commit or "",
            added=len(after.blobs.keys() - both),
            changed=sum(before.blobs[path] != after.blobs[path] for path in both),
            removed=len(before.blobs.keys() - both),
        )


def note_change(ws: Workspace, before: FileStates) -> dict[str, Value]:
    """Write down what a snapshot changed, if anything; the same as values."""
    found = FileChanges.between(before, FileStates.of(ws), run_id=ws.run_id)
    if found.files or found.since != found.commit:
        write_text_atomically(ws.layout.memos(ws.key) / _FILE, json.dumps(asdict(found)))
    return {"files_changed": found.files, "commit_before": found.since or "none"}


def change_of(ws: Workspace) -> FileChanges | None:
    """What this very run found changed."""
    with suppress(OSError, ValueError, TypeError):
        found = FileChanges(**json.loads((ws.layout.memos(ws.key) / _FILE).read_bytes()))
        return found if found.run_id == ws.run_id else None
    return None
