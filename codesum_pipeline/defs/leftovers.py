"""What models' caps left over, and what there is to spend on it today.

A build that goes on begins from the texts that stand and the day. Where it
wrote something, the next one begins from others and counts anew; where it could
not, as without credentials, it is tried so many times a day and no more.
"""

import random
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import dagster as dg
from msgspec.structs import replace

from codesum_pipeline.building.freshness import has_left_over
from codesum_pipeline.defs.planner import Observation
from codesum_pipeline.llm.ledger import spent_today
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.store.bucket_record import spending_of_all
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.summaries.by_model.outages import outages_of_build
from codesum_pipeline.wiring import Home

GOES_ON_TAG = "codesum/goes_on"
# How much of a tick is spent on looking for something that is left over.
LOOK_S = 5.0


def with_left_overs(home: Home, seen: Sequence[Observation], entries: Sequence[RepositoryEntry]) -> list[Observation]:
    """The same, with what is left over of those that are up to date.

    Of a home in a bucket only a worker that built a repository knows it, from its own copy. Where there is no time
    for all of them, it is a matter of chance where the look begins: each has its turn.
    """
    if not _may_go_on(home):
        return list(seen)
    by_key = {entry.key: entry for entry in entries}
    start, give_up_at = random.randrange(len(seen) or 1), time.monotonic() + LOOK_S
    found = {}
    for each in (*seen[start:], *seen[:start]):
        if time.monotonic() > give_up_at:
            break
        if each.is_up_to_date and each.wanted is not None and _is_at_hand(home, each.key):
            found[each.key] = left_over(home, by_key[each.key], each.wanted)
    return [replace(each, left_over=found.get(each.key)) for each in seen]


def left_over(home: Home, entry: RepositoryEntry, fingerprint: str) -> str | None:
    """A name of what a build would go on from; None where nothing is left over, or nothing may be spent on it."""
    options = home.settings
    if not _may_go_on(home) or not has_left_over(home.workspace(entry, run_id="look")):
        return None
    if outages_of_build(home.layout, entry.key, fingerprint=fingerprint):
        # A whole level failed: somebody has to look before that is paid for again.
        return None
    texts = [home.tables.content_hash(texts_table(level), entry.key) for level in Level]
    caps = [options.llm.max_summaries_per_run, options.llm.max_cost_usd_per_run]
    return hash_of([fingerprint, utc_now().date().isoformat(), texts, caps])


def usd_left_today(home: Home, instance: dg.DagsterInstance, *, statuses: list[dg.DagsterRunStatus]) -> float:
    """What may be spent now: nothing while another build goes on, whose price is not known yet."""
    of_others = dg.RunsFilter(tags={GOES_ON_TAG: "true"}, statuses=statuses)
    if not _may_go_on(home) or instance.get_runs_count(of_others):
        return 0.0
    return home.settings.llm.max_cost_usd_per_day - _spent(home, utc_now())


def _is_at_hand(home: Home, key: str) -> bool:
    return home.layout.bucket is None or home.layout.published(key).is_symlink()


def _may_go_on(home: Home) -> bool:
    options = home.settings
    llm = options.llm
    is_paid = llm.enabled and not llm.asks_nobody and not options.offline
    return is_paid and llm.max_summaries_per_run > 0 and llm.max_cost_usd_per_day > 0


def _spent(home: Home, now: datetime) -> float:
    """By all repositories, whoever started their builds; a ledger that was not written to today is not opened."""
    if bucket := home.layout.bucket:
        return spending_of_all(bucket.objects(), day=now.date())
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    ledgers = [home.layout.state(entry.key) for entry in home.registry.survey().entries]
    return sum(spent_today(ledger, now=now) for ledger in ledgers if _written_at(ledger) >= midnight)


def _written_at(ledger: Path) -> float:
    """When SQLite last wrote to a file or to its log; 0 where there is none."""
    times = []
    for path in (ledger, ledger.with_name(f"{ledger.name}-wal")):
        with suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times, default=0.0)
