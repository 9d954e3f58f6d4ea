"""What is told by schedule, about any number of repositories: two assets of the whole home, and a job for each.

They have no partition, since one digest may be about several repositories. A run of theirs holds no lease: it reads
what is published. No run config reaches a channel, a key or an address: these stand in the home and in the environment
of the process that runs.
"""

from collections.abc import Callable, Sequence

import dagster as dg

from codesum_pipeline.defs.building.facts import stage_facts
from codesum_pipeline.defs.building.scheduled_digests import roll_up, tell_due
from codesum_pipeline.defs.building.values import StepOutcome
from codesum_pipeline.defs.metadata import metadata_of, table_metadata
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER, SECONDS, log_outcome, stage_failures
from codesum_pipeline.wiring import Home


def _asset(
    name: str, description: str, work: Callable[[Home], StepOutcome], *, deps: Sequence[str]
) -> dg.AssetsDefinition:
    """An asset of the whole home; one row is one digest. Every run materialises, also where nothing was due."""

    @dg.asset(
        name=name,
        description=description,
        group_name="digests",
        kinds={"markdown", "sqlite"},
        owners=[OWNER],
        code_version=stage_facts().assets["intent_digests"].code_version,
        deps=deps,
        metadata=table_metadata("digests"),
    )
    def tell(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
        with stage_failures():
            done = work(codesum.open_home())
        log_outcome(context, done)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(done.table_hash),
            metadata={SECONDS: done.seconds, "dagster/row_count": done.rows, **metadata_of(done.values)},
        )

    return tell


scheduled_digests = _asset(
    "scheduled_digests",
    "The answers to daily and weekly questions, over all repositories, and another try for what was held or not sent. "
    "One row is one digest.",
    tell_due,
    deps=["intent_matches"],
)
digest_rollups = _asset(
    "digest_rollups",
    "The digests of a month in one, for each question that had some. One row is one of these.",
    roll_up,
    deps=["intent_digests", "scheduled_digests"],
)
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
