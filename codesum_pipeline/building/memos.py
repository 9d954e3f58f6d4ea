"""What a step's last completed run was made from, what it wrote, and what it reported."""

from collections.abc import Collection
from pathlib import Path
from typing import Self

from msgspec import Struct, json

from codesum_pipeline.building.recording import RecordingStore
from codesum_pipeline.store.atomic import FileState, write_text_atomically
from codesum_pipeline.store.tables import TableStore


class Input(Struct, frozen=True):
    """One table as it was read: which columns (None: all), and the hash of their values; None where it was missing."""

    columns: tuple[str, ...] | None
    content_hash: str | None

    @classmethod
    def of(cls, tables: TableStore, repo: str, table: str, columns: tuple[str, ...] | None) -> Self:
        """As the table stands."""
        return cls(columns=columns, content_hash=tables.content_hash(table, repo, columns=columns))

    def now(self, tables: TableStore, repo: str, table: str) -> Self:
        """The same columns as the table stands now."""
        return self.of(tables, repo, table, self.columns)


class Memo(Struct, frozen=True):
    """One step of one repository.

    `settings` is the fingerprint but for the commit, `report` is JSON, and
    `files` are relative to the home, so that a home can be moved.
    """

    settings: str
    inputs: dict[str, Input]
    tables: dict[str, str | None]
    files: dict[str, FileState | None]
    report: str

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """None where there is none that can be read."""
        try:
            return json.decode(path.read_bytes(), type=cls)
        except (OSError, ValueError):
            return None

    def write(self, path: Path) -> None:
        """Replace the memo, durably."""
        write_text_atomically(path, json.encode(self).decode())

    def outputs_stand(self, tables: TableStore, repo: str, *, home: Path) -> bool:
        """Whether all that the step wrote is there as it was written."""
        return all(
            found is not None and tables.content_hash(table, repo) == found for table, found in self.tables.items()
        ) and all(state is not None and state.is_of(home / path) for path, state in self.files.items())

    def changed_inputs(self, tables: TableStore, repo: str) -> set[str]:
        """The tables that say something else than when the step read them."""
        return {table for table, found in self.inputs.items() if found != found.now(tables, repo, table)}


def inputs_of(recorded: RecordingStore, repo: str, *, leaving_out: Collection[str]) -> dict[str, Input]:
    """What a step that has just completed read."""
    return {
        table: Input.of(recorded, repo, table, None if columns is None else tuple(sorted(columns)))
        for table, columns in recorded.reads().items()
        if table not in leaving_out
    }
