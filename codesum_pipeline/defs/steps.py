"""Between Dagster and a build: an asset carries out one step and shows what it reports."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from typing import Any

import dagster as dg
import pyarrow.parquet as pq

from codesum_pipeline.defs.caller import progress_of
from codesum_pipeline.defs.metadata import column_schema, report_metadata
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import PLOT, PREVIEW, Shown
from codesum_pipeline.model.errors import BrokenStore, CodesumError, RetryLater
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.guard import Failure
from codesum_pipeline.store.reuse import Step, carry_out
from codesum_pipeline.store.workspace import Workspace

OWNER = "team:codesum"
# What an asset was built from; on the last one, what the planner compares with what it would be built from now.
FINGERPRINT_TAG = "codesum/fingerprint"
SECONDS = "seconds"
REUSED = "reused"
# For a server that is restarting; longer trouble is left to the planner.
MAX_RETRIES = 2
RETRY_WAIT_S = 2.0

# Each changes with the table alone, so they are drawn again only where it changed.
Show = Callable[[Workspace], Shown]


def step_asset(
    *,
    group: str,
    kinds: set[str],
    table: str,
    version: str,
    deps: list[Any],
    check_specs: list[dg.AssetCheckSpec] | None = None,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """An asset of one repository whose main result is `table`."""
    return dg.asset(
        partitions_def=codesum_repos,
        group_name=group,
        kinds=kinds,
        owners=[OWNER],
        code_version=version,
        deps=deps,
        check_specs=check_specs,
        metadata={"dagster/column_schema": column_schema(table), "codesum/table": table},
    )


def run_step(
    context: dg.AssetExecutionContext,
    codesum: CodesumResource,
    step: Step[Any],
    *,
    show: Show | None = None,
) -> dg.MaterializeResult[None]:
    """Carry out a step for the partition at hand. Every run materialises: a step that need not run is `reused`."""
    with stage_failures(retry_number=context.retry_number):
        workspace = codesum.workspace(context.partition_key, run_id=context.run.run_id)
        check_upstream(context, workspace)
        workspace.layout.recorded(workspace.key).unlink(missing_ok=True)
        start = time.perf_counter()
        done = carry_out(step, workspace, progress=progress_of(context.log))
        report = done.report
        log_failures(context.log, done.failures)
        seconds = time.perf_counter() - start
        rows = _rows(workspace, context.assets_def.metadata_by_key[context.asset_key]["codesum/table"])
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.table_hash),
            metadata={
                SECONDS: round(seconds, 3),
                REUSED: done.is_reused,
                "dagster/row_count": rows,
                "dagster/partition_row_count": rows,
                **report_metadata(report),
                **_shown(context, workspace, report.table_hash, show),
            },
            tags={FINGERPRINT_TAG: built_from(workspace)},
        )


def log_failures(log: logging.Logger, failures: Sequence[Failure]) -> None:
    """What a step failed on while the rest went on, each with where in the code."""
    for failure in failures:
        log.error("%s: %s; the rest goes on, and the next build tries it again\n%s", *astuple(failure))


def built_from(workspace: Workspace) -> str:
    """The fingerprint of the snapshot that stands, under the settings of now."""
    (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
    return workspace.fingerprint(snapshot.commit)


def check_upstream(context: dg.AssetExecutionContext, workspace: Workspace) -> None:
    """A step that is run without the steps before it may only build on what they made of the present snapshot.

    Raises `BrokenStore` where they made it of another commit or under other
    settings: publishing that would mix two states of the repository.
    """
    graph = context.job_def.asset_layer.asset_graph
    before = sorted(graph.get_ancestor_asset_keys(context.asset_key))
    for key in (key for key in before if not _is_in_run(key, context.run)):
        last = last_materialization(context.instance, key, context.partition_key)
        if last is None or (last.tags or {}).get(FINGERPRINT_TAG) != built_from(workspace):
            raise BrokenStore(
                f"repository {workspace.key!r}: {key.to_user_string()} was not made from the snapshot that stands now, "
                "under the settings of now: run the whole job, or every step from repo_snapshot on"
            )


def _is_in_run(asset: dg.AssetKey, run: dg.DagsterRun) -> bool:
    if run.step_keys_to_execute is not None:
        return asset.to_python_identifier() in run.step_keys_to_execute
    return run.asset_selection is None or asset in run.asset_selection


@contextmanager
def stage_failures(*, retry_number: int = MAX_RETRIES) -> Iterator[None]:
    """The package's errors as Dagster's: the message a person needs, and another try where that makes sense."""
    try:
        yield
    except RetryLater as error:
        if retry_number >= MAX_RETRIES:
            raise dg.Failure(str(error), allow_retries=False) from error
        raise dg.RetryRequested(MAX_RETRIES, seconds_to_wait=RETRY_WAIT_S * 2**retry_number) from error
    except CodesumError as error:
        raise dg.Failure(str(error), allow_retries=False) from error


def last_materialization(
    instance: dg.DagsterInstance, asset: dg.AssetKey, partition: str
) -> dg.AssetMaterialization | None:
    """The newest materialisation of one repository's asset."""
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[partition])
    records = instance.fetch_materializations(wanted, limit=1).records
    return records[0].asset_materialization if records else None


def _shown(context: dg.AssetExecutionContext, workspace: Workspace, data_version: str, show: Show | None) -> Shown:
    """Previews and plots, taken over from the last materialisation where the table is the same."""
    if show is None:
        return {}
    last = last_materialization(context.instance, context.asset_key, context.partition_key)
    if last and (last.tags or {}).get("dagster/data_version") == data_version and PREVIEW in last.metadata:
        return {name: last.metadata[name] for name in (PREVIEW, PLOT) if name in last.metadata}
    return show(workspace)


def _rows(workspace: Workspace, table: str) -> int:
    return int(pq.read_metadata(workspace.tables.path(table, workspace.key)).num_rows)
