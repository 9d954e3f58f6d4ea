"""Between Dagster and a build: an asset carries out one step and shows what came of it, as Dagster's metadata."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dagster as dg

from codesum_pipeline.builds.dagster.private_names import (
    AssetCheckEvaluationTargetMaterializationData,
    PartitionKeyFilter,
)
from codesum_pipeline.builds.dagster.resource import BuildRequest, CodesumResource
from codesum_pipeline.builds.dagster.run_tags import STATE_TAG, noting_fault
from codesum_pipeline.builds.reports.build_values import (
    AT_HEAD,
    NOT_WORSE,
    PLOT,
    PREVIEW,
    CheckFinding,
    Markdown,
    PreviewRows,
    StepOutcome,
    Values,
)
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.errors import BrokenStore, CodesumError, ObjectsMissing, RetryLater
from codesum_pipeline.foundation.settings.operation_settings import CheckName

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home
    from codesum_pipeline.builds.dagster.resource import Builder

OWNER = "team:codesum"
# What assets, checks, jobs, schedules and sensors are, in words.
DEFINITIONS = packaged_table(__package__, "assets")
JOB = "index_repository"
SNAPSHOT = dg.AssetKey("repo_snapshot")
EVALUATION, PUBLISHED_INDEX = dg.AssetKey("retrieval_evaluation"), dg.AssetKey("published_index")
# What an asset was built from; on the last one, what the planner compares with what it would be built from now.
FINGERPRINT_TAG = "codesum/fingerprint"
# On a run that the promotion gate ended, with its id: one that is started again begins with its tags.
_HELD_TAG = "codesum/held"
SECONDS = "seconds"
# On an evaluation that was written to another run than the one that carried it out: which one did.
EVALUATED_IN = "evaluated_in_run"
# For a server that is restarting; longer trouble is left to the planner.
MAX_RETRIES = 2
RETRY_WAIT_S = 2.0
# What a step says, and the tag that shows it in the list of runs.
_TAGS = {
    "commit": "codesum/commit",
    "files_changed": "codesum/files_changed",
    "texts_rewritten": "codesum/texts_rewritten",
}
_TAG_CHARS = 10

Look = Callable[[dg.ScheduleEvaluationContext, "Home"], list[dg.RunRequest] | str]
SensorLook = Callable[[dg.SensorEvaluationContext, "Home"], dg.SensorResult | str]


def schedule_of(name: str, job: Any, cron: str, look: Look) -> dg.ScheduleDefinition:
    """A schedule that runs unless somebody stops it; `look` gives the runs to start, or says why there are none."""

    @dg.schedule(
        name=name,
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=DEFINITIONS["schedules"][name],
        owners=[OWNER],
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, codesum: CodesumResource
    ) -> list[dg.RunRequest] | dg.SkipReason:
        found = look(context, codesum.open_home())
        return dg.SkipReason(found) if isinstance(found, str) else found

    return schedule


def sensor_of(name: str, interval_s: int, look: SensorLook, *, job: Any = None) -> dg.SensorDefinition:
    """A sensor that runs unless somebody stops it; `look` gives what came of a look, or says why nothing did."""

    @dg.sensor(
        name=name,
        job=job,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=DEFINITIONS["sensors"][name],
        owners=[OWNER],
    )
    def sensor(context: dg.SensorEvaluationContext, codesum: CodesumResource) -> dg.SensorResult:
        found = look(context, codesum.open_home())
        return dg.SensorResult(skip_reason=dg.SkipReason(found)) if isinstance(found, str) else found

    return sensor


def run_step(
    context: dg.AssetExecutionContext, codesum: CodesumResource, request: BuildRequest
) -> dg.MaterializeResult[None]:
    """Carry out the asset's step for the partition at hand. Every run materialises: a step that need not run is
    `reused`."""
    step, run_id, key = context.asset_key.to_user_string(), context.run.run_id, context.partition_key
    with noting_fault(context.instance, run_id), stage_failures(retry_number=context.retry_number):
        builder = codesum.builder(context, request.options())
        check_upstream(context, builder)
        done = builder.perform(step)
        log_outcome(context, done)
        tags = {tag: str(done.values[name])[:_TAG_CHARS] for name, tag in _TAGS.items() if name in done.values}
        if context.asset_key == SNAPSHOT:
            tags[STATE_TAG] = done.built_from
        for finding in done.findings:
            if finding.name == NOT_WORSE and not finding.passed:
                # The published index is behind, which nothing that comes after the gate will say.
                late = published_check(AT_HEAD, key, passed=False, description=finding.description or "")
                last = last_record(context.instance, PUBLISHED_INDEX, key)
                context.log_event(_about(last, late) if last else late)
                tags[_HELD_TAG] = run_id
        if tags:
            context.instance.add_run_tags(run_id, tags)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(done.table_hash),
            metadata={
                # First what the stage says: a run's page shows the first entries of each event.
                **metadata_of(done.values),
                SECONDS: done.seconds,
                "reused": done.is_reused,
                "dagster/row_count": done.rows,
                "dagster/partition_row_count": done.rows,
                **_shown(context, builder, step, done.table_hash),
            },
            tags={FINGERPRINT_TAG: done.built_from},
            check_results=check_results(context.asset_key, done.findings),
        )


def _shown(context: dg.AssetExecutionContext, builder: "Builder", step: str, data_version: str) -> dict[str, Any]:
    """Previews and plots, taken over from the last materialisation where the table is the same."""
    last = last_materialization(context.instance, context.asset_key, context.partition_key)
    if last and (last.tags or {}).get("dagster/data_version") == data_version and PREVIEW in last.metadata:
        return {name: last.metadata[name] for name in (PREVIEW, PLOT) if name in last.metadata}
    return metadata_of(builder.show(step))


def is_held(run: dg.DagsterRun) -> bool:
    """Whether the promotion gate ended a run, which Dagster lists as failed."""
    return run.tags.get(_HELD_TAG) == run.run_id


def published_check(
    check: str,
    key: str,
    *,
    passed: bool,
    description: str,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.WARN,
    **metadata: Any,
) -> dg.AssetCheckEvaluation:
    """The result of a check of a repository's published index, outside of the run that published it."""
    # Dagster stores names, and no enumeration of ours.
    return dg.AssetCheckEvaluation(
        asset_key=PUBLISHED_INDEX,
        check_name=str(check),
        passed=passed,
        severity=severity,
        description=description,
        metadata=metadata,
        partition=key,
    )


def report_check(instance: dg.DagsterInstance, evaluation: dg.AssetCheckEvaluation) -> None:
    """Write an evaluation of what was published last; where nothing was, nothing is written.

    Dagster keeps one evaluation of a check per partition and run, and refuses a second one that belongs to no run. It
    shows that of the newest run: the one that published, or one after it that did not get that far.
    """
    last = last_record(instance, evaluation.asset_key, str(evaluation.partition))
    if last:
        check, of_partition = evaluation.asset_check_key, PartitionKeyFilter(key=evaluation.partition)
        newest = instance.event_log_storage.get_asset_check_execution_history(
            check, limit=1, partition_filter=of_partition
        )
        runs = {last.run_id, *(each.run_id for each in newest)}
        write_evaluation(instance, _about(last, evaluation), run_id=max(runs, key=lambda run: _number(instance, run)))


def write_evaluation(instance: dg.DagsterInstance, evaluation: dg.AssetCheckEvaluation, *, run_id: str) -> None:
    """Write an evaluation to a run, in the place of that which the run has or planned."""
    kind = dg.DagsterEventType.ASSET_CHECK_EVALUATION.value
    event = dg.DagsterEvent(event_type_value=kind, job_name=JOB, event_specific_data=evaluation)
    instance.report_dagster_event(event, run_id=run_id)


def _number(instance: dg.DagsterInstance, run_id: str) -> int:
    record = instance.get_run_record_by_id(run_id)
    return record.storage_id if record else 0


def _about(last: dg.EventLogRecord, evaluation: dg.AssetCheckEvaluation) -> dg.AssetCheckEvaluation:
    """The evaluation as one of this materialisation: of others, Dagster's pages of partitions show nothing."""
    target = AssetCheckEvaluationTargetMaterializationData(
        storage_id=last.storage_id, run_id=last.run_id, timestamp=last.timestamp
    )
    return dg.AssetCheckEvaluation(
        asset_key=evaluation.asset_key,
        check_name=evaluation.check_name,
        passed=evaluation.passed,
        metadata=evaluation.metadata,
        target_materialization_data=target,
        severity=evaluation.severity,
        description=evaluation.description,
        partition=evaluation.partition,
    )


def log_outcome(context: dg.AssetExecutionContext, done: StepOutcome) -> None:
    """Log failures, and what a person should do."""
    for failure in done.failures:
        again = "" if failure.is_settled else ", and the next build tries it again"
        context.log.error("%s: %s; the rest goes on%s\n%s", failure.item, failure.reason, again, failure.traceback)
    for warning in done.warnings:
        context.log.warning(warning)


def check_results(asset: dg.AssetKey, findings: Sequence[CheckFinding]) -> list[dg.AssetCheckResult]:
    """The results of an asset's checks."""
    return [
        dg.AssetCheckResult(
            asset_key=asset,
            check_name=finding.name,
            passed=finding.passed,
            severity=dg.AssetCheckSeverity.WARN if finding.is_warning else dg.AssetCheckSeverity.ERROR,
            description=finding.description,
            metadata=metadata_of(finding.values or {}),
        )
        for finding in findings
    ]


def severity_of(home: "Home", check: CheckName) -> dg.AssetCheckSeverity:
    """The severity that the settings give a check."""
    return dg.AssetCheckSeverity.ERROR if check in home.settings.checks.errors else dg.AssetCheckSeverity.WARN


def check_upstream(context: dg.AssetExecutionContext, builder: "Builder") -> None:
    """A step that is run without the steps before it may only build on what they made of the present snapshot.

    Raises `BrokenStore` if they made it of another commit or under other
    settings: publishing that would mix two states of the repository.
    """
    run = context.run
    for asset in sorted(context.job_def.asset_layer.asset_graph.get_ancestor_asset_keys(context.asset_key)):
        is_in_run = run.asset_selection is None or asset in run.asset_selection
        if run.step_keys_to_execute is not None:
            is_in_run = asset.to_python_identifier() in run.step_keys_to_execute
        if is_in_run:
            continue
        if recorded_fingerprint(context.instance, context.partition_key, asset) != builder.built_from():
            raise BrokenStore(
                f"repository {context.partition_key!r}: {asset.to_user_string()} was not made from the current "
                "snapshot and the current settings: run the whole job, or every step from repo_snapshot on"
            )


@contextmanager
def stage_failures(*, retry_number: int = MAX_RETRIES) -> Iterator[None]:
    """The package's errors as Dagster's: the message a person needs, and another try where that makes sense."""
    try:
        yield
    except CodesumError as error:
        may_pass = isinstance(error, RetryLater) and not isinstance(error, ObjectsMissing)
        if may_pass and retry_number < MAX_RETRIES:
            raise dg.RetryRequested(MAX_RETRIES, seconds_to_wait=RETRY_WAIT_S * 2**retry_number) from error
        raise dg.Failure(str(error), allow_retries=False) from error


def last_materialization(
    instance: dg.DagsterInstance, asset: dg.AssetKey, partition: str
) -> dg.AssetMaterialization | None:
    """The newest materialisation of one repository's asset."""
    last = last_record(instance, asset, partition)
    return last.asset_materialization if last else None


def last_record(instance: dg.DagsterInstance, asset: dg.AssetKey, partition: str) -> dg.EventLogRecord | None:
    """Dagster's record of the newest materialisation of one repository's asset."""
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[partition])
    records = instance.fetch_materializations(wanted, limit=1).records
    return records[0] if records else None


def recorded_fingerprint(instance: dg.DagsterInstance, key: str, asset: dg.AssetKey) -> str | None:
    """The fingerprint that the last materialisation of a repository's asset is tagged with."""
    last = last_materialization(instance, asset, key)
    return (last.tags or {}).get(FINGERPRINT_TAG) if last else None


def table_metadata(table: str) -> dict[str, Any]:
    """The table that an asset represents, with its columns as the UI lists them."""
    columns = [
        dg.TableColumn(
            name=column.name,
            type=column.type,
            description=column.description,
            constraints=dg.TableColumnConstraints(nullable=column.is_nullable),
        )
        for column in STAGE_FACTS.get().columns[table]
    ]
    return {"dagster/column_schema": dg.TableSchema(columns=columns), "codesum/table": table}


def metadata_of(values: Values) -> dict[str, Any]:
    """One entry per value; Dagster knows what numbers, truths and texts are."""
    return {name: _metadata_value(value) for name, value in values.items()}


def _metadata_value(value: Any) -> Any:
    match value:
        case Markdown(text):
            return dg.MetadataValue.md(text)
        case PreviewRows(rows):
            # A count that a row lacks is 0.
            columns = list(dict.fromkeys(column for row in rows for column in row))
            records = [dg.TableRecord({column: row.get(column, 0) for column in columns}) for row in rows]
            return dg.MetadataValue.table(records, None if records else dg.TableSchema([]))
    return value
