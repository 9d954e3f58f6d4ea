"""What `codesum doctor`, `status` and `index` say of compilers' indexes, the trust that rests on them, digests, and the
fleet."""

import os
import shlex
import sqlite3
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from datetime import timedelta

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.fleet_reading import behind_for, is_late, read_fleet, remark_of
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.fleet_states import read_record
from codesum_pipeline.builds.steps.freshness import IndexState, allowed_lag
from codesum_pipeline.builds.steps.reuse import last_report
from codesum_pipeline.builds.steps.step_list import CALL_GRAPH, SYMBOLS
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.graph.compiled_edges import Agreement, Disagreement
from codesum_pipeline.notifications.delivery.outbox import OUTBOX_FILE, DeliveryState, open_outbox
from codesum_pipeline.notifications.delivery.sending import open_channel
from codesum_pipeline.notifications.digests.digest_rows import TickFailure, TickOutcome
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.symbols.scip.making import MADE_BY
from codesum_pipeline.texts.llm.ledger_readings import unusable_answers
from codesum_pipeline.texts.summaries.by_model.gates import count_trust

_MOST_STALE = 3
_MOST_NOTES = 5


class Problem(Struct, frozen=True):
    """Something about one repository, or else what it is `about`, and the way out; None: nothing is left to do."""

    repo: str | None
    what: str
    way_out: str | None = None
    about: str = "Dagster"


class IndexedFiles(Struct, frozen=True):
    """How many files indexes cover, by the tool that wrote them; `stale` are files whose text changed, and why."""

    by_tool: dict[str, int]
    stale: list[tuple[str, str]]

    @classmethod
    def of(cls, home: Home, key: str) -> "IndexedFiles":
        columns = ["file_path", "tool", "problem"]
        rows = home.tables.read_or_empty("compiler_files", key, columns=columns).to_pylist()
        tools = Counter(row["tool"] for row in rows if not row["problem"])
        return cls(dict(sorted(tools.items())), [(row["file_path"], row["problem"]) for row in rows if row["problem"]])

    def __bool__(self) -> bool:
        return bool(self.by_tool or self.stale)

    def __str__(self) -> str:
        tools = ", ".join(f"{tool} for {count_noun(files, 'file')}" for tool, files in self.by_tool.items())
        stale = f"{count_noun(len(self.stale), 'file')} of another text than the index" if self.stale else ""
        return "; ".join(filter(None, [tools or "for no file", stale]))


def index_troubles(home: Home, key: str) -> Iterator[Problem]:
    """What there is to know of a repository's indexes, and a way out where something is to be done."""
    indexes = home.tables.read_rows_or_empty("scip_indexes", key, IndexFile)
    refused = {index.origin: index.problem for index in indexes if index.problem}
    for origin, problem in refused.items():
        is_made = origin.startswith(MADE_BY)
        again = f"correct the entry's scip_command, then `codesum index {key} --force`"
        yield Problem(key, f"index {origin}: {problem}", again if is_made else f"make {origin} anew, or remove it")
    if files := IndexedFiles.of(home, key):
        yield Problem(key, f"compiler's index: {files}")
        for path, problem in files.stale[:_MOST_STALE]:
            yield Problem(key, f"  of another text: {path}: {problem}")
    for remark in _remarks(home, key, refused):
        yield Problem(key, remark)
    if (found := last_disagreement(home, key)).files:
        yield Problem(key, f"{_agreement(found)}; {edges_line(found)}")
        for call in found.calls:
            yield Problem(
                key,
                f"  {call.caller_id} calls {call.callee}: {call.by_index} by the index, {call.by_syntax} by the syntax",
            )
    trust = count_trust(home.tables, key, home.settings)
    if trust and not trust.edges:
        why = "its index says nothing of its files" if indexes else "it has no index"
        why = "its index is of other texts than those of the commit" if files else why
        yield Problem(
            key,
            f"llm.trust = 'scip' keeps the model from all of {count_noun(trust.waiting.calls, 'document')}: {why}",
            f"put an index of the commit at mirrors/{key}.scip and run `codesum index {key}`, or set llm.trust = 'off'",
        )


def unusable_indexes(home: Home, key: str) -> list[str]:
    """Which indexes the last build could not take in or use, each with the reason."""
    indexes = home.tables.read_rows_or_empty("scip_indexes", key, IndexFile)
    refused = {index.origin: index.problem for index in indexes if index.problem}
    return [*(f"index {origin}: {problem}" for origin, problem in refused.items()), *_remarks(home, key, refused)]


def _remarks(home: Home, key: str, refused: Container[str]) -> Iterator[str]:
    """What of each index that was taken in cannot be used."""
    parsed = last_report(SYMBOLS, home.layout, key)
    notes = [(origin, note) for origin, note in (parsed.compiled.problems if parsed else ()) if origin not in refused]
    yield from (f"index {origin}: {note}" for origin, note in notes[:_MOST_NOTES])
    if len(notes) > _MOST_NOTES:
        yield f"{len(notes) - _MOST_NOTES:,} more remarks on indexes"


def last_disagreement(home: Home, key: str) -> Disagreement:
    """How the last build's indexes and the syntax differ."""
    report = last_report(CALL_GRAPH, home.layout, key)
    return report.compiled if report else Disagreement()


def _agreement(found: Disagreement) -> str:
    """How often an index and the syntax say the same."""
    total: Counter[str] = sum(found.by_language().values(), Counter())
    agree = total[Agreement.AGREE]
    both = agree + total[Agreement.ANOTHER_TARGET] + total[Agreement.OUTSIDE]
    share = f" ({agree / both:.2%})" if both else ""
    return (
        f"the index and the syntax agree on {agree:,} of {both:,} calls, imports and bases that both know{share}; only "
        f"the index knows {total[Agreement.ONLY_INDEX]:,}, only the syntax {total[Agreement.ONLY_SYNTAX]:,}"
    )


def edges_line(found: Disagreement) -> str:
    return f"{count_noun(found.trusted_edges, 'edge')} confirmed, {found.doubtful_edges:,} doubtful"


def digest_troubles(home: Home) -> Iterator[Problem]:
    """Standing questions and channels that cannot be used, and digests that were not written or not sent."""
    for what, way_out in _digest_troubles(home):
        yield Problem(None, what, way_out, "Digests")


def _digest_troubles(home: Home) -> Iterator[tuple[str, str]]:
    try:
        survey = home.intents.survey()
    except ConfigurationError as error:
        yield str(error), f"correct {home.intents.file}"
        return
    for problem in survey.problems.values():
        yield str(problem), f"correct it in {home.intents.file}"
    enabled = [intent for intent in survey.intents if intent.enabled]
    delivery = home.settings.delivery
    for name in sorted({name for intent in enabled for name in intent.channels} | {*delivery.operator_channels}):
        try:
            open_channel(name, delivery, home=home.settings.home, environ=os.environ)
        except ConfigurationError as error:
            yield str(error), f"codesum digest try {name}"
    digests, outbox = home.layout.digests, home.settings.home / OUTBOX_FILE
    for look, file in ((_held_ticks, digests), (_held_rollups, digests), (_undelivered, outbox)):
        try:
            yield from look(home, enabled) if file.exists() else ()
        except (CodesumError, sqlite3.Error) as error:
            yield str(error), f"mv {file} {file}.broken"


def _held_ticks(home: Home, enabled: list[Intent]) -> Iterator[tuple[str, str]]:
    """Questions whose last tick wrote nothing, though there was something to report."""
    with open_digests(home.layout.digests, now=utc_now) as store:
        for intent in enabled:
            for last in store.ticks(intent.name, limit=1):
                if last.outcome is TickOutcome.HELD:
                    what = f"intent {intent.name!r}: no digest could be written at {last.ended_at}: {last.reason}"
                    again = " --again" if last.failure is TickFailure.ANSWER else ""
                    yield what, f"codesum digest run --intent {shlex.quote(intent.name)}{again}"


def _held_rollups(home: Home, enabled: list[Intent]) -> Iterator[tuple[str, str]]:
    """Questions whose roll-up of the month before was answered by a model, and not in a way that can be used."""
    if not unusable_answers(home.layout.digests, now=utc_now()):
        return
    # Importing takes a tenth of a second, for which homes without such answers do not wait.
    from codesum_pipeline.notifications.digests.rollups import find_held_rollups

    with open_digests(home.layout.digests, now=utc_now) as store:
        for held in find_held_rollups(home.digest_desk(), store, enabled):
            what = f"intent {held.intent_name!r}: no roll-up of {held.month} could be written: {held.problem}"
            yield what, "codesum digest run --again"


def _undelivered(home: Home, _enabled: list[Intent]) -> Iterator[tuple[str, str]]:
    with open_outbox(home.settings.home, now=utc_now) as outbox:
        for each in outbox.deliveries(states=(DeliveryState.GIVEN_UP,)):
            tries = count_noun(each.tries, "try", "tries")
            what = f"{each.post_id} on {each.channel}: given up after {tries}: {each.detail}"
            yield what, f"codesum digest retry {each.post_id}"


_FLEET = "Fleet"
_MOST_BEHIND = 10
_BEHIND = (IndexState.BEHIND, IndexState.CHANGED, IndexState.UPGRADED)


def fleet_troubles(home: Home, entries: Sequence[RepositoryEntry]) -> Iterator[Problem]:
    """What of the fleet failed too often, is behind, or waits for a part. Nothing where no daemon has looked at the
    home.

    Only what a person has to see to has a way out: the daemon tries the rest again by itself.
    """
    if read_record(home)[0] is None:
        return
    fleet = read_fleet(home, [entry for entry in entries if entry.enabled])
    for trouble in fleet.troubles:
        yield Problem(None, trouble, about=_FLEET)
    if fleet.record and fleet.record.is_late:
        yield Problem(
            None, "no repository is built by itself now", f"start `codesum dev` on {fleet.record.host}", _FLEET
        )
    in_time = []
    for each in fleet.repositories:
        if each.state == IndexState.FAILED:
            yield Problem(each.key, remark_of(each), f"codesum retry {each.key}, once what the run says is mended")
        elif each.state in (IndexState.UNREADABLE, IndexState.STOPPED, IndexState.WAITING):
            yield Problem(each.key, f"{each.state}: {remark_of(each)}")
        elif each.state in _BEHIND and is_late(each, home.settings.checks):
            hours = allowed_lag(home.settings.checks, each.entry) / timedelta(hours=1)
            what = (
                f"behind for {behind_for(each)}, longer than the {hours:g} h of checks.behind_hours: {remark_of(each)}"
            )
            yield Problem(each.key, what, f"see what keeps it from being built: codesum status {each.key}")
        elif each.state in _BEHIND:
            in_time.append(each.key)
    if in_time:
        number = count_noun(len(in_time), "repository is", "repositories are")
        yield Problem(None, f"{number} behind, and will be built: {some_of(in_time, _MOST_BEHIND)}", about=_FLEET)
