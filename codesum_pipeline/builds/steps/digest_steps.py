"""The last two steps of a build: which changes concern which standing question, and the digests that go out at once.

The index is published when they begin, and nothing that happens in them fails the build: it is reported, what changed
is kept, and the next build or look of the schedule goes on with it.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.build_values import PREVIEW, Markdown, StepOutcome, Value, Values
from codesum_pipeline.builds.reports.kept_failures import keep_failures
from codesum_pipeline.builds.reports.report_values import rows_of, rows_of_items
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_text, markdown_table
from codesum_pipeline.foundation.data_model.standing_question import Intent, IntentMatch
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.notifications.delivery.outbox import OUTBOX_FILE, DeliveryState, open_outbox
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, TickOutcome, TickRow
from codesum_pipeline.notifications.digests.digest_store import DigestStore, kept_digests, open_digests
from codesum_pipeline.notifications.intents.intents_file import IntentSurvey
from codesum_pipeline.notifications.matching.changed_documents import hold_documents, move_baseline, read_baseline

if TYPE_CHECKING:
    from codesum_pipeline.notifications.digests.desk import DigestDesk
    from codesum_pipeline.notifications.matching.changed_documents import VersionComparison

_log = logging.getLogger(__name__)
# What went wrong with a delivery: it is tried again, or a person has to look.
_UNSENT = (DeliveryState.FAILED, DeliveryState.UNKNOWN, DeliveryState.GIVEN_UP)
MATCHES_SHOWN = 5
DIGESTS_SHOWN = 3
_DIGEST_CHARS = 4000


class StepNotes(Struct):
    """One step at work: what it found, and what went wrong in it."""

    values: dict[str, Value] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows: int = 0
    table_hash: str = ""
    did_something: bool = False
    begun: float = field(default_factory=time.perf_counter)

    @contextmanager
    def guarded(self, item: str) -> Iterator[None]:
        """The one guard around matching and digests: an error in the block is reported, and the build goes on."""
        try:
            yield
        except CodesumError as error:
            self.failures.append(Failure(item, str(error)))
        except Exception as error:
            _log.exception("%s", item)
            self.failures.append(Failure.of(item, error))

    def note_problems(self, survey: IntentSurvey) -> None:
        """Intents that cannot be used; the others go on."""
        self.failures += [Failure(name, str(problem)) for name, problem in survey.problems.items()]

    def note_ticks(self, desk: "DigestDesk", ticks: Sequence[TickRow]) -> None:
        """The outcome of each question that was due, and the delivery state of each written digest."""
        outcomes = Counter(tick.outcome for tick in ticks)
        ids = [tick.digest_id for tick in ticks if tick.digest_id is not None]
        with kept_digests(desk.layout.digests, now=desk.sender.now) as store:
            costs = [store.digest(id_).cost_usd for id_ in ids] if store else []
        self.did_something |= bool(ticks)
        self.values |= {"digests": len(ids), "cost_usd": round(sum(costs), 6)}
        self.values |= {outcome.value: outcomes[outcome] for outcome in TickOutcome if outcomes[outcome]}
        self.failures += [Failure(tick.intent_name, tick.reason) for tick in ticks if tick.outcome is TickOutcome.HELD]
        if ticks:
            self.values["ticks"] = rows_of_items(ticks)
        home, now = desk.sender.home, desk.sender.now
        with self.guarded("the outbox"):
            if (home / OUTBOX_FILE).exists():
                with open_outbox(home, now=now) as outbox:
                    unsent = outbox.deliveries(states=_UNSENT)
                self.values["messages_not_sent"] = len(unsent)
                template = "{0.post_id} on {0.channel}: {0.state} after {0.tries} tries: {0.detail}"
                self.warnings += map(template.format, unsent)

    def outcome(self, *, built_from: str = "") -> StepOutcome:
        """All of it."""
        return StepOutcome(
            table_hash=self.table_hash,
            built_from=built_from,
            seconds=round(time.perf_counter() - self.begun, 3),
            is_reused=not self.did_something,
            rows=self.rows,
            values=self.values,
            failures=tuple(self.failures),
            warnings=tuple(self.warnings),
        )


def find_matches(home: Home, ws: Workspace, telling: StepNotes) -> None:
    """Compare the published version with the one compared last, keep the matches, and take it as the new baseline."""
    with telling.guarded(home.intents.file.name):
        survey = home.intents.survey()
        telling.note_problems(survey)
        asking = [intent for intent in survey.intents if intent.enabled and intent.covers(ws.key)]
        telling.values["questions"] = len(asking)
        if not asking:
            _move_on(ws)
            return
        # Most homes have no standing question, and their builds import nothing for one.
        from codesum_pipeline.notifications.matching.changed_documents import compare_published

        comparison = compare_published(ws)
        if comparison is None:
            return
        found = _matches(ws, comparison, asking) if comparison.changes else []
        telling.did_something = comparison.since is None or bool(comparison.changes)
        telling.values |= {"changes": len(comparison.changes), "matches": len(found)}
        if comparison.changes and comparison.since is not None:
            with open_digests(ws.layout.digests, now=ws.now) as store:
                store.add_matches(
                    found,
                    changes=comparison.changes,
                    repository=ws.key,
                    comparison=f"{comparison.since.digest}:{comparison.version.digest}",
                )
        comparison.keep()
    with telling.guarded("what waits for a digest"):
        with kept_digests(ws.layout.digests, now=ws.now) as kept:
            waiting = dict(kept.count_pending(ws.key)) if kept else {}
        telling.rows = sum(waiting.values())
        if waiting:
            telling.values["waiting"] = rows_of([{"question": name, "changes": n} for name, n in waiting.items()])
        last = read_baseline(ws.layout.compared(ws.key))
        telling.table_hash = hash_of([last.digest if last else None, waiting])


def tell_of_build(home: Home, ws: Workspace, telling: StepNotes) -> None:
    """The digests that go out with each build, and another try for what the outbox has."""
    with telling.guarded(home.intents.file.name):
        if ws.layout.digests.exists():
            from codesum_pipeline.notifications.digests.tick import run_after_build

            desk = home.digest_desk(now=ws.now)
            telling.note_ticks(desk, run_after_build(desk, ws.key))
    with telling.guarded("the digests of this repository"):
        newest: list[str] = []
        with kept_digests(ws.layout.digests, now=ws.now) as store:
            if store:
                telling.rows = store.count(ws.key)
                newest = [digest.id for digest in store.newest(ws.key, limit=DIGESTS_SHOWN)]
        telling.table_hash = hash_of([telling.rows, *newest])


class DigestStep(Struct, frozen=True):
    """One of the two steps; `reads` and `writes` as those of `Step`."""

    name: str
    run: Callable[[Home, Workspace, StepNotes], None]
    reads: tuple[str, ...]
    writes: tuple[str, ...]


_TABLES = packaged_table(__package__, "steps")
DIGEST_STEPS = {
    name: DigestStep(name, run, tuple(_TABLES[name]["reads"]), tuple(_TABLES[name]["writes"]))
    for name, run in (("intent_matches", find_matches), ("intent_digests", tell_of_build))
}


def perform_digest_step(step: str, home: Home, ws: Workspace, *, built_from: str) -> StepOutcome:
    """Carry out one of the two; nothing is raised but what ends the whole process."""
    telling = StepNotes()
    DIGEST_STEPS[step].run(home, ws, telling)
    with suppress(CodesumError, OSError):
        keep_failures(ws.layout.memos(ws.key), step, telling.failures)
    return telling.outcome(built_from=built_from)


def show_digest_step(step: str, ws: Workspace) -> Values:
    """The best pending matches of each standing question, or the newest digests in full."""
    rows: list[tuple[object, ...]] = []
    digests: Sequence[DigestRow] = ()
    with StepNotes().guarded(step), kept_digests(ws.layout.digests, now=ws.now) as store:
        if store and step == "intent_matches":
            rows = [row for name in store.count_pending(ws.key) for row in _best(store, name, ws.key)]
        elif store:
            digests = store.newest(ws.key, limit=DIGESTS_SHOWN)
    if step != "intent_matches":
        return {PREVIEW: show_digests(digests)}
    heads = ["standing question", "waiting", "document", "place", "change", "score"]
    return {PREVIEW: Markdown(markdown_table(heads, rows) if rows else "No change waits for a digest.")}


def show_digests(digests: Sequence[DigestRow]) -> Markdown:
    """Digests in full, in the order given."""
    return Markdown("\n\n---\n\n".join(_shown(row) for row in digests) or "No digest so far.")


def _move_on(ws: Workspace) -> None:
    """Keep the published version as the one to compare with: a later question is about changes from now on."""
    version = published_version(ws.layout, ws.key)
    folder = ws.layout.compared(ws.key)
    last = read_baseline(folder)
    if version is not None and (last is None or last.digest != version.digest):
        hold_documents(folder, version)
        move_baseline(folder, version)


def _matches(ws: Workspace, comparison: "VersionComparison", asking: Sequence[Intent]) -> list[IntentMatch]:
    from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
    from codesum_pipeline.notifications.matching.scores import make_blob_reader, match_changes
    from codesum_pipeline.search.retrieval.published_index import PublishedIndex
    from codesum_pipeline.source.git.git import BlobReader

    index = PublishedIndex.of_version(comparison.version.folder)
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        return match_changes(comparison.changes, asking, index, embedder_of(ws.settings), make_blob_reader(blobs))


def _best(store: DigestStore, question: str, repository: str) -> Iterator[tuple[object, ...]]:
    matches = store.pending(question, repository)
    best = sorted(matches, key=lambda kept: (-(kept.match.score or 0.0), kept.match.change.document_id))
    for kept in best[:MATCHES_SHOWN]:
        change, score = kept.match.change, kept.match.score
        lines = f"#L{change.state.start_line}" if change.state.start_line else ""
        yield (
            kept.match.intent_name,
            len(matches),
            change.state.name,
            f"{change.state.file_path}{lines}",
            change.kind.value,
            "" if score is None else f"{score:.2f}",
        )


def _shown(row: DigestRow) -> str:
    """Under what it is, the words of a digest as a chat would get them: without links and HTML."""
    from codesum_pipeline.notifications.delivery.dialects import CHAT, write_body

    post = digest_post(PostId(row.id), row.result, links=[None] * len(row.result.citations), created_at=row.created_at)
    writer = escape_text(row.model) if row.model else "no model"
    state = f"{row.state.value} for {escape_text(', '.join(row.channels))}" if row.channels else "no channel"
    return (
        f"**{escape_text(row.intent_name)}** about {escape_text(', '.join(row.repositories))}, "
        f"written {escape_text(row.created_at)} by {writer}, ${row.cost_usd:.4f}\n\n"
        f"changes: {row.matches:,}, items: {row.items:,}, {state}, {code_span(row.id)}"
        f"\n\n{write_body(post, CHAT, limit=_DIGEST_CHARS)}"
    )
