"""One partition per entry of the registry.

Dagster takes any text for a key: ours are checked where they enter, in the
registry and where a run takes its lease.
"""

import warnings
from collections.abc import Sequence

import dagster as dg
from sqlalchemy.exc import IntegrityError

# Checks per partition are a preview in Dagster 1.13; said once here instead of once per check.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
# So are owners of jobs, schedules and sensors.
warnings.filterwarnings("ignore", message="Parameter `owners`", category=dg.BetaWarning)

PARTITIONS = "codesum_repos"
# On each run of a partition.
PARTITION_TAG = "dagster/partition"
# How many Dagster is told of at one time, and by one tick.
PORTION = 500
codesum_repos = dg.DynamicPartitionsDefinition(name=PARTITIONS)


def add_partitions(instance: dg.DagsterInstance, keys: Sequence[str]) -> None:
    """Let Dagster know of repositories; those that it knows stay.

    Some hundred at a time: a database takes so many values in one statement, and others wait for a writer.
    """
    for start in range(0, len(keys), PORTION):
        _add_some(instance, list(keys[start : start + PORTION]))


def _add_some(instance: dg.DagsterInstance, keys: list[str]) -> None:
    """Dagster looks which ones are missing and then adds them, so that it fails where another process adds one in
    between."""
    for _ in keys:
        try:
            instance.add_dynamic_partitions(PARTITIONS, keys)
        except IntegrityError:
            continue
        return
    instance.add_dynamic_partitions(PARTITIONS, keys)
