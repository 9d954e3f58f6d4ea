"""What the Dagster UI shows of a step's table (a few rows, sometimes a plot) and of a run (a few lines).

The view of a table is a function of its content alone, so that of an unchanged table is still right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple, replace

from codesum_pipeline.builds.checks.fault_finding import rows_of_query
from codesum_pipeline.builds.checks.health_checks import known_share
from codesum_pipeline.builds.reports.build_values import PLOT, PREVIEW, Markdown, Value, Values
from codesum_pipeline.builds.reports.report_values import draw_bars, draw_lines, index_values
from codesum_pipeline.builds.steps.part_previews import FirstRows, LaneCounts, most_complex, show_documents, some_texts
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_text, markdown_table
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, AvoidanceReason
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.atomic import read_json, write_json_atomically
from codesum_pipeline.foundation.store.kept_rows import read_kept, write_kept
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import read_brief, read_version
from codesum_pipeline.search.evaluation.evaluate import ALL, CODE_ONLY, EACH_LANE, NDCG
from codesum_pipeline.search.evaluation.lift import lift_markdown
from codesum_pipeline.search.evaluation.records import EVERY_CATEGORY, last_lift
from codesum_pipeline.texts.llm.ledger_readings import rows_of_unfinished_builds

if TYPE_CHECKING:
    import duckdb


_ROWS = 8
_EVALUATIONS_SHOWN = 30
_COMMIT_DIGITS = 10
_MOST_CAUSES = 12
# In the folder of the memos: the last change of files that a build found.
# Runs of one state that are remembered: a planner tries it a few times.
_MOST_INTERRUPTED = 20
_LAST_CHANGE = "last_change.json"


_SHOWN = pa.schema([("name", pa.string()), ("text", pa.string())])


class TablePreview(Struct, frozen=True):
    """What is shown of some tables: rows that a query selects, below these heads, and a bar for each row of `bars`."""

    tables: Sequence[str]
    heads: Sequence[str]
    query: str
    counted: str = ""
    bars: str = ""

    def __call__(self, ws: Workspace) -> Values:
        """It is kept behind the hashes of the tables, and of what is asked of them."""
        hashes = [ws.tables.content_hash(table, ws.key) for table in self.tables]
        state, place = (
            hash_of([*astuple(self), hashes]).encode(),
            ws.layout.memos(ws.key) / f"{self.tables[0]}.shown.arrow",
        )
        kept = read_kept(place, _SHOWN, state)
        if not len(kept) or None in hashes or ws.force:
            kept = pa.table([*zip(*self._texts(ws), strict=True)], schema=_SHOWN)
            write_kept(place, kept, state)
        return {
            name: Markdown(text) for name, text in zip(*(column.to_pylist() for column in kept.columns), strict=True)
        }

    def _texts(self, ws: Workspace) -> Iterator[tuple[str, str]]:
        with ws.connect(*self.tables) as connection:
            rows = connection.execute(f"{self.query} LIMIT {_ROWS}").fetchall()
            counts = dict(connection.execute(self.bars).fetchall()) if self.bars else {}
        yield PREVIEW, markdown_table(self.heads, rows)
        if counts:
            yield PLOT, draw_bars(self.counted, counts)


_QUERIES = packaged_table(__package__, "shows")
_OF_RUN = _QUERIES["run"]
_PREVIEWS = {step: TablePreview(**preview) for step, preview in _QUERIES["previews"].items()}


def _show_files(ws: Workspace) -> Values:
    """Languages, how many files were skipped for which reason, and which indexes of compilers were found."""
    return {
        **_PREVIEWS["repo_snapshot"](ws),
        **index_values(ws.tables.read_rows_or_empty("scip_indexes", ws.key, IndexFile)),
    }


def _show_candidate(ws: Workspace) -> Values:
    digest = ws.tables.read("candidate", ws.key).column("digest")[0].as_py()
    files = read_version(ws.layout.versions(ws.key) / digest).manifest["files"]
    rows = [(name, entry["bytes"], entry["sha256"][:12]) for name, entry in sorted(files.items())]
    return {PREVIEW: Markdown(markdown_table(["file", "bytes", "sha256"], rows))}


def _show_overview(ws: Workspace) -> Values:
    pages = ws.tables.read("overviews", ws.key, columns=["page"]).column("page").to_pylist()
    return {PREVIEW: Markdown(pages[0])} if pages else {}


def _show_evaluation(ws: Workspace) -> Values:
    """The figures and the lift ledger of the last evaluation, and nDCG@10 over the last ones: of all lanes, of each
    alone, and of code alone."""
    if not ws.settings.evaluation.enabled:
        return {PREVIEW: Markdown("Not measured: `evaluation.enabled` is false.")}
    queries, asked = _QUERIES["evaluation"], {"all": ALL.name, "ndcg": NDCG}
    with ws.connect("evaluations") as connection:
        rows = rows_of_query(connection, queries["figures"], asked)
        latest = {"ndcg": NDCG, "shown": _EVALUATIONS_SHOWN}
        series = dict(rows_of_query(connection, queries["series"], latest))
    figures = Markdown(markdown_table(["asked", "category", "measure", "questions", "mean", "from", "to"], rows))
    shown: dict[str, Value] = {PREVIEW: figures}
    if (lift := last_lift(ws)).rows:
        shown["lift"] = Markdown(lift_markdown(lift))
    if drawn := {setup.name: series[setup.name] for setup in (ALL, CODE_ONLY, *EACH_LANE) if setup.name in series}:
        shown[PLOT] = Markdown(draw_lines("nDCG@10", drawn))
    return shown


# By step.
SHOWS: Mapping[str, Callable[[Workspace], Values]] = {
    **_PREVIEWS,
    "repo_snapshot": _show_files,
    "symbols": FirstRows(
        "symbols",
        ("id", "type", "complexity", "line_count", "docstring"),
        ["most complex", "type", "complexity", "lines", "docstring"],
        most_complex,
    ),
    **{
        f"{level}_summaries": FirstRows(
            texts_table(level),
            ("id", "text", "written_by", "purpose_source", "cause"),
            ["document", "summary", "purpose from", "last written because"],
            some_texts,
        )
        for level in LEVELS
    },
    "summary_documents": show_documents,
    "dense_index": LaneCounts("vectors"),
    "sparse_index": LaneCounts("terms"),
    "index_candidate": _show_candidate,
    "retrieval_evaluation": _show_evaluation,
    "repo_overview": _show_overview,
}


def show_run(ws: Workspace) -> dict[str, Value]:
    """The summary, a few kB at most, and how many texts were written."""
    change = read_json(ws.layout.memos(ws.key) / _LAST_CHANGE, FileChanges)
    # Texts of a run that was interrupted are published by this one.
    runs = [ws.run_id, *(change.interrupted if change and change.run_id == ws.run_id else ())]
    with ws.connect("document_history", "avoided", "ledger", "evaluations", "documents") as connection:
        texts = rows_of_query(connection, _OF_RUN["texts"], {"runs": runs})
        why = "**Why.** No text was written again."
        if texts:
            rows = markdown_table(["level", "what", "cause", "texts"], texts[:_MOST_CAUSES])
            why = f"**Why.** Texts by what happened to them, and for which cause:\n\n{rows}"
        parts = [
            f"**What changed.** {_changed(ws)}",
            why,
            *_cost(ws, connection),
            f"**How good it is now.** {' '.join(_quality(ws, connection))}",
        ]
    written = sum(count for _, event, _, count in texts if event == HistoryEvent.WRITTEN)
    return {"what_this_run_did": Markdown("\n\n".join(parts)), "texts_rewritten": written}


def _changed(ws: Workspace) -> str:
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    subject = f" “{escape_text(snapshot.subject)}”" if snapshot.subject else ""
    here = f"{code_span(snapshot.commit[:_COMMIT_DIGITS])}{subject}"
    found = read_json(ws.layout.memos(ws.key) / _LAST_CHANGE, FileChanges)
    if found is None or found.run_id != ws.run_id:
        return f"Nothing in the repository: it is at {here} as before."
    if found.since is None:
        return f"The first build, of {here}: {found.added:,} files."
    files = f"{found.added:,} files added, {found.changed:,} changed, {found.removed:,} removed"
    of_others = f", also by {count_noun(len(found.interrupted), 'interrupted run')}" if found.interrupted else ""
    return f"{code_span(found.since[:_COMMIT_DIGITS])} → {here}: {files}{of_others}."


def _cost(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Iterator[str]:
    about_run = {"run": ws.run_id}
    sent = {**about_run, "not_sent": AttemptOutcome.NOT_SENT.value}
    ((calls, usd, read, cached),) = rows_of_query(connection, _OF_RUN["cost"], sent)
    waiting = [row for row in rows_of_unfinished_builds(ws.layout.state(ws.key)) if row.run_id == ws.run_id]
    calls, usd = calls + len(waiting), usd + sum(row.cost_usd for row in waiting)
    avoided = {**about_run, "not_avoided": AvoidanceReason.NOT_AVOIDED.value}
    spared = rows_of_query(connection, _OF_RUN["spared"], avoided)
    share = f", {cached / read:.0%} of the tokens read from the provider's cache" if read else ""
    saved = sum(dollars for _, _, dollars in spared)
    costs = f"${usd:.4f} for {calls:,} calls{share}; without reuse ${usd + saved:.4f}."
    yield f"**What it cost.** {costs if calls or spared else 'Nothing: no model was asked.'}"
    written = {**about_run, "written": HistoryEvent.WRITTEN.value}
    ((kept, documents),) = rows_of_query(connection, _OF_RUN["kept"], written)
    of_models = " Calls to a model, by cause:" if spared else ""
    yield f"**What it avoided.** {kept:,} of {documents:,} texts stayed as they were.{of_models}"
    if spared:
        yield markdown_table(
            ["because of", "calls", "US dollars"], [(cause, count, f"{cost:.4f}") for cause, count, cost in spared]
        )


def _quality(ws: Workspace, connection: "duckdb.DuckDBPyConnection") -> Iterator[str]:
    ((documents, placeholders, by_model),) = rows_of_query(connection, _OF_RUN["documents"])
    yield f"{documents:,} documents, {placeholders:,} of them placeholders, {by_model:,} by a model."
    if (share := known_share(ws)) is not None:
        yield f"Of the calls, {share:.1%} have a known target."
    asked = {"all": ALL.name, "category": EVERY_CATEGORY, "ndcg": NDCG}
    figures = rows_of_query(connection, _OF_RUN["figures"], asked)
    if not ws.settings.evaluation.enabled or not figures:
        yield "Retrieval was not measured."
    for mean, low, high, questions in figures if ws.settings.evaluation.enabled else ():
        yield f"Retrieval: nDCG@10 {mean:.3f} (95 %: {low:.3f} to {high:.3f}, {questions:,} questions)."
    yield "Digests are those of the asset `intent_digests`."


class FileChanges(Struct, frozen=True):
    """From the published commit to the next, in files; of the run that found it. `interrupted` are the runs before it
    that published nothing, whose changes are in the counts: a file that two of them changed counts twice."""

    run_id: str
    since: str | None
    commit: str
    added: int
    changed: int
    removed: int
    interrupted: tuple[str, ...] = ()


def indexed_files(ws: Workspace) -> tuple[str | None, Mapping[str, str]]:
    """The commit of the tables, None if there is none, and the contents of its indexed files."""
    rows = ws.tables.read_rows_or_empty("snapshot", ws.key, Snapshot)
    if not rows or ws.tables.readable_path("files", ws.key) is None:
        return None, {}
    files = ws.tables.read("files", ws.key, columns=["path", "blob", "status"]).to_pylist()
    return rows[0].commit, {row["path"]: row["blob"] for row in files if row["status"] == "indexed"}


def note_change(ws: Workspace, since: str | None, before: Mapping[str, str]) -> dict[str, Value]:
    """Write down what a snapshot changed of the files before it, if anything; the same as values."""
    commit, after = indexed_files(ws)
    both = before.keys() & after.keys()
    added, removed = len(after) - len(both), len(before) - len(both)
    changed = sum(before[path] != after[path] for path in both)
    files = added + changed + removed
    found = FileChanges(ws.run_id, since, commit or "", added, changed, removed)
    earlier = _unpublished_change(ws, since)
    if earlier and earlier.run_id != ws.run_id:
        found = replace(
            found,
            since=earlier.since,
            added=added + earlier.added,
            changed=changed + earlier.changed,
            removed=removed + earlier.removed,
            interrupted=(earlier.run_id, *earlier.interrupted)[:_MOST_INTERRUPTED],
        )
    if found.interrupted or files or since != commit:
        write_json_atomically(ws.layout.memos(ws.key) / _LAST_CHANGE, found)
    return {"files_changed": files, "commit_before": since or "none"}


def _unpublished_change(ws: Workspace, since: str | None) -> FileChanges | None:
    """The change that the last build noted, if it ended before it published the commit of the tables."""
    noted = read_json(ws.layout.memos(ws.key) / _LAST_CHANGE, FileChanges)
    if noted is None or noted.commit != since or noted.commit == noted.since:
        return None
    try:
        published = read_brief(ws.layout, ws.key)
    except BrokenIndex:
        return None
    return noted if (published.commit if published else None) == noted.since else None
