"""What is told by schedule, about any number of repositories: two assets of the whole home, and a job for each.

They have no partition, since one digest may be about several repositories. A run of theirs holds no lease: it reads
what is published. No run config reaches a channel, a key or an address: these stand in the home and in the environment
of the process that runs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dagster as dg

from codesum_pipeline.defs.assets.digests import intent_digests, intent_matches
from codesum_pipeline.defs.building.facts import stage_facts
from codesum_pipeline.defs.metadata import column_schema, metadata_of
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER, SECONDS, log_outcome, stage_failures

if TYPE_CHECKING:
    from codesum_pipeline.defs.building.values import StepOutcome
    from codesum_pipeline.wiring import Home

GROUP = "digests"
_TABLE = "digests"


def _home_asset(*, deps: list[Any]) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """An asset of the whole home, one row of which is one digest."""

    def define(body: Callable[..., Any]) -> dg.AssetsDefinition:
        return dg.asset(
            group_name=GROUP,
            kinds={"markdown", "sqlite"},
            owners=[OWNER],
            code_version=stage_facts().code_versions[body.__name__],
            deps=deps,
            metadata={"dagster/column_schema": column_schema(_TABLE), "codesum/table": _TABLE},
        )(body)

    return define


@_home_asset(deps=[intent_matches])
def scheduled_digests(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The answers to daily and weekly questions, over all repositories, and another try for what was held or not sent.
    One row is one digest."""
    from codesum_pipeline.defs.building.scheduled_digests import tell_due

    return _tell(context, codesum, tell_due)


@_home_asset(deps=[intent_digests, scheduled_digests])
def digest_rollups(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The digests of a month in one, for each question that had some. One row is one of these."""
    from codesum_pipeline.defs.building.scheduled_digests import roll_up

    return _tell(context, codesum, roll_up)


SCHEDULED_ASSETS = (scheduled_digests, digest_rollups)

send_digests = dg.define_asset_job(
    name="send_digests",
    description="Write and send the daily and weekly digests that are due, and try again what was held or not sent.",
    owners=[OWNER],
    selection=dg.AssetSelection.assets(scheduled_digests),
    executor_def=dg.in_process_executor,
)
roll_up_digests = dg.define_asset_job(
    name="roll_up_digests",
    description="Write and send the digests of the month before in one, for each standing question.",
    owners=[OWNER],
    selection=dg.AssetSelection.assets(digest_rollups),
    executor_def=dg.in_process_executor,
)


def _tell(
    context: dg.AssetExecutionContext, codesum: CodesumResource, work: "Callable[[Home], StepOutcome]"
) -> dg.MaterializeResult[None]:
    """Every run materialises, also where nothing was due."""
    with stage_failures():
        done = work(codesum.open_home())
    log_outcome(context, done)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(done.table_hash),
        metadata={SECONDS: done.seconds, "dagster/row_count": done.rows, **metadata_of(done.values)},
    )
