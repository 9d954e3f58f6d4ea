"""One partition per entry of the registry.

Dagster takes any text for a key: ours are checked where they enter, in the
registry and where a run takes its lease.
"""

import warnings

import dagster as dg

# Checks per partition are a preview in Dagster 1.13; said once here instead of once per check.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

PARTITIONS = "codesum_repos"
codesum_repos = dg.DynamicPartitionsDefinition(name=PARTITIONS)
