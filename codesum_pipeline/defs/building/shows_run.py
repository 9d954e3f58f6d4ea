"""A run in a few lines: what changed, why texts were written, what that cost and what it spared, how good it is now."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct, to_builtins

from codesum_pipeline.defs.building.health import known_share
from codesum_pipeline.defs.building.values import Markdown, Value
from codesum_pipeline.evaluation.evaluate import ALL, NDCG
from codesum_pipeline.evaluation.records import EVERY_CATEGORY
from codesum_pipeline.llm.ledger import rows_of_unfinished_builds
from codesum_pipeline.model.documents import HistoryEvent
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.ledger import AttemptOutcome, AvoidanceReason
from codesum_pipeline.model.markdown import code, plain, table
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.workspace import Workspace

if TYPE_CHECKING:
    import duckdb

# The entry of the run's page.
SUMMARY = "what_this_run_did"
REWRITTEN = "texts_rewritten"
_COMMIT_DIGITS = 10
_MOST_CAUSES = 12


def show_run(ws: Workspace) -> tuple[Markdown, int]:
    """The summary, a few kB at most, and how many texts were written."""
    with ws.connect("document_history", "avoided", "ledger", "evaluations", "documents") as connection:
        texts = _rows(
            connection,
            """SELECT level, event, coalesce(cause, ''), count(*) AS n FROM document_history
               WHERE run_id = ? GROUP BY ALL ORDER BY n DESC, level, event LIMIT 100""",
            ws.run_id,
        )
        parts = [
            f"**What changed.** {_changed(ws)}",
            *_written(texts),
            *_cost(ws, connection),
            f"**How good it is now.** {' '.join(_quality(ws, connection))}",
        ]
    written = sum(count for _, event, _, count in texts if event == HistoryEvent.WRITTEN)
    return Markdown("\n\n".join(parts)), written


def _changed(ws: Workspace) -> str:
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    subject = f" “{plain(snapshot.subject)}”" if snapshot.subject else ""
    here = f"{code(snapshot.commit[:_COMMIT_DIGITS])}{subject}"
    found = change_of(ws)
    if found is None:
        return f"Nothing in the repository: it is at {here} as before."
    if found.since is None:
        return f"The first build, of {here}: {found.added:,} files."
    files = f"{found.added:,} files added, {found.changed:,} changed, {found.removed:,} removed"
    return f"{code(found.since[:_COMMIT_DIGITS])} → {here}: {files}."


def _written(texts: list[tuple[Any, ...]]) -> Iterator[str]:
    if not texts:
        yield "**Why.** No text was written again."
        return
    yield "**Why.** Texts by what happened to them, and for which cause:"
    yield table(["level", "what", "cause", "texts"], texts[:_MOST_CAUSES])


def _cost(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Iterator[str]:
    ((calls, usd, read, cached),) = _rows(
        connection,
        """SELECT count(*) FILTER (outcome <> ?), coalesce(sum(cost_usd), 0.0),
                  coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0) FROM ledger WHERE run_id = ?""",
        AttemptOutcome.NOT_SENT.value,
        ws.run_id,
    )
    waiting = [row for row in rows_of_unfinished_builds(ws.layout.state(ws.key)) if row.run_id == ws.run_id]
    calls, usd = calls + len(waiting), usd + sum(row.cost_usd for row in waiting)
    spared = _rows(
        connection,
        "SELECT cause, sum(calls), sum(usd) FROM avoided WHERE run_id = ? AND cause <> ? GROUP BY cause "
        "HAVING sum(calls) > 0 ORDER BY 3 DESC, cause",
        ws.run_id,
        AvoidanceReason.ASKED.value,
    )
    share = f", {cached / read:.0%} of the tokens read from the provider's cache" if read else ""
    saved = sum(dollars for _, _, dollars in spared)
    said = f"${usd:.4f} for {calls:,} calls{share}; without reuse ${usd + saved:.4f}."
    yield f"**What it cost.** {said if calls or spared else 'Nothing: no model was asked.'}"
    yield f"**What it avoided.** {_kept(ws, connection)}{' Calls to a model, by cause:' if spared else ''}"
    if spared:
        yield table(
            ["because of", "calls", "US dollars"], [(cause, count, f"{cost:.4f}") for cause, count, cost in spared]
        )


def _kept(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> str:
    ((kept, documents),) = _rows(
        connection,
        """SELECT count(*) FILTER (id NOT IN (SELECT id FROM document_history WHERE run_id = ? AND event = ?)), count(*)
           FROM documents""",
        ws.run_id,
        HistoryEvent.WRITTEN.value,
    )
    return f"{kept:,} of {documents:,} texts stayed as they were."


def _quality(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Iterator[str]:
    ((documents, placeholders, by_model),) = _rows(
        connection,
        """SELECT count(*), count(*) FILTER (is_placeholder), count(*) FILTER (written_by = 'llm') FROM documents""",
    )
    yield f"{documents:,} documents, {placeholders:,} of them placeholders, {by_model:,} by a model."
    if (share := known_share(ws)) is not None:
        yield f"Of the calls, {share:.1%} have a known target."
    figures = _rows(
        connection,
        """SELECT mean, low, high, questions FROM evaluations WHERE setup = ? AND category = ? AND metric = ?
           ORDER BY sequence DESC LIMIT 1""",
        ALL.name,
        EVERY_CATEGORY,
        NDCG,
    )
    if not ws.settings.evaluation.enabled or not figures:
        yield "Retrieval was not measured."
    for mean, low, high, questions in figures if ws.settings.evaluation.enabled else ():
        yield f"Retrieval: nDCG@10 {mean:.3f} (95 %: {low:.3f} to {high:.3f}, {questions:,} questions)."
    yield "Digests are those of the asset `intent_digests`."


def _rows(connection: "duckdb.DuckDBPyConnection", query: str, *values: object) -> list[tuple[Any, ...]]:
    return connection.execute(query, list(values)).fetchall()


_FILE = "last_change.json"


class FileStates(Struct, frozen=True):
    """The commit that the tables stand at, None where there is none, and the contents of its indexed files."""

    commit: str | None
    blobs: Mapping[str, str]

    @classmethod
    def of(cls, ws: Workspace) -> Self:
        """As the tables are now."""
        rows = ws.tables.read_rows_or_empty("snapshot", ws.key, Snapshot)
        if not rows or ws.tables.readable_path("files", ws.key) is None:
            return cls(None, {})
        files = ws.tables.read("files", ws.key, columns=["path", "blob", "status"]).to_pylist()
        return cls(rows[0].commit, {row["path"]: row["blob"] for row in files if row["status"] == "indexed"})


class FileChanges(Struct, frozen=True):
    """From one commit to the next, in files; of the run that found it."""

    run_id: str
    since: str | None
    commit: str
    added: int
    changed: int
    removed: int

    @property
    def files(self) -> int:
        return self.added + self.changed + self.removed

    @classmethod
    def between(cls, before: FileStates, after: FileStates, *, run_id: str) -> Self:
        """What differs."""
        both = before.blobs.keys() & after.blobs.keys()
        return cls(
            run_id=run_id,
            since=before.commit,
            commit=after.commit or "",
            added=len(after.blobs.keys() - both),
            changed=sum(before.blobs[path] != after.blobs[path] for path in both),
            removed=len(before.blobs.keys() - both),
        )


def note_change(ws: Workspace, before: FileStates) -> dict[str, Value]:
    """Write down what a snapshot changed, if anything; the same as values."""
    found = FileChanges.between(before, FileStates.of(ws), run_id=ws.run_id)
    if found.files or found.since != found.commit:
        write_text_atomically(ws.layout.memos(ws.key) / _FILE, json.dumps(to_builtins(found)))
    return {"files_changed": found.files, "commit_before": found.since or "none"}


def change_of(ws: Workspace) -> FileChanges | None:
    """What this very run found changed."""
    with suppress(OSError, ValueError, TypeError):
        found = FileChanges(**json.loads((ws.layout.memos(ws.key) / _FILE).read_bytes()))
        return found if found.run_id == ws.run_id else None
    return None
