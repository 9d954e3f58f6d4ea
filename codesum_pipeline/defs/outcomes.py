"""What a finished run says, read from its events."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import dagster as dg

from codesum_pipeline.defs.building.builder import NOT_WORSE
from codesum_pipeline.defs.building.exchange import RemoteTraceback
from codesum_pipeline.defs.building.run_outcome import Numbers, RunOutcome
from codesum_pipeline.model import errors
from codesum_pipeline.model.errors import CodesumError

if TYPE_CHECKING:
    from dagster_shared.error import SerializableErrorInfo


def outcome_of(key: str, result: dg.ExecuteInProcessResult, *, seconds: float) -> RunOutcome:
    """Read a run's events."""
    held_because = None if result.success else _held_because(result.all_events)
    is_good = result.success or held_because is not None
    message, error = (held_because or "", None) if is_good else complaint_of(result.all_events)
    return RunOutcome(
        key=key,
        run_id=result.run_id,
        succeeded=is_good,
        is_held=held_because is not None,
        seconds=seconds,
        message=message,
        error=error,
        numbers={
            materialization.asset_key.to_user_string(): _numbers(materialization)
            for materialization in (
                event.step_materialization_data.materialization
                for event in result.all_events
                if event.is_step_materialization
            )
        },
    )


def _held_because(events: Iterable[dg.DagsterEvent]) -> str | None:
    """Why the promotion gate ended a run; None where it did not."""
    for event in events:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            if check.check_name == NOT_WORSE and not check.passed:
                return check.description
    return None


def was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether the run ended because its process was asked to stop."""
    return any(
        event.event_type is dg.DagsterEventType.RUN_FAILURE
        and event.job_failure_data.failure_reason is not None
        and event.job_failure_data.failure_reason.value == "UNEXPECTED_TERMINATION"
        for event in result.all_events
    )


def _numbers(materialization: dg.AssetMaterialization) -> Numbers:
    return {
        name: value.value
        for name, value in materialization.metadata.items()
        if isinstance(value, dg.IntMetadataValue | dg.FloatMetadataValue | dg.BoolMetadataValue)
        and value.value is not None
    }


def complaint_of(events: Iterable[dg.DagsterEvent]) -> tuple[str, type[CodesumError] | None]:
    """The first failed check that blocks, else the first error."""
    failed: list[SerializableErrorInfo] = []
    ended = "the run ended without an error"
    for event in events:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            if check.blocking and not check.passed:
                asset = check.asset_key.to_user_string()
                return f"check {check.check_name} of {asset} failed: {check.description or 'see the run'}", None
        elif event.is_step_failure and event.step_failure_data.error:
            failed.append(event.step_failure_data.error)
        elif event.event_type is dg.DagsterEventType.RUN_FAILURE:
            ended = event.message or ended
            # One that was marked as failed from outside has no data.
            if event.event_specific_data and event.job_failure_data.error:
                failed.append(event.job_failure_data.error)
    return _own_error(failed[0]) if failed else (ended, None)


def _own_error(error: "SerializableErrorInfo") -> tuple[str, type[CodesumError] | None]:
    """The package's error in a chain of causes; the innermost error where there is none."""
    while True:
        kind = getattr(errors, error.cls_name or "", None)
        if isinstance(kind, type) and issubclass(kind, CodesumError):
            return _text(error), kind
        if error.cause is None or error.cause.cls_name == RemoteTraceback.__name__:
            return f"{error.cls_name}: {_text(error)}" if error.cls_name else _text(error), None
        error = error.cause


def _text(error: "SerializableErrorInfo") -> str:
    """The message without the name of its class."""
    return error.message.removeprefix(f"{error.cls_name}: ").rpartition(f".{error.cls_name}: ")[2].strip()
