"""Room that deleted records leave in Dagster's SQLite files, given back to the disk."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from codesum_pipeline.defs.storage import StorageFile
from codesum_pipeline.upkeep.freed import FreedSpace, RemovalKind, SkippedUpkeep

# Records that come next take free pages: a few are no loss.
_FREE_SHARE = 0.2
_LEAST_BYTES = 1 << 20
# Others write there: who waits for them longer looks again next time.
_BUSY_TIMEOUT_S = 10.0


def give_back(file: StorageFile, *, is_dry_run: bool = False) -> Iterator[FreedSpace | SkippedUpkeep]:
    """Write a file anew without its free pages, where these are many.

    Readers go on meanwhile; whoever writes waits. SQLite leaves the file as it is where it is killed.
    """
    if not file.path.exists():
        return
    try:
        with closing(sqlite3.connect(file.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)) as connection:
            pages, free, size = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            if free * size < _LEAST_BYTES or free < _FREE_SHARE * pages:
                return
            if not is_dry_run:
                _check_room(file.path, (pages - free) * size)
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield FreedSpace(RemovalKind.RECORDS, "", free, free * size)
    except (sqlite3.Error, OSError) as error:
        yield SkippedUpkeep(RemovalKind.RECORDS, "", f"{file}: {error}")


def _check_room(path: Path, size: int) -> None:
    """SQLite writes the file aside and then into its log of changes."""
    for folder in (path.parent, Path(tempfile.gettempdir())):
        if shutil.disk_usage(folder).free < 2 * size:
            raise OSError(f"{folder} has no room to write it anew: free {2 * size:,} bytes there")
