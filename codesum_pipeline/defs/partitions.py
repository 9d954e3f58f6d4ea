"""One partition per entry of the registry.

Dagster takes any text for a key: ours are checked where they enter, in the
registry and where a run takes its lease.
"""

import dagster as dg

codesum_repos = dg.DynamicPartitionsDefinition(name="codesum_repos")
