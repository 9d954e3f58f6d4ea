"""The last two steps of a build: which changes concern which standing question, and the digests that go out at once.

The index is published when they begin, and nothing that happens in them fails the build: it is reported, what changed
is kept, and the next build or look of the schedule goes on with it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from codesum_pipeline.building.failures import keep_failures
from codesum_pipeline.building.reuse import PUBLISHED
from codesum_pipeline.defs.building.report_values import rows_of
from codesum_pipeline.defs.building.told import StepNotes
from codesum_pipeline.defs.building.values import PREVIEW, Markdown, StepOutcome, Values
from codesum_pipeline.delivery.channels import digest_post
from codesum_pipeline.digests.rows import DigestRow, KeptMatch
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.matching.baseline import hold_documents, move_baseline, read_baseline
from codesum_pipeline.model.digests import PostId
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.intents import Intent, IntentMatch
from codesum_pipeline.model.markdown import code, plain, table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.wiring import Home

if TYPE_CHECKING:
    from codesum_pipeline.matching.changes import VersionComparison


def find_matches(home: Home, ws: Workspace, telling: StepNotes) -> None:
    """Compare what is published with what was compared last, keep the matches, then move on from it."""
    with telling.guarded(home.intents.file.name):
        survey = home.intents.survey()
        telling.note_problems(survey)
        asking = [intent for intent in survey.intents if intent.enabled and intent.covers(ws.key)]
        telling.values["questions"] = len(asking)
        if not asking:
            _move_on(ws)
            return
        # Most homes have no standing question, and their builds import nothing for one.
        from codesum_pipeline.matching.changes import compare_published

        comparison = compare_published(ws)
        if comparison is None:
            return
        found = _matches(ws, comparison, asking)
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
        _count_waiting(ws, telling)


def tell_of_build(home: Home, ws: Workspace, telling: StepNotes) -> None:
    """The digests that go out with each build, and another try for what the outbox has."""
    with telling.guarded(home.intents.file.name):
        if ws.layout.digests.exists():
            from codesum_pipeline.digests.running import run_after_build

            desk = home.digest_desk(now=ws.now)
            telling.note_ticks(desk, run_after_build(desk, ws.key))
    with telling.guarded("the digests of this repository"):
        _count_digests(ws, telling)


class DigestStep(Struct, frozen=True):
    """One of the two steps; `reads` and `writes` as those of `Step`."""

    name: str
    run: Callable[[Home, Workspace, StepNotes], None]
    reads: tuple[str, ...]
    writes: tuple[str, ...]


DIGEST_STEPS = {
    step.name: step
    for step in (
        DigestStep("intent_matches", find_matches, (PUBLISHED, "snapshot"), ("intent_matches",)),
        DigestStep("intent_digests", tell_of_build, ("intent_matches",), ("digests",)),
    )
}


def perform_digest_step(step: str, home: Home, ws: Workspace, *, built_from: str) -> StepOutcome:
    """Carry out one of the two; nothing is raised but what ends the whole process."""
    telling = StepNotes()
    DIGEST_STEPS[step].run(home, ws, telling)
    with suppress(CodesumError, OSError):
        keep_failures(ws.layout.memos(ws.key), step, telling.failures)
    return telling.outcome(built_from=built_from)


def show_digest_step(step: str, home: Home, ws: Workspace) -> Values:
    """What a person sees of it."""
    pending: list[Sequence[KeptMatch]] = []
    digests: Sequence[DigestRow] = ()
    with StepNotes().guarded(step):
        if ws.layout.digests.exists():
            with open_digests(ws.layout.digests, now=ws.now) as store:
                pending = [store.pending(name, ws.key) for name in store.count_pending(ws.key)]
                digests = store.newest(ws.key, limit=DIGESTS_SHOWN)
    return {PREVIEW: show_matches(pending) if step == "intent_matches" else show_digests(digests)}


def _move_on(ws: Workspace) -> None:
    """Whoever asks next hears of what changes from now on; nothing is compared for nobody."""
    version = published_version(ws.layout, ws.key)
    folder = ws.layout.compared(ws.key)
    last = read_baseline(folder)
    if version is not None and (last is None or last.digest != version.digest):
        hold_documents(folder, version)
        move_baseline(folder, version)


def _matches(ws: Workspace, comparison: "VersionComparison", asking: Sequence[Intent]) -> list[IntentMatch]:
    if not comparison.changes:
        return []
    from codesum_pipeline.indexes.embedders.named import embedder_of
    from codesum_pipeline.matching.evidence import reading
    from codesum_pipeline.matching.scores import match
    from codesum_pipeline.retrieval.reader import PublishedIndex
    from codesum_pipeline.source.git import BlobReader

    index = PublishedIndex.of_version(comparison.version.folder)
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        return match(comparison.changes, asking, index, embedder_of(ws.settings), reading(blobs))


def _count_waiting(ws: Workspace, telling: StepNotes) -> None:
    waiting: Mapping[str, int] = {}
    if ws.layout.digests.exists():
        with open_digests(ws.layout.digests, now=ws.now) as store:
            waiting = store.count_pending(ws.key)
    telling.rows = sum(waiting.values())
    if waiting:
        telling.values["waiting"] = rows_of([{"question": name, "changes": n} for name, n in waiting.items()])
    last = read_baseline(ws.layout.compared(ws.key))
    telling.table_hash = hash_of([last.digest if last else None, dict(waiting)])


def _count_digests(ws: Workspace, telling: StepNotes) -> None:
    newest: Sequence[str] = ()
    if ws.layout.digests.exists():
        with open_digests(ws.layout.digests, now=ws.now) as store:
            telling.rows = store.count(ws.key)
            newest = [digest.id for digest in store.newest(ws.key, limit=DIGESTS_SHOWN)]
    telling.table_hash = hash_of([telling.rows, *newest])


# Metadata are stored with every materialisation, for ever.
MATCHES_SHOWN = 5
DIGESTS_SHOWN = 3
_DIGEST_CHARS = 4000
_NONE_WAITS = "No change waits for a digest."
_NO_DIGEST = "No digest so far."


def show_matches(pending: Iterable[Sequence[KeptMatch]]) -> Markdown:
    """Of each standing question the best of what waits."""
    rows = [row for matches in pending for row in _best(matches)]
    if not rows:
        return Markdown(_NONE_WAITS)
    return Markdown(table(["standing question", "waiting", "document", "place", "change", "score"], rows))


def show_digests(digests: Sequence[DigestRow]) -> Markdown:
    """Digests in full, in the order given."""
    return Markdown("\n\n---\n\n".join(_shown(row) for row in digests) or _NO_DIGEST)


def _best(matches: Sequence[KeptMatch]) -> Iterator[tuple[object, ...]]:
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
    from codesum_pipeline.delivery.dialects import CHAT, written

    post = digest_post(PostId(row.id), row.result, links=[None] * len(row.result.citations), created_at=row.created_at)
    about = [
        f"about {plain(', '.join(row.repositories))}",
        f"written {plain(row.created_at)} by {plain(row.model) if row.model else 'no model'}",
        f"${row.cost_usd:.4f}",
    ]
    stands = [
        f"changes: {row.matches:,}",
        f"items: {row.items:,}",
        f"{row.state.value} for {plain(', '.join(row.channels))}" if row.channels else "no channel",
        code(row.id),
    ]
    head = f"**{plain(row.intent_name)}** {', '.join(about)}\n\n{', '.join(stands)}"
    return f"{head}\n\n{written(post, CHAT, limit=_DIGEST_CHARS)}"
