"""What models' caps left over, and what there is to spend on it today.

A build that goes on begins from the texts that stand and the day. Where it
wrote something, the next one begins from others and counts anew; where it could
not, as without credentials, it is tried so many times a day and no more.
"""

from datetime import datetime

import dagster as dg

from codesum_pipeline.llm.ledger import spent_today
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.pipeline import has_left_over
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.summaries.by_model.outages import standing_outages
from codesum_pipeline.wiring import Home, utc_now

GOES_ON_TAG = "codesum/goes_on"


def left_over(home: Home, key: str, fingerprint: str) -> str | None:
    """A name of what a build would go on from; None where nothing is left over, or nothing may be spent on it."""
    options = home.settings.options
    if not _may_go_on(home) or not has_left_over(home.workspace(key, run_id="look")):
        return None
    if standing_outages(home.layout, key, fingerprint=fingerprint):
        # A whole level failed: somebody has to look before that is paid for again.
        return None
    texts = [home.tables.content_hash(texts_table(level), key) for level in Level]
    caps = [options.llm.max_summaries_per_run, options.llm.max_cost_usd_per_run]
    return hash_of([fingerprint, utc_now().date().isoformat(), texts, caps])


def usd_left_today(home: Home, instance: dg.DagsterInstance, *, statuses: list[dg.DagsterRunStatus]) -> float:
    """What may be spent now: nothing while another build goes on, whose price is not known yet."""
    of_others = dg.RunsFilter(tags={GOES_ON_TAG: "true"}, statuses=statuses)
    if not _may_go_on(home) or instance.get_runs_count(of_others):
        return 0.0
    return home.settings.llm.max_cost_usd_per_day - _spent(home, utc_now())


def _may_go_on(home: Home) -> bool:
    options = home.settings.options
    llm = options.llm
    is_paid = llm.enabled and not llm.asks_nobody and not options.scan.offline
    return is_paid and llm.max_summaries_per_run > 0 and llm.max_cost_usd_per_day > 0


def _spent(home: Home, now: datetime) -> float:
    """By all repositories, whoever started their builds."""
    return sum(spent_today(home.layout.state(entry.key), now=now) for entry in home.registry.survey().entries)
