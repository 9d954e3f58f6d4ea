"""One tick of the planner, whoever asks for it."""

import logging
from collections.abc import Collection, Sequence

import dagster as dg
from msgspec import Struct

from codesum_pipeline.defs.building.values import BuildOptions
from codesum_pipeline.defs.leftovers import GOES_ON_TAG, usd_left_today
from codesum_pipeline.defs.observing import Sight, observe
from codesum_pipeline.defs.partitions import PARTITIONS, PORTION
from codesum_pipeline.defs.planner import BuildDecision, Observation, Plan, Request, named, plan_builds
from codesum_pipeline.defs.processes import end_vanished_runs
from codesum_pipeline.defs.records import ACTIVE
from codesum_pipeline.defs.resource import run_config_for
from codesum_pipeline.defs.standing_checks import note_plan
from codesum_pipeline.defs.steps import FINGERPRINT_TAG, behind, report_check
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.poll_state import PollState, open_poll_state
from codesum_pipeline.wiring import Home


class SensorTick(Struct, frozen=True):
    """What a tick found; `published` has an index, and `last` is the last repository it had time for."""

    plan: Plan
    new_keys: list[str]
    published: frozenset[str]
    last: str

    @property
    def run_requests(self) -> list[dg.RunRequest]:
        return [_run_request(request) for request in self.plan.requests]

    def report_behind(self, instance: dg.DagsterInstance) -> None:
        """Let the check of published indexes that are to be built fail."""
        published = self.published.difference(self.new_keys)
        for request in self.plan.requests:
            if request.key in published and request.usd_left is None:
                why = "the repository, its settings or an algorithm is newer than the published index"
                tried = {FINGERPRINT_TAG: request.fingerprint, "attempt": request.number}
                report_check(instance, behind(request.key, why, **tried))


def take_tick(
    home: Home,
    instance: dg.DagsterInstance,
    *,
    asker: str,
    last: str,
    log: logging.Logger,
    only: Collection[str] | None = None,
) -> SensorTick:
    """Look at the registry's repositories, or `only` at some, and decide which to build.

    `asker` is who asks Dagster for the runs: what another asker asked for just now is not asked for again.
    """
    for run_id in end_vanished_runs(home.layout, instance):
        log.warning("run %s: its process is gone; marked as failed", run_id)
    survey = home.registry.survey()
    enabled = [entry for entry in survey.entries if entry.enabled]
    entries = enabled if only is None else [entry for entry in enabled if entry.key in only]
    problems = {} if only is not None else survey.problems
    with open_poll_state(home.layout) as state:
        marks = state.marks()
        if only is None:
            state.forget_others([entry.key for entry in enabled] + list(problems))
        sight = observe(home, instance, state, entries, last=last, now_due=marks.keys())
        registered = {entry.key for entry in enabled}
        state.drop_marks(marks[key] for key in marks if key in sight.looked_at or key not in registered)
        refused = [Observation(key, wanted=None, complaint=str(problem)) for key, problem in problems.items()]
        plan = _plan(home, instance, [*sight.observations, *refused])
        claimed = state.claim({each.key: each.fingerprint for each in plan.requests}, asker, now=utc_now().timestamp())
        plan = plan.without({each.key for each in plan.requests} - claimed)
        _tell(plan, sight, state, log)
    note_plan(home, instance, plan, enabled)
    seen = sight.observations
    return SensorTick(
        plan,
        _new_keys(instance, entries, plan),
        frozenset(found.key for found in seen if found.published),
        last=_last_looked_at(seen_keys=[found.key for found in seen], all_keys=len(entries)),
    )


def _plan(home: Home, instance: dg.DagsterInstance, seen: Sequence[Observation]) -> Plan:
    planner = home.settings.planner
    return plan_builds(
        seen,
        max_attempts=planner.max_attempts,
        max_requests=planner.max_requests_per_tick,
        usd_left=usd_left_today(home, instance, statuses=list(ACTIVE)),
    )


def _new_keys(instance: dg.DagsterInstance, entries: Sequence[RepositoryEntry], plan: Plan) -> list[str]:
    """Repositories that Dagster does not know: those to build first, and no more than it takes at one time."""
    known = set(instance.get_dynamic_partitions(PARTITIONS))
    wanted = {request.key for request in plan.requests}
    new = sorted({entry.key for entry in entries} - known, key=lambda key: (key not in wanted, key))
    return sorted(new[: max(PORTION, len(wanted))])


def _last_looked_at(*, seen_keys: Sequence[str], all_keys: int) -> str:
    """Where the next tick goes on; nowhere in particular when there was time for all."""
    return seen_keys[-1] if seen_keys and len(seen_keys) < all_keys else ""


def _run_request(request: Request) -> dg.RunRequest:
    tags = {FINGERPRINT_TAG: request.fingerprint}
    if request.usd_left is None:
        return dg.RunRequest(run_key=request.run_key, partition_key=request.key, tags=tags)
    return dg.RunRequest(
        run_key=request.run_key,
        partition_key=request.key,
        tags={**tags, GOES_ON_TAG: "true"},
        run_config=run_config_for(BuildOptions(llm_usd_left=request.usd_left)),
    )


def _tell(plan: Plan, sight: Sight, state: PollState, log: logging.Logger) -> None:
    """Say what is wrong once, and again when it is something else."""
    now = {
        key: (f"{verdict}: {plan.complaints.get(key, '')}" if verdict is BuildDecision.UNREADABLE else f"{verdict}")
        for key, verdict in plan.verdicts.items()
        if verdict in (BuildDecision.UNREADABLE, BuildDecision.EXHAUSTED)
    }
    before = state.told()
    new = {key: text for key, text in now.items() if before.get(key) != text}
    if unreadable := plan.unreadable(new.keys()):
        log.warning("unreadable: %s", unreadable)
    if exhausted := sorted(key for key in new if plan.verdicts[key] is BuildDecision.EXHAUSTED):
        log.warning(
            "%s: failed too often in this state; a change or a run started by hand tries again", named(exhausted)
        )
    for rest in (rest for rest in sight.rests if rest.failures == 1):
        log.warning("%s asks for fewer requests: nothing is asked of it for %.0f s", rest.host, rest.lasts_s)
    state.keep_told({**new, **{key: "" for key in before if key in plan.verdicts and key not in now}})
