"""What `codesum doctor` and `codesum status` say of compilers' indexes, and of the trust that rests on them."""

import os
import sqlite3
from collections import Counter
from collections.abc import Container, Iterator

from msgspec import Struct

from codesum_pipeline.building.reuse import last_report
from codesum_pipeline.building.steps import CALL_GRAPH, SYMBOLS
from codesum_pipeline.delivery.channels import open_channel
from codesum_pipeline.delivery.outbox import OUTBOX_FILE, DeliveryState, open_outbox
from codesum_pipeline.digests.rows import TickOutcome
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.graph.compiled import Agreement, Disagreement
from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.model.graph import IndexFile
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.printable import counted
from codesum_pipeline.scip.making import MADE_BY
from codesum_pipeline.summaries.by_model.gates import TrustCount, count_trust
from codesum_pipeline.wiring import Home

_MOST_STALE = 3
_MOST_NOTES = 5


class IndexedFiles(Struct, frozen=True):
    """Of how many files indexes tell, by the tool that wrote them; `stale` are files of another text, and why."""

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
        tools = ", ".join(f"{tool} for {counted(files, 'file')}" for tool, files in self.by_tool.items())
        stale = f"{counted(len(self.stale), 'file')} of another text than the index" if self.stale else ""
        return "; ".join(filter(None, [tools or "for no file", stale]))


def index_troubles(home: Home, key: str) -> Iterator[tuple[str, str | None]]:
    """What there is to know, and a way out where something is to be done."""
    indexes = _indexes(home, key)
    for index in indexes:
        if index.problem:
            yield f"index {index.origin}: {index.problem}", _way_out(index.origin, key)
    if files := IndexedFiles.of(home, key):
        yield f"compiler's index: {files}", None
        for path, problem in files.stale[:_MOST_STALE]:
            yield f"  of another text: {path}: {problem}", None
    yield from ((note, None) for note in _notes(home, key, {index.origin for index in indexes if index.problem}))
    if trust := count_trust(home.tables, key, home.settings):
        yield from _without_trust(trust, key, has_files=bool(files), has_index=bool(indexes))


def unusable_indexes(home: Home, key: str) -> list[str]:
    """Which indexes the last build could not take in or use, each with the reason."""
    refused = {index.origin: index.problem for index in _indexes(home, key) if index.problem}
    return [*(f"index {origin}: {problem}" for origin, problem in refused.items()), *_remarks(home, key, refused)]


def _indexes(home: Home, key: str) -> list[IndexFile]:
    return home.tables.read_rows_or_empty("scip_indexes", key, IndexFile)


def _way_out(origin: str, key: str) -> str:
    if origin.startswith(MADE_BY):
        return f"correct the entry's scip_command, then `codesum index {key} --force`"
    return f"make {origin} anew, or remove it"


def disagreement_line(found: Disagreement) -> str:
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
    return f"{counted(found.trusted_edges, 'edge')} confirmed, {found.doubtful_edges:,} doubtful"


def last_disagreement(home: Home, key: str) -> Disagreement:
    """What the last build found."""
    report = last_report(CALL_GRAPH, home.layout, key)
    return report.compiled if report else Disagreement()


def _remarks(home: Home, key: str, refused: Container[str]) -> Iterator[str]:
    """What of each index that was taken in cannot be used."""
    parsed = last_report(SYMBOLS, home.layout, key)
    notes = [(origin, note) for origin, note in (parsed.compiled.problems if parsed else ()) if origin not in refused]
    yield from (f"index {origin}: {note}" for origin, note in notes[:_MOST_NOTES])
    if len(notes) > _MOST_NOTES:
        yield f"{len(notes) - _MOST_NOTES:,} more remarks on indexes"


def _notes(home: Home, key: str, refused: Container[str]) -> Iterator[str]:
    """What of each index cannot be used, and how often the index and the syntax differ."""
    yield from _remarks(home, key, refused)
    if (found := last_disagreement(home, key)).files:
        yield f"{disagreement_line(found)}; {edges_line(found)}"


def _without_trust(
    trust: TrustCount, key: str, *, has_files: bool, has_index: bool
) -> Iterator[tuple[str, str | None]]:
    """A setting under which no text is written by the model."""
    if trust.edges:
        return
    why = (
        "its index is of other texts than those of the commit"
        if has_files
        else "its index says nothing of its files"
        if has_index
        else "it has no index"
    )
    yield (
        f"llm.trust = 'scip' keeps the model from all of {counted(trust.waiting.calls, 'document')}: {why}",
        f"put an index of the commit at mirrors/{key}.scip and run `codesum index {key}`, or set llm.trust = 'off'",
    )


class DigestTrouble(Struct, frozen=True):
    """What is wrong, and the command or file that mends it."""

    what: str
    way_out: str


def digest_troubles(home: Home) -> Iterator[DigestTrouble]:
    """Standing questions and channels that cannot be used, digests that were not written, and such as were not sent."""
    try:
        survey = home.intents.survey()
    except ConfigurationError as error:
        yield DigestTrouble(str(error), f"correct {home.intents.file}")
        return
    for problem in survey.problems.values():
        yield DigestTrouble(str(problem), f"correct it in {home.intents.file}")
    enabled = [intent for intent in survey.intents if intent.enabled]
    yield from _unusable_channels(home, enabled)
    for look, file in ((_held, home.layout.digests), (_given_up, home.settings.home / OUTBOX_FILE)):
        try:
            yield from look(home, enabled) if file.exists() else ()
        except (CodesumError, sqlite3.Error) as error:
            yield DigestTrouble(str(error), f"mv {file} {file}.broken")


def _unusable_channels(home: Home, enabled: list[Intent]) -> Iterator[DigestTrouble]:
    delivery = home.settings.delivery
    asked = {name for intent in enabled for name in intent.channels} | {*delivery.operator_channels}
    for name in sorted(asked):
        try:
            open_channel(name, delivery, home=home.settings.home, environ=os.environ)
        except ConfigurationError as error:
            yield DigestTrouble(str(error), f"codesum digest try {name}")


def _held(home: Home, enabled: list[Intent]) -> Iterator[DigestTrouble]:
    """Questions whose last tick wrote nothing, though there was something to tell."""
    with open_digests(home.layout.digests, now=utc_now) as store:
        for intent in enabled:
            for last in store.ticks(intent.name, limit=1):
                if last.outcome is TickOutcome.HELD:
                    what = f"intent {intent.name!r}: no digest could be written at {last.ended_at}: {last.reason}"
                    yield DigestTrouble(what, f"codesum digest run --intent {intent.name}")


def _given_up(home: Home, _enabled: list[Intent]) -> Iterator[DigestTrouble]:
    with open_outbox(home.settings.home, now=utc_now) as outbox:
        for each in outbox.deliveries(states=(DeliveryState.GIVEN_UP,)):
            what = f"{each.post_id} on {each.channel}: given up after {each.tries} tries: {each.detail}"
            yield DigestTrouble(what, f"codesum digest retry {each.post_id}")
