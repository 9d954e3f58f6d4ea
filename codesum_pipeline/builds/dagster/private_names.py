"""Every private name of Dagster that this package uses, each with what it is for and the public way that was tried.

Dagster may change any of them with a minor version: then this file is where to begin. A new one is a decision: public
names are looked for first. `instance_file.py` also names a private module, in the text of a `dagster.yaml`.
"""

from types import ModuleType

# A run that `codesum retry` puts into the queue names the code that a worker loads, as those of the daemon do. The
# public ways to submit a run need a webserver, or load the code location first.
from dagster._core.code_pointer import ModuleCodePointer

# Which materialisation a check's evaluation is about, and the executions of a check for one partition: evaluations that
# are reported beside a run carry the first, and the public reading of the second is of all partitions together.
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster._core.event_api import PartitionKeyFilter

# The instance as its processes find it: which storage, which output, below which folder. `DagsterInstance.get()` takes
# what `dagster.yaml` says and has no way to exchange a part of it.
from dagster._core.instance.ref import InstanceRef

# A launcher is a class that Dagster makes from its configuration. Its base class is public (`dagster_celery` has it);
# what it answers with, and is given, is not.
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin

# The UI's timeline looks runs up by the origin of their job: `execute_in_process` gives them none, and `launch_run`
# needs another process.
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)

# Dagster's own storages: `codesum index` exchanges their connections, upkeep deletes rows of many runs in one
# transaction (the public `delete_run` leaves tags, checks and files behind, and takes a transaction for each run), and
# the planner must know whether records are in files or in a database. No setting and no public class does any of that.
from dagster._core.storage.config import PostgresStorageConfig
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    SqlEventLogStorageMetadata,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.runs import SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable, RunStorageSqlMetadata, RunTagsTable
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage

# Files of records are made whole, migrated and stamped by one process: `dagster instance migrate` does that for an
# instance that is there already, and two that begin at one moment make it twice.
from dagster._core.storage.sql import (
    check_alembic_revision,
    get_alembic_config,
    run_alembic_upgrade,
    stamp_alembic_rev,
)
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

# The message that hands a run over to a worker, as Dagster's own launchers write it.
from dagster._grpc.types import ExecuteRunArgs

# A class that `dagster.yaml` names is made from this, and from nothing public.
from dagster._serdes import ConfigurableClassData, pack_value


def dev_command_module() -> ModuleType:
    """`dagster dev`: the command has no option for the programs that it starts."""
    from dagster._cli import dev

    return dev


def daemon_module() -> ModuleType:
    """The daemon, whose loop over sensors has no setting for the clock."""
    from dagster._daemon import daemon

    return daemon


def sensor_module() -> ModuleType:
    """The sensors' loop, which measures how long ago a tick was."""
    from dagster._daemon import sensor

    return sensor


def daemon_command_module() -> ModuleType:
    """`dagster-daemon`: a script of this name, in which nothing can be changed."""
    from dagster._daemon import cli

    return cli


__all__ = [
    "DEFAULT_DAGSTER_ENTRY_POINT",
    "INDEX_SHARD_NAME",
    "SQLITE_BUSY_TIMEOUT_SECONDS",
    "AssetCheckEvaluationTargetMaterializationData",
    "AssetCheckExecutionsTable",
    "CheckRunHealthResult",
    "ConfigurableClassData",
    "DagsterSqliteStorage",
    "ExecuteRunArgs",
    "InstanceRef",
    "JobPythonOrigin",
    "LaunchRunContext",
    "LoadableTargetOrigin",
    "ManagedGrpcPythonEnvCodeLocationOrigin",
    "ModuleCodePointer",
    "PartitionKeyFilter",
    "PostgresStorageConfig",
    "RemoteJobOrigin",
    "RemoteRepositoryOrigin",
    "RepositoryPythonOrigin",
    "RunStorageSqlMetadata",
    "RunTagsTable",
    "RunsTable",
    "ScheduleStorageSqlMetadata",
    "SqlEventLogStorage",
    "SqlEventLogStorageMetadata",
    "SqlEventLogStorageTable",
    "SqlRunStorage",
    "SqliteEventLogStorage",
    "SqliteRunStorage",
    "SqliteScheduleStorage",
    "WorkerStatus",
    "check_alembic_revision",
    "create_db_conn_string",
    "get_alembic_config",
    "pack_value",
    "run_alembic_upgrade",
    "stamp_alembic_rev",
]
