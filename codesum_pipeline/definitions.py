"""What the Dagster UI shows: every asset, check, job, schedule and sensor of one home, put together.

Loading opens nothing: no network, no repository and no table. The only settings that are read here are the planner's
times, since Dagster needs them when it loads.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.dagster.alerting import STANDING_CHECKS, alerts, verification, verify_indexes
from codesum_pipeline.builds.dagster.assets import ASSETS, CHECKS, index_repository, make_resources
from codesum_pipeline.builds.dagster.home_jobs import HOME_ASSETS, HOME_JOBS, home_schedules
from codesum_pipeline.builds.dagster.maintenance_job import maintenance, pruning
from codesum_pipeline.builds.dagster.ticks import nightly, pushed_repositories, repository_changes


def build_defs(overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The definitions of one home. `overrides` are settings that win over file and environment, `home` among them."""
    chosen = dict(overrides or {})
    settings = load_settings(chosen)
    planner = settings.planner
    return dg.Definitions(
        assets=[*ASSETS, *HOME_ASSETS],
        asset_checks=[*CHECKS, *STANDING_CHECKS],
        jobs=[index_repository, *HOME_JOBS, verify_indexes, maintenance],
        schedules=[
            nightly(planner.nightly_cron),
            *home_schedules(digests_cron=planner.digests_cron, sync_cron=settings.hosts.sync_cron),
            verification,
            pruning(settings.maintenance.cron),
        ],
        sensors=[
            repository_changes(planner.sensor_interval_s),
            pushed_repositories(planner.push_interval_s),
            alerts(settings.alerts.interval_s),
        ],
        resources=make_resources(chosen),
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of the home that the process was given."""
    return build_defs()
