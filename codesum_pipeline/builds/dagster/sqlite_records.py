"""Dagster's SQLite records with one connection per file, for a process that executes one run after another.

Dagster opens a new SQLite connection, and compiles its statements anew, for every event: of a small build that is the
larger part. What is written, where and under which schema stays Dagster's own. The methods that are overridden are
private; a test builds with this storage and reads with Dagster's.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sql
from sqlalchemy.pool import StaticPool

from codesum_pipeline.builds.dagster import private_names
from codesum_pipeline.foundation.store.atomic import temporary_beside


def with_open_records(reference: private_names.InstanceRef) -> private_names.InstanceRef:
    """The same instance, through `OpenSqliteStorage` where it keeps its records in SQLite."""
    data = reference.storage_data
    if data is None or data.class_name != private_names.DagsterSqliteStorage.__name__:
        return reference
    opened = private_names.ConfigurableClassData(__name__, OpenSqliteStorage.__name__, data.config_yaml)
    return reference._replace(storage_data=opened)


class OpenSqliteStorage(private_names.DagsterSqliteStorage):
    """Runs, events and schedules below one folder, in files that `storage.make_ready` made whole."""

    def __init__(self, base_dir: str, inst_data: private_names.ConfigurableClassData | None = None) -> None:
        history = Path(base_dir) / "history"
        self.base_dir = base_dir
        self._run_storage = _Runs(private_names.create_db_conn_string(str(history), "runs"))
        self._event_log_storage = _Events(str(history / "runs"))
        schedules = private_names.create_db_conn_string(str(Path(base_dir) / "schedules"), "schedules")
        self._schedule_storage = private_names.SqliteScheduleStorage(schedules)
        self._inst_data = inst_data
        super(private_names.DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def from_config_value(
        cls, inst_data: private_names.ConfigurableClassData, config_value: Any
    ) -> "OpenSqliteStorage":
        return cls(inst_data=inst_data, **config_value)

    def dispose(self) -> None:
        self._event_log_storage.dispose()
        self._run_storage.dispose()


class _Runs(private_names.SqliteRunStorage):
    """One connection; its user waits for the one before."""

    def __init__(self, conn_string: str, inst_data: private_names.ConfigurableClassData | None = None) -> None:
        super().__init__(conn_string, inst_data)
        self._engine = _engine(conn_string)

    @contextmanager
    def connect(self) -> Iterator[sql.Connection]:
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._engine.dispose()


class _Events(private_names.SqliteEventLogStorage):
    """A connection for the index and for each run that is written; a lock lets one user at a time through."""

    def __init__(self, base_dir: str) -> None:
        self._engines: dict[str, sql.Engine] = {}
        # Partitions, tables and columns that are there.
        self._known: set[tuple[str, ...]] = set()
        self._reads: dict[dg.AssetKey, dict[str, Any]] = {}
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[sql.Connection]:
        with self._db_lock, self._engine_of(shard).begin() as connection:
            yield connection

    def has_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> bool:
        """A run asks this four times a step of the one partition that it is for."""
        look = super().has_dynamic_partition
        return self._is_known((partitions_def_name, partition_key), lambda: look(partitions_def_name, partition_key))

    def delete_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> None:
        self._known.discard((partitions_def_name, partition_key))
        super().delete_dynamic_partition(partitions_def_name, partition_key)

    def has_table(self, table_name: str) -> bool:
        """A run asks this before each event, and this before each event of an asset."""
        look = super().has_table
        return self._is_known(("", table_name), lambda: look(table_name))

    def _has_asset_key_col_on_connection(self, conn: sql.Connection, column_name: str) -> bool:
        look = super()._has_asset_key_col_on_connection
        return self._is_known(("", "", column_name), lambda: look(conn, column_name))

    def _is_known(self, name: tuple[str, ...], look: Callable[[], bool]) -> bool:
        if name not in self._known and look():
            self._known.add(name)
        return name in self._known

    def store_event(self, event: dg.EventLogEntry) -> None:
        super().store_event(event)
        if event.dagster_event and event.dagster_event.asset_key:
            self._reads[event.dagster_event.asset_key] = {}

    def _read(self, asset: dg.AssetKey, look: Callable[..., Any], *asked: Any, **named: Any) -> Any:
        """What was read of an asset since this process wrote its last event, by the arguments it was read with. Of an
        asset that this process writes nothing of, nothing is kept: others may."""
        known, query = self._reads.get(asset, {}), f"{look.__name__}{asked}{named}"
        if query not in known:
            known[query] = look(*asked, **named)
        return known[query]

    def get_latest_tags_by_partition(self, asset_key: dg.AssetKey, *asked: Any, **named: Any) -> Any:
        """Each step asks this of every asset that it reads."""
        return self._read(asset_key, super().get_latest_tags_by_partition, asset_key, *asked, **named)

    def fetch_materializations(
        self, records_filter: dg.AssetKey | dg.AssetRecordsFilter, *asked: Any, **named: Any
    ) -> Any:
        """So does each check, of the asset that it looks at."""
        asset = records_filter if isinstance(records_filter, dg.AssetKey) else records_filter.asset_key
        return self._read(asset, super().fetch_materializations, records_filter, *asked, **named)

    def get_asset_records(self, asset_keys: Sequence[dg.AssetKey] | None = None) -> Sequence[Any]:
        """So does each step."""
        known = [self._reads.get(key, {}).get("record") for key in asset_keys or ()]
        if asset_keys and all(known):
            return known
        records = super().get_asset_records(asset_keys)
        for record in records:
            self._reads.get(record.asset_entry.asset_key, {})["record"] = record
        return records

    def dispose(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()

    def _engine_of(self, shard: str) -> sql.Engine:
        if shard not in self._engines:
            engine = _engine(self.conn_string_for_shard(shard))
            if shard != private_names.INDEX_SHARD_NAME and not self._create_run(Path(self.path_for_shard(shard))):
                self._initdb(engine)
            self._engines[shard] = engine
        return self._engines[shard]

    def _create_run(self, file: Path) -> bool:
        """Whether an empty file of a run was made; not where there is one, or without hard links.

        It comes whole: who reads the run at this moment, such as a page of the UI, makes what it finds missing.
        It is at the revision of the index: to find that out, Alembic reads all of its scripts.
        """
        if file.exists():
            return False
        with self._engine_of(private_names.INDEX_SHARD_NAME).connect() as connection:
            revision = connection.execute(sql.text("SELECT version_num FROM alembic_version")).scalar()
        aside = temporary_beside(file)
        engine = _engine(f"sqlite:///{aside}")
        try:
            with engine.connect() as connection:
                # Most tables of a run's file stay empty, and each takes a page for itself and for each index.
                connection.execute(sql.text("PRAGMA page_size=1024"))
            private_names.SqlEventLogStorageMetadata.create_all(engine)
            with engine.connect() as connection:
                connection.execute(sql.text("PRAGMA journal_mode=WAL"))
            with engine.begin() as connection:
                stamp = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
                connection.execute(sql.text(stamp))
                connection.execute(sql.text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision})
            # Closing the only connection folds the log into the file.
            engine.dispose()
            os.link(aside, file)
        except OSError:
            return False
        finally:
            engine.dispose()
            aside.unlink(missing_ok=True)
        return True


def _engine(conn_string: str) -> sql.Engine:
    """One connection that stays open. With a write-ahead log, `NORMAL` may lose the last writes in a power failure and
    breaks nothing; the planner builds again what has no record."""
    engine = sql.create_engine(
        conn_string,
        poolclass=StaticPool,
        connect_args={"timeout": private_names.SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )

    @sql.event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=NORMAL")
        # The log is folded into the file every 200 KB: an open connection would let it grow to four megabytes.
        connection.execute("PRAGMA wal_autocheckpoint=50")

    return engine
