"""Every asset, check, job, schedule and sensor of one home, put together.

Loading opens nothing: no network, no repository and no table. Of the settings,
only when the planner looks is read here, since Dagster wants it beforehand.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import dagster as dg

# Checks per partition are a preview in Dagster 1.13; said once here instead of once per check.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

from codesum_pipeline.defs.assets import ASSETS  # noqa: E402
from codesum_pipeline.defs.checks import CHECKS  # noqa: E402
from codesum_pipeline.defs.jobs import index_repository  # noqa: E402
from codesum_pipeline.defs.resource import IN_MEMORY, CodesumResource, FromTheProcess  # noqa: E402
from codesum_pipeline.defs.schedules import nightly  # noqa: E402
from codesum_pipeline.defs.sensors import repository_changes  # noqa: E402
from codesum_pipeline.settings import load_settings  # noqa: E402


def build_defs(overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The definitions of one home. `overrides` are settings that win over file and environment, `home` among them."""
    given = dict(overrides or {})
    planner = load_settings(given).planner
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[index_repository],
        schedules=[nightly(planner.nightly_cron)],
        sensors=[repository_changes(planner.sensor_interval_s)],
        resources={
            "codesum": CodesumResource(given=FromTheProcess(given), duckdb=IN_MEMORY),
            # No step hands a value to another, and Dagster's own default takes a folder from the run config.
            "io_manager": dg.mem_io_manager,
        },
        executor=dg.in_process_executor,
    )
