"""The one job: whoever builds a repository, from the UI, the command line, a schedule or a sensor, runs this."""

import dagster as dg

from codesum_pipeline.defs.assets import ASSETS

# Steps of one repository depend on one another: a process for each would cost more than it saves, and would
# leave the repository's lease free between them.
index_repository = dg.define_asset_job(
    name="index_repository",
    description="Bring the index of one repository up to date.",
    selection=dg.AssetSelection.assets(*ASSETS),
    executor_def=dg.in_process_executor,
)
